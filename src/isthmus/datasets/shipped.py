"""Tasks made from the handwritten digits that come with scikit-learn: no download."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch, check_random_state

_MISSING = {
    "bottom": np.arange(64).reshape(8, 8) >= 32,
    "center": np.pad(np.ones((4, 4), dtype=bool), 2),
}


def load_digits_completion(missing="bottom"):
    """Digits with a part hidden: the visible pixels are given, the hidden ones are to be predicted.

    The images are the 1797 digits of :func:`sklearn.datasets.load_digits`,
    8 × 8 pixels, divided by 16 so that grey values lie in [0, 1].

    Parameters
    ----------
    missing : {"bottom", "center"}, default="bottom"
        Hide the bottom half (32 pixels) or the middle 4 × 4 (16 pixels).

    Returns
    -------
    sklearn.utils.Bunch
        ``X`` (1797, 32 or 48) visible pixels, ``Y`` (1797, 32 or 16) hidden pixels,
        ``images`` (1797, 8, 8), ``target`` (1797,) the digit, ``hidden`` (8, 8) the
        boolean mask; ``images[:, hidden]`` is ``Y``.

    Examples
    --------
    >>> digits = load_digits_completion()
    >>> digits.X.shape, digits.Y.shape
    ((1797, 32), (1797, 32))
    """
    if missing not in _MISSING:
        raise ValueError(
            f"The 'missing' parameter of load_digits_completion must be one of "
            f"{', '.join(map(repr, _MISSING))}. Got {missing!r} instead."
        )
    digits = load_digits()
    images = digits.images / 16.0
    hidden = _MISSING[missing].copy()
    return Bunch(
        X=images[:, ~hidden],
        Y=images[:, hidden],
        images=images,
        target=digits.target,
        hidden=hidden,
    )


def load_noisy_digits(noise=0.3, random_state=0, n_train=1000):
    """Digits with Gaussian noise added to every pixel, for denoising.

    Parameters
    ----------
    noise : float, default=0.3
        Standard deviation of the noise, where grey values lie in [0, 1].
    random_state : int, RandomState instance or None, default=0
        Seed of the noise.
    n_train : int, default=1000
        The first ``n_train`` of the 1797 images are for training.

    Returns
    -------
    sklearn.utils.Bunch
        ``clean_train``, ``noisy_train`` (n_train, 64) and ``clean_test``,
        ``noisy_test`` (1797 - n_train, 64). The noisy images are not clipped.
    """
    clean = load_digits().data / 16.0
    if not 0 < n_train < len(clean):
        raise ValueError(
            f"The 'n_train' parameter of load_noisy_digits must be an int in "
            f"[1, {len(clean) - 1}]. Got {n_train!r} instead."
        )
    noisy = clean + noise * check_random_state(random_state).normal(size=clean.shape)
    return Bunch(
        clean_train=clean[:n_train],
        noisy_train=noisy[:n_train],
        clean_test=clean[n_train:],
        noisy_test=noisy[n_train:],
    )
