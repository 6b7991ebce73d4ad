"""The smallest ball around all points, in any feature space."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import former_fit_kept
from isthmus.coreset.base import CoreMachine
from isthmus.coreset.engine import column
from isthmus.coreset.problems import KernelProblem
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.typing import Array, BoolArray


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
        All points are within ``1 + epsilon`` radii of the centre; 0 is exact.
    kernel : kernel, name or callable, default="linear"
    search : {"auto", "exact", "sample"}, default="auto"
    batch : int or None, default=1
    max_core : int or None, default=None
    cache_size : float, default=200.0
        How the core set grows: see "The engine" in the guide on core sets. The bound on its
        size holds for a batch of 1.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    radius_ : float
        Of the ball of the core set. The smallest ball of all has at least this radius, and at most
        ``1 + epsilon`` times it.
    center_ : ndarray of shape (n_features,)
        With the linear kernel.
    core_indices_ : ndarray
        Training objects that carry weight, ``objects_``; their weights are ``dual_coef_``.
    n_core_ : int
        How many objects were ever in the core set.
    gap_ : float
        The squared radius of the smallest ball is at most so much larger.
    radii_ : list of float
        The radius after every step; it grows.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import MinimumEnclosingBall
    >>> ball = MinimumEnclosingBall(epsilon=0.0).fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> round(ball.radius_, 6), ball.center_.round(6)
    (1.0, array([1., 0.]))
    """

    __module__ = "isthmus.coreset"

    stop = "radius"

    def __init__(
        self,
        *,
        epsilon: float = 1e-3,
        kernel: Any = "linear",
        search: str = "auto",
        batch: int | None = 1,
        max_core: int | None = None,
        cache_size: float = 200.0,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.epsilon = epsilon
        self.kernel = kernel
        self.search = search
        self.batch = batch
        self.max_core = max_core
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "MinimumEnclosingBall":
        """Find the ball around the objects ``X``; return self."""
        engine = self._checked_engine()
        with former_fit_kept(self):
            X = self._checked_objects(X, reset=True)
            kernel = as_kernel(self.kernel).resolve(X)
            n = n_objects(X)
            lengths = np.asarray(kernel.diag(X), dtype=float)
            problem = KernelProblem(
                self._columns(kernel, X), np.ones(n), 0.0, np.zeros(n), -lengths
            )
            first = int(engine["rng"].randint(n))
            from_first = lengths - 2 * column(problem, first, np.arange(n))
            start = np.unique([first, int(from_first.argmax())])
            found = self._solved(problem, start, **engine)
            self._judged([found])
        self.kernel_, self.objects_ = kernel, kernel.reference(X, found.indices)
        self.core_indices_, self.dual_coef_ = found.indices, found.weights
        self.radius_ = float(np.sqrt(found.squared_radius))
        self.gap_, self.n_core_, self.radii_ = found.gap, found.n_core, found.radii
        self._center_length = float(lengths[found.indices] @ found.weights) - self.radius_**2
        if isinstance(kernel, Linear):
            self.center_ = found.weights @ np.asarray(X)[found.indices]
        return self

    def distances(self, X: Any) -> Array:
        """Return the distances of objects from the centre, (n,)."""
        check_is_fitted(self)
        X = self._checked_objects(X, reset=False)
        inner = self._expansion_values(X, self.dual_coef_)
        lengths = np.asarray(self.kernel_.diag(X), dtype=float)
        return np.sqrt(np.maximum(lengths - 2 * inner + self._center_length, 0.0))

    def contains(self, X: Any) -> BoolArray:
        """Whether objects are in the ball of ``1 + epsilon`` radii."""
        slack = 1e-9 * max(self.radius_, 1.0)  # of rounding
        return self.distances(X) <= (1 + self.epsilon) * self.radius_ + slack
