"""What every kernel can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array

from isthmus._piece import Piece
from isthmus.kernels._objects import check_list, n_objects, take
from isthmus.linalg import block_slices
from isthmus.typing import Array, Objects


class Kernel(Piece, ABC):
    r"""A positive semi-definite similarity :math:`k(x,z)=\langle\varphi(x),\varphi(z)\rangle`.

    A new kernel is a dataclass with :meth:`_gram` and :meth:`diag`; where it is
    differentiable in vectors, :meth:`_weighted_gradient` too. One that compares something
    else than rows of an array sets ``vectors = False``.
    """

    #: True where objects are rows of a two-dimensional numeric array.
    vectors = True
    #: True where an object is its row of a Gram matrix.
    pairwise = False

    @abstractmethod
    def _gram(self, X: Objects, Z: Objects) -> Array:
        """Gram matrix of checked objects; ``Z is X`` says that it is symmetric."""

    @abstractmethod
    def diag(self, X: Objects) -> Array:
        """``k(x, x)`` for every object."""

    def __call__(self, X: Objects, Z: Objects = None) -> Any:
        """Gram matrix (n, m) of two collections, or of one with itself.

        Two single vectors give a number, as scikit-learn's pairwise calls expect.
        """
        if self.vectors and np.ndim(X) == 1 and Z is not None and np.ndim(Z) == 1:
            return float(self(np.asarray(X)[None], np.asarray(Z)[None])[0, 0])
        X = self.check(X)
        Z = X if Z is None else self.check(Z)
        return self.resolve(Z)._gram(X, Z)

    def check(self, X: Objects) -> Objects:
        """Return ``X`` in the form that the kernel computes with, or say what is wrong."""
        if self.vectors:
            return check_array(
                X, dtype=[np.float64, np.float32], input_name="X", estimator=type(self).__name__
            )
        return check_list(X, type(self).__name__)

    def reference(self, X: Objects, indices: Any = None) -> Objects:
        """What to keep of ``X``, or of some of it, as second argument of later calls."""
        return X if indices is None else take(X, indices)

    def resolve(self, X: Objects) -> "Kernel":
        """The kernel with parameters such as ``"median"`` replaced by numbers from ``X``."""
        return self

    def blocks(
        self, X: Objects, Z: Objects = None, *, block_size: int | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """Yield ``(rows, K[rows])``, so that nobody needs the whole Gram matrix."""
        X = self.check(X)
        Z = X if Z is None else self.check(Z)
        kernel = self.resolve(Z)
        for rows in block_slices(n_objects(X), n_objects(Z), block_size=block_size):
            yield rows, kernel._gram(take(X, rows), Z)

    # Derivatives with respect to the first argument --------------------------------

    def weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array | None = None) -> Array:
        r"""Row :math:`i` is :math:`\sum_j W_{ij}\,\partial k(x_i,z_j)/\partial x_i`.

        The sum over :math:`j` is a matrix product, so the (n, m, d) array of all
        gradients is never formed. ``K`` is ``k(X, Z)`` where it is known already.
        """
        kernel = self.resolve(Z)
        return kernel._weighted_gradient(X, Z, W, kernel._gram(X, Z) if K is None else K)

    def gradient(self, X: Array, Z: Array) -> Array:
        """All gradients with respect to the first argument, shape (n, m, d).

        The slow and obvious form of :meth:`weighted_gradient`.
        """
        X, Z = self.check(X), self.check(Z)
        n, m = len(X), len(Z)
        result = np.empty((n, m, X.shape[1]), dtype=X.dtype)
        for j in range(m):
            result[:, j] = self.weighted_gradient(X, Z[j : j + 1], np.ones((n, 1), dtype=X.dtype))
        return result

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        raise TypeError(self._lacks("a gradient with respect to its first argument"))

    def diag_gradient(self, X: Array) -> Array:
        """Gradient of ``k(x, x)``, shape (n, d)."""
        raise TypeError(self._lacks("a gradient of its diagonal"))

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        r"""Matrix of :math:`-\partial k/\partial\|x-z\|^2` for kernels of the distance alone."""
        raise TypeError(self._lacks("the form k(‖x - z‖²)"))

    def inverse_inner_product(self, values: Array) -> Array:
        r"""Solve :math:`k(x,z)=f(x^\top z)` for the inner product."""
        raise TypeError(self._lacks("the form f(x'z) with an invertible f"))

    def squared_distances_from(self, K: Array, x_diag: Array, z_diag: Array) -> Array:
        """Squared distances between vectors from their kernel values."""
        raise TypeError(self._lacks("a formula for input distances from kernel values"))

    def explicit_features(self, X: Objects) -> Array | None:
        """Finite vectors whose inner product is the kernel, where that is the cheap way."""
        return None

    def _lacks(self, what: str) -> str:
        return f"The kernel {self!r} has not {what}."

    # Algebra ----------------------------------------------------------------------

    def __add__(self, other: Any) -> "Kernel":
        from isthmus.kernels._algebra import Constant, Sum

        if isinstance(other, Real):
            other = Constant(float(other))
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> "Kernel":
        return self + other

    def __mul__(self, other: Any) -> "Kernel":
        from isthmus.kernels._algebra import Product, Scaled

        if isinstance(other, Real):
            return Scaled(self, factor=float(other))
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: Any) -> "Kernel":
        return self * other
