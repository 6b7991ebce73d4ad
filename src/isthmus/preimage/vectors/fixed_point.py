"""Pre-images by fixed-point iteration."""

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._parameters import Constraint, choice, integer, real
from isthmus._warnings import warn
from isthmus.kernels.objects import n_objects
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.restarts import best_of_restarts, find_starts
from isthmus.typing import Array, Objects


class FixedPointPreimage(BasePreimage):
    r"""Iterate the weighted mean that a stationary point must be [Mika1999]_.

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
    that raises the objective is halved, so it never rises; a start whose denominator vanishes is
    replaced by the next nearest object, and if all fail the nearest object is the answer.
    The result lies in the affine span of the data.

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

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        # A few more neighbours than starts, to replace starts that degenerate.
        starts = find_starts(self, coordinates, start, self.n_init + 3)
        n_init = min(self.n_init, starts.shape[1])
        a, axes = self.feature_map_.expand(coordinates), self.feature_map_.axes_
        # All starts of all queries at once: each pass over the objects serves them all.
        spare = range(n_init, starts.shape[1])
        each = np.stack([starts[:, [i, *spare]] for i in range(n_init)], axis=1)
        found, n_left = weighted_mean_iteration(
            axes.kernel,
            axes.objects,
            np.repeat(a, n_init, axis=0),
            each.reshape(-1, *each.shape[2:]),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if n_left:
            warn(
                f"FixedPointPreimage: {n_left} of {len(found)} iterations did not "
                f"converge in {self.max_iter} iterations. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return best_of_restarts(self, coordinates, found.reshape(len(a), n_init, -1))


def weighted_mean_iteration(
    kernel: Any, X: Array, a: Array, starts: Array, *, tol: float, max_iter: int
) -> tuple[Array, int]:
    """Fixed points for all rows of ``a`` at once, and how many have not converged.

    ``starts`` has shape (n, n_starts, d): the second and later ones are used if the denominator of
    the first vanishes. An iteration costs O(n m d), two matrix products.
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
    value = np.full(n, np.inf)
    tries = np.zeros(n, dtype=int)
    rows = np.arange(n)
    values_at = kernel.against(X)
    for _ in range(max_iter):
        Z = z[rows]
        K = values_at(Z)
        weights = a[rows] * kernel.radial_weights(Z, X, K)
        J = -np.einsum("ij,ij->i", a[rows], K)  # ½ J_full up to constants: k(z, z) is one
        rose = value[rows] + 100 * eps * np.abs(J) < J
        stepping = np.flatnonzero(~rose)
        backing = rows[rose]
        z[backing] = (z[backing] + origin[backing]) / 2
        active = rows[stepping]
        value[active], origin[active] = J[stepping], z[active]
        mass = weights[stepping].sum(axis=1)
        # Weights that cancel, or have all vanished, do not define a mean.
        sound = np.abs(mass) > 1e-10 * np.abs(weights[stepping]).sum(axis=1)
        going, failing = active[sound], active[~sound]
        new = (weights[stepping][sound] @ X) / mass[sound, None]
        length = np.linalg.norm(new - z[going], axis=1)
        small = length <= tol * (size + np.linalg.norm(z[going], axis=1))
        z[going] = new
        # A halved step that has shrunk to nothing ends the search where it started.
        gone = np.linalg.norm(z[backing] - origin[backing], axis=1) <= tol * (
            size + np.linalg.norm(z[backing], axis=1)
        )
        z[backing[gone]] = origin[backing[gone]]
        tries[failing] += 1
        fresh = failing[tries[failing] < starts.shape[1]]
        z[fresh] = starts[fresh, tries[fresh]]
        origin[fresh], value[fresh] = z[fresh], np.inf
        spent = failing[tries[failing] >= starts.shape[1]]
        z[spent] = starts[spent, 0]
        rows = np.sort(np.concatenate([going[~small], backing[~gone], fresh]))
        if not len(rows):
            break
    return z + centre, len(rows)
