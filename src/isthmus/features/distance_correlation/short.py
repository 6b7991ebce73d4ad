"""Left-out errors of a ridge regression whose Gram matrix has a short factor."""

from collections.abc import Sequence

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.linalg.products import product
from isthmus.typing import Array, IntArray

# Share of the smallest penalty that a factor may leave out, summed over all rows, and share of the
# rows up to which the factor is the shorter way.
LEFT_OUT, LONGEST = 1e-6, 0.5
# Smallest penalty, as a share of the trace, for which 1 less a leverage keeps half of its digits.
LEAST_PENALTY = 1e-8


def short_factor(K: Array, alphas: Sequence[float]) -> tuple[Array, IntArray] | None:
    r"""A factor L of some :math:`K\approx LL^\top`, and the rows of K that its rows belong to.

    A pivoted Cholesky decomposition; what it leaves out is positive, and has a trace of less than
    ``LEFT_OUT`` of the smallest penalty. None where the factor is no shorter than half the rows.

    >>> L, rows = short_factor(np.ones((4, 4)), [0.1])
    >>> L.ravel().tolist(), sorted(rows.tolist())
    ([1.0, 1.0, 1.0, 1.0], [0, 1, 2, 3])
    """
    n, least = len(K), min(alphas)
    if least < LEAST_PENALTY * float(np.trace(K)):
        return None
    factor, pivots, rank, _ = lapack.dpstrf(K.T, tol=LEFT_OUT * least / n, lower=1)
    if rank > LONGEST * n:
        return None
    L = np.asfortranarray(factor[:, :rank])
    L[:rank] = np.tril(L[:rank])  # above its diagonal there is K still
    return L, np.asarray(pivots, dtype=np.intp) - 1


def short_left_out_errors(L: Array, Y: Array, alphas: Sequence[float]) -> list[tuple[float, float]]:
    r"""Mean squared errors of rows left out, with a constant beside L, and the penalties.

    With centred L and :math:`L^\top L=V\mathrm{diag}(\mu)V^\top` the rows :math:`p_i=V^\top l_i`
    give the leverages :math:`h_i=\frac1n+\sum_jp_{ij}^2/(\mu_j+\alpha)`, and a row left out has
    the residual :math:`r_i/(1-h_i)`.
    """
    L, Y = L - L.mean(axis=0), Y - Y.mean(axis=0)
    mu, V = linalg.eigh(product(L.T, L), check_finite=False)
    mu = np.maximum(mu, 0.0)
    P = product(L, V)
    across, squared = product(P.T, Y), P**2
    least = float(np.finfo(np.float64).eps) * float(mu.max(initial=0.0))
    allowed = [a for a in alphas if a >= least or a == max(alphas)]
    shrinkage = 1 / (mu[:, None] + np.array(allowed))
    kept = 1 - 1 / len(L) - product(squared, shrinkage)
    kept = np.maximum(kept, np.finfo(np.float64).eps)
    errors = []
    for i, alpha in enumerate(allowed):
        residuals = Y - product(P, across * shrinkage[:, i, None])
        errors.append((float(np.mean((residuals / kept[:, i, None]) ** 2)), alpha))
    return errors
