"""A surface through points, as the zeros of a function."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, instance, real, seed, several
from isthmus.coreset.base import COST
from isthmus.coreset.regressor import CoreVectorRegressor
from isthmus.coreset.solver import CoreSetSolver
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.typing import Array

WIDTH = real(1e-6, 1e6)  # in units of the extent


class ImplicitSurface(Estimator):
    r"""The surface :math:`\{x:f(x)=0\}` through a cloud of points.

    It is a sum of regressions without a constant, each with a narrower Gaussian kernel than the one
    before and fitted to the remaining difference from 1 at the points. Far from them the sum falls
    to 0; ``decision_function`` is the sum minus 1, positive inside.

    Parameters
    ----------
    widths : sequence of float, default=(0.5, 0.25, 0.12)
        Widths of the kernels, as shares of the extent (root of the total variance).
    C : float, default=100.0
    tube : float, default=1.0
        Half width of the tube of the later regressions, in standard deviations of what the earlier
        ones left. Small values bring the zeros closer to the points, but what is fitted in the end
        is their noise: a ridge along the surface, negative on both sides of it.
    solver : "core" or CoreSetSolver, default="core"
        How the core sets of the regressions grow: see :class:`CoreSetSolver`.
    random_state : int, RandomState or None

    Attributes
    ----------
    layers_ : list of fitted :class:`CoreVectorRegressor`
        Functions of points in units of ``extent_`` around ``center_``.
    center_, extent_ : ndarray and float
        The mean of the points, and the root of their total variance.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import ImplicitSurface
    >>> angles = np.linspace(0, 2 * np.pi, 200)
    >>> circle = np.c_[np.cos(angles), np.sin(angles)]
    >>> surface = ImplicitSurface(random_state=0).fit(circle)
    >>> bool(np.abs(surface.decision_function(circle)).max() < 0.1)
    True
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "widths": WIDTH | several(WIDTH),
        "C": COST,
        "tube": real(0, include_low=False),
        "solver": choice("core") | instance(CoreSetSolver),
        "random_state": seed,
    }

    def __init__(
        self,
        widths: Any = (0.5, 0.25, 0.12),
        *,
        C: float = 100.0,
        tube: float = 1.0,
        solver: Any = "core",
        random_state: Any = None,
    ):
        self.widths = widths
        self.C = C
        self.tube = tube
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "ImplicitSurface":
        """Learn the surface through the points ``X``; return self."""
        widths = np.atleast_1d(np.asarray(self.widths, dtype=float))
        X = validate_data(self, X, dtype=np.float64)
        center, extent = X.mean(axis=0), _extent(X)
        Z = (X - center) / extent
        left = np.ones(len(X))
        layers = []
        for number, width in enumerate(widths):
            layer = CoreVectorRegressor(
                Gaussian.from_width(float(width)),
                C=self.C,
                tube=self.tube if number else 0.05,  # at first of the value 1 itself
                fit_intercept=False,
                solver=self.solver,
                random_state=self.random_state,
            )
            layers.append(layer)
            if len(layers) < len(widths):
                left = left - layer._fitted_values(Z, left)
            else:
                layer.fit(Z, left)
        self.layers_, self.center_, self.extent_ = layers, center, extent
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f: zero on the surface."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        Z = (X - self.center_) / self.extent_
        return np.sum([layer.predict(Z) for layer in self.layers_], axis=0) - 1.0


def _extent(X: Array) -> float:
    """Root of the total variance, in units that cannot overflow; 1 where nothing varies."""
    apart = X - X.mean(axis=0)
    peak = float(np.abs(apart).max()) or 1.0
    return peak * float(np.sqrt((apart / peak).var(axis=0).sum())) or 1.0
