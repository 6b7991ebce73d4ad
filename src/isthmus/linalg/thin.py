"""Products of a large matrix with few columns, which BLAS does at half of its speed."""

from functools import cache

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.threads import in_threads
from isthmus.typing import Array

# Columns up to which it pays, entries of a row from which it does, and multiplications that are
# worth looking at compiled code, and worth threads.
MOST_COLUMNS, LONG_ROWS = 96, 192
LEAST, LEAST_IN_THREADS = 2**21, 2**27


def is_thin(A: Array, B: Array) -> bool:
    """Whether :func:`thin_product` is the faster way to ``A @ B``, both in double precision."""
    if B.ndim != 2 or not A.flags.c_contiguous or A.dtype != np.float64 or B.dtype != np.float64:
        return False
    (n, m), width = A.shape, B.shape[1]
    fits = 2 <= width <= MOST_COLUMNS and m >= LONG_ROWS and n >= 24
    return fits and A.size * width >= LEAST and _long_registers()


def thin_product(A: Array, B: Array) -> Array:
    """``A @ B`` for ``A`` in row order, in column order; its rows are read once and not copied.

    >>> import numpy as np
    >>> thin_product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    from isthmus.linalg.thin_loops import add_products

    n, width = len(A), B.shape[1]
    columns = np.ascontiguousarray(B.T)
    if width % 4:
        columns = np.concatenate([columns, np.zeros((-width % 4, len(B)))])
    if n * len(B) * width < LEAST_IN_THREADS:
        out = np.zeros((len(columns), n))
        add_products(A, columns, out)
        return out[:width].T
    parts = list(block_slices(n, 1, block_size=6 * max(1, 2**25 // (6 * len(B) * width))))
    found = [np.zeros((len(columns), part.stop - part.start)) for part in parts]
    in_threads(lambda i: add_products(A[parts[i]], columns, found[i]), range(len(parts)))
    return np.concatenate(found, axis=1)[:width].T


@cache
def _long_registers() -> bool:
    """Whether the processor has the 32 registers that hold all sums of the loop."""
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx512f", False))
