"""Pre-images by fixed-point iteration."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._parameters import Constraint, choice, integer, real
from isthmus._warnings import warn
from isthmus.kernels.objects import n_objects
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.linalg import product
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.restarts import SHARE_GOING, best_of_restarts, find_starts
from isthmus.preimage.vectors.acceleration import Acceleration
from isthmus.typing import Array, BoolArray, IntArray, Objects

# Values of the kernel in one step, from which on single precision first is worth its turn.
_MANY = 2**17
# Relative steps at which it stops: for the first start, and for others, which mostly end there.
_FEW_DIGITS, _FIRST_DIGITS = 1e-5, 1e-2
# Share of the way between two starts that is left where they end together.
_SAME_END = 0.05
# Share of the absolute weights at which what is left of their sum is a rounding error.
_CANCELLED = 1e-10


class FixedPointPreimage(BasePreimage):
    r"""Pre-image as the fixed point of a weighted mean, for radial kernels [Mika1999]_.

    For kernels :math:`k(\|x-z\|^2)`, at a minimum of :math:`\|\varphi(z)-\Psi\|^2`

    .. math:: z=\frac{\sum_ja_j\,k'(x_j,z)\,x_j}{\sum_ja_j\,k'(x_j,z)} .

    Wide kernels give the mean weighted by :math:`a`; with :math:`a\ge0` it is mean shift.

    Parameters
    ----------
    n_init : int, default=2
        Number of starting points: the training objects nearest in coordinates.
    criterion : {"coord", "full"}, default="coord"
        The objective that chooses among the results.
    tol : float, default=1e-8
        Relative length of a step at which the iteration stops.
    max_iter : int, default=500
        Maximum number of iterations.

    Notes
    -----
    With coefficients of mixed sign the plain iteration is unstable. Here a step
    that raises the objective is halved, so it never rises. Steps are extrapolated from the last
    two [Anderson1965]_, and many rows go through their first digits in single precision; a start
    that comes to the end of the first one is not followed further. A start whose denominator
    vanishes is replaced by the next nearest object, and if all fail the nearest object is the
    answer. The result lies in the affine span of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.kernels import Gaussian
    >>> from isthmus.preimage import FixedPointPreimage
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> pca = KernelPCA(kernel=Gaussian(2.0)).fit(X)
    >>> Z = FixedPointPreimage().fit(X, pca).solve(pca.transform(X[:3]))
    >>> bool(np.abs(Z - X[:3]).max() < 1e-4)
    True
    """

    __module__ = "isthmus.preimage"

    needs = frozenset({"vectors", "expansion", "radial"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_init": integer(1),
        "criterion": choice("coord", "full"),
        "tol": real(0, include_low=False),
        "max_iter": integer(1),
    }

    def __init__(
        self,
        n_init: int = 2,
        *,
        criterion: str = "coord",
        tol: float = 1e-8,
        max_iter: int = 500,
    ):
        self.n_init = n_init
        self.criterion = criterion
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        """Nothing to prepare."""

    def _numbers_per_query(self) -> int:
        n, d = n_objects(self.feature_map_.axes_.objects), self.objects_.shape[1]
        return self.n_init * (5 * n + 8 * d)

    def _operations(self, n_queries: int) -> float:
        return SHARE_GOING * 2.0 * n_queries * self.objects_.size

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        # A few more neighbours than starts, to replace starts that degenerate.
        starts = find_starts(self, coordinates, start, self.n_init + 3)
        n_init = min(self.n_init, starts.shape[1])
        a, axes = self.feature_map_.expand(coordinates), self.feature_map_.axes_
        spare = range(n_init, starts.shape[1])
        each = np.stack([starts[:, [i, *spare]] for i in range(n_init)], axis=1)
        distinct = np.ones((len(a), n_init), dtype=bool)
        if a.dtype == np.float64 and len(a) * n_objects(axes.objects) >= _MANY:
            ends, distinct = self._approach(a, each[:, :, 0])
            each = np.concatenate([ends[:, :, None], each], axis=2)
        # All starts of all queries at once: each pass over the objects serves them all.
        queries, which = np.nonzero(distinct)
        ends, n_left = weighted_mean_iteration(
            axes.kernel,
            axes.objects,
            a if n_init == 1 else a[queries],
            each[queries, which],
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if n_left:
            warn(
                f"FixedPointPreimage: {n_left} of {len(ends)} iterations did not "
                f"converge in {self.max_iter} iterations. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        found = np.empty((len(a), n_init, ends.shape[1]), dtype=ends.dtype)
        found[:] = ends[which == 0][:, None]
        found[queries, which] = ends
        several = distinct.sum(axis=1) > 1
        if several.any():
            found[several, 0] = best_of_restarts(self, coordinates[several], found[several])
        return found[:, 0]

    def _approach(self, a: Array, starts: Array) -> tuple[Array, BoolArray]:
        """Ends of all starts to few digits in single precision, and which of them are distinct.

        The iteration forgets its rounding errors: the digits that are missing take two or three
        steps in double precision. A start that has come so near to the end of the first one that
        most of the way between them is gone will end there too, and is not followed further.
        """
        axes, n_init = self.feature_map_.axes_, starts.shape[1]
        X, a, starts = (part.astype(np.float32) for part in (axes.objects, a, starts))
        ends, distinct = starts.copy(), np.ones(starts.shape[:2], dtype=bool)
        for i in range(n_init):
            tol = max(self.tol, _FEW_DIGITS if i == 0 else _FIRST_DIGITS)
            ends[:, i] = weighted_mean_iteration(
                axes.kernel, X, a, starts[:, i : i + 1], tol=tol, max_iter=self.max_iter
            )[0]
            if i:
                way = np.linalg.norm(starts[:, i] - starts[:, 0], axis=1)
                left = np.linalg.norm(ends[:, i] - ends[:, 0], axis=1)
                distinct[:, i] = left > _SAME_END * way
        return ends.astype(np.float64), distinct


def weighted_mean_iteration(
    kernel: Any, X: Array, a: Array, starts: Array, *, tol: float, max_iter: int, depth: int = 2
) -> tuple[Array, int]:
    """Fixed points for all rows of ``a`` at once, and how many have not converged.

    ``starts`` has shape (n, n_starts, d): the second and later ones are used if the denominator of
    the first vanishes. An iteration costs O(n m d), two matrix products. Steps are extrapolated
    from the last ``depth`` ones, where that does not raise the objective; 0 is the plain iteration.
    """
    n = len(a)
    eps = float(np.finfo(a.dtype).eps)
    tol = max(tol, 10 * eps)
    # A radial kernel does not see the origin; about their mean the objects keep their digits.
    centre = X.mean(axis=0)
    X, starts = X - centre, starts - centre
    size = float(np.sqrt(np.mean(np.einsum("ij,ij->i", X, X))))  # the unit of lengths
    z = starts[:, 0].copy()
    origin = z.copy()  # where the last accepted step started
    plain = z.copy()  # where it led without extrapolation
    ahead = Acceleration(n, X.shape[1], z.dtype, depth)
    value = np.full(n, np.inf)
    tries = np.zeros(n, dtype=int)
    rows = np.arange(n)
    values_at = kernel.against(X)
    with_one = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    sums_at = _sums_of(kernel, values_at, with_one, a)

    def negligible(step: Array, points: Array) -> BoolArray:
        unit = size + np.linalg.norm(points, axis=1)
        return np.asarray(np.linalg.norm(step, axis=1) <= tol * unit)

    for _ in range(max_iter):
        J, mass, sound, sums = sums_at(z[rows], rows)
        rose = value[rows] + 100 * eps * np.abs(J) < J
        going, failing = rows[~rose & sound], rows[~rose & ~sound]
        # Back: half of the step, and from an extrapolated point to the plain one.
        backing = rows[rose]
        leapt = np.any(z[backing] != plain[backing], axis=1) & ahead.known[backing]
        halved = (z[backing] + origin[backing]) / 2
        z[backing] = np.where(leapt[:, None], plain[backing], halved)
        ahead.forget(backing)
        gone = negligible(z[backing] - origin[backing], z[backing])
        z[backing[gone]] = origin[backing[gone]]  # shrunk to nothing: the search ends there
        value[rows[~rose]], origin[rows[~rose]] = J[~rose], z[rows[~rose]]
        new = sums[~rose & sound] / mass[~rose & sound, None]
        step = new - z[going]
        small = negligible(step, z[going])
        plain[going] = new
        z[going] = ahead.next_points(going, new, step) if depth else new
        z[going[small]] = new[small]
        tries[failing] += 1
        fresh = failing[tries[failing] < starts.shape[1]]
        z[fresh] = plain[fresh] = starts[fresh, tries[fresh]]
        origin[fresh], value[fresh] = z[fresh], np.inf
        ahead.forget(fresh)
        spent = failing[tries[failing] >= starts.shape[1]]
        z[spent] = starts[spent, 0]
        rows = np.sort(np.concatenate([going[~small], backing[~gone], fresh]))
        if not len(rows):
            break
    # A leap that was not judged any more is taken back.
    leaping = rows[ahead.known[rows]]
    z[leaping] = plain[leaping]
    return z + centre, len(rows)


def _sums_of(
    kernel: Any, values_at: Callable[[Array], Array], with_one: Array, a: Array
) -> Callable[[Array, IntArray], tuple[Array, Array, BoolArray, Array]]:
    """The sums at points that belong to the queries named by ``rows``, as one function of both."""

    def own(rows: IntArray) -> Array:
        return a if len(rows) == len(a) else a[rows]

    # Weights of a Gaussian are its values but for a factor, and none is above one.
    if isinstance(kernel, Gaussian) and kernel.certain:
        most = np.abs(a).sum(axis=1)
        return lambda Z, rows: _gaussian_sums(values_at(Z), with_one, own(rows), most[rows])
    return lambda Z, rows: _weighted_sums(kernel, values_at, Z, with_one, own(rows))


def _weighted_sums(
    kernel: Any, values_at: Callable[[Array], Array], Z: Array, with_one: Array, a: Array
) -> tuple[Array, Array, BoolArray, Array]:
    """Objective, weight of the mean, whether it defines one, and the sum that it divides.

    The objects have a last column of ones, which gives the weight in the product of the sum.
    """
    K = values_at(Z)
    J = -np.einsum("ij,ij->i", a, K)  # ½ J_full up to constants: k(z, z) is one
    weights = kernel.radial_weights(Z, with_one[:, :-1], K)
    weights *= a
    sums = product(weights, with_one)
    np.abs(weights, out=weights)
    # Weights that cancel, or have all vanished, do not define a mean.
    mass = sums[:, -1]
    return J, mass, np.abs(mass) > _CANCELLED * weights.sum(axis=1), sums[:, :-1]


def _gaussian_sums(
    K: Array, with_one: Array, a: Array, most: Array
) -> tuple[Array, Array, BoolArray, Array]:
    """The same for a Gaussian, in two passes fewer; ``K`` are its values, and are overwritten.

    No sum of absolute weights is above ``most``, the one of the coefficients: where that decides,
    it is not computed.
    """
    K *= a
    sums = product(K, with_one)
    mass = sums[:, -1]
    sound = np.abs(mass) > _CANCELLED * most
    unsure = np.flatnonzero(~sound)
    if len(unsure):
        sound[unsure] = np.abs(mass[unsure]) > _CANCELLED * np.abs(K[unsure]).sum(axis=1)
    return -mass, mass, sound, sums[:, :-1]
