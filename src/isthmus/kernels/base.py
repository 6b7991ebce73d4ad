"""What every kernel can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_array

from isthmus._parameters import check_parameters, having
from isthmus._piece import Piece
from isthmus.blocks.containers import is_dask
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import check_list, n_objects, refuse_text, take
from isthmus.linalg.products import product
from isthmus.typing import Array, Objects

#: What a kernel made of others takes as a part, a stranger's too.
A_PART = having("gram", "diag", "check", "resolve", text="a kernel")


class Kernel(Piece, ABC):
    r"""A positive semi-definite similarity :math:`k(x,z)=\langle\varphi(x),\varphi(z)\rangle`.

    A new kernel is a dataclass with :meth:`gram` and :meth:`diag`; if it is differentiable in
    vectors, also with :meth:`_weighted_gradient` and :meth:`diag_gradient`. It declares in
    ``offers`` what it can do beyond its values. A kernel that compares something other than rows of
    an array sets ``vectors = False``, and one with parameters that can be learned names them in
    ``learned``. A kernel made of others names them as ``parts``, and in ``inherits`` the words that
    it has if all of its parts have them.
    """

    __module__ = "isthmus.kernels"

    #: What the kernel can do, in words of :data:`isthmus.typing.CAPABILITIES`.
    offers: ClassVar[frozenset[str]] = frozenset()
    #: Words that a kernel made of others has if all of its parts have them.
    inherits: ClassVar[frozenset[str]] = frozenset()
    #: Whether objects are rows of a two-dimensional numeric array.
    vectors = True
    #: Whether an object is its row of a Gram matrix.
    pairwise = False
    #: Whether ``k(x, z)`` depends on ``x - z`` alone.
    stationary = False
    #: Names of positive parameters that can be learned, the width first.
    learned: ClassVar[tuple[str, ...]] = ()
    #: The inputs enter as ``width ** width_power * x``; 0 if no parameter is a width.
    width_power: ClassVar[float] = 0.0

    @property
    def parts(self) -> tuple["Kernel", ...]:
        """The kernels that this one is made of."""
        return ()

    @property
    def provides(self) -> frozenset[str]:
        """What the kernel can do and what it compares, see :mod:`isthmus.typing`."""
        kind = "pairwise" if self.pairwise else "vectors" if self.vectors else "objects"
        words = self.offers | {kind}
        if self.stationary:
            words |= {"stationary"}
        if self.parts:
            words |= self.inherits.intersection(*(part.provides for part in self.parts))
        return words

    @property
    def certain(self) -> bool:
        """Whether ``gram`` is symmetric and positive semi-definite for all objects, as proven."""
        return False

    def mirrors(self, X: Objects) -> bool:
        """Whether both halves of ``gram(X, X)`` are equal to the bit, as it is made."""
        return False

    @abstractmethod
    def gram(self, X: Objects, Z: Objects) -> Array:
        """Gram matrix of checked objects; ``Z is X`` says that it is symmetric."""

    @abstractmethod
    def diag(self, X: Objects) -> Array:
        """``k(x, x)`` for every object."""

    def __call__(self, X: Objects, Z: Objects = None) -> Any:
        """Gram matrix (n, m) of two collections, or of one with itself.

        Two single vectors give a number, as scikit-learn's pairwise calls expect; Dask collections
        give a lazy matrix, of which each chunk is one call.
        """
        check_parameters(self)
        if is_dask(X) or is_dask(Z):
            return self._lazy_gram(X, X if Z is None else Z)
        if self.vectors and np.ndim(X) == 1 and Z is not None and np.ndim(Z) == 1:
            return float(self(np.asarray(X)[None], np.asarray(Z)[None])[0, 0])
        X, Z = self._checked_pair(X, Z)
        K = self.resolve(Z).gram(X, Z)
        if not np.isfinite(K).all():
            raise ValueError(
                f"The kernel {self!r:.200} has no finite value for some pairs: its parameters, or "
                "the numbers in X, are too large."
            )
        return K

    def _lazy_gram(self, X: Any, Z: Any) -> Any:
        from isthmus.blocks.drawing import draw_rows
        from isthmus.blocks.mapping import each_pair
        from isthmus.kernels.vectors.width import MAX_ROWS

        if self.pairwise:
            raise TypeError(f"The kernel {self!r} needs the whole Gram matrix in memory.")
        # The rows that a width would be taken from in memory.
        some = draw_rows(Z, MAX_ROWS, 0, sort=False)[0] if is_dask(Z) else Z
        return each_pair(X, Z, self.resolve(self.check(some)))

    def check(self, X: Objects) -> Objects:
        """Return ``X`` in the form that the kernel computes with, or raise what is wrong."""
        if self.vectors:
            refuse_text(X, type(self).__name__, self)
            return check_array(
                X, dtype=[np.float64, np.float32], input_name="X", estimator=type(self).__name__
            )
        return check_list(X, type(self).__name__)

    def _checked_pair(self, X: Objects, Z: Objects) -> tuple[Objects, Objects]:
        X = self.check(X)
        Z = X if Z is None else self.check(Z)
        if self.vectors and X.shape[1] != Z.shape[1]:
            raise ValueError(
                f"The kernel {self!r} compares vectors of the same length: X and Z must have the "
                f"same number of columns. Got X.shape={X.shape} and Z.shape={Z.shape}."
            )
        return X, Z

    def reference(self, X: Objects, indices: Any = None) -> Objects:
        """What to keep of ``X``, or of part of it, as second argument of later calls."""
        return X if indices is None else take(X, indices)

    def resolve(self, X: Objects) -> "Kernel":
        """The kernel with parameters such as ``"median"`` replaced by numbers from ``X``."""
        return self

    def blocks(
        self, X: Objects, Z: Objects = None, *, block_size: int | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """Yield ``(rows, K[rows])``, so that the whole Gram matrix is never needed."""
        X, Z = self._checked_pair(X, Z)
        values = self.resolve(Z).against(Z)
        for rows in block_slices(n_objects(X), n_objects(Z), block_size=block_size):
            yield rows, values(take(X, rows))

    def against(self, Z: Objects) -> Callable[[Objects], Array]:
        """The function ``X`` ↦ ``gram(X, Z)``, for many calls with the same ``Z``.

        A kernel that can compute something of ``Z`` once for all calls overrides it.
        """
        return lambda X: self.gram(X, Z)

    def against_in_fit(self, Z: Objects) -> Callable[[Objects], Array]:
        """The same for the calls of one fit: later ones may round otherwise than the first.

        A kernel that can tell from the calls so far that faster code pays overrides it.
        """
        return self.against(Z)

    # Derivatives with respect to the first argument --------------------------------

    def weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array | None = None) -> Array:
        r"""Row :math:`i` is :math:`\sum_j W_{ij}\,\partial k(x_i,z_j)/\partial x_i`.

        The sum over :math:`j` is a matrix product, so the (n, m, d) array of all
        gradients is never formed. ``K`` is ``k(X, Z)`` if it is already known.
        """
        kernel = self.resolve(Z)
        return kernel._weighted_gradient(X, Z, W, kernel.gram(X, Z) if K is None else K)

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

    def values_and_slopes(self, X: Array, B: Array) -> Callable[[Array], tuple[Array, Array]]:
        r"""The functions :math:`\sum_jB_{ji}k(x_j,z)` with their Jacobians, as one function.

        It maps points ``Z`` (m, d) to values (m, r) and Jacobians (m, r, d); a kernel with a faster
        way overrides it.
        """
        r = B.shape[1]

        def model(Z: Array) -> tuple[Array, Array]:
            m, d = Z.shape
            K = self.gram(Z, X)
            # One row per pair of a point and a function, so that one call gives all gradients.
            J = self.weighted_gradient(
                np.repeat(Z, r, axis=0), X, np.tile(B.T, (m, 1)), np.repeat(K, r, axis=0)
            )
            return product(K, B), J.reshape(m, r, d)

        return model

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        raise TypeError(self._lacks("gradient with respect to its first argument"))

    def diag_gradient(self, X: Array) -> Array:
        """Gradient of ``k(x, x)``, shape (n, d)."""
        raise TypeError(self._lacks("gradient of its diagonal"))

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        r"""Matrix of :math:`-\partial k/\partial\|x-z\|^2` for kernels of the distance."""
        raise TypeError(self._lacks("form k(‖x - z‖²)"))

    def inverse_inner_product(self, values: Array) -> Array:
        r"""Solve :math:`k(x,z)=f(x^\top z)` for the inner product."""
        raise TypeError(self._lacks("form f(x'z) with an invertible f"))

    def squared_distances_from(self, K: Array, x_diag: Array, z_diag: Array) -> Array:
        """Squared distances between vectors from their kernel values."""
        raise TypeError(self._lacks("formula for input distances from kernel values"))

    def explicit_features(self, X: Objects) -> Array | None:
        """Finite vectors whose inner product is the kernel, if that is cheaper; else None."""
        return None

    def _lacks(self, what: str) -> str:
        return f"The kernel {self!r} has no {what}."

    # Derivatives with respect to parameters -----------------------------------------

    @property
    def _names(self) -> list[str]:
        # A parameter that is zero has no logarithm: it stays zero.
        return [name for name in self.learned if getattr(self, name) > 0]

    def log_parameters(self) -> Array:
        """Logarithms of the parameters that can be learned, of a resolved kernel."""
        return np.log([float(getattr(self, name)) for name in self._names])

    def with_log_parameters(self, theta: Array) -> "Kernel":
        """The kernel with other parameters, in the order of :meth:`log_parameters`."""
        values = dict(zip(self._names, map(float, np.exp(theta)), strict=True))
        return replace(self, **values) if values else self  # type: ignore[type-var]

    def parameter_gradient(self, X: Any, Z: Any, W: Array, K: Array | None = None) -> Array:
        r"""Derivatives of :math:`\sum_{ij}W_{ij}k(x_i,z_j)` by the logarithms of the parameters.

        Sums of matrix products: the (n, m, p) array of all derivatives is never formed. ``Z is X``
        says that ``W`` is symmetric; ``K`` is ``k(X, Z)`` if it is already known.
        """
        if not self._names:
            return np.empty(0)
        K = self.gram(X, Z) if K is None else K
        rest = self._shape_gradient(X, Z, W, K)
        if not self.width_power:
            return rest
        return np.concatenate([[self.width_power * self.stretch_gradient(X, Z, W, K).sum()], rest])

    def diag_parameter_gradient(self, X: Any, w: Array) -> Array:
        r"""Derivatives of :math:`\sum_iw_ik(x_i,x_i)` by the logarithms of the parameters."""
        if not self._names:
            return np.empty(0)
        rest = self._diag_shape_gradient(X, w)
        if not self.width_power:
            return rest
        stretch = w @ np.einsum("ij,ij->i", X, self.diag_gradient(X))
        return np.concatenate([[self.width_power * stretch], rest])

    def _shape_gradient(self, X: Any, Z: Any, W: Array, K: Array) -> Array:
        """The derivatives by the parameters other than the width."""
        return np.empty(0)

    def _diag_shape_gradient(self, X: Any, w: Array) -> Array:
        return np.zeros(len(self._names) - bool(self.width_power))

    def stretch_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        r"""Derivative of :math:`\sum_{ij}W_{ij}k(x_i,z_j)` by the log-scale of each column.

        It is :math:`\sum_ix_{ic}\,\partial/\partial x_{ic}+\sum_jz_{jc}\,\partial/\partial z_{jc}`,
        so what a kernel knows about its inputs is enough to learn all length scales.
        """
        if self.stationary:  # any origin will do: close to the points nothing cancels
            origin, same = X.mean(axis=0), Z is X
            X = X - origin
            Z = X if same else Z - origin
        gradient = np.einsum("ij,ij->j", X, self._weighted_gradient(X, Z, W, K))
        if Z is X:
            return 2 * gradient
        return gradient + np.einsum("ij,ij->j", Z, self._weighted_gradient(Z, X, W.T, K.T))

    # Algebra ----------------------------------------------------------------------

    def __add__(self, other: Any) -> "Kernel":
        from isthmus.kernels.algebra.operations import Constant, Sum

        if isinstance(other, Real):
            other = Constant(float(other))
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> "Kernel":
        return self + other

    def __mul__(self, other: Any) -> "Kernel":
        from isthmus.kernels.algebra.operations import Product, Scaled

        if isinstance(other, Real):
            return Scaled(self, factor=float(other))
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: Any) -> "Kernel":
        return self * other
