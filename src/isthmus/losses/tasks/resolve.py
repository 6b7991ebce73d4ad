"""Losses of objects by name, and losses written by others."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import numpy as np

from isthmus.losses.base import ResidualLoss
from isthmus.losses.tasks.base import Decoded, TaskLoss
from isthmus.losses.tasks.given import FunctionLoss
from isthmus.typing import Array, Objects

#: Where the loss of a name is defined, ``module:class`` below ``isthmus.losses``: nothing is
#: imported before it is asked for.
TASK_LOSSES: dict[str, str] = {
    "zero_one": "tasks.classes:ZeroOne",
    "hamming": "tasks.label_sets:Hamming",
    "f1": "tasks.f_measure:F1",
    "jaccard": "tasks.jaccard:Jaccard",
    "precision_at_k": "tasks.label_sets:PrecisionAtK",
    "absolute": "tasks.vectors:absolute",
    "quantile": "tasks.vectors:quantile",
    "squared": "tasks.vectors:squared",
    "huber": "tasks.vectors:huber",
    "epsilon": "tasks.vectors:epsilon",
    "interval": "tasks.vectors:IntervalLoss",
    "kendall": "tasks.rankings:Kendall",
    "spearman": "tasks.rankings:Spearman",
    "edit": "edits.sequences:EditDistance",
    "graph_edit": "edits.graphs:GraphEditDistance",
    "alignment": "edits.series:AlignmentDistance",
}


@dataclass
class ForeignTaskLoss(TaskLoss):
    """A loss of which ``cost`` and perhaps ``decode(weights, outputs)`` are known."""

    loss: Any

    def cost(self, Y: Objects, Z: Objects) -> Array:
        return np.asarray(self.loss.cost(Y, Z), dtype=np.float64)

    def check(self, outputs: Objects) -> Objects:
        own = getattr(self.loss, "check", None)
        return own(outputs) if callable(own) else outputs

    def prepare(self, outputs: Objects) -> Any:
        decodes = callable(getattr(self.loss, "decode", None))
        return outputs if decodes else super().prepare(outputs)

    def decode(self, weights: Any, prepared: Any) -> Decoded:
        if not callable(getattr(self.loss, "decode", None)):
            return super().decode(weights, prepared)
        found = self.loss.decode(weights, prepared)
        if isinstance(found, Decoded):
            return found
        n = weights.shape[0]
        return Decoded(found, self.risk(weights, found, prepared), np.zeros(n, dtype=bool))


def as_task_loss(loss: Any) -> TaskLoss:
    """Return the loss that a name, a loss of this library, a function or a class stands for.

    A class that does not derive from :class:`TaskLoss` needs ``cost(Y, Z)``; it may have
    ``decode(weights, outputs)``, which returns the answers alone or a :class:`Decoded`. A function
    takes one answer and one truth and returns a number. A loss of residuals, such as
    ``Quantile(0.9)``, becomes one of vectors.

    >>> from isthmus.losses import as_task_loss
    >>> as_task_loss(lambda y, z: float(y != z)).cost(["a"], ["a", "b"])
    array([[0., 1.]])
    """
    if isinstance(loss, TaskLoss):
        return loss
    if isinstance(loss, ResidualLoss):
        from isthmus.losses.tasks.vectors import VectorLoss

        return VectorLoss(loss)
    if isinstance(loss, str) and loss in TASK_LOSSES:
        module, _, name = TASK_LOSSES[loss].partition(":")
        made: Callable[[], TaskLoss] = getattr(import_module(f"isthmus.losses.{module}"), name)
        return made()
    if not isinstance(loss, type) and callable(getattr(loss, "cost", None)):
        return ForeignTaskLoss(loss)
    if callable(loss) and not isinstance(loss, type):
        return FunctionLoss(loss)
    names = ", ".join(map(repr, sorted(TASK_LOSSES)))
    near = get_close_matches(loss, TASK_LOSSES, n=1) if isinstance(loss, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"A task loss must be one of {names}, a TaskLoss piece or a function of two objects. "
        f"Got {loss!r:.80} instead.{hint}"
    )
