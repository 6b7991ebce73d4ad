"""How a Gaussian process deals with many rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import clone

from isthmus._checks import refusal
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, check_parameters, integer, none
from isthmus._piece import Piece
from isthmus._warnings import warn

# Above this many rows a search takes so long that it is announced, at this many operations per
# second: a rough figure for one core.
MANY_ROWS, FLOPS = 15_000, 2e10


class Approximation(Piece):
    """Base: what the training asks of an approximation."""

    #: Whether everything passes through few objects, so that there is a noise and no exact
    #: leave-one-out.
    low_rank: ClassVar[bool] = False
    #: Whether predictions combine independent parts of the rows.
    in_parts: ClassVar[bool] = False
    #: Parts of the rows that are factored one by one.
    n_members: int = 1
    #: With few objects: whether the likelihood is replaced by its bound.
    bound: bool = False
    #: With few objects: rows on which the parameters are searched; None for all.
    n_search: int | None = None


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
    n_search : int or None, default=1000
        Rows on which the parameters are searched, where there are more; the process is then
        conditioned on all. A few numbers are known well enough from some rows: the error is much
        the same after a search on all of them, which takes several times as long
        (``python -m benchmarks --only gp-inducing gp-inducing-all``). None searches on all rows
        too, from the parameters found on 2000.
    """

    __module__ = "isthmus.regression"

    low_rank: ClassVar[bool] = True

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_inducing": integer(1),
        "bound": boolean,
        "n_search": integer(1) | none,
    }

    n_inducing: int = 256
    bound: bool = True
    n_search: int | None = 1000


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

    _constraints: ClassVar[dict[str, Constraint]] = {"n_members": integer(1)}

    n_members: int = 8


NAMES: dict[str, Callable[[], Approximation]] = {
    "exact": Exact,
    "inducing": Inducing,
    "dtc": lambda: Inducing(bound=False),
    "committee": Committee,
}


def as_approximation(value: Any, owner: Any) -> Approximation:
    """The piece of a name, None for no approximation, or the piece itself, checked.

    >>> as_approximation("dtc", "GaussianProcess")
    Inducing(n_inducing=256, bound=False, n_search=1000)
    """
    if value is None:
        return Exact()
    if isinstance(value, str) and value in NAMES:
        return NAMES[value]()
    if not isinstance(value, Approximation):
        names = ", ".join(map(repr, NAMES))
        expected = f"None, one of {names}, an Inducing or a Committee"
        raise ValueError(refusal(owner, "approximation", expected, value))
    check_parameters(value)
    return clone(value)


def announce_cost(owner: Any, n: int, approximation: Approximation) -> None:
    """Refuse rows whose covariances do not fit into memory, and tell of a search of hours."""
    if approximation.low_rank:
        return
    rows = -(-n // min(approximation.n_members, n))
    avoid = 'Set approximation=Inducing(256), or "committee"; their cost does not grow like n³.'
    n_bytes = 8.0 * 3 * rows**2
    what = f"covariances of {rows} rows and their factors"
    require_memory(owner, n_bytes, what=what, avoid=avoid)
    if rows > MANY_ROWS:
        hours = max(round(100 * rows**3 / FLOPS / 3600), 1)
        warn(
            f"{type(owner).__name__} on {rows} rows takes some {hours} hours for a search of 100 "
            f"steps, and {n_bytes / 2**30:.1f} GiB of memory. {avoid}",
            UserWarning,
        )
