"""Pre-images by gradient descent."""

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._parameters import Constraint, choice, integer, none, real, several, verbosity
from isthmus._warnings import warn
from isthmus.kernels.objects import n_objects
from isthmus.optimize.batched_lbfgs import minimize_rows
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.restarts import SHARE_GOING, best_of_restarts, find_starts
from isthmus.typing import Array, Objects


class GradientPreimage(BasePreimage):
    r"""Minimise :math:`\|\varphi(z)-\Psi\|^2` over :math:`z` by quasi-Newton iterations.

    Works for every kernel with a gradient. All points are optimised at once by L-BFGS, each with
    its own step length and memory; an iteration costs O(n m d), whatever the number of components,
    since :math:`\Psi` is one expansion.

    Parameters
    ----------
    criterion : {"full", "coord"}, default="full"
        Distance of images, or of their coordinates.
    n_init : int, default=2
        Number of starting points: the training objects nearest in coordinates.
    bounds : (low, high) or None, default=None
        Bounds on the entries of objects, such as (0, 1) for pixels.
    tol : float, default=1e-6
        Largest entry of the projected gradient, relative to that at the start.
    max_iter : int, default=200
        Maximum number of iterations.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.kernels import Polynomial
    >>> from isthmus.preimage import GradientPreimage
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> pca = KernelPCA(kernel=Polynomial(2)).fit(X)
    >>> Z = GradientPreimage().fit(X, pca).solve(pca.transform(X[:3]))
    >>> bool(np.abs(Z - X[:3]).max() < 1e-4)
    True
    """

    __module__ = "isthmus.preimage"

    needs = frozenset({"vectors", "expansion", "gradient"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "criterion": choice("full", "coord"),
        "n_init": integer(1),
        "bounds": several(real() | none, length=2) | none,
        "tol": real(0, include_low=False),
        "max_iter": integer(1),
        "verbose": verbosity,
    }

    def __init__(
        self,
        criterion: str = "full",
        *,
        n_init: int = 2,
        bounds: tuple[float, float] | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        verbose: int = 0,
    ):
        self.criterion = criterion
        self.n_init = n_init
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        if self.bounds is not None and not (
            len(self.bounds) == 2 and self.bounds[0] < self.bounds[1]
        ):
            raise ValueError(
                "The 'bounds' parameter of GradientPreimage must be a pair (low, high) with "
                f"low < high, or None. Got {self.bounds!r} instead."
            )

    def _numbers_per_query(self) -> int:
        # Kernel row, its weights and gradient; steps and slopes in the memory of the solver.
        n, d = n_objects(self.feature_map_.axes_.objects), self.objects_.shape[1]
        return self.n_init * (4 * n + 24 * d)

    def _operations(self, n_queries: int) -> float:
        return SHARE_GOING * 2.0 * n_queries * self.objects_.size

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        starts = find_starts(self, coordinates, start, self.n_init)
        n, n_init, d = starts.shape
        Z = starts.reshape(n * n_init, d)
        queries = np.repeat(coordinates, n_init, axis=0)
        objective = full_distance if self.criterion == "full" else coordinate_distance
        # In units of their spread, so that the units of the objects do not matter.
        unit = spread_unit(self.objects_)
        bounds = None
        if self.bounds is not None:
            bounds = self.bounds[0] / unit, self.bounds[1] / unit
        result = minimize_rows(
            in_units(objective(self.feature_map_, queries), unit),
            Z / unit,
            bounds=bounds,
            tol=self.tol,
            max_iter=self.max_iter,
            verbose=self.verbose,
        )
        if not result.converged.all():
            warn(
                f"GradientPreimage: {result.message}. Raise max_iter, or scale the objects.",
                ConvergenceWarning,
            )
        return best_of_restarts(self, coordinates, unit * result.x.reshape(n, n_init, -1))


def spread_unit(X: Array) -> float:
    """A power of two close to the spread of the rows: dividing by it causes no rounding.

    >>> spread_unit(np.array([[0.0], [10.0]]))
    4.0
    """
    spread = float(np.sqrt(np.mean((X - X.mean(axis=0)) ** 2)))
    return float(2.0 ** np.round(np.log2(spread))) if spread > 0 else 1.0


def in_units(objective: Any, unit: float) -> Any:
    """The objective as a function of points divided by ``unit``."""

    def in_unit(Z: Array, rows: Array) -> tuple[Array, Array]:
        value, gradient = objective(unit * Z, rows)
        return value, unit * gradient

    return in_unit


def full_distance(feature_map: Any, coordinates: Array) -> Any:
    r"""Value and gradient of :math:`k(z,z)-2\sum_ja_jk(x_j,z)` for rows of points."""
    kernel, X = feature_map.axes_.kernel, feature_map.axes_.objects
    a = feature_map.expand(coordinates)

    def value_and_gradient(Z: Array, rows: Array) -> tuple[Array, Array]:
        K = kernel.gram(Z, X)
        A = a[rows]
        value = kernel.diag(Z) - 2 * np.einsum("ij,ij->i", A, K)
        return value, kernel.diag_gradient(Z) - 2 * kernel.weighted_gradient(Z, X, A, K)

    return value_and_gradient


def coordinate_distance(feature_map: Any, coordinates: Array) -> Any:
    r"""Value and gradient of :math:`\|c(z)-\beta\|^2` for rows of points."""
    axes = feature_map.axes_
    kernel, X, B = axes.kernel, axes.objects, axes.weights

    def value_and_gradient(Z: Array, rows: Array) -> tuple[Array, Array]:
        K = kernel.gram(Z, X)
        residual = K @ B + axes.offset - coordinates[rows]
        value = np.einsum("ij,ij->i", residual, residual)
        return value, kernel.weighted_gradient(Z, X, 2 * residual @ B.T, K)

    return value_and_gradient
