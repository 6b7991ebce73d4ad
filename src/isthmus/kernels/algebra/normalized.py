"""Kernels with unit diagonal."""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.kernels.algebra.around import KernelAround
from isthmus.kernels.base import Kernel
from isthmus.typing import Array, Objects


@dataclass
class Normalized(KernelAround):
    r"""Cosine in feature space, :math:`k(x,z)/\sqrt{k(x,x)k(z,z)}`.

    An object with ``k(x, x) = 0`` (a zero row under a linear kernel) is similar to nothing.

    >>> import numpy as np
    >>> from isthmus.kernels import Linear, Normalized
    >>> Normalized(Linear())(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0]]))
    array([[0.6]])
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    inherits = frozenset({"gradient", "sequences", "series", "graphs"})

    def check(self, X: Objects) -> Objects:
        if self.base.pairwise:
            raise TypeError(
                "Normalized cannot scale rows of a Gram matrix, whose own diagonal is not known "
                "for new objects: give the matrix to Precomputed(matrix), and indices as objects."
            )
        return super().check(X)

    def resolve(self, X: Objects) -> "Normalized":
        return replace(self, base=self.base.resolve(X))

    def _scale(self, X: Objects) -> Array:
        diagonal = self.base.diag(X)
        positive = diagonal > 0
        scale = np.zeros_like(diagonal)
        scale[positive] = 1 / np.sqrt(diagonal[positive])
        return scale

    def gram(self, X: Objects, Z: Objects) -> Array:
        K = self.base.gram(X, Z)
        return K * self._scale(X)[:, None] * self._scale(Z)

    def diag(self, X: Objects) -> Array:
        return (self._scale(self.base.check(X)) > 0).astype(np.float64)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        x_scale, z_scale = self._scale(X), self._scale(Z)
        along = self.base.weighted_gradient(X, Z, W * x_scale[:, None] * z_scale)
        # d(k(x,x)^-1/2) = -½ k(x,x)^-1 k(x,x)^-1/2 dk(x,x)
        shrink = 0.5 * (W * K).sum(axis=1) * x_scale**2
        return along - shrink[:, None] * self.base.diag_gradient(X)

    def diag_gradient(self, X: Array) -> Array:
        return np.zeros_like(X)
