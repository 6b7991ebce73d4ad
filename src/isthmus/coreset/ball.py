"""The smallest ball around all points, in any feature space."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from isthmus._parameters import Constraint, real
from isthmus.coreset.base import CoreMachine, kernel_columns, single_expansion
from isthmus.coreset.in_blocks import CoreSets, fit_core_sets, take_over
from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.program import gram_column
from isthmus.coreset.solver import CoreSetSolver, as_core_solver
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.typing import Array, BoolArray, IntArray


class MinimumEnclosingBall(CoreMachine):
    r"""The smallest ball that contains all objects, in the feature space of a kernel.

    :math:`\min_{c,R}R^2` under :math:`\|\varphi(x_i)-c\|\le R`. Its centre is
    :math:`\sum_i\alpha_i\varphi(x_i)` with weights that minimise
    :math:`\alpha^\top K\alpha-\sum_i\alpha_iK_{ii}` over the simplex. A core set of at most
    :math:`2/\epsilon+2` points has a ball whose :math:`(1+\epsilon)`-fold contains all points,
    however many there are and in however many dimensions [Badoiu2008]_.

    Parameters
    ----------
    epsilon : float, default=1e-3
        All points are within ``1 + epsilon`` radii of the centre; 0 is exact. Short for
        ``CoreSetSolver(epsilon=...)``, which takes precedence.
    kernel : kernel, name or callable, default="linear"
    solver : "core" or CoreSetSolver, default="core"
        How the core set grows: see :class:`CoreSetSolver`. It stops by the radius.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    radius_ : float
        Radius of the ball of the core set. The radius of the smallest ball around all objects is
        at least this, and at most ``1 + epsilon`` times it.
    expansion_ : Expansion
        The centre, as a function of objects.
    center_ : ndarray of shape (n_features,)
        The centre as a vector, with the linear kernel.
    core_indices_ : ndarray
        Indices of the training objects that carry weight, ``objects_``; their weights are
        ``dual_coef_``.
    n_core_ : int
        Number of objects that were ever in the core set.
    gap_ : float
        Bound on how much larger the squared radius of the smallest ball is.
    radii_ : list of float
        The radius after every step; it grows.
    epsilon_ : float
        The accuracy that was asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import MinimumEnclosingBall
    >>> ball = MinimumEnclosingBall(epsilon=0.0).fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> round(ball.radius_, 6), ball.center_.round(6)
    (1.0, array([1., 0.]))
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "epsilon": real(0, 1),
    }
    solver_defaults = CoreSetSolver(epsilon=1e-3, stop="radius", batch_size=1, max_core=None)

    def __init__(
        self,
        *,
        epsilon: float = 1e-3,
        kernel: Any = "linear",
        solver: Any = "core",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.epsilon = epsilon
        self.kernel = kernel
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    @property
    def center_(self) -> Array:
        """The centre as a vector, with the linear kernel."""
        if not isinstance(self.kernel_, Linear):
            raise AttributeError(
                f"MinimumEnclosingBall has a center_ with the linear kernel only. Its kernel is "
                f"{self.kernel_!r:.60}; distances(X) measures from the centre."
            )
        return self.dual_coef_ @ np.asarray(self.objects_)

    def _check_solver(self) -> CoreSetSolver:
        defaults = replace(self.solver_defaults, epsilon=float(self.epsilon))
        solver = as_core_solver(self.solver, self, defaults)
        if solver.stop != "radius":
            raise ValueError(
                "MinimumEnclosingBall stops by the radius: its objective depends on the origin. "
                f"Got CoreSetSolver(stop={solver.stop!r}); leave it at 'auto'."
            )
        return solver

    def fit(self, X: Any, y: Any = None) -> "MinimumEnclosingBall":
        """Find the ball around the objects ``X``; return self."""
        solver, rng = self._check_solver(), self._check_seed()
        X = self._check_objects(X, reset=True)
        kernel = as_kernel(self.kernel).resolve(X)
        n = n_objects(X)
        # Around its middle and in its own units a cloud of vectors has the same ball, and digits.
        unit, inside = _own_units(X) if isinstance(kernel, Linear) else (1.0, X)
        lengths = np.asarray(kernel.diag(inside), dtype=float)
        if not np.isfinite(lengths).all():
            raise ValueError(
                "MinimumEnclosingBall: k(x, x) is not finite for object "
                f"{int(np.flatnonzero(~np.isfinite(lengths))[0])}. Scale the data."
            )
        columns = kernel_columns(kernel, inside, solver, self)
        problem = KernelProblem(columns, np.ones(n), 0.0, np.zeros(n), -lengths)
        first = int(rng.randint(n))
        from_first = lengths - 2 * gram_column(problem, first)
        start = np.unique([first, int(from_first.argmax())])
        found = self._solve(solver, problem, start, rng)
        self._judge([found])
        self.expansion_ = single_expansion(kernel, X, found.indices, found.weights)
        self.core_indices_, self.epsilon_ = found.indices, solver.epsilon
        self.radius_ = unit * float(np.sqrt(found.squared_radius))
        self.gap_, self.n_core_ = unit**2 * found.gap, found.n_core
        self.radii_ = [unit * radius for radius in found.radii]
        return self

    def _fit_blocks(self, X: Any, y: Any = None) -> "MinimumEnclosingBall":
        """The ball around objects that are read block by block; all of them certify it."""
        if isinstance(X, np.memmap):
            return self.fit(np.asarray(X))
        rows, kernel = self._open_blocks(X)
        sets = CoreSets(clone(self).set_params(kernel=kernel), _core_of, _outside)
        fitted, numbers, gaps = fit_core_sets(rows, sets, _slack)
        take_over(self, fitted)
        self.core_indices_, self.gap_ = numbers[fitted.core_indices_], float(gaps[0])
        return self

    def distances(self, X: Any) -> Array:
        """Return the distances of objects from the centre, (n,)."""
        check_is_fitted(self)
        X = self._check_objects(X, reset=False)
        return np.sqrt(self._squared_distances(X)[0])

    def contains(self, X: Any) -> BoolArray:
        """Return whether objects are in the ball of ``1 + epsilon`` radii."""
        check_is_fitted(self)
        squared, rounding = self._squared_distances(self._check_objects(X, reset=False))
        radius = (1 + self.epsilon_) * self.radius_
        return squared <= radius**2 * (1 + 1e-9) + rounding

    def _squared_distances(self, X: Any) -> tuple[Array, Array]:
        """Squared distances from the centre, and how far rounding may have moved them."""
        eps = 64 * np.finfo(float).eps
        if isinstance(self.kernel_, Linear):
            center = self.center_
            apart = np.asarray(X, dtype=float) - center
            error = eps * np.maximum(np.abs(X).max(axis=1), np.abs(center).max())
            return np.einsum("ij,ij->i", apart, apart), error**2
        inner = self.expansion_(X)[:, 0]
        lengths = np.asarray(self.kernel_.diag(X), dtype=float)
        center_length = self.expansion_.squared_norms()[0]
        squared = lengths - 2 * inner + center_length
        return np.maximum(squared, 0.0), eps * (np.abs(lengths) + center_length)


def _core_of(ball: MinimumEnclosingBall) -> IntArray:
    return ball.core_indices_


def _outside(ball: MinimumEnclosingBall, X: Any, y: Any) -> Array:
    """Squared distances from the centre beyond the squared radius, (n, 1)."""
    return (ball.distances(X) ** 2 - ball.radius_**2)[:, None]


def _slack(ball: MinimumEnclosingBall) -> Array:
    # Rounding errors of distances are no violations.
    return np.array([((1 + ball.epsilon_) ** 2 - 1 + 1e-9) * ball.radius_**2])


def _own_units(X: Array) -> tuple[float, Array]:
    """The extent of a cloud, and the cloud around its middle in these units."""
    Z = np.asarray(X, dtype=float)
    Z = Z - (Z.min(axis=0) / 2 + Z.max(axis=0) / 2)
    unit = float(np.abs(Z).max()) or 1.0
    return unit, Z / unit
