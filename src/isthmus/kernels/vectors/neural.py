"""The covariance of a wide neural network."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from isthmus._checks import LARGEST, check_float
from isthmus._parameters import Constraint, real
from isthmus.kernels.base import Kernel
from isthmus.typing import Array


@dataclass
class NeuralNetwork(Kernel):
    r"""Arcsine covariance: one hidden layer of infinitely many error functions [Williams1998]_.

    .. math:: k(x,z)=\frac2\pi\arcsin\frac{2p(x,z)}{\sqrt{(1+2p(x,x))(1+2p(z,z))}},
              \qquad p(x,z)=b+w\,x^\top z ,

    where :math:`w` is the prior variance of the weights into the hidden units and :math:`b` that
    of their biases. It is not stationary: functions level off far from the origin. Wrapped in
    ``ARD`` it has one variance per input.

    Parameters
    ----------
    weight : float, default=1.0
    bias : float, default=1.0

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import NeuralNetwork
    >>> NeuralNetwork()(np.array([[0.0]]), np.array([[0.0], [9.0]])).round(4)
    array([[0.4646, 0.0573]])
    """

    __module__ = "isthmus.kernels"

    weight: float = 1.0
    bias: float = field(default=1.0, kw_only=True)
    learned = ("weight", "bias")
    width_power = 0.5
    offers = frozenset({"gradient"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "weight": real(0, LARGEST, include_low=False),
        "bias": real(0, LARGEST),
    }

    def resolve(self, X: Array) -> "NeuralNetwork":
        check_float(self.weight, "weight", self, include_low=False)
        check_float(self.bias, "bias", self)
        return self

    def _norms(self, X: Array) -> Array:
        return 1 + 2 * (self.bias + self.weight * np.einsum("ij,ij->i", X, X))

    def _sine(self, X: Array, Z: Array) -> Array:
        T = X @ Z.T
        T *= 2 * self.weight
        T += 2 * self.bias
        T /= np.sqrt(self._norms(X))[:, None]
        T /= np.sqrt(self._norms(Z))
        return T

    def gram(self, X: Array, Z: Array) -> Array:
        T = self._sine(X, Z)
        np.arcsin(T, out=T)
        T *= 2 / np.pi
        return T

    def diag(self, X: Array) -> Array:
        norms = self._norms(self.check(X))
        return (2 / np.pi) * np.arcsin((norms - 1) / norms)

    def _slope(self, T: Array) -> Array:
        # |t| < 1, but long vectors come close to it.
        return (2 / np.pi) / np.sqrt(np.maximum(1 - T * T, np.finfo(T.dtype).eps))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        T = self._sine(X, Z)
        S = W * self._slope(T)
        x_norms, z_norms = self._norms(X), self._norms(Z)
        # ∂t/∂x = 2w z/√(ab) - 2w t x/a,  a, b = 1 + 2p of x and of z
        along = (S / np.sqrt(x_norms)[:, None]) @ (Z / np.sqrt(z_norms)[:, None])
        shrink = np.einsum("ij,ij->i", S, T) / x_norms
        return 2 * self.weight * (along - shrink[:, None] * X)

    def diag_gradient(self, X: Array) -> Array:
        norms = self._norms(X)
        slope = self._slope((norms - 1) / norms)
        return (4 * self.weight * slope / norms**2)[:, None] * X

    def _shape_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        if not self.bias:
            return np.empty(0)
        T = self._sine(X, Z)
        S = W * self._slope(T)
        x_norms, z_norms = self._norms(X), self._norms(Z)
        # ∂t/∂b = 2/√(ab) - t (1/a + 1/b)
        ST = S * T
        by_bias = 2 * (1 / np.sqrt(x_norms)) @ S @ (1 / np.sqrt(z_norms))
        by_bias -= ST.sum(axis=1) @ (1 / x_norms) + ST.sum(axis=0) @ (1 / z_norms)
        return np.array([self.bias * by_bias])

    def _diag_shape_gradient(self, X: Array, w: Array) -> Array:
        if not self.bias:
            return np.empty(0)
        norms = self._norms(X)
        slope = self._slope((norms - 1) / norms)
        return np.array([self.bias * (w @ (2 * slope / norms**2))])
