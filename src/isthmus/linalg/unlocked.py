"""BLAS and LAPACK of SciPy without the interpreter's lock, for Python threads that share work.

SciPy's wrappers keep the lock during a call, so that threads which factor matrices stand in line.
The same routines, of the same library, are there for compiled code as function pointers
(:mod:`scipy.linalg.cython_blas` and :mod:`scipy.linalg.cython_lapack`); called through
:mod:`ctypes` they give the lock back. Where a pointer is missing, or asks for other arguments, such
as integers of 64 bits, the wrapper is called instead.

Matrices lie in column order, in single or in double precision, and may be blocks of larger ones. Of
symmetric ones and of factors the lower triangle is read and written; what is above it stays as it
is.
"""

import ctypes
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import blas, cython_blas, cython_lapack, lapack

from isthmus.typing import Array

# What routines ask for, all by reference: (c)haracters, (i)ntegers, (r)eal numbers.
_BLAS = {
    "gemm": "cciiirririrri",
    "syrk": "cciirrirri",
    "trmm": "cccciirriri",
    "trsm": "cccciirriri",
}
_LAPACK = {
    "potrf": "cirii",
    "potrs": "ciiririi",
    "potri": "cirii",
    "trtri": "ccirii",
    "lauum": "cirii",
    "sytrd": "cirirrrrii",
    "orgtr": "cirirrii",
}
_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_REAL: dict[np.dtype, Any] = {
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
}
_LARGEST = np.iinfo(np.int32).max

Call = Callable[..., None]


def gemm(A: Array, B: Array, out: Array, *, alpha: float = 1.0, beta: float = 0.0) -> None:
    """``out = alpha A @ B + beta out``, where A and B lie in column or in row order.

    >>> import numpy as np
    >>> C = np.zeros((1, 1), order="F")
    >>> gemm(np.array([[2.0]]), np.array([[3.0]]), C)
    >>> C
    array([[6.]])
    """
    (m, k), n = A.shape, B.shape[1]
    _check(out, (m, n))
    if len(B) != k:
        raise ValueError(f"Shapes {A.shape} and {B.shape} do not fit in a product.")
    A, A_turned = _columns(A, out.dtype)
    B, B_turned = _columns(B, out.dtype)
    call = _routine("gemm", out.dtype)
    if call is None:
        product = blas.get_blas_funcs("gemm", (out,))
        options = {"trans_a": A_turned, "trans_b": B_turned, "overwrite_c": 1}
        _write(out, product(alpha, A, B, beta=beta, c=out, **options))
        return
    call(
        b"T" if A_turned else b"N",
        b"T" if B_turned else b"N",
        *(m, n, k, alpha, A, _step(A), B, _step(B), beta, out, _step(out)),
    )


def syrk(A: Array, out: Array, *, alpha: float = 1.0, beta: float = 0.0) -> None:
    """``out = alpha A @ A.T + beta out`` below the diagonal; A lies in column or in row order."""
    n, k = A.shape
    _check(out, (n, n))
    A, turned = _columns(A, out.dtype)
    call = _routine("syrk", out.dtype)
    if call is None:
        product = blas.get_blas_funcs("syrk", (out,))
        _write(out, product(alpha, A, beta=beta, c=out, trans=turned, lower=1, overwrite_c=1))
        return
    call(b"L", b"T" if turned else b"N", n, k, alpha, A, _step(A), beta, out, _step(out))


def solve_triangle(
    L: Array, B: Array, *, turned: bool = False, right: bool = False, alpha: float = 1.0
) -> None:
    """The solution of ``L X = alpha B``, of ``L.T X`` or of ``X L``, in place of ``B``.

    A factor of zero on the diagonal is not looked for.
    """
    n, m = B.shape
    size = m if right else n
    _check(L, (size, size), written=False)
    _check(B, (n, m), L.dtype)
    call = _routine("trsm", L.dtype)
    if call is None:
        solve = blas.get_blas_funcs("trsm", (B,))
        _write(B, solve(alpha, L, B, side=right, lower=1, trans_a=turned, overwrite_b=1))
        return
    side, transposed = b"R" if right else b"L", b"T" if turned else b"N"
    call(side, b"L", transposed, b"N", n, m, alpha, L, _step(L), B, _step(B))


