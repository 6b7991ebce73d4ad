"""Outlier detection on a core set."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from isthmus._parameters import Constraint, choice, real
from isthmus.blocks.folding import gather
from isthmus.coreset.base import COST, CoreMachine, kernel_columns, single_expansion
from isthmus.coreset.in_blocks import CoreSets, accuracy, fit_core_sets, take_over
from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.solver import CoreSetSolver
from isthmus.kernels.drawn import checked_block
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray


class CoreVectorOutlierDetector(OutlierMixin, CoreMachine):
    r"""The half-space far from the origin that holds the data, learned on a core set.

    :math:`\min\frac12\|w\|^2-\rho+\frac C2\sum_i\xi_i^2` under
    :math:`w^\top\varphi(x_i)\ge\rho-\xi_i`, with the dual :math:`\min\alpha^\top K'\alpha` over the
    simplex, :math:`K'=K+I/C`. With squared slack every support vector lies outside its own
    boundary, so :math:`\rho` marks as many outliers as there are support vectors; therefore
    the offset is set to a quantile of the training scores.

    Parameters
    ----------
    kernel : kernel, name or callable, default="gaussian"
    C : float, default=10.0
        Cost of being outside. Small values give equal weights, a Parzen estimate.
    contamination : float in (0, 0.5] or "auto", default=0.1
        Share of the training objects that are marked; "auto" keeps the published offset.
    solver : "core" or CoreSetSolver, default="core"
        How the core set grows, and how accurate it is: see :class:`CoreSetSolver`.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    expansion_ : Expansion
        The scores, before the offset.
    support_, objects_, dual_coef_ : training objects with weight, and their weights.
    offset_ : float
    gap_, objective_, n_core_ : how close to the optimum, and from how many points.

    See Also
    --------
    sklearn.svm.OneClassSVM : slack that is not squared.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import CoreVectorOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> detector = CoreVectorOutlierDetector(random_state=0).fit(X)
    >>> detector.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "C": COST,
        "contamination": real(0, 0.5, include_low=False) | choice("auto"),
    }
    solver_defaults = CoreSetSolver(epsilon=0.01, stop="relative", batch_size=None, max_core=2000)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 10.0,
        contamination: Any = 0.1,
        solver: Any = "core",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.contamination = contamination
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "CoreVectorOutlierDetector":
        """Learn where the objects ``X`` are; return self."""
        cost = float(self.C)
        automatic = isinstance(self.contamination, str) and self.contamination == "auto"
        solver, rng = self._check_solver(), self._check_seed()
        X = self._check_objects(X, reset=True)
        n = n_objects(X)
        kernel = as_kernel(self.kernel).resolve(X)
        columns = kernel_columns(kernel, X, solver, self)
        problem = KernelProblem(columns, np.ones(n), 0.0, np.full(n, 1 / cost), np.zeros(n))
        start: IntArray = np.array([rng.randint(n)])
        found = self._solve(solver, problem, start, rng)
        self._judge([found])
        expansion = single_expansion(kernel, X, found.indices, found.weights)
        self.expansion_, self.support_ = expansion, found.indices
        self.gap_, self.objective_, self.n_core_ = found.gap, found.objective, found.n_core
        self.offset_ = found.objective
        if not automatic:
            self.offset_ = float(np.quantile(expansion(X)[:, 0], self.contamination))
        return self

    def _fit_blocks(self, X: Any, y: Any = None) -> "CoreVectorOutlierDetector":
        """The same from objects that are read block by block; all of them certify it."""
        if isinstance(X, np.memmap):
            return self.fit(np.asarray(X))
        rows, kernel = self._open_blocks(X)
        machine = clone(self).set_params(kernel=kernel, contamination="auto")
        fitted, numbers, gaps = fit_core_sets(rows, CoreSets(machine, _support, _below), _slack)
        take_over(self, fitted)
        self.support_, self.gap_ = numbers[fitted.support_], float(gaps[0])
        if not isinstance(self.contamination, str):
            scores = gather(rows, _scores, state=self.expansion_)
            self.offset_ = float(np.quantile(scores, self.contamination))
        return self

    def score_samples(self, X: Any) -> Array:
        """Return how typical each object is; higher is more so."""
        check_is_fitted(self)
        return self.expansion_(self._check_objects(X, reset=False))[:, 0]

    def decision_function(self, X: Any) -> Array:
        """Return the scores less the offset: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Return 1 for what looks like the training data and -1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)


def _support(detector: CoreVectorOutlierDetector) -> IntArray:
    return detector.support_


def _below(detector: CoreVectorOutlierDetector, X: Any, y: Any) -> Array:
    """How far the scores are below that of the solution, in units of the gap, (n, 1)."""
    return 2 * (detector.objective_ - detector.expansion_(X))


def _slack(detector: CoreVectorOutlierDetector) -> Array:
    return np.array([accuracy(detector) * detector.objective_])


def _scores(X: Any, *, state: Expansion) -> Array:
    return state(checked_block(state.kernel, X))[:, 0]
