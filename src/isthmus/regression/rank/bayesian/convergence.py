r"""Have the chains of a sampler met, and how many independent draws are they worth?

Both measures work on ranks turned into normal scores, so that heavy tails do no harm, and on
chains cut in half, so that a trend within one chain shows as well [Vehtari2021]_.
"""

import numpy as np
from scipy import fft, special

from isthmus.typing import Array


def split_rhat(draws: Array) -> Array:
    r"""Potential scale reduction of draws of shape (n_chains, n_draws, ...), 1 when all is well.

    .. math:: \hat R=\sqrt{\frac{\frac{n-1}{n}W+\frac1nB}{W}}

    with :math:`W` the mean variance within half chains of length :math:`n` and :math:`B/n` the
    variance of their means.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> bool(split_rhat(rng.normal(size=(4, 500))) < 1.01)
    True
    >>> bool(split_rhat(rng.normal(size=(4, 500)) + [[0], [0], [0], [1]]) > 1.1)
    True
    """
    return convergence(draws)[0]


def bulk_ess(draws: Array) -> Array:
    r"""Effective sample size of draws of shape (n_chains, n_draws, ...).

    The number of draws over :math:`1+2\sum_t\rho_t`, the autocorrelations summed in pairs as long
    as a pair stays positive, and no pair above the one before [Geyer1992]_.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(4, 1000))
    >>> bool(3000 < bulk_ess(x) < 5000)
    True
    >>> slow = x.copy()
    >>> for t in range(1, 1000):
    ...     slow[:, t] = 0.9 * slow[:, t - 1] + x[:, t]
    >>> bool(100 < bulk_ess(slow) < 400)  # 4000 (1 - 0.9) / (1 + 0.9) is 210
    True
    """
    return convergence(draws)[1]


def convergence(draws: Array) -> tuple[Array, Array]:
    """Split R-hat and bulk effective sample size at once, which share the sorting."""
    scores = _normal_scores(draws)  # (..., half chains, n)
    m, n = scores.shape[-2:]
    within = scores.var(axis=-1, ddof=1).mean(axis=-1)
    means = scores.mean(axis=-1, keepdims=True)
    total = within * (n - 1) / n + means[..., 0].var(axis=-1, ddof=1)
    # A quantity that never moves has nothing to converge.
    moving = within > 0
    rhat = np.sqrt(np.divide(total, within, out=np.ones_like(total), where=moving))

    size = fft.next_fast_len(2 * n, real=True)
    power = (np.abs(fft.rfft(scores - means, size)) ** 2).mean(axis=-2)
    autocovariance = fft.irfft(power, size)[..., :n] / (n - 1)
    shortfall = within[..., None] - autocovariance
    rho = 1 - shortfall / np.where(moving, total, 1)[..., None]
    rho[..., 0] = 1
    even = n - n % 2
    pairs = rho[..., 0:even:2] + rho[..., 1:even:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=-1)
    pairs = np.minimum.accumulate(np.where(positive, pairs, 0), axis=-1)
    length = 2 * pairs.sum(axis=-1) - 1
    # Chains that swing to and fro can be worth more than their draws, within reason.
    ess = m * n / np.maximum(length, 1 / np.log10(m * n))
    return rhat, np.where(moving, ess, float(m * n))


def _normal_scores(draws: Array) -> Array:
    """Ranks over all chains as quantiles of the normal law, shape (..., half chains, n)."""
    n = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :n], draws[:, -n:]])
    m, shape = len(halves), draws.shape[2:]
    flat = np.ascontiguousarray(halves.reshape(m * n, -1).T)
    order = flat.argsort(axis=1)
    quantiles = special.ndtri((np.arange(1, m * n + 1) - 0.375) / (m * n + 0.25))
    scores = np.empty(flat.shape)
    scores[np.arange(len(flat))[:, None], order] = quantiles
    # Ties would get different scores; what never moves is the case that happens.
    scores[flat.max(axis=1) == flat.min(axis=1)] = 0
    return scores.reshape(*shape, m, n)
