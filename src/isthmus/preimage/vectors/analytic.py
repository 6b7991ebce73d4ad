"""Pre-images in closed form."""

from typing import Any

import numpy as np

from isthmus.preimage.base import BasePreimage
from isthmus.typing import Array, Objects


class AnalyticPreimage(BasePreimage):
    r"""Pre-image for kernels :math:`k(x,z)=f(x^\top z)` with an invertible :math:`f`.

    .. math:: z_i=f^{-1}\Big(\sum_ja_j\,k(x_j,e_i)\Big)

    for the unit vectors :math:`e_i`. It is exact if the point is the image of an object, and a
    heuristic otherwise; for a linear kernel it is always the nearest vector. Linear, exponential
    and odd polynomial kernels have such an :math:`f`.

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

    needs = frozenset({"vectors", "expansion", "inner_product"})

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        units = np.eye(objects.shape[1], dtype=objects.dtype)
        axes, origin = feature_map.axes_, feature_map.origin_
        at_units = axes.kernel.gram(axes.objects, units)
        # a = Bβ + w, so one (r, d) product serves all points.
        self._axes_at_units = axes.weights.T @ at_units
        self._origin_at_units = origin.weights[:, 0] @ at_units

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        values = coordinates @ self._axes_at_units + self._origin_at_units
        return self.feature_map_.axes_.kernel.inverse_inner_product(values)
