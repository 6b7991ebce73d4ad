"""How the smoothness falls while a map is learned from rows alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from isthmus._checks import check_float, check_int
from isthmus._parameters import Constraint, integer, none, real
from isthmus._piece import Piece


@dataclass
class Annealing(Piece):
    """A smoothness that falls from step to step, so that a map unfolds from a plane.

    Parameters
    ----------
    first : float or None, default=None
        Smoothness before the first step; None is a hundredth of the number of rows.
    factor : float, default=0.8
        Factor of the smoothness from step to step.
    max_iter : int, default=60
        Maximum number of steps.
    n_cycles : int, default=1
        Projections and fits for each smoothness.
    held_out : float, default=0.2
        Share of the rows that is held out to choose the last smoothness; then all are used.
    patience : int, default=3
        Steps without a fall of the held-out error after which annealing ends.
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "first": real(0, include_low=False) | none,
        "factor": real(0, 1, include_low=False),
        "max_iter": integer(1),
        "n_cycles": integer(1),
        "held_out": real(0, 0.9, include_low=False),
        "patience": integer(1),
    }

    first: float | None = None
    factor: float = 0.8
    max_iter: int = 60
    n_cycles: int = 1
    held_out: float = 0.2
    patience: int = 3

    def schedule(self, n_rows: int, last: float | None) -> Iterator[float]:
        """Smoothnesses of the steps: geometric, and the last one where it is given."""
        lam = n_rows / 100 if self.first is None else float(self.first)
        for _ in range(self.max_iter):
            lam *= self.factor
            if last is not None and lam <= last * (1 + 1e-9):
                break
            yield lam
        if last is not None:
            yield last


def check_annealing(piece: Any) -> Annealing:
    """The piece, or what is wrong with it."""
    if not isinstance(piece, Annealing):
        raise TypeError(f"Expected None or an Annealing. Got {piece!r:.80} instead.")
    if piece.first is not None:
        check_float(piece.first, "first", piece, include_low=False)
    check_float(piece.factor, "factor", piece, high=1.0, include_low=False)
    check_float(piece.held_out, "held_out", piece, high=0.9, include_low=False)
    for name in ("max_iter", "n_cycles", "patience"):
        check_int(getattr(piece, name), name, piece, low=1)
    return piece
