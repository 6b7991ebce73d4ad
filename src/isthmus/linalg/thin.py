"""Products of a large matrix with few columns, which BLAS does at half of its speed."""

from functools import cache
from itertools import pairwise

import numpy as np

from isthmus.linalg.threads import in_threads
from isthmus.typing import Array

# Columns up to which it pays, those that are taken at a time, entries of a row from which it pays,
# and multiplications that are worth looking at compiled code, and worth threads.
MOST_COLUMNS, GROUP, LONG_ROWS = 512, 96, 192
LEAST, LEAST_IN_THREADS = 2**18, 2**27
# Entries of a row for each column from which it pays to turn the columns.
TURNED = 4
# Rows that one sum runs over: sums of sums are more exact than long ones.
SUMMED_ROWS = 4096


def is_thin(A: Array, B: Array) -> bool:
    """Whether :func:`thin_product` is the faster way to ``A @ B``, both in double precision."""
    if B.ndim != 2 or A.dtype != np.float64 or B.dtype != np.float64:
        return False
    (n, m), width = A.shape, B.shape[1]
    if not 2 <= width <= MOST_COLUMNS or A.size * width < LEAST:
        return False
    if A.flags.c_contiguous:
        # Columns are turned first and the result afterwards, which rows have to pay for.
        worth = m >= max(LONG_ROWS, TURNED * width) and n >= max(24, width)
        return worth and has_long_registers()
    few = width <= GROUP // 2 and min(n, m) >= 48
    return few and A.flags.f_contiguous and has_long_registers()


def thin_product(A: Array, B: Array) -> Array:
    """``A @ B`` in column order; ``A``, in row or column order, is read once and not copied.

    >>> import numpy as np
    >>> thin_product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    from isthmus.linalg.thin_loops import add_products

    n, width = len(A), B.shape[1]
    columns = np.ascontiguousarray(B.T)
    if width % 4:
        columns = np.concatenate([columns, np.zeros((-width % 4, len(B)))])
    if not A.flags.c_contiguous:
        return _transposed_product(A.T, columns)[:width].T

    def add(A: Array, out: Array) -> None:
        for start in range(0, width, GROUP):
            add_products(A, columns[start : start + GROUP], out[start : start + GROUP])

    if n * len(B) * width < LEAST_IN_THREADS:
        out = np.zeros((len(columns), n))
        add(A, out)
        return out[:width].T
    size = 6 * max(1, 2**25 // (6 * len(B) * width))
    parts = [A[start : start + size] for start in range(0, n, size)]
    found = [np.zeros((len(columns), len(part))) for part in parts]
    in_threads(lambda i: add(parts[i], found[i]), range(len(parts)))
    return np.concatenate(found, axis=1)[:width].T


def _transposed_product(A: Array, columns: Array) -> Array:
    """``columns @ A`` for ``A`` in row order: sums over parts of its rows, and over the parts."""
    from isthmus.linalg.thin_loops import WIDE, add_transposed_products

    n, m = A.shape
    if m < WIDE:
        return np.asarray(columns @ A)
    ends = [*range(0, n, SUMMED_ROWS), n]
    parts = [slice(*pair) for pair in pairwise(ends)]
    found = np.zeros((len(parts), len(columns), m))

    def work(i: int) -> None:
        add_transposed_products(A[parts[i]], np.ascontiguousarray(columns[:, parts[i]]), found[i])

    if A.size * len(columns) >= LEAST_IN_THREADS:
        in_threads(work, range(len(parts)))
    else:
        for i in range(len(parts)):
            work(i)
    return np.asarray(found.sum(axis=0) if len(parts) > 1 else found[0])


@cache
def has_long_registers() -> bool:
    """Whether the processor has the 32 registers that hold all sums of the loop."""
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx512f", False))
