"""Minor components of a stream: from a root of its scatter, or without any covariance."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from isthmus._deferred import Deferred
from isthmus._parameters import Constraint, choice, integer, none, real, seed
from isthmus.features.components.base import is_finite
from isthmus.features.components.roots import Level, grown_level, least_axes
from isthmus.features.components.streams import StreamComponents
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array

# Columns up to which a square matrix of them is kept of a stream, whose blocks may have few rows,
# and of rows in memory, where it costs less than twenty passes row by row.
MOST_COLUMNS, MOST_IN_MEMORY = 256, 1024
DEFERRED = ("mean_", "components_", "patterns_", "explained_variance_")


class MinorComponents(StreamComponents):
    r"""Directions of least variance of a stream.

    Of few columns they are exact: the last principal axes of a triangular root of the scatter, to
    which blocks of rows are added. Of many columns, or with ``solver="online"``, every row moves
    them. Hebb's rule with the sign reversed is unstable. Instead principal components of
    :math:`I-C/\gamma`, with :math:`\gamma` above the largest eigenvalue, are learned from centred
    rows :math:`x` with unit vectors :math:`u_j=w_j/\|w_j\|`:

    .. math:: w_j\leftarrow(1-\eta)w_j+\eta\Bigl(u_j-\frac{x^\top u_j}\gamma x\Bigr),\qquad
              w_j\leftarrow w_j-\sum_{i<j}(w_j^\top u_i)u_i ,

    so that :math:`\|w_j\|\to1-\lambda_j/\gamma`. Earlier directions must be projected out of the
    vector: if they were removed from the row, as for principal components, all directions would
    become the same.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions, of least variance first; None takes all columns.
    solver : {"auto", "exact", "online"}, default="auto"
        "exact" keeps O(d²) numbers for d columns, needs one pass, and blocks give what all rows
        together give. "online" keeps O(J d), moves the directions row by row and is approximate.
        "auto" is exact up to 256 columns, and in :meth:`fit` up to 1024 where rows are more than
        twice as many.
    rate : float, default=0.01
        Of the online solver: :math:`\eta`, constant, because with rates that fall like 1/t the
        directions hardly converge. It is lower, half of the largest variance over the sum of all,
        where rows have so many columns that a single one would turn the directions.
    max_iter : int, default=20
        Passes of :meth:`fit` of the online solver over the rows, in their order.
    random_state : int, RandomState instance or None, default=None
        First directions of the online solver.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal; averages over the last steps of the online solver.
    patterns_ : ndarray of shape (n_components, n_features)
        The same: the way back.
    explained_variance_ : ndarray of shape (n_components,)
        Variances along them; by the lengths where they are learned online.
    mean_ : ndarray of shape (n_features,)
    n_samples_seen_ : int
        With repetition.
    n_iter_ : int
        Passes over the rows.

    See Also
    --------
    Whitening : all directions, of unit variance.
    SlowFeatureAnalysis : minor components of whitened differences in time.

    Notes
    -----
    Online, a pair of directions is told apart over about
    :math:`\gamma/(\eta(\lambda_2-\lambda_1))` rows: where variances at the lower end differ by
    little beside the largest one, whiten or drop the large ones first. O(J d) for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import MinorComponents
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [2.0, 1.0, 0.1]
    >>> np.abs(MinorComponents(1).fit(X).components_).round(1)
    array([[0., 0., 1.]])
    >>> online = MinorComponents(1, solver="online", random_state=0).fit(X)
    >>> np.abs(online.components_).round(1)
    array([[0., 0., 1.]])
    """

    __module__ = "isthmus.features"

    mean_ = Deferred()
    components_ = Deferred()
    patterns_ = Deferred()
    explained_variance_ = Deferred()
    n_samples_seen_: int
    _pending: int | None = None  # directions that nobody has asked for yet

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "solver": choice("auto", "exact", "online"),
        "rate": real(0, 0.5, include_low=False),
        "max_iter": integer(1),
        "random_state": seed,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        solver: str = "auto",
        rate: float = 0.01,
        max_iter: int = 20,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.solver = solver
        self.rate = rate
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of ``X``, in one pass or several; return self."""
        rows = self._rows(X, reset=True, finite=False)
        n, d = rows.shape
        if not self._is_exact(d, MOST_IN_MEMORY if 2 * d < n else MOST_COLUMNS):
            return self._move(self._rows(X, reset=True), None, self.max_iter)
        with np.errstate(invalid="ignore", over="ignore"):
            self._add(rows, None)
        if not is_finite(self._state.root):
            self._rows(X, reset=True)  # which says where a number is not finite
        self._settle()
        return self

    def _learn(self, X: Array, state: Any, n_passes: int) -> Self:
        # A stream goes on as it began.
        begins = state is None
        exact = self._is_exact(X.shape[1], MOST_COLUMNS) if begins else isinstance(state, Level)
        return self._add(X, state) if exact else self._move(X, state, n_passes)

    def _is_exact(self, d: int, most: int) -> bool:
        return self.solver == "exact" or (self.solver == "auto" and d <= most)

    def _add(self, X: Array, level: Level | None) -> Self:
        """Add rows to the root of the scatter; the axes wait until somebody asks."""
        (n, d), first = X.shape, level is None
        k = self._count(d, "the number of columns")
        level = grown_level(level, X)
        self.n_samples_seen_ = n if first else n + self.n_samples_seen_
        self._state, self.n_iter_, self._pending = level, 1, k
        for name in DEFERRED:
            self.__dict__.pop(name, None)
        return self

    def _settle(self) -> None:
        assert self._pending is not None  # or nobody asks
        self.mean_, self.explained_variance_, axes = least_axes(self._state, self._pending)
        self.components_ = np.ascontiguousarray(fix_signs(axes.T).T)
        self.patterns_, self._pending = self.components_, None

    def __getstate__(self) -> Any:
        if vars(self).get("_pending") is not None:
            self._settle()
        return super().__getstate__()

    def _move(self, X: Array, state: Any, n_passes: int) -> Self:
        """Let every row move the directions."""
        from isthmus.features.components.minor_loops import minor_rows  # compiled on first use

        d = X.shape[1]
        if state is None:
            k = self._count(d, "the number of columns")
            rng = check_random_state(self.random_state)
            w = linalg.qr(rng.normal(size=(d, k)), mode="economic")[0].T.copy()
            counters = np.zeros(2, dtype=np.int64)
            state = np.zeros(d), w, w.copy(), np.zeros(d), np.zeros(1), counters
        state = tuple(part.copy() for part in state)
        for _ in range(n_passes):
            minor_rows(X, *state, float(self.rate))
        mean, w, average, top, _, counters = state
        self._state, self.n_iter_, self._pending = state, n_passes, None
        Q = linalg.qr(average.T, mode="economic")[0]
        self.components_ = np.ascontiguousarray(fix_signs(Q).T)
        self.patterns_ = self.components_
        gamma = 1.1 * float(np.linalg.norm(top))
        shares = np.maximum(1 - np.linalg.norm(w, axis=1), 0.0)
        self.explained_variance_ = gamma * shares
        self.mean_, self.n_samples_seen_ = mean, int(counters[0])
        return self
