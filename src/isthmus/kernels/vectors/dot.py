"""Kernels of the inner product: linear, polynomial, exponential."""

from dataclasses import dataclass, field
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy.sparse import issparse

from isthmus._checks import LARGEST, check_float, check_int
from isthmus._parameters import Constraint, integer, real
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.sparse_rows import sparse_products, squared_lengths
from isthmus.linalg.products import inner_products, product
from isthmus.typing import Array, Objects


@dataclass
class Linear(Kernel):
    r"""Linear kernel :math:`k(x,z)=x^\top z`.

    >>> import numpy as np
    >>> from isthmus.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    __module__ = "isthmus.kernels"
    offers = frozenset({"gradient", "linear", "inner_product", "distances", "explicit", "sparse"})

    def gram(self, X: Array, Z: Array) -> Array:
        if issparse(X) or issparse(Z):
            return sparse_products(X, Z)
        return inner_products(X.T) if Z is X else product(X, Z.T)

    def diag(self, X: Array) -> Array:
        if issparse(X):
            return squared_lengths(X)
        X = self.check(X)
        return np.einsum("ij,ij->i", X, X)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return product(W, Z)

    def diag_gradient(self, X: Array) -> Array:
        return 2 * X

    def inverse_inner_product(self, values: Array) -> Array:
        return values

    def squared_distances_from(self, K: Array, x_diag: Array, z_diag: Array) -> Array:
        return np.maximum(x_diag + z_diag - 2 * K, 0)

    def explicit_features(self, X: Objects) -> Array | None:
        return X


@dataclass
class Polynomial(Kernel):
    r"""Polynomial kernel :math:`k(x,z)=(\gamma\,x^\top z+c)^q`; a monomial one for :math:`c=0`.

    Parameters
    ----------
    degree : int, default=3
        :math:`q\ge1`.
    coef0 : float, default=1.0
        :math:`c\ge0`; a negative one would not be positive semi-definite.
    gamma : float, default=1.0

    >>> import numpy as np
    >>> from isthmus.kernels import Polynomial
    >>> Polynomial(2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

    __module__ = "isthmus.kernels"

    degree: int = 3
    coef0: float = field(default=1.0, kw_only=True)
    gamma: float = field(default=1.0, kw_only=True)
    learned = ("gamma", "coef0")
    width_power = 0.5

    _constraints: ClassVar[dict[str, Constraint]] = {
        "degree": integer(1),
        "coef0": real(0, LARGEST),
        "gamma": real(0, LARGEST, include_low=False),
    }

    @property
    def offers(self) -> frozenset[str]:  # type: ignore[override]
        """An even power has no inverse."""
        even = isinstance(self.degree, Integral) and self.degree % 2 == 0
        inverse = frozenset() if even else frozenset({"inner_product", "distances"})
        return inverse | {"gradient", "sparse"}

    def resolve(self, X: Array) -> "Polynomial":
        check_int(self.degree, "degree", self, low=1)
        check_float(self.coef0, "coef0", self)
        check_float(self.gamma, "gamma", self, include_low=False)
        return self

    def _base(self, X: Array, Z: Array) -> Array:
        if issparse(X) or issparse(Z):
            base = sparse_products(X, Z)
        else:
            base = inner_products(X.T) if Z is X else product(X, Z.T)
        base *= self.gamma
        base += self.coef0
        return base

    def gram(self, X: Array, Z: Array) -> Array:
        return self._base(X, Z) ** self.degree

    def diag(self, X: Array) -> Array:
        if issparse(X):
            return (self.gamma * squared_lengths(X) + self.coef0) ** self.degree
        X = self.check(X)
        return (self.gamma * np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        slope = self.gamma * self.degree * self._base(X, Z) ** (self.degree - 1)
        return product(W * slope, Z)

    def diag_gradient(self, X: Array) -> Array:
        base = self.gamma * np.einsum("ij,ij->i", X, X) + self.coef0
        return (2 * self.gamma * self.degree * base ** (self.degree - 1))[:, None] * X

    def _shape_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        if not self.coef0:
            return np.empty(0)
        slope = self.degree * self._base(X, Z) ** (self.degree - 1)
        return np.array([self.coef0 * np.vdot(W, slope)])

    def _diag_shape_gradient(self, X: Array, w: Array) -> Array:
        if not self.coef0:
            return np.empty(0)
        base = self.gamma * np.einsum("ij,ij->i", X, X) + self.coef0
        return np.array([self.coef0 * self.degree * (w @ base ** (self.degree - 1))])

    def inverse_inner_product(self, values: Array) -> Array:
        if self.degree % 2 == 0:
            raise TypeError(self._lacks("form f(x'z) with an invertible f (even degree)"))
        root = np.sign(values) * np.abs(values) ** (1 / self.degree)
        return (root - self.coef0) / self.gamma

    def squared_distances_from(self, K: Array, x_diag: Array, z_diag: Array) -> Array:
        inner, x_norm, z_norm = map(self.inverse_inner_product, (K, x_diag, z_diag))
        return np.maximum(x_norm + z_norm - 2 * inner, 0)


@dataclass
class Exponential(Kernel):
    r"""Exponential kernel :math:`k(x,z)=\exp(\gamma\,x^\top z)`: all monomials at once.

    >>> import numpy as np
    >>> from isthmus.kernels import Exponential
    >>> Exponential(0.5)(np.array([[0.0]]), np.array([[3.0]]))
    array([[1.]])
    """

    __module__ = "isthmus.kernels"

    gamma: float = 1.0
    learned = ("gamma",)
    width_power = 0.5
    offers = frozenset({"gradient", "inner_product", "distances"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "gamma": real(0, LARGEST, include_low=False),
    }

    def resolve(self, X: Array) -> "Exponential":
        check_float(self.gamma, "gamma", self, include_low=False)
        return self

    def gram(self, X: Array, Z: Array) -> Array:
        return np.exp(self.gamma * (inner_products(X.T) if Z is X else product(X, Z.T)))

    def diag(self, X: Array) -> Array:
        X = self.check(X)
        return np.exp(self.gamma * np.einsum("ij,ij->i", X, X))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return self.gamma * product(W * K, Z)

    def diag_gradient(self, X: Array) -> Array:
        return 2 * self.gamma * self.diag(X)[:, None] * X

    def inverse_inner_product(self, values: Array) -> Array:
        # A point outside the image of φ can give a value the exponential never takes.
        return np.log(np.maximum(values, np.finfo(values.dtype).tiny)) / self.gamma

    def squared_distances_from(self, K: Array, x_diag: Array, z_diag: Array) -> Array:
        inner, x_norm, z_norm = map(self.inverse_inner_product, (K, x_diag, z_diag))
        return np.maximum(x_norm + z_norm - 2 * inner, 0)
