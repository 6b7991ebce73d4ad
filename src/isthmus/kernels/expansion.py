"""Linear functionals of a feature space, as sums over objects."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.products import product
from isthmus.typing import Array, Objects


class Expansion:
    r"""Functions :math:`f_j(x)=\sum_iA_{ij}k(x_i,x)+b_j` over one set of objects.

    Every function that a kernel machine has learned is held in this form: the directions of a
    kernel feature map, the function of a ridge regression, the mean of a Gaussian process, the
    separating plane of a support vector machine. Calling it evaluates the functions in blocks; the
    offset counts there, and in no inner product, since it is no part of
    :math:`w_j=\sum_iA_{ij}\varphi(x_i)`.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved.
    objects : objects :math:`x_i`, in the form that the kernel computes with.
    weights : array of shape (n_objects, p)
        :math:`A`.
    offset : array of shape (p,) or None, default=None
        :math:`b`; None is zero.
    gram : array of shape (p, p) or None, default=None
        The inner products of the functions, if they are known; None computes them on demand.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Expansion, Linear
    >>> f = Expansion(Linear(), np.eye(2), np.array([[1.0], [2.0]]), offset=np.array([10.0]))
    >>> f(np.array([[1.0, 1.0]]))
    array([[13.]])
    >>> f.squared_norms()
    array([5.])
    """

    __module__ = "isthmus.kernels"

    def __init__(
        self,
        kernel: Kernel,
        objects: Objects,
        weights: Array,
        offset: Array | None = None,
        *,
        gram: Array | None = None,
    ):
        if isinstance(objects, np.ndarray) and not objects.flags.forc:
            # A file holds them without gaps, and BLAS rounds by how rows lie in memory.
            objects = np.ascontiguousarray(objects)
        self.kernel = kernel
        self.objects = objects
        self.weights = weights
        self.offset = np.zeros(weights.shape[1], dtype=weights.dtype) if offset is None else offset
        self._gram = gram

    # Cached results are neither compared nor written to disk ----------------------------

    def __getstate__(self) -> dict[str, Any]:
        kept = ("kernel", "objects", "weights", "offset")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _gram=None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expansion):
            return NotImplemented
        return (
            self.kernel == other.kernel
            and _same(self.objects, other.objects)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.offset, other.offset)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """Number of functions."""
        return int(self.weights.shape[1])

    def __repr__(self) -> str:
        return f"Expansion({len(self)} functions over {n_objects(self.objects)} objects)"

    # Values ---------------------------------------------------------------------------

    def __call__(self, X: Objects) -> Array:
        """Values of the functions at checked objects, shape (n, p)."""
        W = self._primal()
        if W is not None:
            F: Any = self.kernel.explicit_features(X)
            return np.asarray((F if issparse(F) else np.asarray(F)) @ W + self.offset)
        blocks = block_slices(n_objects(X), n_objects(self.objects))
        values_at = self.kernel.against(self.objects)
        values = [product(values_at(take(X, rows)), self.weights) for rows in blocks]
        return np.concatenate(values) + self.offset

    def _primal(self) -> Array | None:
        r""":math:`\Phi^\top A` if features are explicit, so that no kernel values are needed."""
        if "_weights_in_features" not in self.__dict__:
            explicit = "explicit" in self.kernel.provides
            F = self.kernel.explicit_features(self.objects) if explicit else None
            self._weights_in_features = None if F is None else F.T @ self.weights
        return self._weights_in_features

    # Geometry -------------------------------------------------------------------------

    def inner(self, other: "Expansion | None" = None) -> Array:
        r"""Inner products :math:`\langle w_i,w'_j\rangle` with another expansion, or its own."""
        if other is None or other is self:
            if self._gram is None:
                self._gram = self.weights.T @ (self(self.objects) - self.offset)
            return self._gram
        return (self(other.objects) - self.offset).T @ other.weights

    def squared_norms(self) -> Array:
        r"""Squared lengths :math:`\|w_j\|^2`, shape (p,)."""
        return np.diagonal(self.inner()).copy()

    # Other expansions -------------------------------------------------------------------

    def then(self, matrix: Array, offset: Any = None) -> "Expansion":
        r"""The functions followed by a linear map, :math:`x\mapsto f(x)M+c`, as one expansion.

        When it is compressed its error is that of the whole; compressed before the map, small
        errors of functions with little weight could be amplified by it.
        """
        shift = self.offset @ matrix
        return Expansion(
            self.kernel,
            self.objects,
            self.weights @ matrix,
            shift if offset is None else shift + offset,
        )

    def take(self, columns: Any) -> "Expansion":
        """Some of the functions, over the same objects."""
        gram = None if self._gram is None else self._gram[columns][:, columns]
        weights, offset = self.weights[:, columns], self.offset[columns]
        return Expansion(self.kernel, self.objects, weights, offset, gram=gram)

    def over(self, objects: Objects, weights: Array) -> "Expansion":
        """Functions with the same kernel and offset over other objects."""
        return Expansion(self.kernel, objects, weights, self.offset)

    def without_zeros(self) -> "Expansion":
        """The same functions without objects that no function uses."""
        used = np.flatnonzero(np.any(self.weights != 0, axis=1))
        if len(used) == len(self.weights):
            return self
        return self.over(take(self.objects, used), self.weights[used])


def _same(a: Objects, b: Objects) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if issparse(a) and issparse(b):
        return a.shape == b.shape and (a != b).nnz == 0
    return n_objects(a) == n_objects(b) and bool(
        np.all([x == y for x, y in zip(a, b, strict=True)])
    )
