"""Support vector regression on a core set."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_float, check_length, former_fit_kept
from isthmus.coreset.base import CoreMachine
from isthmus.coreset.engine import CoreSolution
from isthmus.coreset.problems import KernelProblem
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
    epsilon : float, default=0.01
        Accuracy at which the core set stops growing.
    stop : {"relative", "radius"}, default="relative"
        "relative": ``epsilon`` is the gap as a share of the quadratic term. "radius": it is that of
        the ball, as published; a useful machine then needs a very small one.
    search : {"auto", "exact", "sample"}, default="auto"
    batch : int or None, default=None
    max_core : int or None, default=2000
    cache_size : float, default=200.0
        How the core set grows: see "The engine" in the guide on core sets.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    support_, objects_, dual_coef_ : training objects with weight, and their coefficients.
    intercept_ : float
    tube_ : float
        Half the width of the tube.
    weight_ : float
        W as it was used, for targets of unit variance.
    gap_, objective_, n_core_ : how near the optimum, and from how many points.

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

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 10.0,
        tube: float | None = 0.1,
        weight: float = 1.0,
        fit_intercept: bool = True,
        epsilon: float = 0.01,
        stop: str = "relative",
        search: str = "auto",
        batch: int | None = None,
        max_core: int | None = 2000,
        cache_size: float = 200.0,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.tube = tube
        self.weight = weight
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.stop = stop
        self.search = search
        self.batch = batch
        self.max_core = max_core
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "CoreVectorRegressor":
        """Learn the function from objects ``X`` to numbers ``y``; return self."""
        if y is None:
            raise ValueError(
                "CoreVectorRegressor requires y to be passed, but the target y is None."
            )
        cost = check_float(self.C, "C", self, include_low=False)
        engine = self._checked_engine()
        with former_fit_kept(self):
            X = self._checked_objects(X, reset=True)
            y = column_or_1d(y, warn=True)
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
            n = n_objects(X)
            check_length(self, n, len(y), what="targets as objects")
            kernel = as_kernel(self.kernel).resolve(X)
            center = float(y.mean()) if self.fit_intercept else 0.0
            scale = float(y.std()) or 1.0
            t = (y - center) / scale
            signs = np.repeat([1.0, -1.0], n)
            bias = 1.0 if self.fit_intercept else 0.0
            shifts = np.full(2 * n, 1 / cost)
            start = np.array([int(t.argmax()), n + int(t.argmin())])

            columns = self._columns(kernel, X)

            def solved(weight: float) -> tuple[CoreSolution, float]:
                nonlocal start
                v = -2 / weight * np.concatenate([t, -t])
                problem = KernelProblem(columns, signs, bias, shifts, v)
                found = self._solved(problem, start, **engine)
                start = found.indices  # the next weight needs nearly the same points
                return found, _tube(found, v, weight)

            if self.tube is None:
                weight = check_float(self.weight, "weight", self, include_low=False)
                found, tube = solved(weight)
            else:
                weight, found, tube = _with_tube(solved, check_float(self.tube, "tube", self), 1.0)
            self._judged([found])
        coefficients = weight * scale * found.weights * signs[found.indices]
        support, where = np.unique(found.indices % n, return_inverse=True)
        dual = np.zeros(len(support))
        np.add.at(dual, where, coefficients)
        self.kernel_, self.support_ = kernel, support
        self.objects_, self.dual_coef_ = kernel.reference(X, support), dual
        self.intercept_ = float(dual.sum()) + center if self.fit_intercept else 0.0
        self.tube_, self.weight_ = max(tube, 0.0) * scale, weight
        self.gap_, self.objective_, self.n_core_ = found.gap, found.objective, found.n_core
        return self

    def predict(self, X: Any) -> Array:
        """Return the numbers for the objects ``X``."""
        check_is_fitted(self)
        X = self._checked_objects(X, reset=False)
        return self._expansion_values(X, self.dual_coef_) + self.intercept_


def _with_tube(
    solved: Callable[[float], tuple[CoreSolution, float]], wanted: float, weight: float
) -> tuple[float, CoreSolution, float]:
    """A weight whose tube is nearly as wide as wanted; the wider the tube, the smaller."""
    low, high = 0.0, np.inf  # weights that were too small and too large
    found, tube = solved(weight)
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
        found, tube = solved(weight)
    return weight, found, tube


def _tube(found: CoreSolution, v: Array, weight: float) -> float:
    """Half the width of the tube, from the quadratic and the linear part of the objective."""
    linear = float(v[found.indices] @ found.weights)
    quadratic = found.objective - linear
    return weight * (-linear / 2 - quadratic)
