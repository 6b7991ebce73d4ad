"""Ranking on a core set of pairs."""

from typing import Any, ClassVar

import numpy as np
from scipy.stats import kendalltau
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_length
from isthmus._parameters import Constraint, integer
from isthmus.coreset.base import COST, CoreMachine, kernel_columns, single_expansion
from isthmus.coreset.problems import PairProblem
from isthmus.coreset.solver import CoreSetSolver
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray


class CoreVectorRanker(CoreMachine):
    r"""A function that puts objects in order, learned on a core set of pairs.

    :math:`\min\frac12\|w\|^2-\rho+\frac C2\sum\xi_{ij}^2` under
    :math:`w^\top(\varphi(x_i)-\varphi(x_j))\ge\rho-\xi_{ij}` for the pairs in which i is above j.

    Parameters
    ----------
    kernel : kernel, name or callable, default="gaussian"
    C : float, default=10.0
    max_pairs : int, default=10_000
        Maximum number of pairs; where there are more, this many are drawn. A solution on some
        pairs orders better than a core set that is full before it has seen all.
    solver : "core" or CoreSetSolver, default="core"
        How the core set grows, and how accurate it is: see :class:`CoreSetSolver`.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    expansion_ : Expansion
        The function.
    support_, objects_, dual_coef_ : training objects with weight, and their coefficients.
    gap_, objective_, n_core_ : how close to the optimum, and from how many pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import CoreVectorRanker
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> bool(CoreVectorRanker(random_state=0).fit(X, X[:, 0] ** 3).score(X, X[:, 0]) > 0.95)
    True
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "C": COST,
        "max_pairs": integer(1),
    }
    solver_defaults = CoreSetSolver(epsilon=0.05, stop="relative", batch_size=None, max_core=4000)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 10.0,
        max_pairs: int = 10_000,
        solver: Any = "core",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.max_pairs = max_pairs
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> "CoreVectorRanker":
        """Learn an order from grades ``y``; objects of different groups are not compared."""
        if y is None:
            raise ValueError("CoreVectorRanker requires y to be passed, but the target y is None.")
        cost = float(self.C)
        most = int(self.max_pairs)
        solver, rng = self._check_solver(), self._check_seed()
        X = self._check_objects(X, reset=True)
        y = column_or_1d(y, warn=True)
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", estimator=self)
        n = n_objects(X)
        check_length(self, n, len(y), what="grades as objects")
        groups = np.zeros(n, dtype=int) if groups is None else np.asarray(groups)
        check_length(self, n, len(groups), what="groups as objects")
        above, below = _pairs(y, groups, most, rng)
        if not len(above):
            raise ValueError(
                "CoreVectorRanker needs two objects of one group whose grades differ. Got none "
                f"among n_samples = {n}; is there only 1 class?"
            )
        kernel = as_kernel(self.kernel).resolve(X)
        problem = PairProblem(kernel_columns(kernel, X, solver, self), above, below, cost)
        found = self._solve(solver, problem, np.array([0]), rng)
        self._judge([found])
        coefficients = np.zeros(n)
        rho = max(found.objective, np.finfo(float).tiny)
        np.add.at(coefficients, above[found.indices], found.weights / rho)
        np.add.at(coefficients, below[found.indices], -found.weights / rho)
        support = np.flatnonzero(coefficients)
        self.support_ = support
        self.expansion_ = single_expansion(kernel, X, support, coefficients[support])
        self.gap_, self.objective_, self.n_core_ = found.gap, found.objective, found.n_core
        return self

    def predict(self, X: Any) -> Array:
        """Return numbers whose order is the order of the objects."""
        check_is_fitted(self)
        return self.expansion_(self._check_objects(X, reset=False))[:, 0]

    def score(self, X: Any, y: Any) -> float:
        """Return Kendall's rank correlation with the grades ``y``."""
        return float(kendalltau(self.predict(X), y).statistic)


def _pairs(
    y: Array, groups: Array, most: int, rng: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    """Indices of objects above and below, all pairs or at most ``most`` drawn at random."""
    n = len(y)
    if n * (n - 1) // 2 <= most:
        i, j = np.triu_indices(n, 1)
    else:
        i, j = rng.randint(0, n, size=(2, 2 * most))
    allowed = (groups[i] == groups[j]) & (y[i] != y[j])
    i, j = i[allowed][:most], j[allowed][:most]
    swap = y[i] < y[j]
    return np.where(swap, j, i), np.where(swap, i, j)
