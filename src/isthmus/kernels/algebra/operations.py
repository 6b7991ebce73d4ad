"""Sums, products and multiples of kernels."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from isthmus._checks import LARGEST, check_float
from isthmus._parameters import Constraint, real
from isthmus.kernels.algebra.around import KernelAround
from isthmus.kernels.base import A_PART, Kernel
from isthmus.kernels.objects import n_objects
from isthmus.typing import Array, Objects


class _Pair(Kernel):
    """Two kernels on the same objects."""

    left: Kernel
    right: Kernel

    _constraints: ClassVar[dict[str, Constraint]] = {
        "left": A_PART,
        "right": A_PART,
    }

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.left, self.right)

    @property
    def _judge(self) -> Kernel:
        # A constant accepts anything, so the other kernel decides what an object is.
        return self.right if isinstance(self.left, Constant) else self.left

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return self._judge.vectors

    @property
    def pairwise(self) -> bool:  # type: ignore[override]
        return self._judge.pairwise

    def check(self, X: Objects) -> Objects:
        for part in (self.left, self.right):
            X = part.check(X)
        return X

    def reference(self, X: Objects, indices: object = None) -> Objects:
        return self._judge.reference(X, indices)

    def resolve(self, X: Objects) -> Kernel:
        return replace(self, left=self.left.resolve(X), right=self.right.resolve(X))  # type: ignore[type-var]

    def log_parameters(self) -> Array:
        return np.concatenate([self.left.log_parameters(), self.right.log_parameters()])

    def with_log_parameters(self, theta: Array) -> Kernel:
        n_left = len(self.left.log_parameters())
        return replace(  # type: ignore[type-var]
            self,
            left=self.left.with_log_parameters(theta[:n_left]),
            right=self.right.with_log_parameters(theta[n_left:]),
        )


@dataclass
class Sum(_Pair):
    """``k1 + k2``: feature spaces side by side.

    >>> from isthmus.kernels import Gaussian, Linear
    >>> Linear() + Gaussian(1.0)
    Sum(left=Linear(), right=Gaussian(gamma=1.0))
    """

    __module__ = "isthmus.kernels"

    left: Kernel
    right: Kernel
    inherits = frozenset({"gradient", "radial", "sequences", "series", "graphs"})

    def gram(self, X: Objects, Z: Objects) -> Array:
        return self.left.gram(X, Z) + self.right.gram(X, Z)

    def diag(self, X: Objects) -> Array:
        return self.left.diag(X) + self.right.diag(X)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return self.left.weighted_gradient(X, Z, W) + self.right.weighted_gradient(X, Z, W)

    def diag_gradient(self, X: Array) -> Array:
        return self.left.diag_gradient(X) + self.right.diag_gradient(X)

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        return self.left.radial_weights(X, Z) + self.right.radial_weights(X, Z)

    def parameter_gradient(self, X: Objects, Z: Objects, W: Array, K: Array | None = None) -> Array:
        parts = [part.parameter_gradient(X, Z, W) for part in (self.left, self.right)]
        return np.concatenate(parts)

    def diag_parameter_gradient(self, X: Objects, w: Array) -> Array:
        parts = [part.diag_parameter_gradient(X, w) for part in (self.left, self.right)]
        return np.concatenate(parts)


@dataclass
class Product(_Pair):
    """``k1 * k2``: tensor product of the feature spaces.

    >>> from isthmus.kernels import Gaussian, Linear
    >>> Linear() * Gaussian(1.0)
    Product(left=Linear(), right=Gaussian(gamma=1.0))
    """

    __module__ = "isthmus.kernels"

    left: Kernel
    right: Kernel
    inherits = frozenset({"gradient", "radial", "sequences", "series", "graphs"})

    def gram(self, X: Objects, Z: Objects) -> Array:
        return self.left.gram(X, Z) * self.right.gram(X, Z)

    def diag(self, X: Objects) -> Array:
        return self.left.diag(X) * self.right.diag(X)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        A, B = self.left.gram(X, Z), self.right.gram(X, Z)
        return self.left.weighted_gradient(X, Z, W * B, A) + self.right.weighted_gradient(
            X, Z, W * A, B
        )

    def diag_gradient(self, X: Array) -> Array:
        return (
            self.left.diag_gradient(X) * self.right.diag(X)[:, None]
            + self.right.diag_gradient(X) * self.left.diag(X)[:, None]
        )

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        A, B = self.left.gram(X, Z), self.right.gram(X, Z)
        return self.left.radial_weights(X, Z, A) * B + self.right.radial_weights(X, Z, B) * A

    def parameter_gradient(self, X: Objects, Z: Objects, W: Array, K: Array | None = None) -> Array:
        A, B = self.left.gram(X, Z), self.right.gram(X, Z)
        return np.concatenate(
            [
                self.left.parameter_gradient(X, Z, W * B, A),
                self.right.parameter_gradient(X, Z, W * A, B),
            ]
        )

    def diag_parameter_gradient(self, X: Objects, w: Array) -> Array:
        return np.concatenate(
            [
                self.left.diag_parameter_gradient(X, w * self.right.diag(X)),
                self.right.diag_parameter_gradient(X, w * self.left.diag(X)),
            ]
        )


@dataclass
class Scaled(KernelAround):
    """``factor * k`` with a non-negative factor.

    >>> from isthmus.kernels import Linear
    >>> (2 * Linear())([[1.0]])
    array([[2.]])
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    factor: float = field(default=1.0, kw_only=True)
    learned = ("factor",)
    inherits = frozenset({"gradient", "radial", "sequences", "series", "graphs"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "factor": real(0, LARGEST),
    }

    def resolve(self, X: Objects) -> "Scaled":
        check_float(self.factor, "factor", self)
        return replace(self, base=self.base.resolve(X))

    def gram(self, X: Objects, Z: Objects) -> Array:
        return self.factor * self.base.gram(X, Z)

    def diag(self, X: Objects) -> Array:
        return self.factor * self.base.diag(X)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return self.base.weighted_gradient(X, Z, self.factor * W)

    def diag_gradient(self, X: Array) -> Array:
        return self.factor * self.base.diag_gradient(X)

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        return self.factor * self.base.radial_weights(X, Z)

    def log_parameters(self) -> Array:
        return np.concatenate([super().log_parameters(), self.base.log_parameters()])

    def with_log_parameters(self, theta: Array) -> Kernel:
        own = len(self._names)
        factor = float(np.exp(theta[0])) if own else self.factor
        return replace(self, factor=factor, base=self.base.with_log_parameters(theta[own:]))

    def parameter_gradient(self, X: Objects, Z: Objects, W: Array, K: Array | None = None) -> Array:
        inner = self.base.gram(X, Z)
        own = [self.factor * np.vdot(W, inner)] if self._names else []
        return np.concatenate([own, self.factor * self.base.parameter_gradient(X, Z, W, inner)])

    def diag_parameter_gradient(self, X: Objects, w: Array) -> Array:
        own = [self.factor * (w @ self.base.diag(X))] if self._names else []
        return np.concatenate([own, self.factor * self.base.diag_parameter_gradient(X, w)])


@dataclass
class Constant(Kernel):
    """The same similarity for all pairs: an intercept in feature space.

    >>> from isthmus.kernels import Linear
    >>> Linear() + 1.0
    Sum(left=Linear(), right=Constant(value=1.0))
    """

    __module__ = "isthmus.kernels"

    value: float = 1.0
    vectors = False
    learned = ("value",)
    offers = frozenset({"gradient", "radial", "sequences", "series", "graphs"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "value": real(0, LARGEST),
    }

    def check(self, X: Objects) -> Objects:
        return X

    def resolve(self, X: Objects) -> "Constant":
        check_float(self.value, "value", self)
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        return np.full((n_objects(X), n_objects(Z)), float(self.value))

    def diag(self, X: Objects) -> Array:
        return np.full(n_objects(X), float(self.value))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return np.zeros_like(X)

    def diag_gradient(self, X: Array) -> Array:
        return np.zeros_like(X)

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        return np.zeros((n_objects(X), n_objects(Z)))

    def _shape_gradient(self, X: Objects, Z: Objects, W: Array, K: Array) -> Array:
        return np.array([self.value * W.sum()])

    def _diag_shape_gradient(self, X: Objects, w: Array) -> Array:
        return np.array([self.value * w.sum()])
