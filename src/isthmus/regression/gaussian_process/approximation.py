"""How a Gaussian process deals with many rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import clone

from isthmus._checks import check_bool, check_int, refusal
from isthmus._piece import Piece


class Approximation(Piece):
    """Base: what the training asks of an approximation."""

    #: Whether everything passes through few objects, so that there is a noise and no exact
    #: leave-one-out.
    low_rank: ClassVar[bool] = False
    #: Whether predictions combine independent parts of the rows.
    in_parts: ClassVar[bool] = False
    #: With few objects: whether the likelihood is replaced by its bound.
    bound: bool = False

    def check(self) -> None:
        """Refuse parameters that cannot be used."""


@dataclass
class Exact(Approximation):
    """None: one Cholesky factor of all rows."""


@dataclass
class Inducing(Approximation):
    """Everything passes through few inducing objects, at a cost of O(nm²).

    They are chosen among the rows where the function varies most.

    Parameters
    ----------
    n_inducing : int, default=256
        Their number m.
    bound : bool, default=True
        Learn the parameters of largest variational bound of the likelihood [Titsias2009]_, which
        is the likelihood where m = n. False is the deterministic training conditional (``"dtc"``):
        the same predictions, with parameters of largest likelihood of the low-rank model, which
        is no bound.
    """

    __module__ = "isthmus.regression"

    low_rank: ClassVar[bool] = True

    n_inducing: int = 256
    bound: bool = True

    def check(self) -> None:
        check_int(self.n_inducing, "n_inducing", self, low=1)
        check_bool(self.bound, "bound", self)


@dataclass
class Committee(Approximation):
    """Parts of the rows with common parameters, combined for each object [Tresp2000]_.

    Parameters
    ----------
    n_members : int, default=8
        Parts, drawn at random.
    """

    __module__ = "isthmus.regression"

    in_parts: ClassVar[bool] = True

    n_members: int = 8

    def check(self) -> None:
        check_int(self.n_members, "n_members", self, low=1)


NAMES: dict[str, Callable[[], Approximation]] = {
    "exact": Exact,
    "inducing": Inducing,
    "dtc": lambda: Inducing(bound=False),
    "committee": Committee,
}


def as_approximation(value: Any, owner: Any) -> Approximation:
    """The piece of a name, None for no approximation, or the piece itself, checked.

    >>> as_approximation("dtc", "GaussianProcess")
    Inducing(n_inducing=256, bound=False)
    """
    if value is None:
        return Exact()
    if isinstance(value, str) and value in NAMES:
        return NAMES[value]()
    if not isinstance(value, Approximation):
        names = ", ".join(map(repr, NAMES))
        expected = f"None, one of {names}, an Inducing or a Committee"
        raise ValueError(refusal(owner, "approximation", expected, value))
    value.check()
    return clone(value)
