r"""Exact Gaussian process regression, as functions on arrays.

The covariance of outputs is :math:`s_j^2A` with :math:`A=K+\alpha I`: the Gram matrix of the
kernel, noise in units of the signal, and an amplitude :math:`s_j` for each output. All outputs
thus share one Cholesky factor, and the best amplitudes are known in closed form,
:math:`s_j^2=y_j^\top A^{-1}y_j/n`. A committee is the same with several independent parts.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from isthmus.linalg import unlocked
from isthmus.linalg.products import mirror_lower, product
from isthmus.linalg.spectrum import positive_part
from isthmus.linalg.triangles import MIRRORED, inverse_half
from isthmus.typing import Array

# Jitter in units of the mean diagonal: none, then from the first by tens to the last.
FIRST_JITTER, LAST_JITTER = 1e-10, 1e-4
# Noise over signal variance, common or of each row.
Noise = float | Array
LOG_2_PI = float(np.log(2 * np.pi))


class CriterionScore(NamedTuple):
    """Value of a criterion and how it changes."""

    value: float
    weights: list[Array]  # of each part, symmetric: ∂ value / ∂ A
    by_noise: float  # ∂ value / ∂ log α
    by_amplitude: float  # ∂ value / ∂ log s², all amplitudes together; 0 where they are the best
    variances: Array  # s², one for each output


def cholesky(A: Array, *, clean: bool = True) -> tuple[Array, float]:
    """Lower Cholesky factor of ``A``, which is overwritten, and the jitter that it took.

    Without ``clean`` there is something above its diagonal, which BLAS and LAPACK do not read.

    Where rounding errors make ``A`` indefinite, a growing multiple of the identity is added. A
    matrix that needs more than 1e-4 of its mean diagonal is refused, and it is said whether
    it has negative eigenvalues.

    >>> import numpy as np
    >>> L, jitter = cholesky(np.ones((3, 3)))
    >>> jitter <= 1e-8
    True
    """
    n = len(A)
    diagonal = A.diagonal().copy()
    mean = float(np.mean(diagonal))
    if not np.isfinite(mean):
        raise ValueError("The kernel matrix has entries that are not finite.")
    # The transpose of a row-major symmetric matrix is a column-major one: no copy.
    F = A.T if A.flags.c_contiguous else np.asfortranarray(A)
    jitter = 0.0
    while True:
        try:
            unlocked.factor(F)
            pivots = np.diagonal(F)
            if jitter or np.min(pivots) ** 2 > n * np.finfo(np.float64).eps * np.max(pivots) ** 2:
                if clean:
                    clear_upper(F)
                return F, jitter
        except linalg.LinAlgError:
            pass
        jitter = FIRST_JITTER * mean if jitter == 0 else 10 * jitter
        # The upper triangle still holds the matrix, but for the diagonal.
        _mirror_upper(F)
        if jitter > 1.5 * LAST_JITTER * mean or mean <= 0:
            np.fill_diagonal(F, diagonal)
            _refuse(F)
        np.fill_diagonal(F, diagonal + jitter)


def clear_upper(L: Array) -> None:
    """Write zeros above the diagonal."""
    n, step = len(L), 256
    for start in range(0, n, step):  # column blocks, so that nothing of size n² is allocated
        stop = min(start + step, n)
        L[:start, start:stop] = 0
        L[start:stop, start:stop] = np.tril(L[start:stop, start:stop])


def _mirror_upper(F: Array) -> None:
    mirror_lower(F.T, step=MIRRORED)


def _refuse(A: Array) -> None:
    eigenvalues = linalg.eigvalsh(A, check_finite=False)
    positive_part(eigenvalues, np.empty((0, len(eigenvalues))))  # names an indefinite matrix
    raise linalg.LinAlgError(
        f"The covariance is singular (eigenvalues from {eigenvalues[0]:.2g} to "
        f"{eigenvalues[-1]:.2g}), and jitter up to {LAST_JITTER:g} of its mean diagonal does not "
        "help: leave out equal objects, or give noise above 0."
    )


def refuse_indefinite(K: Array) -> None:
    """Say so where a fixed Gram matrix has eigenvalues that are clearly negative.

    Noise would cover them up: one Cholesky factorisation tells, at a third of n³ operations.
    """
    shift = 1e-6 * float(np.abs(K).sum(axis=1).max())
    A = np.array(K, dtype=np.float64, order="F")
    A.flat[:: len(A) + 1] += max(shift, np.finfo(np.float64).tiny)
    if lapack.dpotrf(A, lower=1, clean=0, overwrite_a=1)[1]:
        eigenvalues = linalg.eigvalsh(K, check_finite=False)
        positive_part(eigenvalues, np.empty((0, len(eigenvalues))))


class FactoredPart(NamedTuple):
    """One block of rows, factored."""

    L: Array  # lower factor of A, or in it the inverse of A
    dual: Array  # A⁻¹Y
    log_det: float


def factor_part(K: Array, alpha: Noise, Y: Array, *, clean: bool = True) -> FactoredPart:
    """Factor ``K + diag(alpha)`` in place of ``K`` and solve for the outputs."""
    K.flat[:: len(K) + 1] += alpha
    L, _ = cholesky(K, clean=clean)
    dual = solve_factored(L, Y)
    return FactoredPart(L, dual, 2 * float(np.log(np.diagonal(L)).sum()))


def solve_factored(L: Array, Y: Array) -> Array:
    """The solution of ``L L.T X = Y`` in double precision, for a vector or for columns."""
    X = np.array(Y, dtype=np.float64, order="F")
    unlocked.solve_factored(L, X if X.ndim == 2 else X[:, None])
    return X


def best_variances(parts: Sequence[FactoredPart], targets: Sequence[Array]) -> Array:
    """The amplitudes, squared, of largest likelihood, one for each output."""
    n = sum(len(Y) for Y in targets)
    fits = sum(np.einsum("ij,ij->j", Y, part.dual) for part, Y in zip(parts, targets, strict=True))
    return np.maximum(np.asarray(fits) / n, np.finfo(np.float64).tiny)


def likelihood_value(
    parts: Sequence[FactoredPart], targets: Sequence[Array], variances: Array
) -> float:
    r"""Log marginal likelihood of all outputs, :math:`\sum_j\log N(y_j;0,s_j^2A)`."""
    n, q = sum(len(Y) for Y in targets), len(variances)
    fits = np.asarray(
        sum(np.einsum("ij,ij->j", Y, p.dual) for p, Y in zip(parts, targets, strict=True))
    )
    log_det = sum(part.log_det for part in parts)
    return float(
        -0.5 * np.sum(fits / variances + n * np.log(variances)) - 0.5 * q * (log_det + n * LOG_2_PI)
    )


def likelihood(
    grams: Sequence[Array],
    targets: Sequence[Array],
    alphas: Sequence[Noise],
    variances: Array | None,
) -> CriterionScore:
    r"""Log marginal likelihood and its derivatives; the Gram matrices are overwritten.

    With :math:`a_j=A^{-1}y_j` the derivative by :math:`A` is
    :math:`\frac12\sum_j(a_ja_j^\top/s_j^2-A^{-1})`. ``variances=None`` puts in the best ones, which
    changes no other derivative. ``alphas`` are the noises of the parts, common or of each row.
    """
    parts = [factor_part(*part, clean=False) for part in zip(grams, alphas, targets, strict=True)]
    best = variances is None
    s2 = best_variances(parts, targets) if variances is None else variances
    value = likelihood_value(parts, targets, s2)
    weights, by_noise, q = [], 0.0, len(s2)
    for part, alpha in zip(parts, alphas, strict=True):
        W = inverse_half(part.L)
        unlocked.syrk(part.dual / np.sqrt(s2), W, alpha=0.5, beta=-0.5 * q)
        mirror_lower(W, step=MIRRORED)
        by_noise += float(np.sum(alpha * np.diagonal(W)))
        weights.append(W)
    by_amplitude = 0.0
    if not best:
        n = sum(len(Y) for Y in targets)
        by_amplitude = 0.5 * (n * q) * float(np.mean(best_variances(parts, targets) / s2) - 1)
    return CriterionScore(value, weights, by_noise, by_amplitude, s2)


def leave_one_out(part_inverse: Array, dual: Array) -> tuple[Array, Array]:
    r"""Residuals of left-out outputs and their variances in units of the amplitude.

    .. math:: y_i-\mu_i=\frac{[A^{-1}y]_i}{[A^{-1}]_{ii}},\qquad v_i=\frac1{[A^{-1}]_{ii}} .
    """
    c = np.diagonal(part_inverse).copy()
    return dual / c[:, None], 1 / c


def loo_likelihood(
    grams: Sequence[Array],
    targets: Sequence[Array],
    alphas: Sequence[Noise],
    variances: Array | None,
) -> CriterionScore:
    r"""Sum of the log densities of outputs when each is left out, and its derivatives.

    With :math:`c_i=[A^{-1}]_{ii}` it is
    :math:`\sum_{ij}\frac12\log c_i-\frac12\log s_j^2-\frac{a_{ij}^2}{2c_is_j^2}` but for a
    constant. Two matrix products more than the marginal likelihood.
    """
    parts = [factor_part(*part, clean=False) for part in zip(grams, alphas, targets, strict=True)]
    inverses = []
    for part in parts:
        inverse = inverse_half(part.L)
        mirror_lower(inverse, step=MIRRORED)
        inverses.append(inverse)
    diagonals = [np.diagonal(inverse).copy() for inverse in inverses]
    n = sum(len(Y) for Y in targets)
    squares = sum(
        (part.dual**2 / c[:, None]).sum(axis=0) for part, c in zip(parts, diagonals, strict=True)
    )
    best = np.maximum(np.asarray(squares) / n, np.finfo(np.float64).tiny)
    s2 = best if variances is None else variances
    q = len(s2)
    log_c = sum(float(np.log(c).sum()) for c in diagonals)
    value = 0.5 * (q * log_c - n * float(np.sum(np.log(s2) + best / s2)) - n * q * LOG_2_PI)
    weights, by_noise = [], 0.0
    for part, inverse, c, alpha in zip(parts, inverses, diagonals, alphas, strict=True):
        # d value = Σ g dc + Σ h da, with dc = -[A⁻¹ dA A⁻¹] on the diagonal and da = -A⁻¹ dA a.
        g = 0.5 * (q / c + (part.dual**2 / s2).sum(axis=1) / c**2)
        h = -part.dual / (c[:, None] * s2)
        W = np.empty_like(inverse)
        unlocked.syrk(inverse * np.sqrt(g), W, alpha=-1.0)
        W = blas.dsyr2k(-0.5, product(inverse, h), part.dual, beta=1.0, c=W, lower=1, overwrite_c=1)
        mirror_lower(W, step=MIRRORED)
        by_noise += float(np.sum(alpha * np.diagonal(W)))
        weights.append(W)
    by_amplitude = 0.0 if variances is None else 0.5 * n * float(np.sum(best / s2 - 1))
    return CriterionScore(value, weights, by_noise, by_amplitude, s2)


CRITERIA: dict[str, Any] = {"likelihood": likelihood, "loo": loo_likelihood}
