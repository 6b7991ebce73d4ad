"""Leading eigenpairs of symmetric positive matrices, and their repair."""

from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.linalg.centering import center_gram
from isthmus.linalg.krylov import next_block, orthonormal, project_next
from isthmus.linalg.packed_spectrum import can_be_packed, packed_eigenpairs
from isthmus.linalg.products import product, symmetric_product
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array

# Eigenvalues below this share of the largest carry only rounding errors.
RELATIVE_RANK_TOLERANCE = 1e-10
# Pairs that are looked at to tell whether all have converged.
_TELLING = 4
# Rows from which pairs that hold a share are looked for by products with blocks of vectors.
_LEAST_ROWS = 500
# Up to this many rows, a square matrix stays in the cache from one product to the next.
_CACHED_ROWS = 1500
# An eigenvalue this negative, relative to the largest, is not a rounding error.
INDEFINITE_TOLERANCE = 1e-6


def indefinite_tolerance(dtype: Any) -> float:
    """Share of the largest eigenvalue that a negative one may have by rounding."""
    return max(INDEFINITE_TOLERANCE, 500 * float(np.finfo(dtype).eps))


def name_of_matrix(owner: Any = None) -> str:
    """How messages call the Gram matrix of ``owner``, an object or its name."""
    if owner is None:
        return "The kernel matrix"
    return f"The kernel matrix of {owner if isinstance(owner, str) else type(owner).__name__}"


def refuse_negative(eigenvalues: Array, owner: Any = None, *, rtol: float | None = None) -> None:
    """Refuse a spectrum, or some of it, that no Gram matrix has; and name the repairs."""
    worst, top = float(np.min(eigenvalues, initial=0.0)), float(np.max(eigenvalues, initial=0.0))
    rtol = indefinite_tolerance(eigenvalues.dtype) if rtol is None else rtol
    if worst >= -rtol * max(top, -worst):
        return
    ratio = worst / top if top > 0 else -np.inf
    raise ValueError(
        f"{name_of_matrix(owner)} is not positive semi-definite (eigenvalue ratio {ratio:.2g}). "
        "Alignment scores and other hand-made similarities need not be: repair them with "
        'SpectrumRepair(kernel, method="clip") of isthmus.kernels (or "flip", "shift", "square"), '
        "a finished matrix with repair_spectrum(K)."
    )


def positive_part(
    eigenvalues: Array, vectors: Array, *, rtol: float | None = None
) -> tuple[Array, Array]:
    """Eigenpairs that carry signal, largest first.

    Raises ``ValueError`` where the spectrum is clearly negative: the matrix is then
    not a Gram matrix, and dropping half of it in silence would hide that.

    >>> import numpy as np
    >>> positive_part(np.array([-1e-14, 1.0]), np.eye(2))[0]
    array([1.])
    >>> positive_part(np.array([-0.5, 1.0]), np.eye(2))
    Traceback (most recent call last):
    ValueError: The kernel matrix is not positive semi-definite (eigenvalue ratio -0.5). \
Alignment scores and other hand-made similarities need not be: repair them with \
SpectrumRepair(kernel, method="clip") of isthmus.kernels (or "flip", "shift", "square"), \
a finished matrix with repair_spectrum(K).
    """
    if rtol is None:
        rtol = max(RELATIVE_RANK_TOLERANCE, 50 * float(np.finfo(eigenvalues.dtype).eps))
    in_order = bool(np.all(eigenvalues[:-1] >= eigenvalues[1:]))
    order = np.arange(len(eigenvalues)) if in_order else np.argsort(eigenvalues)[::-1]
    falling = eigenvalues[order]
    if len(falling):
        refuse_negative(falling, rtol=max(INDEFINITE_TOLERANCE, 10 * rtol))
        order = order[falling > rtol * max(float(falling[0]), 0.0)]
    if in_order:
        return eigenvalues[: len(order)], vectors[:, : len(order)]
    # Copied once: there may be as many vectors as the matrix has rows.
    return eigenvalues[order], vectors[:, order]


def inverse_root(K: Array) -> tuple[Array, Array]:
    r"""Pseudo-inverse root of a Gram matrix in factored form.

    Returns ``R`` of shape (n, rank) with :math:`RR^\top = K^+` and :math:`R^\top K R = I`,
    and the eigenvalues it kept.
    """
    eigenvalues, U = positive_part(*linalg.eigh(K))
    return U / np.sqrt(eigenvalues), eigenvalues