def multiply_triangle(L: Array, B: Array) -> None:
    """``L B`` in place of ``B``, for a lower triangle."""
    n, m = B.shape
    _check(L, (n, n), written=False)
    _check(B, (n, m), L.dtype)
    call = _routine("trmm", L.dtype)
    if call is None:
        multiply = blas.get_blas_funcs("trmm", (B,))
        _write(B, multiply(1.0, L, B, lower=1, overwrite_b=1))
        return
    call(b"L", b"L", b"N", b"N", n, m, 1.0, L, _step(L), B, _step(B))


def invert_triangle(L: Array) -> None:
    """The inverse of a lower triangle in its place."""
    n = len(L)
    _check(L, (n, n))
    call = _routine("trtri", L.dtype)
    if call is None:
        found, info = lapack.get_lapack_funcs("trtri", (L,))(L, lower=1, overwrite_c=1)
        _write(L, found)
    else:
        info = _answer(call, b"L", b"N", n, L, _step(L))
    if info:
        raise linalg.LinAlgError("The triangular matrix is singular.")


def square_triangle(L: Array) -> None:
    """The lower half of ``L.T L`` in place of a lower triangle."""
    n = len(L)
    _check(L, (n, n))
    call = _routine("lauum", L.dtype)
    if call is None:
        _write(L, lapack.get_lapack_funcs("lauum", (L,))(L, lower=1, overwrite_c=1)[0])
    else:
        _answer(call, b"L", n, L, _step(L))


def factor(A: Array) -> None:
    """The lower Cholesky factor in place of a positive definite matrix.

    A matrix that is not positive definite is refused; its lower triangle is lost.
    """
    n = len(A)
    _check(A, (n, n))
    call = _routine("potrf", A.dtype)
    if call is None:
        found, info = lapack.get_lapack_funcs("potrf", (A,))(A, lower=1, clean=0, overwrite_a=1)
        _write(A, found)
    else:
        info = _answer(call, b"L", n, A, _step(A))
    if info:
        raise linalg.LinAlgError(f"The leading minor of order {info} is not positive definite.")


def solve_factored(L: Array, B: Array) -> None:
    """The solution of ``L L.T X = B`` in place of ``B``."""
    n, m = B.shape
    _check(L, (n, n), written=False)
    _check(B, (n, m), L.dtype)
    call = _routine("potrs", L.dtype)
    if call is None:
        _write(B, lapack.get_lapack_funcs("potrs", (B,))(L, B, lower=1, overwrite_b=1)[0])
    else:
        _answer(call, b"L", n, m, L, _step(L), B, _step(B))


def invert_factored(L: Array) -> None:
    """The lower triangle of the inverse of ``L L.T`` in place of ``L``."""
    n = len(L)
    _check(L, (n, n))
    call = _routine("potri", L.dtype)
    if call is None:
        found, info = lapack.get_lapack_funcs("potri", (L,))(L, lower=1, overwrite_c=1)
        _write(L, found)
    else:
        info = _answer(call, b"L", n, L, _step(L))
    if info:
        raise linalg.LinAlgError(f"Entry {info - 1} of the diagonal is zero.")


def tridiagonal_form(A: Array) -> tuple[Array, Array, Array]:
    r"""Diagonal, subdiagonal and scales of reflections of :math:`Q^\top AQ`, tridiagonal.

    The reflections, whose product is Q, take the place of A below its subdiagonal.
    """
    n = len(A)
    _check(A, (n, n))
    call = _routine("sytrd", A.dtype)
    lwork, sytrd = lapack.get_lapack_funcs(("sytrd_lwork", "sytrd"), (A,))
    size = max(int(lwork(n, lower=1)[0]), 1)
    if call is None:
        found, *rest, _ = sytrd(A, lower=1, lwork=size, overwrite_a=1)
        _write(A, found)
        return tuple(rest)
    diagonal = np.empty(n, dtype=A.dtype)
    beside, scales = (np.empty(max(n - 1, 0), dtype=A.dtype) for _ in range(2))
    work = np.empty(size, dtype=A.dtype)
    _answer(call, b"L", n, A, _step(A), diagonal, beside, scales, work, size)
    return diagonal, beside, scales


def multiply_reflections(A: Array, scales: Array) -> None:
    """Put the product Q of the reflections of :func:`tridiagonal_form` in their place."""
    n = len(A)
    _check(A, (n, n))
    call = _routine("orgtr", A.dtype)
    # The reflections lie as those of a Hessenberg form do, for which SciPy has the wrapper.
    lwork, orghr = lapack.get_lapack_funcs(("orghr_lwork", "orghr"), (A,))
    size = max(int(lwork(n)[0]) if n > 1 else 1, 1)
    if call is not None:
        work = np.empty(size, dtype=A.dtype)
        _answer(call, b"L", n, A, _step(A), scales, work, size)
    elif n > 1:
        _write(A, orghr(A, scales, lwork=size, overwrite_a=1)[0])
    else:
        A[...] = 1.0


