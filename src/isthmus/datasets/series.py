"""Time series with known classes."""

import numpy as np
from sklearn.utils import check_random_state

SHAPES = ("bump", "double", "ramp", "wave")


def make_cylinder_bell_funnel(n_samples=90, *, length=128, noise=1.0, random_state=None):
    r"""Series of three classes: a plateau, a rise or a fall at a random place [Saito1994]_.

    With a start a uniform on [16, 32], a duration b - a uniform on [32, 96] (both in units of
    ``length / 128``) and a height :math:`6+\eta`,

    .. math:: x_t=(6+\eta)\,s(t)+\varepsilon_t,\qquad s=1,\;\frac{t-a}{b-a},\;\frac{b-t}{b-a}

    inside [a, b] for cylinder, bell and funnel, and 0 outside; :math:`\eta` and
    :math:`\varepsilon` are standard normal, :math:`\varepsilon` times ``noise``.

    Returns
    -------
    X : ndarray of shape (n_samples, length)
    labels : list of str
        "cylinder", "bell" or "funnel", in turn.

    Examples
    --------
    >>> X, labels = make_cylinder_bell_funnel(3, random_state=0)
    >>> X.shape, labels
    ((3, 128), ['cylinder', 'bell', 'funnel'])
    """
    rng = check_random_state(random_state)
    t = np.arange(length) * 128 / length
    kinds = ("cylinder", "bell", "funnel")
    labels = [kinds[i % 3] for i in range(n_samples)]
    X = noise * rng.normal(size=(n_samples, length))
    for row, label in zip(X, labels, strict=True):
        a = rng.uniform(16, 32)
        b = a + rng.uniform(32, 96)
        rise = (t - a) / (b - a)
        shape = {"cylinder": np.ones_like(t), "bell": rise, "funnel": 1 - rise}[label]
        row += (6 + rng.normal()) * shape * ((t >= a) & (t <= b))
    return X, labels


def make_warped_shapes(
    n_samples=80, *, length=60, warp=0.5, noise=0.1, n_channels=1, random_state=None
):
    """Four shapes drawn at uneven speed, so that lock-step comparison fails.

    Each series is one of four curves on [0, 1], sampled at times that run now faster, now
    slower; lengths differ by up to a fifth from ``length``. The shapes are a single
    bump, a double bump, a ramp and a wave.

    Parameters
    ----------
    n_samples : int, default=80
    length : int, default=60
        Mean length.
    warp : float in [0, 1), default=0.5
        How uneven the speed is; 0 is even.
    noise : float, default=0.1
        Standard deviation of normal noise.
    n_channels : int, default=1
        Each further channel is the shape delayed by a tenth.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    series : list of ndarray of shape (length_i, n_channels)
    labels : list of str
        "bump", "double", "ramp" or "wave", in turn.

    Examples
    --------
    >>> series, labels = make_warped_shapes(4, random_state=0)
    >>> labels
    ['bump', 'double', 'ramp', 'wave']
    """
    rng = check_random_state(random_state)
    labels = [SHAPES[i % 4] for i in range(n_samples)]
    series = []
    for label in labels:
        n = round(length * rng.uniform(0.8, 1.2))
        u = np.linspace(0, 1, n)
        # Time runs with speed 1 + warp cos(...), which stays positive.
        turns, phase = rng.randint(1, 3), rng.uniform(0, 2 * np.pi)
        time = u + warp / (2 * np.pi * turns) * (
            np.sin(2 * np.pi * turns * u + phase) - np.sin(phase)
        )
        channels = np.column_stack([_shape(label, time - 0.1 * c) for c in range(n_channels)])
        series.append(channels + noise * rng.normal(size=channels.shape))
    return series, labels


def _shape(label, t):
    if label == "bump":
        return np.exp(-(((t - 0.5) / 0.12) ** 2))
    if label == "double":
        return np.exp(-(((t - 0.3) / 0.09) ** 2)) + np.exp(-(((t - 0.7) / 0.09) ** 2))
    if label == "ramp":
        return np.clip(1.6 * (t - 0.2), 0, 1)
    return 0.5 + 0.5 * np.sin(4 * np.pi * t)