def takes_products(n: int, n_pairs: int | None) -> bool:
    """Whether so many pairs of an n x n matrix are found by products with blocks of vectors."""
    # Measured: below some 500 rows, or with many pairs, the dense solver is as fast.
    return n_pairs is not None and n_pairs <= min((n - 400) // 8, n // 16)


def leading_eigenpairs(
    K: Array,
    n_pairs: int | None = None,
    *,
    share: float | None = None,
    tol: float = 1e-8,
    center: bool = False,
    overwrite: bool = False,
) -> tuple[Array, Array]:
    """Largest eigenvalues and eigenvectors of a positive semi-definite ``K``.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semi-definite.
    n_pairs : int, optional
        Number of pairs; all that carry signal by default.
    share : float in (0, 1], optional
        Instead of a number: the fewest pairs that hold this share of the trace.
    tol : float
        Residual ``‖Kv - λv‖`` allowed in the iterative path, relative to the largest
        eigenvalue. Eigenvalues are then right to about ``tol²``.
    center : bool
        Whether the pairs of :math:`HKH` are wanted, of objects relative to their mean. Only for a
        number of pairs; ``K`` is then overwritten where the dense solver has to answer.
    overwrite : bool
        Whether ``K`` may be overwritten anyway, so that the dense solver needs no copy. A large
        one is emptied, to give its memory back: there must be no view of it.

    Returns
    -------
    eigenvalues : ndarray of shape (r,), largest first
    vectors : ndarray of shape (n, r)

    Notes
    -----
    Few pairs of a large matrix come from a block Krylov iteration, whose work is
    products of ``K`` with blocks of vectors (ARPACK multiplies one vector at a time and
    is bound by memory); the residual is checked, and where it is not small enough the dense
    solver answers. Cost O(n²r) against O(n³).
    """
    n = len(K)
    if share is not None:
        return _pairs_holding_share(K, share, tol, overwrite)
    found = None
    if n_pairs is not None and takes_products(n, n_pairs):
        found = _block_krylov(K, n_pairs, tol, center=center)
    if found is None:
        K = center_gram(K, overwrite=True)[0] if center else K
        return _dense_pairs(K, n_pairs, overwrite or center)
    return found


def _dense_pairs(K: Array, n_pairs: int | None, overwrite: bool = False) -> tuple[Array, Array]:
    """All pairs take ``K`` and the vectors, where ``K`` is overwritten; half of a large one."""
    n = len(K)
    subset = None
    if n_pairs is not None and n_pairs <= n // 3:
        subset = [n - n_pairs, n - 1]
        _refuse_unseen(K)
    if subset is None and overwrite and can_be_packed(K):
        eigenvalues, U = packed_eigenpairs(K)
    else:
        A = K.T if K.flags.c_contiguous else K  # LAPACK overwrites columns
        eigenvalues, U = linalg.eigh(
            A, subset_by_index=subset, check_finite=False, overwrite_a=overwrite
        )
    _reverse_columns(U)
    eigenvalues, U = positive_part(eigenvalues[::-1], U)
    return eigenvalues[:n_pairs], U[:, :n_pairs]


def _reverse_columns(U: Array) -> None:
    """In place, a few at a time."""
    step, half = 64, U.shape[1] // 2
    for low in range(0, half, step):
        high = min(low + step, half)
        left, right = U[:, low:high], U[:, U.shape[1] - high : U.shape[1] - low]
        kept = left[:, ::-1].copy()
        left[:] = right[:, ::-1]
        right[:] = kept


def _refuse_unseen(K: Array) -> None:
    """Refuse negative eigenvalues that the leading pairs do not show, at a third of n³ flops."""
    largest = max(float(K.diagonal().max()), float(K.sum()) / len(K), float(np.finfo(K.dtype).tiny))
    A = np.array(K, order="F")
    A.flat[:: len(A) + 1] += indefinite_tolerance(K.dtype) * largest
    factor = lapack.spotrf if K.dtype == np.float32 else lapack.dpotrf
    if factor(A, lower=1, clean=0, overwrite_a=1)[1]:
        refuse_negative(linalg.eigvalsh(K, check_finite=False))


def _pairs_holding_share(
    K: Array, share: float, tol: float, overwrite: bool
) -> tuple[Array, Array]:
    wanted = share * float(np.trace(K))
    found = None
    if share < 1 and len(K) >= _LEAST_ROWS:
        # Measured: an eighth of the pairs for a fifth of the time of all.
        found = _block_krylov(K, len(K) // 8, tol, held=wanted)
    eigenvalues, U = _dense_pairs(K, None, overwrite) if found is None else found
    r = _pairs_for(eigenvalues, wanted)
    return eigenvalues[:r], U[:, :r]


def _pairs_for(eigenvalues: Array, held: float) -> int:
    """How many of the eigenvalues, largest first, have this sum; one more than all if none has."""
    # The trace counts dropped rounding errors too; share=1 must not run past the end.
    return int(np.searchsorted(np.cumsum(eigenvalues), held * (1 - 1e-12))) + 1


def _block_krylov(
    K: Array, n_pairs: int, tol: float, *, center: bool = False, held: float | None = None
) -> tuple[Array, Array] | None:
    """Block Lanczos with full orthogonalisation: Rayleigh-Ritz in span [G, KG, K²G, ...].

    Blocks of 24 vectors balance arithmetic and memory traffic of the product with ``K``; where it
    stays in the cache, narrow ones need a smaller basis.
    Returns ``None`` where the residual is still too large when the basis has grown to a size
    at which the dense solver is as cheap. The start block is drawn from a fixed seed: the
    converged answer does not depend on it. Where vectors are centred, so are their products, and
    K itself need not be.

    With ``held``, the fewest pairs of this sum are wanted, at most ``n_pairs``: how many these are
    is seen on the basis. ``None`` then also tells that more will be needed: r pairs hold no more
    than the root of r times the sum of the squares of the eigenvalues, which is that of ``K``.
    """
    n, dtype = len(K), K.dtype
    width = min(24 if n > _CACHED_ROWS else 8, -(-n_pairs // 4) * 4 + 8)
    n_max = min(n // 3, 8 * n_pairs + 10 * width)
    n_max -= n_max % width
    tol = max(tol, 20 * float(np.finfo(dtype).eps))
    # Column-major, so that the part filled so far is contiguous.
    V = np.empty((n, n_max), dtype=dtype, order="F")
    S = np.zeros((n_max, n_max), dtype=dtype)  # V'KV
    G = np.random.default_rng(0).standard_normal((n, width)).astype(dtype)
    if center:
        G -= G.mean(axis=0)
    V[:, :width] = orthonormal(G)[0]
    m = width
    next_check = min(n_max, (2 * n_pairs if held is None else 0) + 2 * width)
    squares, most = 0.0 if held is None else float(np.vdot(K, K)), n_pairs
    history: list[tuple[int, float]] = []
    top = 0.0  # the largest eigenvalue, which is found first
    while True:
        basis = V[:, :m]
        W = symmetric_product(K, V[:, m - width : m])
        if center:
            W -= W.mean(axis=0)
        Q, R, clean = project_next(W, basis, S)
        if m >= next_check and held is not None:
            theta = linalg.eigvalsh(S[:m, :m], check_finite=False)[::-1]
            if _least_pairs(theta, held, squares) > most:
                return None
            n_pairs = _pairs_for(theta, held)
            if n_pairs > min(m, most):
                if m + width > n_max:
                    return None
                next_check = min(n_max, _next_check([(m, np.inf)], tol, width))
        if m >= next_check:
            # The last pair comes last. Once all were looked at, a few tell whether to go on.
            residual = _outside(S[:m, :m], R, n_pairs, _TELLING)[0] if history else 0.0
            if residual <= tol * top:
                residual, theta, Y = _outside(S[:m, :m], R, n_pairs, n_pairs)
                top = max(abs(float(theta[-1])), float(np.finfo(dtype).tiny))
                if residual <= tol * top:
                    # Values of K on the basis lie between its eigenvalues, and reach both ends
                    # first.
                    with threads_for(float(basis.size) * n_pairs):
                        ends = linalg.eigvalsh(S[:m, :m], subset_by_index=[0, 0])
                        U = product(basis, Y)
                    refuse_negative(np.append(ends, theta[-1]))
                    return positive_part(theta, U)
            if m + width > n_max:
                return None
            history.append((m, residual / top))
            next_check = min(n_max, _next_check(history, tol, width))
        if not clean:
            if center:  # where a product vanishes, its Q is arbitrary and need not be centred
                Q -= Q.mean(axis=0)
            Q = next_block(Q, basis)
        V[:, m : m + width] = Q
        m += width


def _least_pairs(theta: Array, held: float, squares: float) -> float:
    r"""Pairs that a sum takes at least, by values on a basis of which the first have converged.

    All together have these ``squares``, so that k further ones sum up to
    :math:`\sqrt{k(s-\sum_i\theta_i^2)}` at most.

    >>> float(_least_pairs(np.array([2.0, 1, 1, 1]), 4.0, 8.0))
    2.0
    """
    first = theta[: len(theta) // 4]
    left = held - float(first.sum())
    rest = squares - float(first @ first)
    return len(first) + (left**2 / rest if left > 0 and rest > 0 else 0.0)


def _outside(S: Array, R: Array, n_pairs: int, n_seen: int) -> tuple[float, Array, Array]:
    """The largest residual of the last ``n_seen`` of the leading pairs on a basis, and these.

    It is ‖Ku - θu‖ = ‖R y‖, y the last rows: what K sends out of the basis.
    """
    m = len(S)
    first = m - n_pairs
    with threads_for(m**3):
        seen = [first, first + min(n_seen, n_pairs) - 1]
        theta, Y = linalg.eigh(S, subset_by_index=seen, check_finite=False)
    return float(np.linalg.norm(R @ Y[-len(R) :], axis=0).max()), theta, Y


def _next_check(history: list[tuple[int, float]], tol: float, width: int) -> int:
    """Size of the basis at which residuals, if they go on as they did, have come to ``tol``.

    A quarter more at most: they fall ever faster, or hardly at first.

    >>> _next_check([(100, 1e-2), (120, 1e-4)], 1e-8, 8)
    144
    """
    m, residual = history[-1]
    most = m + max(2 * width, m // 4 // width * width)
    if len(history) < 2 or not 0 < residual < history[-2][1]:
        return most
    before, larger = history[-2]
    slope = np.log(larger / residual) / (m - before)
    blocks = int(np.log(residual / tol) / slope / width)  # rounded down, because they fall faster
    return min(most, m + max(1, blocks) * width)