def has_pointers() -> bool:
    """Whether every routine is called without the lock here, in both precisions.

    >>> has_pointers() in (True, False)
    True
    """
    return all(_routine(name, dtype) for name in _BLAS | _LAPACK for dtype in _PREFIX)


def _answer(call: Call, *values: Any) -> int:
    """What a routine of LAPACK says at its end; below zero an argument was wrong."""
    info = np.zeros(1, dtype=np.int32)
    call(*values, info)
    if info[0] < 0:
        raise ValueError(f"Argument {-info[0]} of a routine of LAPACK is not valid.")
    return int(info[0])


def _check(
    A: Array, shape: tuple[int, int], dtype: np.dtype | None = None, *, written: bool = True
) -> None:
    """Refuse what a routine would read or write wrongly."""
    good = A.shape == shape and A.dtype in _PREFIX and dtype in (None, A.dtype)
    if not good or not _in_columns(A) or (written and not A.flags.writeable):
        raise ValueError(
            f"A matrix of shape {shape} in column order, in single or double precision, was "
            f"expected. Got {A.shape} of {A.dtype} with strides {A.strides}."
        )


def _in_columns(A: Array) -> bool:
    """Whether every column lies in one piece, and they follow each other."""
    (n, m), size = A.shape, A.itemsize
    down, across = A.strides
    one = n <= 1 or down == size
    steps = m <= 1 or (across % size == 0 and across >= size * max(n, 1))
    return one and steps and A.flags.aligned and _step(A) * max(m, 1) <= _LARGEST


def _step(A: Array) -> int:
    """Numbers from one column to the next."""
    return max(A.strides[1] // A.itemsize if A.shape[1] > 1 else 0, len(A), 1)


def _columns(A: Array, dtype: np.dtype) -> tuple[Array, bool]:
    """The matrix or its transpose, whichever lies in column order, and whether it is the latter."""
    A = np.asarray(A, dtype=dtype)
    if _in_columns(A):
        return A, False
    return (A if _in_columns(A.T) else np.ascontiguousarray(A)).T, True


def _write(place: Array, found: Array) -> None:
    """Put there what a wrapper has returned in a place of its own, as it does for blocks."""
    if not np.shares_memory(place, found):
        place[...] = found


@cache
def _routine(name: str, dtype: np.dtype) -> Call | None:
    """A routine that is called with values, None where it cannot be had."""
    module, kinds = (cython_blas, _BLAS) if name in _BLAS else (cython_lapack, _LAPACK)
    prefix = _PREFIX[dtype]
    capsule = getattr(module, "__pyx_capi__", {}).get(prefix + name)
    if capsule is None or not hasattr(ctypes, "pythonapi"):
        return None
    # Prototypes of our own: attributes of functions of `pythonapi` belong to everybody.
    of_capsule = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)
    signature = of_capsule(("PyCapsule_GetName", ctypes.pythonapi))(capsule)
    if arguments(signature.decode(), prefix) != kinds[name]:
        return None
    of_both = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    address = of_both(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, signature)
    pointer = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(kinds[name]))(address)
    makers = {"c": ctypes.c_char, "i": ctypes.c_int, "r": _REAL[dtype]}
    scalars = [makers[kind] for kind in kinds[name]]

    def call(*values: Any) -> None:
        pointer(
            *[
                value.ctypes.data if isinstance(value, np.ndarray) else ctypes.byref(make(value))
                for make, value in zip(scalars, values, strict=True)
            ]
        )

    return call


def arguments(signature: str, prefix: str) -> str:
    """One letter for each argument in the signature of a pointer; ? for what is not known.

    >>> arguments("void (char *, int *, module_d *, npy_int64 *)", "d")
    'cir?'
    """
    letters = {"char *": "c", "int *": "i"}
    found = re.fullmatch(r"void \((.*)\)", signature)
    parts = found[1].split(", ") if found else ["?"]
    real = re.compile(rf"\w+_{prefix} \*")
    return "".join(letters.get(part, "r" if real.fullmatch(part) else "?") for part in parts)
