"""Kernel PCA and a map of limited rank after it, as one short expansion."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.base import Kernel
from isthmus.typing import Array, Objects


@dataclass(frozen=True)
class FusedExtractor:
    r"""The few coordinates that a map of limited rank needs of an object.

    Kernel PCA gives :math:`B^\top(k(x)-b)` with :math:`B=U\Lambda^{-1/2}`, and the map then takes
    :math:`W^\top` of it. Together that is :math:`(BW)^\top(k(x)-b)`: r functions of the n
    training objects instead of as many as there are components. The columns of :math:`BW` are
    orthonormal in feature space as both factors are. (The scaling :math:`\Lambda^{-1/2}`
    belongs between the eigenvectors and W; the published formula has it in front of both.)
    """

    kernel: Kernel
    objects: Objects
    dual: Array  # BW, (n, r)
    shift: Array  # (BW)'b, (r,)
    strengths: Array  # (r,) how much the map makes of each coordinate
    features: KernelPCA  # knows the mean of the images

    @classmethod
    def of(cls, features: KernelPCA, regressor: Any) -> "FusedExtractor":
        """The extractor of a fitted kernel PCA and a fitted regression with ``W_`` and ``s_``."""
        W = regressor.W_
        return cls(
            features.kernel_,
            features.objects_,
            features.dual_ @ W,
            features.origin_coordinates_ @ W,
            np.asarray(regressor.s_),
            features,
        )

    def transform(self, X: Objects) -> Array:
        """Return the coordinates of ``X``, shape (n, r)."""
        blocks = [K @ self.dual for _, K in self.kernel.blocks(X, self.objects)]
        return np.concatenate(blocks) - self.shift

    # Reduced sets: see isthmus.reduction.compress ---------------------------------------

    def _kernel_expansion(self) -> tuple[Kernel, Objects, Array]:
        # Weighted by what the map makes of them, so that the error is that of predictions.
        return self.kernel, self.objects, self.dual * self.strengths

    def _with_kernel_expansion(self, objects: Objects, coefficients: Array) -> "FusedExtractor":
        safe = np.where(self.strengths > 0, self.strengths, 1.0)
        dual = coefficients / safe
        shift = self.features.origin_products(objects) @ dual
        return replace(self, objects=objects, dual=dual, shift=shift)
