"""How parameters are chosen: by the error of rows left out, within a budget."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from sklearn.model_selection import check_cv

from isthmus._checks import check_int, refusal
from isthmus._parameters import Constraint, condition, integer, none, seed
from isthmus._piece import Piece
from isthmus.blocks.sampling import sample_rows
from isthmus.typing import IntArray

Group = TypeVar("Group")
Explore = Callable[[Sequence[Any], Callable[[Any], "Choice"]], list[tuple["Choice", Any]]]


class Choice(NamedTuple):
    """What was chosen, and its mean error on rows left out."""

    error: float
    value: Any


@dataclass
class Selection(Piece):
    """How an estimator chooses among its candidates: penalties, kernels, ranks.

    The candidates are the estimator's own parameters, given as a list; the one with the smallest
    error on rows left out is taken. An estimator's ``cv`` takes such a piece, or
    its ``criterion`` alone.

    Parameters
    ----------
    criterion : "loo", int, splitter or list of pairs, default="loo"
        Which rows are left out at once: each by itself, one of this many folds in the order of the
        rows, or what a splitter of scikit-learn or a list of pairs of row numbers says. For rows
        that follow each other in time, folds do not give the answer away, as the neighbours of a
        single row would.
    max_rows : int or None, default=2000
        The choice is made on at most this many rows, drawn at random; then all are fitted.
        Candidates that share no work, such as kernels, are first compared on half of them.
        None takes all rows.
    random_state : int or None, default=0
        Seed of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import KernelRidgeCV, Selection
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRidgeCV(cv=Selection(5, max_rows=50)).fit(X, np.sin(X[:, 0]))
    >>> bool(model.alpha_ < 1e-2)
    True
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "criterion": condition(
            "'loo', an int in [2, inf), a splitter or a list of pairs of rows",
            lambda value: integer(2).accepts(value) or _leaves_rows_out(value),
        ),
        "max_rows": integer(2) | none,
        "random_state": seed,
    }

    criterion: Any = "loo"
    max_rows: int | None = 2000
    random_state: Any = 0

    @property
    def leaves_one_out(self) -> bool:
        """Whether every row is left out by itself."""
        return isinstance(self.criterion, str)

    def rows(self, n_rows: int, share: float = 1.0) -> IntArray:
        """The rows to choose on, or a share of as many as are allowed."""
        numbered = isinstance(self.criterion, Sequence) and not self.leaves_one_out
        if self.max_rows is None or numbered:  # pairs of row numbers are those of all rows
            return np.arange(n_rows)
        return sample_rows(n_rows, int(self.max_rows * share), self.random_state)

    def splits(self, n_rows: int) -> list[tuple[IntArray, IntArray]]:
        """Rows to fit and rows left out, again and again."""
        if self.leaves_one_out:
            every = np.arange(n_rows)
            return [(np.delete(every, i), every[i : i + 1]) for i in range(n_rows)]
        folds = self.criterion
        if isinstance(folds, Integral):
            folds = min(int(folds), n_rows)
        return list(check_cv(folds).split(np.empty((n_rows, 1))))

    def choose(
        self,
        groups: Sequence[Group],
        errors: Callable[[Group, IntArray], Iterable[tuple[float, Any]]],
        n_rows: int,
        explore: Explore | None = None,
    ) -> Choice:
        """The best candidate of all groups, whose ``errors(group, rows)`` come with values.

        Candidates of a group share the expensive part of their work. Half the rows are enough to
        tell groups apart. ``explore(groups, score)`` says which of them are looked at, all by
        default.
        """
        explore = every if explore is None else explore
        few = self.rows(n_rows, 0.5)
        if len(groups) > 1 and len(few) < n_rows:
            firsts = explore(groups, lambda group: best(errors(group, few)))
            groups, explore = [min(firsts, key=_error)[1]], every
        rows = self.rows(n_rows)
        return min(explore(groups, lambda group: best(errors(group, rows))), key=_error)[0]


def every(groups: Sequence[Any], score: Callable[[Any], Choice]) -> list[tuple[Choice, Any]]:
    """The score of every group, in their order."""
    return [(score(group), group) for group in groups]


def _error(scored: tuple[Choice, Any]) -> float:
    return scored[0].error


def best(scored: Iterable[tuple[float, Any]]) -> Choice:
    """The first value of smallest error; an error that is not a number never is."""
    found = Choice(np.inf, None)
    for error, value in scored:
        if error < found.error:
            found = Choice(error, value)
    return found


def _is_criterion(value: Any) -> bool:
    if isinstance(value, Selection):
        value = value.criterion
    return integer(2).accepts(value) or _leaves_rows_out(value)


#: What an estimator's ``cv`` may be.
CRITERIA = condition(
    "'loo', an int in [2, inf), a splitter, a list of pairs of rows or a Selection", _is_criterion
)


def as_selection(value: Any, owner: Any, **defaults: Any) -> Selection:
    """The piece, or one with this criterion, checked; ``defaults`` where only that was given."""
    selection = value if isinstance(value, Selection) else Selection(value, **defaults)
    criterion = selection.criterion
    if isinstance(criterion, Integral) and not isinstance(criterion, bool):
        check_int(criterion, "cv", owner, low=2, why="folds")
    elif not _leaves_rows_out(criterion):
        expected = "'loo', an int, a splitter, a list of pairs of rows or a Selection"
        raise ValueError(refusal(owner, "cv", expected, value))
    if selection.max_rows is not None:
        check_int(selection.max_rows, "max_rows", selection, low=2)
    return selection


def _leaves_rows_out(criterion: Any) -> bool:
    if isinstance(criterion, (str, bytes)):
        return isinstance(criterion, str) and criterion == "loo"
    if isinstance(criterion, (list, tuple)):
        return len(criterion) > 0 and all(map(_is_pair, criterion))
    return not isinstance(criterion, type) and callable(getattr(criterion, "split", None))


def _is_pair(value: Any) -> bool:
    """Whether these are the numbers of rows to fit and of rows left out."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return False
    parts = [np.asarray(part) for part in value if not isinstance(part, (str, bytes))]
    return len(parts) == 2 and all(part.ndim == 1 and part.dtype.kind in "iu" for part in parts)
