"""Support vector regression on a core set."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_length
from isthmus._parameters import Constraint, boolean, none, real
from isthmus.coreset.base import COST, CoreMachine, kernel_columns, single_expansion
from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.program import CoreSolution
from isthmus.coreset.solver import CoreSetSolver
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array


class CoreVectorRegressor(RegressorMixin, CoreMachine):
    r"""Regression with a tube, learned on a core set.

    :math:`\min\frac12(\|w\|^2+b^2)+\frac C2\sum_i(\xi_i^2+\xi_i^{*2})+We` under
    :math:`|y_i-f(x_i)|\le e+\xi_i` on either side. The half width e of the tube is a result, and
    the published weight :math:`W=1` bounds :math:`|f|` by :math:`\max k+1` whatever C. Here W
    is raised or lowered until e is the width that was asked for. For a linear kernel it is
    ``LinearSVR(loss="squared_epsilon_insensitive", epsilon=tube_, C=C/2)``.

    Parameters
    ----------
    kernel : kernel, name or callable, default="gaussian"
    C : float, default=10.0
        Cost of being outside the tube, for targets of unit variance.
    tube : float or None, default=0.1
        Half the width of the tube, in units of the targets' standard deviation: at most this,
        and at least half of it. None takes ``weight``.
    weight : float, default=1.0
        W itself, where ``tube`` is None; 1 is as published.
    fit_intercept : bool, default=True
        Whether there is a constant b.
    solver : "core" or CoreSetSolver, default="core"
        How the core set grows, and how accurate it is: see :class:`CoreSetSolver`.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    expansion_ : Expansion
        The function.
    support_, objects_, dual_coef_ : training objects with weight, and their coefficients.
    intercept_ : float
    tube_ : float
        Half the width of the tube.
    weight_ : float
        W as it was used, for targets of unit variance.
    gap_, objective_, n_core_ : how close to the optimum, and from how many points.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import CoreVectorRegressor
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> model = CoreVectorRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "C": COST,
        "tube": real(0) | none,
        "weight": real(0, include_low=False),
        "fit_intercept": boolean,
    }
    solver_defaults = CoreSetSolver(epsilon=0.01, stop="relative", batch_size=None, max_core=2000)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 10.0,
        tube: float | None = 0.1,
        weight: float = 1.0,
        fit_intercept: bool = True,
        solver: Any = "core",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.tube = tube
        self.weight = weight
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    @property
    def intercept_(self) -> float:
        """The constant."""
        return float(self.expansion_.offset[0])

    def fit(self, X: Any, y: Any) -> "CoreVectorRegressor":
        """Learn the function from objects ``X`` to numbers ``y``; return self."""
        if y is None:
            raise ValueError(
                "CoreVectorRegressor requires y to be passed, but the target y is None."
            )
        cost = float(self.C)
        solver, rng = self._check_solver(), self._check_seed()
        X = self._check_objects(X, reset=True)
        y = column_or_1d(y, warn=True)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        n = n_objects(X)
        check_length(self, n, len(y), what="targets as objects")
        kernel = as_kernel(self.kernel).resolve(X)
        center = float(y.mean()) if self.fit_intercept else 0.0
        peak = float(np.abs(y - y.mean()).max()) or 1.0  # so that no square overflows or vanishes
        scale = peak * float(((y - y.mean()) / peak).std()) or 1.0
        t = (y - center) / scale
        signs = np.repeat([1.0, -1.0], n)
        bias = 1.0 if self.fit_intercept else 0.0
        shifts = np.full(2 * n, 1 / cost)
        start = np.array([int(t.argmax()), n + int(t.argmin())])

        columns = kernel_columns(kernel, X, solver, self)

        def solve(weight: float) -> tuple[CoreSolution, float]:
            nonlocal start
            v = -2 / weight * np.concatenate([t, -t])
            problem = KernelProblem(columns, signs, bias, shifts, v)
            found = self._solve(solver, problem, start, rng)
            start = found.indices  # the next weight needs nearly the same points
            return found, _tube(found, v, weight)

        if self.tube is None:
            weight = float(self.weight)
            found, tube = solve(weight)
        else:
            weight, found, tube = _find_weight(solve, float(self.tube), 1.0)
        self._judge([found])
        coefficients = weight * scale * found.weights * signs[found.indices]
        support, where = np.unique(found.indices % n, return_inverse=True)
        dual = np.zeros(len(support))
        np.add.at(dual, where, coefficients)
        intercept = float(dual.sum()) + center if self.fit_intercept else 0.0
        self.support_ = support
        self.expansion_ = single_expansion(kernel, X, support, dual, intercept)
        self.tube_, self.weight_ = max(tube, 0.0) * scale, weight
        self.gap_, self.objective_, self.n_core_ = found.gap, found.objective, found.n_core
        return self

    def predict(self, X: Any) -> Array:
        """Return the numbers for the objects ``X``."""
        check_is_fitted(self)
        return self.expansion_(self._check_objects(X, reset=False))[:, 0]


def _find_weight(
    solve: Callable[[float], tuple[CoreSolution, float]], wanted: float, weight: float
) -> tuple[float, CoreSolution, float]:
    """The weight whose tube has nearly the wanted width; a larger weight has a narrower tube."""
    low, high = 0.0, np.inf  # weights that were too small and too large
    found, tube = solve(weight)
    for _ in range(40):
        if tube > max(wanted, 0.01):
            low = weight
        elif tube < 0.5 * wanted - 1e-9 or tube < 0:
            high = weight
        else:
            break
        if np.isinf(high):
            weight *= 4
        else:
            weight = np.sqrt(low * high) if low else weight / 4
        if low and high / low < 1.001:
            break
        found, tube = solve(weight)
    return weight, found, tube


def _tube(found: CoreSolution, v: Array, weight: float) -> float:
    """Half the width of the tube, from the quadratic and the linear part of the objective."""
    linear = float(v[found.indices] @ found.weights)
    quadratic = found.objective - linear
    return weight * (-linear / 2 - quadratic)
