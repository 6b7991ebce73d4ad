"""How much white noise a picture holds."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.stats import gamma

from isthmus.typing import Array

# A patch of pure noise has more energy in its differences with one minus this probability.
_CONFIDENCE = 1 - 1e-6
# Patches for each of their pixels that a covariance asks for.
_MIN_PATCHES = 4
_MAX_ROUNDS = 10


def noise_level(image: Array) -> float:
    r"""Standard deviation of white noise in a picture, from its patches of weakest texture.

    The smallest eigenvalue of the covariance of patches is the variance :math:`\sigma^2` of the
    noise, if the patches lie near a subspace. Texture does not, so only patches are taken whose
    differences between neighbouring pixels have no more energy than noise of that
    level would give them, and both are repeated until they agree [Liu2013]_. The answer is never
    above that by the finest diagonal details, which texture can only raise [Donoho1995]_.

    >>> import numpy as np
    >>> noise = 3 * np.random.default_rng(0).normal(size=(200, 200))
    >>> bool(abs(noise_level(noise + np.arange(200.0)) - 3) < 0.15)
    True
    """
    size = 7 if image.size >= 128**2 else 5
    upper = detail_level(image)
    if min(image.shape) < size or upper == 0:
        return upper
    return min(upper, _weak_texture_level(image, size))


def detail_level(image: Array) -> float:
    r""":math:`\operatorname{median}|h|/0.6745`, :math:`h=(y_{00}-y_{01}-y_{10}+y_{11})/2`."""
    details = image[:-1, :-1] - image[1:, :-1] - image[:-1, 1:] + image[1:, 1:]
    return float(np.median(np.abs(details)) / 2 / 0.6745)


def _weak_texture_level(image: Array, size: int) -> float:
    patches = sliding_window_view(image, (size, size)).reshape(-1, size * size)
    across = sliding_window_view(np.diff(image, axis=1) ** 2, (size, size - 1)).sum(axis=(2, 3))
    down = sliding_window_view(np.diff(image, axis=0) ** 2, (size - 1, size)).sum(axis=(2, 3))
    energy = (across + down).ravel()
    limit = _energy_quantile(size)
    variance = _smallest_variance(patches)
    for _ in range(_MAX_ROUNDS):
        weak = energy <= limit * variance
        if weak.sum() < _MIN_PATCHES * size * size:
            break
        last, variance = variance, _smallest_variance(patches[weak])
        if abs(variance - last) <= 1e-4 * last:
            break
    return float(np.sqrt(max(variance, 0.0)))


def _energy_quantile(size: int) -> float:
    """What the energy of differences stays below in a patch of noise of variance one.

    A quadratic form of normal numbers, taken as a gamma distribution of the same two moments.
    """
    line = np.zeros((size, size))
    steps = np.arange(size - 1)
    for i, j in ((0, 0), (1, 1), (0, 1), (1, 0)):
        line[steps + i, steps + j] += 1.0 if i == j else -1.0
    form = np.kron(line, np.eye(size)) + np.kron(np.eye(size), line)
    mean, variance = np.trace(form), 2 * np.sum(form**2)
    return float(gamma.ppf(_CONFIDENCE, mean**2 / variance, scale=variance / mean))


def _smallest_variance(patches: Array) -> float:
    mean = patches.mean(axis=0)
    covariance = patches.T @ patches / len(patches) - np.outer(mean, mean)
    return float(np.linalg.eigvalsh(covariance)[0])
