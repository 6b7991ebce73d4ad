"""Support vector regression on a core set."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_length, name_of
from isthmus._parameters import Constraint, boolean, none, real
from isthmus._warnings import warn
from isthmus.blocks.fitting import plain_arrays, require_outputs
from isthmus.blocks.moments import Moments, map_block, merge
from isthmus.blocks.rows import Rows
from isthmus.coreset.base import COST, CoreMachine, kernel_columns, single_expansion
from isthmus.coreset.columns import KernelColumns
from isthmus.coreset.in_blocks import CoreSets, accuracy, fit_core_sets, take_over
from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.program import CoreSolution
from isthmus.coreset.solver import CoreSetSolver
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray


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
        self._learn_columns(X, y)
        return self

    def _learn_columns(self, X: Any, y: Any) -> KernelColumns:
        """What :meth:`fit` does; the kernel columns that it has left."""
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
        center, scale = self._units(y)
        t = (y - center) / scale
        signs = np.repeat([1.0, -1.0], n)
        bias = 1.0 if self.fit_intercept else 0.0
        shifts = np.full(2 * n, 1 / cost)
        start = np.array([int(t.argmax()), n + int(t.argmin())])
        if kernel.vectors:
            _tell_what_vanishes(self, kernel.diag(X), 1 / cost)

        columns = kernel_columns(kernel, X, solver, self)

        def solve(weight: float, wanted: float | None = None) -> tuple[CoreSolution, float]:
            nonlocal start
            v = -2 / weight * np.concatenate([t, -t])
            problem = KernelProblem(columns, signs, bias, shifts, v)
            decided = None if wanted is None else partial(_is_decided, weight, wanted)
            found = self._solve(solver, problem, start, rng, decided=decided)
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
        self._tube = tube
        self.gap_, self.objective_, self.n_core_ = found.gap, found.objective, found.n_core
        return columns

    def _fitted_values(self, X: Any, y: Any) -> Array:
        """Learn, and return the numbers for the same objects, from kernels that are known."""
        columns = self._learn_columns(X, y)
        if not columns.watches_all:
            return self.predict(X)
        return columns.sums(self.support_, self.dual_coef_) + self.intercept_

    def _units(self, y: Array) -> tuple[float, float]:
        """Where targets are counted from, and in what unit."""
        center = float(y.mean()) if self.fit_intercept else 0.0
        peak = float(np.abs(y - y.mean()).max()) or 1.0  # so that no square overflows or vanishes
        return center, peak * float(((y - y.mean()) / peak).std()) or 1.0

    def _fit_blocks(self, X: Any, y: Any = None) -> "CoreVectorRegressor":
        """The same from objects that are read block by block; all of them certify it."""
        arrays = plain_arrays(X, y)
        if arrays is not None:
            return self.fit(*arrays)
        rows, kernel = self._open_blocks(X, y, raw=())
        require_targets(self, rows)
        moments = rows.fold(_target_moments, merge)
        center = float(moments.mean[0]) if self.fit_intercept else 0.0
        scale = float(np.sqrt(moments.scatter[0, 0] / moments.count)) or 1.0
        machine = UnitTargets(**self.get_params(deep=False)).set_params(kernel=kernel)
        sets = CoreSets(machine, _support, _violations)
        fitted, numbers, gaps = fit_core_sets(
            rows.mapped(_Standardized(center, scale)), sets, _slack
        )
        take_over(self, fitted)
        found = fitted.expansion_
        self.expansion_ = Expansion(
            kernel, found.objects, scale * found.weights, scale * found.offset + center
        )
        self.support_, self.gap_ = numbers[fitted.support_], float(gaps[0])
        self.tube_ = scale * fitted.tube_
        return self

    def predict(self, X: Any) -> Array:
        """Return the numbers for the objects ``X``."""
        check_is_fitted(self)
        return self.expansion_(self._check_objects(X, reset=False))[:, 0]


class UnitTargets(CoreVectorRegressor):
    """The machine for targets that were standardised over all rows: taken as they come."""

    def _units(self, y: Array) -> tuple[float, float]:
        return 0.0, 1.0

    def violations(self, X: Any, t: Any) -> Array:
        r"""How far targets are outside the tube, :math:`\frac2W(|t-f(x)|-e)`: (n, 1).

        This is what a row would take off the objective at most, the linear part of it.
        """
        outside = np.abs(self.expansion_(X)[:, 0] - t) - self._tube
        return (2 / self.weight_ * outside)[:, None]

    def allowed(self) -> Array:
        """The gap at which the solver is accurate enough, a share of the quadratic part."""
        quadratic = self.objective_ + 2 * self._tube / self.weight_
        return np.array([accuracy(self) * abs(quadratic)])


def _tell_what_vanishes(owner: CoreVectorRegressor, lengths: Array, shift: float) -> None:
    """Warn where rounding of the largest kernel swallows what is added to the matrix."""
    largest = float(np.max(lengths))
    added = {"1/C": shift} | ({"the constant": 1.0} if owner.fit_intercept else {})
    lost = [name for name, size in added.items() if size < np.finfo(float).eps * largest]
    if lost:
        what = f"{' and '.join(lost)} {'vanish' if lost[1:] else 'vanishes'}"
        warn(
            f"{name_of(owner)}: k(x, x) is up to {largest:.2g}, beside which {what} in rounding, "
            "so that the function may be far from the best one. Scale the columns first, with "
            "StandardScaler for example, or take a kernel of smaller values."
        )


def _support(machine: UnitTargets) -> IntArray:
    return machine.support_


def _violations(machine: UnitTargets, X: Any, t: Any) -> Array:
    return machine.violations(X, np.asarray(t))


def _slack(machine: UnitTargets) -> Array:
    return machine.allowed()


def require_targets(owner: Any, rows: Rows) -> None:
    """Refuse rows without targets, or with several for each."""
    require_outputs(owner, rows)
    if (rows.checks[1].width or 1) > 1:
        raise ValueError(
            f"{name_of(owner)} takes one target for each row: expected blocks of one column in y. "
            f"Got {rows.checks[1].width} columns."
        )


@dataclass(frozen=True)
class _Standardized:
    center: float
    scale: float

    def __call__(self, X: Any, y: Any) -> tuple[Any, Array]:
        return X, (_column(y) - self.center) / self.scale


def _column(y: Any) -> Array:
    return np.asarray(y, dtype=np.float64).reshape(-1)


def _target_moments(X: Any, y: Any) -> Moments:
    return map_block(_column(y)[:, None])


def _find_weight(
    solve: Callable[[float, float | None], tuple[CoreSolution, float]],
    wanted: float,
    weight: float,
) -> tuple[float, CoreSolution, float]:
    """The weight whose tube has nearly the wanted width; a larger weight has a narrower tube.

    ``solve(weight, wanted)`` need solve no further than to where the tube is surely too wide or too
    narrow; ``solve(weight, None)`` solves to the end.
    """
    low, high = 0.0, np.inf  # weights that were too small and too large
    found, tube = solve(weight, wanted)
    for _ in range(40):
        if _is_wide(tube, wanted):
            low = weight
        elif _is_narrow(tube, wanted):
            high = weight
        else:
            return weight, found, tube
        if np.isinf(high):
            weight *= 4
        else:
            weight = np.sqrt(low * high) if low else weight / 4
        if low and high / low < 1.001:
            break
        found, tube = solve(weight, wanted)
    found, tube = solve(weight, None)  # none has that width: the tube jumps
    return weight, found, tube


def _is_wide(tube: float, wanted: float) -> bool:
    return tube > max(wanted, 0.01)


def _is_narrow(tube: float, wanted: float) -> bool:
    return tube < 0.5 * wanted - 1e-9 or tube < 0


def _is_decided(
    weight: float, wanted: float, quadratic: float, objective: float, gap: float
) -> bool:
    narrowest, widest = _tube_bounds(weight, quadratic, objective, gap)
    return _is_wide(narrowest, wanted) or _is_narrow(widest, wanted)


def _tube_bounds(
    weight: float, quadratic: float, objective: float, gap: float
) -> tuple[float, float]:
    r"""What half the width of the tube is at the optimum, at least and at most.

    It is :math:`-\frac W2(D+q)` of the objective D and its quadratic part q. D is above the optimum
    by at most the gap, and so is the squared distance of the two centres, of lengths
    :math:`\sqrt q`.
    """
    length, apart = np.sqrt(max(quadratic, 0.0)), np.sqrt(gap)
    least = -0.5 * weight * (objective + (length + apart) ** 2)
    most = -0.5 * weight * (objective - gap + max(length - apart, 0.0) ** 2)
    return least, most


def _tube(found: CoreSolution, v: Array, weight: float) -> float:
    """Half the width of the tube, from the quadratic and the linear part of the objective."""
    linear = float(v[found.indices] @ found.weights)
    quadratic = found.objective - linear
    return weight * (-linear / 2 - quadratic)
