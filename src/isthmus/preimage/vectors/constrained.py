"""Pre-images within limits: boxes, joint ranges, any set onto which one can project."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from isthmus._parameters import Constraint, choice, condition, function, integer, none, real
from isthmus._warnings import warn
from isthmus.kernels.objects import n_objects
from isthmus.kernels.points import axes_and_origin
from isthmus.optimize.levenberg_marquardt import least_squares_rows
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.restarts import best_of_restarts, find_starts
from isthmus.preimage.vectors.projected import Projection, minimize_in_set
from isthmus.typing import Array, BoolArray, Objects

# Points (m, d) to values (m, r) and Jacobians (m, r, d).
CoordinateModel = Callable[[Array], tuple[Array, Array]]
STALLED = 0.01  # a step of a path that gains a smaller share of the rest halves the proximity

A_PAIR = condition(
    "a pair (low, high)",
    lambda value: isinstance(value, (Sequence, np.ndarray)) and len(value) == 2,
)
LIMITS = condition(
    "an object with lower and upper",
    lambda value: (
        hasattr(value, "lower") and hasattr(value, "upper") and not isinstance(value, str)
    ),
)


class ConstrainedPreimage(BasePreimage):
    r"""Minimise :math:`\|c(z)-\beta\|^2+\lambda\|z-z_0\|^2` over the allowed objects.

    :math:`c(z)=B^\top(k(z)-b)` are coordinates in a kernel feature map, whose Jacobian is
    :math:`B^\top\partial k(z)/\partial z`: a least-squares problem, solved by damped Gauss-Newton
    iterations for all points at once. The second term keeps the solution close to a given object,
    such as the posture that an arm is in; repeated solutions then form a path of small steps.

    Parameters
    ----------
    constraint : None, (low, high), object with ``lower`` and ``upper``, or callable
        A box, given by numbers or by one bound per entry; the joint limits of an arm, given as a
        :class:`~isthmus.robotics.KinematicChain`; or a function that maps rows to the nearest
        points of the allowed set (then by projected gradients, which take more iterations).
    proximity : float or "auto", default=0.0
        :math:`\lambda`. ``"auto"`` is a hundredth of the median eigenvalue of
        :math:`J^\top J` at the start, separately for every point.
    criterion : {"coord", "full"}, default="coord"
        Distance of coordinates, or of whole images: the latter includes the part of
        :math:`\varphi(z)` outside the axes, which excludes vectors far from all objects.
    n_init : int, default=2
        Number of starting points: the training objects nearest in coordinates, each its own
        :math:`z_0`; the best result is taken.
    tol : float, default=1e-10
        Relative decrease of the objective, or length of a projected step, at which to stop.
    max_iter : int, default=100
        Maximum number of Gauss-Newton iterations; projected gradients may take ten times as many.

    Examples
    --------
    Points of the circle, from kernel components of the plane:

    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.kernels import Gaussian
    >>> from isthmus.preimage import ConstrainedPreimage
    >>> angle = np.linspace(0, 6, 40)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> pca = KernelPCA(5, kernel=Gaussian(0.5)).fit(X)
    >>> def on_circle(Z):
    ...     return Z / np.linalg.norm(Z, axis=1, keepdims=True)
    >>> solver = ConstrainedPreimage(on_circle).fit(X, pca)
    >>> z = solver.solve(0.5 * pca.transform(X[:1]) + 0.5 * pca.transform(X[5:6]))
    >>> bool(abs(np.linalg.norm(z) - 1) < 1e-12)
    True
    >>> bool(angle[0] < np.arctan2(z[0, 1], z[0, 0]) < angle[5])
    True

    In a box:

    >>> boxed = ConstrainedPreimage((0.0, 0.5)).fit(X, pca).solve(pca.transform(X))
    >>> float(boxed.min()) >= 0, float(boxed.max()) <= 0.5
    (True, True)
    """

    __module__ = "isthmus.preimage"

    needs = frozenset({"vectors", "expansion", "gradient"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "constraint": function | A_PAIR | LIMITS | none,
        "proximity": real(0) | choice("auto"),
        "criterion": choice("coord", "full"),
        "n_init": integer(1),
        "tol": real(0, include_low=False),
        "max_iter": integer(1),
    }

    def __init__(
        self,
        constraint: Any = None,
        *,
        proximity: float | str = 0.0,
        criterion: str = "coord",
        n_init: int = 2,
        tol: float = 1e-10,
        max_iter: int = 100,
    ):
        self.constraint = constraint
        self.proximity = proximity
        self.criterion = criterion
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        low, high, projection = self._bounds_or_projection(objects)
        self._low, self._high, self._projection = low, high, projection
        self.__dict__.pop("_model", None)

    def _bounds_or_projection(self, objects: Array) -> tuple[Any, Any, Projection | None]:
        constraint, d = self.constraint, objects.shape[1]
        if constraint is None:
            return None, None, None
        if hasattr(constraint, "lower") and hasattr(constraint, "upper"):
            constraint = (constraint.lower, constraint.upper)
        elif callable(constraint):
            shape = np.shape(constraint(np.array(objects[:1])))
            if shape != (1, d):
                raise ValueError(
                    "The 'constraint' function of ConstrainedPreimage must return rows of the "
                    f"same shape, here (1, {d}). Got shape {shape} instead."
                )
            return None, None, constraint
        try:
            low, high = (np.broadcast_to(np.asarray(c, dtype=float), (d,)) for c in constraint)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "The 'constraint' parameter of ConstrainedPreimage must be None, a function, "
                f"something with lower and upper, or a pair (low, high) of numbers or of {d} "
                f"bounds each. Got {constraint!r:.60} instead."
            ) from error
        if not (low < high).all():  # NaN fails too
            j = int(np.flatnonzero(~(low < high))[0])
            raise ValueError(
                "The 'constraint' parameter of ConstrainedPreimage needs low < high for every "
                f"entry. Got {low[j]:g} and {high[j]:g} for entry {j}."
            )
        return low, high, None

    def _numbers_per_query(self) -> int:
        n, r = n_objects(self.feature_map_.axes_.objects), self.coordinates_.shape[1]
        return self.n_init * 3 * n * r

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        starts = find_starts(self, coordinates, start, self.n_init)
        n, n_init, d = starts.shape
        queries = np.repeat(coordinates, n_init, axis=0)
        found, converged = self._descend(queries, starts.reshape(n * n_init, d))
        if not converged.all():
            warn(
                f"ConstrainedPreimage: {np.sum(~converged)} of {len(converged)} problems did not "
                f"converge in {self.max_iter} iterations. Raise max_iter, or scale the objects.",
                ConvergenceWarning,
            )
        return best_of_restarts(self, coordinates, found.reshape(n, n_init, -1))

    def path(self, coordinates: Any, start: Any, n_steps: int = 20) -> Array:
        r"""Objects on the way from ``start`` to one point of feature space, (steps + 1, d).

        Each is the solution with :math:`z_0` the one before, so :math:`\lambda` controls the length
        of steps; if a step gains less than a hundredth of what is left, :math:`\lambda` is halved.
        The path ends early if nothing moves any more.
        """
        check_is_fitted(self)
        coordinates = self._check_queries(np.atleast_2d(coordinates))
        z = self._check_start(start, len(coordinates))
        weight = self._proximities(z)
        way = [self._feasible(z)]
        value = self.objective(coordinates, way[0])[0]
        for _ in range(n_steps):
            z, _ = self._descend(coordinates, way[-1], weight)
            new = self.objective(coordinates, z)[0]
            stalled = value - new < STALLED * value
            if stalled and np.linalg.norm(z - way[-1]) <= 1e-9 * (1 + np.linalg.norm(z)):
                break
            way.append(z)
            value, weight = new, weight / 2 if stalled else weight
        return np.concatenate(way)

    def _descend(
        self, coordinates: Array, start: Array, weight: Array | None = None
    ) -> tuple[Array, BoolArray]:
        """Solutions found from ``start``, and which of them converged."""
        start = self._feasible(np.asarray(start, dtype=np.float64))
        weight = self._proximities(start) if weight is None else weight
        model = near_model(self._coordinates_at, start, np.sqrt(weight))
        if self.criterion == "full":  # nothing of the point lies outside the axes
            coordinates = np.hstack([coordinates, np.zeros((len(coordinates), 1))])
        targets = np.hstack([coordinates, np.zeros_like(start)]).astype(np.float64)
        if self._projection is not None:
            found, converged = minimize_in_set(
                model, start, targets, self._projection, tol=self.tol, max_iter=10 * self.max_iter
            )
        else:
            result = least_squares_rows(
                model,
                start,
                targets,
                lower=self._low,
                upper=self._high,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            found, converged = result.x, result.converged
        return found.astype(self.objects_.dtype, copy=False), converged

    @property
    def _coordinates_at(self) -> CoordinateModel:
        """Coordinates and their Jacobians as a function of objects, cached."""
        if not hasattr(self, "_model"):
            make = coordinate_model if self.criterion == "coord" else image_model
            self._model = make(self.feature_map_)
        return self._model

    def __getstate__(self) -> Any:
        # The cached function cannot be written to disk.
        return {name: value for name, value in super().__getstate__().items() if name != "_model"}

    def _feasible(self, Z: Array) -> Array:
        if self._projection is not None:
            return np.asarray(self._projection(Z), dtype=np.float64)
        return Z if self._low is None else np.clip(Z, self._low, self._high)

    def _proximities(self, start: Array) -> Array:
        if self.proximity != "auto":
            return np.full((len(start), 1), float(self.proximity))
        J = self._coordinates_at(start)[1]
        normal = np.matmul(J.transpose(0, 2, 1), J)
        return 1e-2 * np.median(np.linalg.eigvalsh(normal), axis=1)[:, None]


def coordinate_model(feature_map: Any) -> CoordinateModel:
    """A function from points (m, d) to coordinates (m, r) and their Jacobians (m, r, d)."""
    axes = feature_map.axes_
    values_and_slopes = axes.kernel.values_and_slopes(axes.objects, axes.weights)

    def model(Z: Array) -> tuple[Array, Array]:
        values, slopes = values_and_slopes(Z)
        return values + axes.offset, slopes

    return model


def image_model(feature_map: Any) -> CoordinateModel:
    r"""Coordinates and, last, the length of the image outside the axes, with their Jacobians.

    The squares of their differences from :math:`(\beta,0)` sum to :math:`\|\varphi(z)-\Psi\|^2`.
    """
    both = axes_and_origin(feature_map)
    kernel, origin = both.kernel, float(feature_map.origin_.squared_norms()[0])
    values_and_slopes = kernel.values_and_slopes(both.objects, both.weights)

    def model(Z: Array) -> tuple[Array, Array]:
        values, slopes = values_and_slopes(Z)
        c, J = values[:, :-1] + both.offset[:-1], slopes[:, :-1]
        squared = kernel.diag(Z) - 2 * values[:, -1] + origin - np.einsum("ij,ij->i", c, c)
        length = np.sqrt(np.maximum(squared, np.finfo(float).eps))
        slope = kernel.diag_gradient(Z) - 2 * slopes[:, -1] - 2 * np.einsum("mr,mrd->md", c, J)
        outside = slope / (2 * length[:, None])
        return np.column_stack([c, length]), np.concatenate([J, outside[:, None]], axis=1)

    return model


def near_model(coordinates_at: Any, near: Array, roots: Array) -> Any:
    r"""Values :math:`(c(z),\sqrt\lambda(z-z_0))` and Jacobians, for least-squares solvers."""
    d = near.shape[1]
    each = np.arange(d)

    def model(Z: Array, rows: Any) -> tuple[Array, Array]:
        c, J = coordinates_at(Z)
        (m, r), root = c.shape, roots[rows]
        values, slopes = np.empty((m, r + d)), np.zeros((m, r + d, d))
        values[:, :r], values[:, r:] = c, root * (Z - near[rows])
        slopes[:, :r], slopes[:, r + each, each] = J, root
        return values, slopes

    return model
