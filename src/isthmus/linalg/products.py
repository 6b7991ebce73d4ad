"""Products on the BLAS that also does the factorisations.

NumPy and SciPy each carry an OpenBLAS with a pool of threads of its own. Where a product by ``@``
and a factorisation by SciPy take turns within milliseconds, the threads of the one are still
spinning, waiting for more, while the other works, and two threads are slower than one. Products
beside factorisations are therefore taken from SciPy's BLAS. Arrays in row or in column order are
read as they lie; only other ones are copied.

SciPy's wrappers keep the interpreter's lock during a call: where Python threads share some work,
and BLAS has one thread in each, long products go through :mod:`isthmus.linalg.unlocked`.
"""

from functools import lru_cache

import numpy as np
from scipy.linalg import blas

from isthmus.linalg.thin import is_thin, thin_product
from isthmus.linalg.threads import is_shared
from isthmus.linalg.unlocked import gemm, syrk
from isthmus.typing import Array, IntArray

# Multiplications, of two matrices and of a matrix with a vector, below which OpenBLAS uses no
# threads and ``@`` is called more cheaply.
SMALL, SMALL_VECTOR = 2**16, 2**13
# Multiplications from which a call without the interpreter's lock is no slower than ``@``.
LONG = 2**21
# Rows of a square of which entries are mirrored one by one.
FEW = 64


def product(A: Array, B: Array, *, out: Array | None = None) -> Array:
    """``A @ B`` for two matrices, or a matrix and a vector, in row order or into ``out``.

    >>> import numpy as np
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    dtype = _common_type(A, B)
    small = A.size * B.shape[-1] < SMALL if B.ndim == 2 else A.size < SMALL_VECTOR
    if dtype is None or A.ndim != 2 or B.ndim > 2 or small:
        return np.asarray(np.matmul(A, B, out=out))
    if A.shape[1] != len(B):
        raise ValueError(f"Shapes {A.shape} and {B.shape} do not fit in a product.")
    A, turned = _column_order(np.asarray(A, dtype=dtype))
    if B.ndim == 1:
        gemv = blas.get_blas_funcs("gemv", (A,))
        return np.asarray(gemv(1.0, A, np.asarray(B, dtype=dtype), trans=turned))
    plain = A.T if turned else A
    if is_thin(plain, B) or is_thin(B.T, plain.T):
        found = thin_product(plain, B) if is_thin(plain, B) else thin_product(B.T, plain.T).T
        if out is None:
            return np.ascontiguousarray(found)
        out[...] = found
        return out
    B, B_turned = _column_order(np.asarray(B, dtype=dtype))
    into = out is not None and out.dtype == dtype and out.flags.c_contiguous
    if is_shared() and (into or out is None):
        return _shared_product(plain, B.T if B_turned else B, dtype, out)
    multiply = blas.get_blas_funcs("gemm", (A, B))
    if out is None or not into:
        found = multiply(1.0, B, A, trans_a=not B_turned, trans_b=not turned).T
        if out is None:
            # (A B)' = B'A', and a transposed column-order result is in row order.
            return np.asarray(found)
        out[...] = found
        return out
    multiply(1.0, B, A, c=out.T, overwrite_c=1, trans_a=not B_turned, trans_b=not turned)
    return out


def _shared_product(A: Array, B: Array, dtype: np.dtype, out: Array | None) -> Array:
    """The product in row order, by a call without the interpreter's lock."""
    if A.size * B.shape[1] < LONG:
        return np.asarray(np.matmul(A, B, out=out))
    found = np.empty((len(A), B.shape[1]), dtype=dtype) if out is None else out
    gemm(B.T, A.T, found.T)
    return found


def subtract_product(out: Array, A: Array, B: Array) -> Array:
    """Subtract ``A @ B`` from ``out`` where it lies, which is in row or column order; return it.

    >>> import numpy as np
    >>> subtract_product(np.zeros((1, 1)), np.array([[2.0]]), np.array([[3.0]]))
    array([[-6.]])
    """
    dtype = _common_type(A, B)
    in_order = out.flags.c_contiguous or out.flags.f_contiguous
    if dtype is None or dtype != out.dtype or not in_order or A.size * B.shape[-1] < SMALL:
        out -= A @ B
        return out
    A, A_turned = _column_order(np.asarray(A, dtype=dtype))
    B, B_turned = _column_order(np.asarray(B, dtype=dtype))
    multiply = blas.get_blas_funcs("gemm", (A, B))
    if out.flags.c_contiguous:
        options = {"trans_a": not B_turned, "trans_b": not A_turned, "overwrite_c": 1}
        multiply(-1.0, B, A, beta=1.0, c=out.T, **options)
    else:
        options = {"trans_a": A_turned, "trans_b": B_turned, "overwrite_c": 1}
        multiply(-1.0, A, B, beta=1.0, c=out, **options)
    return out


def symmetric_product(K: Array, B: Array) -> Array:
    """``K @ B`` for a symmetric ``K`` in row order, as BLAS does it best for few columns.

    The result is in column order.

    >>> import numpy as np
    >>> symmetric_product(np.array([[1.0, 2.0], [2.0, 0.0]]), np.eye(2))
    array([[1., 2.],
           [2., 0.]])
    """
    if _common_type(K, B) is None or K.size * B.shape[1] < SMALL:
        return np.asarray(K @ B)
    # Read as its transpose, the matrix lies in column order and is packed without turning.
    F, _ = _column_order(np.asarray(K))
    if is_thin(F.T, B):
        return thin_product(F.T, B)
    B, turned = _column_order(np.asarray(B))
    multiply = blas.get_blas_funcs("gemm", (F, B))
    return np.asarray(multiply(1.0, F, B, trans_b=turned))


def inner_products(A: Array) -> Array:
    """``A.T @ A``, half of it computed and the other half copied; exactly symmetric.

    >>> import numpy as np
    >>> inner_products(np.array([[1.0, 2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    if A.dtype not in (np.float32, np.float64) or A.size * A.shape[1] < SMALL:
        return np.asarray(A.T @ A)
    F, turned = _column_order(A)
    if is_shared():
        S = np.empty((A.shape[1],) * 2, dtype=A.dtype, order="F")
        syrk(F if turned else F.T, S)
    else:
        square = blas.get_blas_funcs("syrk", (F,))
        S = square(1.0, F, trans=not turned, lower=1)
    mirror_lower(S)
    return np.asarray(S.T)


def mirror_lower(F: Array, *, step: int = 256) -> None:
    """Write the lower triangle of a square matrix over the upper one, block by block."""
    n = len(F)
    for start in range(0, n, step):
        stop = min(start + step, n)
        F[start:stop, stop:] = F[stop:, start:stop].T
        square = F[start:stop, start:stop]
        if len(square) <= FEW:
            i, j = _below(len(square))
            square[j, i] = square[i, j]
        else:
            lower = np.tril(square)
            square[...] = lower + np.tril(lower, -1).T


@lru_cache(maxsize=FEW)
def _below(n: int) -> tuple[IntArray, IntArray]:
    """Places of a square matrix below its diagonal."""
    return np.tril_indices(n, -1)


def _common_type(A: Array, B: Array) -> np.dtype | None:
    """The one of two real types of BLAS; None where there is none, and ``@`` has to do it."""
    dtype = np.result_type(A, B)
    return dtype if dtype in (np.float32, np.float64) else None


def _column_order(A: Array) -> tuple[Array, bool]:
    """The matrix or its transpose, whichever lies in column order, and whether it is the latter."""
    if A.flags.f_contiguous:
        return A, False
    return (A if A.flags.c_contiguous else np.ascontiguousarray(A)).T, True
