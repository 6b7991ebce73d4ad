"""Distributions under independence, without permutations."""

from typing import Any

import numpy as np
from scipy import stats

from isthmus.dependence.gram_sums import GramSums, finish
from isthmus.typing import Array


def permutation_moments(sums: GramSums) -> tuple[float, float]:
    r"""Mean and variance of :math:`\langle HKH,HL_\pi H\rangle` over all permutations.

    Exact [KaziAoual1995]_, from :math:`t=\operatorname{tr}A`, :math:`q=\|A\|^2` and
    :math:`s=\sum A_{ii}^2` of the two centred matrices:

    .. math:: E=\frac{t_at_b}{n-1},\quad V=\frac{2\,\delta_a\delta_b}{(n-1)^2(n+1)(n-2)}
       +\frac{\epsilon_a\epsilon_b}{(n+1)n(n-1)(n-2)(n-3)}

    with :math:`\delta=(n-1)q-t^2` and :math:`\epsilon=n(n+1)s-(n-1)(t^2+2q)`. Needs n ≥ 4.
    """
    n = sums.rows.shape[1]
    row_means = (sums.rows + sums.diagonals) / n
    diagonals = sums.diagonals - 2 * row_means + row_means.mean(axis=1)[:, None]
    square = np.diag(finish(sums, unbiased=False))
    return moments_of_traces(n, diagonals.sum(axis=1), square, np.square(diagonals).sum(axis=1))


def moments_of_traces(
    n: int, trace: Array, square: Array, diagonal_square: Array
) -> tuple[float, float]:
    """The same from :math:`t`, :math:`q` and :math:`s` of both sides."""
    delta = (n - 1) * square - trace**2
    epsilon = n * (n + 1) * diagonal_square - (n - 1) * (trace**2 + 2 * square)
    variance = 2 * delta.prod() / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += epsilon.prod() / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return float(trace.prod() / (n - 1)), float(variance)


def gamma_pvalue(product: float, sums: GramSums) -> float:
    """Probability of a larger V-product, by the Gamma distribution of the same two moments.

    [Gretton2008]_ matches estimates of the moments; these are those of the permutation test.
    """
    return gamma_tail(product, *permutation_moments(sums))


def gamma_tail(product: float, mean: float, variance: float) -> float:
    """Probability of a larger value of a Gamma distribution with these moments."""
    if mean <= 0 or variance <= 0:  # a constant side
        return 1.0
    return float(stats.gamma.sf(product, mean**2 / variance, scale=variance / mean))


def t_pvalue(correlation: float, n: int) -> float:
    r"""Probability of a larger bias-corrected :math:`R`, by Student's t [SzekelyRizzo2013]_.

    With :math:`v=n(n-3)/2`, :math:`\sqrt{v-1}\,R/\sqrt{1-R^2}` has :math:`v-1` degrees of freedom
    in the limit of many columns, whatever n. Holds for high-dimensional data alone.
    """
    v = n * (n - 3) / 2
    t = np.sqrt(v - 1) * correlation / np.sqrt(max(1 - correlation**2, 1e-300))
    return float(stats.t.sf(t, v - 1))


def chi2_pvalue(correlation: Any, n: int) -> Any:
    r"""Bound on the probability of a larger :math:`R`: :math:`nR+1` against chi-square [Shen2022]_.

    One degree of freedom. Conservative for p-values below about 0.05. Of an array, all at once.
    """
    found = stats.chi2.sf(n * np.asarray(correlation) + 1, 1)
    return float(found) if found.ndim == 0 else found


def permutation_pvalue(values: Array) -> float:
    """Share of values at least as large as the first one, itself included.

    >>> import numpy as np
    >>> permutation_pvalue(np.array([2.0, 1.0, 2.0, 0.0]))
    0.5
    """
    # The same sum in another order must count as equal.
    slack = 1e-12 * np.abs(values).max()
    return float(np.mean(values >= values[0] - slack))
