"""Kernels of objects with parts: tensor products and convolutions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, condition, several
from isthmus.kernels.base import A_PART, Kernel
from isthmus.kernels.objects import check_list
from isthmus.typing import Array, IntArray, Objects


class _OfParts(Kernel):
    """Several kernels, each of which compares one part of the objects: ``x[0]``, ``x[1]``, …"""

    kernels: tuple[Kernel, ...]
    vectors = False

    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernels": several(A_PART),
    }

    def check(self, X: Objects) -> Objects:
        X = check_list(X, type(self).__name__)
        for d, kernel in enumerate(self.kernels):
            kernel.check(self._part(X, d))
        return X

    def _part(self, X: Objects, d: int) -> Objects:
        parts = []
        for i, x in enumerate(X):
            if isinstance(x, str) or not hasattr(x, "__len__") or len(x) != len(self.kernels):
                raise ValueError(
                    f"{type(self).__name__} expected objects of {len(self.kernels)} parts, one per "
                    f"kernel. Got {x!r:.60} as object {i} instead."
                )
            parts.append(x[d])
        # Rows of numbers make a table; anything else stays a list.
        return np.array(parts, dtype=np.float64) if self.kernels[d].vectors else parts

    def resolve(self, X: Objects) -> Kernel:
        fixed = (k.resolve(k.check(self._part(X, d))) for d, k in enumerate(self.kernels))
        return type(self)(**(self.get_params(deep=False) | {"kernels": tuple(fixed)}))

    def _factors(self, X: Objects, Z: Objects) -> list[Array]:
        factors = []
        for d, kernel in enumerate(self.kernels):
            left = kernel.check(self._part(X, d))
            right = left if Z is X else kernel.check(self._part(Z, d))
            factors.append(kernel.gram(left, right))
        return factors


@dataclass
class Tensor(_OfParts):
    r"""Tensor product of kernels, :math:`k((x_1,x_2),(z_1,z_2))=k_1(x_1,z_1)\,k_2(x_2,z_2)`.

    Objects are tuples of any number of parts of any kind; similar objects agree in all of them.

    Parameters
    ----------
    kernels : tuple of kernels
        One per part.

    Examples
    --------
    >>> from isthmus.kernels import Delta, Gaussian, Tensor
    >>> k = Tensor((Gaussian(1.0), Delta()))
    >>> k([([0.0], "a"), ([1.0], "a"), ([0.0], "b")]).round(3)
    array([[1.   , 0.368, 0.   ],
           [0.368, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    __module__ = "isthmus.kernels"

    kernels: tuple[Kernel, ...]

    def gram(self, X: Objects, Z: Objects) -> Array:
        return np.asarray(np.prod(self._factors(X, Z), axis=0))

    def diag(self, X: Objects) -> Array:
        parts = [k.diag(self._part(X, d)) for d, k in enumerate(self.kernels)]
        return np.asarray(np.prod(parts, axis=0))


@dataclass
class DirectSum(_OfParts):
    r"""Direct sum of kernels, :math:`k((x_1,x_2),(z_1,z_2))=k_1(x_1,z_1)+k_2(x_2,z_2)`.

    Objects are tuples of any number of parts of any kind; similar objects agree in some of them.

    Parameters
    ----------
    kernels : tuple of kernels
        One per part.

    Examples
    --------
    >>> from isthmus.kernels import Delta, DirectSum, Linear
    >>> DirectSum((Linear(), Delta()))([([2.0], "a"), ([1.0], "a")])
    array([[5., 3.],
           [3., 2.]])
    """

    __module__ = "isthmus.kernels"

    kernels: tuple[Kernel, ...]

    def gram(self, X: Objects, Z: Objects) -> Array:
        return np.asarray(np.sum(self._factors(X, Z), axis=0))

    def diag(self, X: Objects) -> Array:
        parts = [k.diag(self._part(X, d)) for d, k in enumerate(self.kernels)]
        return np.asarray(np.sum(parts, axis=0))


@dataclass
class Convolution(Kernel):
    r"""Convolution kernel :math:`k(x,z)=\sum_{a\in R(x)}\sum_{b\in R(z)}k_0(a,b)` [Haussler1999]_.

    :math:`R(x)` are the ways to take an object apart. With :class:`Tensor` as ``base`` a way may
    have several parts, and k is the sum over decompositions of the product over parts.

    Parameters
    ----------
    base : kernel
        Compares what ``decompose`` yields.
    decompose : callable
        ``decompose(x)`` returns a list, possibly empty.

    Examples
    --------
    All ways to cut a word in two, compared by beginning and end:

    >>> from isthmus.kernels import Convolution, Delta, Tensor
    >>> def cuts(word):
    ...     return [(word[:i], word[i:]) for i in range(len(word) + 1)]
    >>> Convolution(Tensor((Delta(), Delta())), decompose=cuts)(["ab"], ["ab", "ba"])
    array([[3., 0.]])
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    decompose: Callable[[Any], list[Any]] = field(kw_only=True)
    vectors = False

    _constraints: ClassVar[dict[str, Constraint]] = {
        "base": A_PART,
        "decompose": condition("a callable", callable),  # list is one
    }

    def resolve(self, X: Objects) -> "Convolution":
        parts = self._parts(X)[0]
        return (
            Convolution(self.base.resolve(parts), decompose=self.decompose) if len(parts) else self
        )

    def _parts(self, X: Objects) -> tuple[Objects, IntArray]:
        lists = [list(self.decompose(x)) for x in X]
        parts: Any = [part for one in lists for part in one]
        if parts:
            parts = self.base.check(np.array(parts, float) if self.base.vectors else parts)
        return parts, np.repeat(np.arange(len(lists)), [len(one) for one in lists])

    def gram(self, X: Objects, Z: Objects) -> Array:
        left, x_owner = self._parts(X)
        right, z_owner = (left, x_owner) if Z is X else self._parts(Z)
        K = np.zeros((len(X), len(Z)))
        if not len(left) or not len(right):
            return K
        columns = np.zeros((len(left), len(Z)))
        np.add.at(columns.T, z_owner, self.base.gram(left, right).T)
        np.add.at(K, x_owner, columns)
        return K

    def diag(self, X: Objects) -> Array:
        X = self.check(X)
        kernel = self.resolve(X)
        return np.array([kernel.gram([x], [x])[0, 0] for x in X])
