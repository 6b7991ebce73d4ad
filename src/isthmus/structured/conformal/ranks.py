r"""Which score is the threshold, and how coverage scatters around its promise.

With :math:`n` calibration scores that are exchangeable with that of a new row, the :math:`k`-th
smallest, :math:`k=\lceil(n+1)(1-\alpha)\rceil`, is at least as large as the new one with
probability :math:`k/(n+1)\ge1-\alpha`. Given the calibration rows the coverage is
:math:`\mathrm{Beta}(k,n+1-k)`, so among :math:`m` new rows a beta-binomial number is covered
[Vovk2012]_.
"""

import numpy as np
from scipy import stats

from isthmus.typing import Array


def rank(n: int, coverage: float) -> int:
    """Which of n scores is the threshold, from 1; n + 1 means that there are too few.

    >>> rank(99, 0.9), rank(8, 0.9)
    (90, 9)
    """
    # Rounding errors of (n + 1) * coverage must not lift the rank by one.
    return int(np.ceil(np.round((n + 1) * coverage, 9)))


def fewest_scores(coverage: float) -> int:
    """How many scores the promise needs at least.

    >>> fewest_scores(0.9), fewest_scores(0.5)
    (9, 1)
    """
    n = max(1, int(coverage / (1 - coverage)) - 1)
    while rank(n, coverage) > n:
        n += 1
    return n


def threshold(scores: Array, coverage: float) -> float:
    """The smallest score that keeps the promise; infinite where there are too few."""
    k = rank(len(scores), coverage)
    return float(np.partition(scores, k - 1)[k - 1]) if k <= len(scores) else float("inf")


def coverage_band(
    n_calibration: int, n_new: int, coverage: float, *, level: float = 0.99
) -> tuple[float, float]:
    """Shares of ``n_new`` rows between which the covered ones lie with probability ``level``.

    >>> low, high = coverage_band(200, 500, 0.9)
    >>> bool(low < 0.9 < high)
    True
    """
    k = rank(n_calibration, coverage)
    if k > n_calibration:
        return 1.0, 1.0
    law = stats.betabinom(n_new, k, n_calibration + 1 - k)
    return float(law.ppf((1 - level) / 2) / n_new), float(law.ppf((1 + level) / 2) / n_new)
