"""Pre-images in closed form."""

import numpy as np

from isthmus.preimage.base import BasePreimage
from isthmus.typing import Array, Objects


class AnalyticPreimage(BasePreimage):
    r"""Pre-image for kernels :math:`k(x,z)=f(x^\top z)` with an invertible :math:`f`.

    .. math:: z_i=f^{-1}\Big(\sum_ja_j\,k(x_j,e_i)\Big)

    for the unit vectors :math:`e_i`. Exact where the point is the image of an object, a rule of
    thumb elsewhere; for a linear kernel it is the nearest vector, always. Linear,
    exponential and polynomial kernels of odd degree have it.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.preimage import AnalyticPreimage
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> pca = KernelPCA(kernel="linear").fit(X)
    >>> bool(np.allclose(AnalyticPreimage().fit(X, pca).solve(pca.transform(X)), X))
    True
    """

    __module__ = "isthmus.preimage"

    _needs_kernel_map = True

    def _fit(self, objects: Objects, feature_map: object, coordinates: Array) -> None:
        # Raises where the kernel has no such form, before anything is kept.
        feature_map.kernel_.inverse_inner_product(np.ones(1))  # type: ignore[attr-defined]
        units = np.eye(objects.shape[1], dtype=objects.dtype)
        kernel, reference = feature_map.kernel_, feature_map.objects_  # type: ignore[attr-defined]
        at_units = kernel.gram(reference, units)
        # a = Bβ + w, so one (r, d) product serves every point.
        self._axes_at_units = feature_map.dual_.T @ at_units  # type: ignore[attr-defined]
        self._origin_at_units = feature_map._origin_weights @ at_units  # type: ignore[attr-defined]

    def _solve(self, coordinates: Array) -> Objects:
        values = coordinates @ self._axes_at_units + self._origin_at_units
        return self.feature_map_.kernel_.inverse_inner_product(values)
