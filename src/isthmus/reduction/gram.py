"""A Gram matrix in memory, or one whose columns are computed on demand."""

from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram, check_sample
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray, Objects

NEW_BLOCK = 2**19  # multiplications by zero that are worth less than another block's calls


class Gram(Protocol):
    """What a reduction needs of a Gram matrix."""

    def __len__(self) -> int: ...

    def diag(self) -> Array:
        """Its diagonal."""

    def columns(self, indices: IntArray) -> Array:
        """Some of its columns, (n, len(indices))."""

    def dot(self, A: Array) -> Array:
        """Its product with a matrix of few columns."""


@dataclass
class DenseGram:
    """A Gram matrix in memory.

    >>> import numpy as np
    >>> DenseGram(np.eye(3)).columns(np.array([1])).ravel()
    array([0., 1., 0.])
    """

    K: Array

    def __len__(self) -> int:
        return len(self.K)

    def diag(self) -> Array:
        """Its diagonal."""
        return self.K.diagonal().copy()

    def columns(self, indices: IntArray) -> Array:
        """Some of its columns, (n, len(indices))."""
        return self.K[:, indices]

    def dot(self, A: Array) -> Array:
        """Its product with a matrix of few columns."""
        return self.K @ A


@dataclass
class KernelGram:
    """The Gram matrix of checked objects, never formed: r columns cost r kernel values per row."""

    kernel: Any
    objects: Objects

    def __len__(self) -> int:
        return n_objects(self.objects)

    def diag(self) -> Array:
        """Its diagonal."""
        return np.array(self.kernel.diag(self.objects), dtype=float)

    def columns(self, indices: IntArray) -> Array:
        """Some of its columns, (n, len(indices))."""
        return self.kernel.gram(self.objects, take(self.objects, indices))

    def dot(self, A: Array) -> Array:
        """Its product with a matrix of few columns, block by block."""
        used = np.flatnonzero(np.any(A != 0, axis=1))
        some = self.objects if len(used) == len(A) else take(self.objects, used)
        weights, found = A[used], np.zeros((len(self), A.shape[1]))
        if not len(used):
            return found
        parts = list(block_slices(len(self), len(used)))
        # Kernel values are asked for in as few calls as there can be, products in those that are
        # worth it for one part of the rows.
        blocks = coefficient_blocks(weights, parts[0].stop)
        for part in parts:
            C = self.kernel.gram(take(self.objects, part), some)
            for rows, columns in blocks:
                found[part, columns] += C[:, rows] @ weights[rows, columns]
        return found


def coefficient_blocks(
    A: Array, n: int, most: int | None = None
) -> list[tuple[slice, IntArray | slice]]:
    """Blocks of rows of ``A``, ``most`` at a time, and the columns in which they are not all zero.

    For products of ``n`` rows with A. A machine of many classes has a function for each pair of
    them, and each of its objects counts in those of its own class alone. Objects of a class follow
    each other, so that products with coefficients need a small part of them.

    >>> import numpy as np
    >>> A = np.kron(np.eye(2), np.ones((100, 1)))
    >>> [(rows.start, rows.stop, columns) for rows, columns in coefficient_blocks(A, 10_000)]
    [(0, 100, array([0])), (100, 200, array([1]))]
    """
    p, ends = A.shape[1], [len(A)]
    if p > 1:
        kinds = np.packbits(A != 0, axis=1)
        ends = _ends([int.from_bytes(kind.tobytes()) for kind in kinds], NEW_BLOCK / n)
    blocks: list[tuple[slice, IntArray | slice]] = []
    for start, end in zip([0, *ends], ends, strict=False):
        columns = np.flatnonzero(np.any(A[start:end] != 0, axis=0))
        if not len(columns):
            continue
        for part in block_slices(end - start, 1, block_size=most or max(end - start, 1)):
            rows = slice(start + part.start, start + part.stop)
            blocks.append((rows, slice(None) if len(columns) == p else columns))
    return blocks


def _ends(kinds: list[int], most: float) -> list[int]:
    """Where blocks end: where a row of other columns would bring the others too many zeros."""
    ends, length, columns = [], 0, 0
    for row, kind in enumerate(kinds):
        if (kind & ~columns).bit_count() * length > most:
            ends.append(row)
            length, columns = 0, 0
        length, columns = length + 1, columns | kind
    return [*ends, len(kinds)]


def as_gram(K: Any, owner: str = "reduce_expansion") -> Gram:
    """Wrap a matrix, or a pair ``(kernel, objects)``, that can be a Gram matrix."""
    if callable(getattr(K, "columns", None)):
        return cast(Gram, K)
    if isinstance(K, tuple) and len(K) == 2 and (isinstance(K[0], str) or callable(K[0])):
        kernel = K[0] if isinstance(K[0], Kernel) else as_kernel(K[0])
        objects = kernel.check(K[1])
        kernel = kernel.resolve(objects)
        check_sample(kernel, objects, owner)
        return KernelGram(kernel, objects)
    K = np.asarray(K, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
        raise ValueError(
            f"{owner} expected a square Gram matrix, or a pair (kernel, objects). Got an "
            f"array of shape {K.shape} instead."
        )
    # Columns and products are all that is asked of it: halves may differ by rounding errors.
    return DenseGram(check_gram(K, owner, overwrite=False, exact=False))


def check_coefficients(coefficients: Any, n: int, owner: str) -> tuple[Array, bool]:
    """Coefficients as (n, p), and whether they came as a vector."""
    A = np.asarray(coefficients, dtype=float)
    flat = A.ndim == 1
    A = A[:, None] if flat else A
    if A.ndim != 2 or len(A) != n:
        raise ValueError(
            f"{owner} expected coefficients of shape ({n},) or ({n}, p), one row per "
            f"point of the Gram matrix. Got shape {np.shape(coefficients)} instead."
        )
    if not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise ValueError(
            f"{owner} expected finite coefficients. Got {A[row, column]} in row {row}, "
            f"column {column}."
        )
    return A, flat
