"""Every parameter of every kernel and loss with values that it cannot use."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus._parameters import constraints_of
from isthmus.losses import Loss, as_loss
from tests.campaign.bad_parameters import BAD
from tests.campaign.outcomes import outcome_of
from tests.testing.test_kernels import KERNELS
from tests.testing.test_losses import EVERY


@dataclass
class PieceInUse:
    """A piece and something to use it on."""

    name: str
    piece: Any
    data: Any

    def use(self, piece: Any) -> Any:
        """What an estimator would do with it."""
        if isinstance(piece, Loss):
            Y = np.array([[0.5], [1.0]])
            resolved = piece.resolve(1.0)
            resolved.check_outputs(Y)
            return [loss.evaluate(Y, np.array([[0.7], [0.2]])) for loss in resolved.stages(1.0)]
        return piece(self.data)


def pieces() -> list[PieceInUse]:
    """One of each class of kernels and losses, with its parameters."""
    kernels = [
        PieceInUse(type(k).__name__, k, data) for k, data in KERNELS if hasattr(k, "get_params")
    ]
    losses = [
        PieceInUse(type(loss).__name__, loss, None)
        for loss in map(as_loss, [e for e in EVERY if hasattr(e, "get_params")])
    ]
    return list({piece.name: piece for piece in reversed(kernels + losses)}.values())


def cases(subject: PieceInUse) -> Iterator[tuple[str, str]]:
    """Each parameter times each value: refused by its name, or used."""
    for parameter in sorted(subject.piece.get_params(deep=False)):
        for name, value in BAD.items():
            if (parameter, name) == ("decompose", "class"):  # a callable, with errors of its own
                continue
            yield f"{parameter}={name}", outcome(subject, parameter, value)


def outcome(subject: PieceInUse, parameter: str, value: Any) -> str:
    """What comes of one parameter with one value."""

    def attempt() -> Any:
        piece = clone(subject.piece)
        setattr(piece, parameter, value)
        return subject.use(piece)

    table = constraints_of(type(subject.piece))
    taken = parameter in table and table[parameter].accepts(value)
    return outcome_of(attempt, names=() if taken else [parameter])
