"""Whether clusters of sliding windows say anything about the signal."""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from isthmus._checks import check_int
from isthmus._warnings import warn
from isthmus.linalg.threads import openmp
from isthmus.series.collection import as_series
from isthmus.series.time_windows import TimeWindows
from isthmus.typing import Array

#: From here on centres of two runs are as far apart as those of two signals.
MEANINGLESS = 0.5


class WindowCheck(NamedTuple):
    """What :func:`sliding_window_check` found."""

    mean_range: float  #: range of the mean of all windows
    bound: float  #: what it cannot exceed, whatever the signal: (w - 1) / M times its range
    ratio: float  #: distance of centres between runs over that between signals
    centers: Array  #: of the first run, shape (n_clusters, length)


WindowCheck.__module__ = "isthmus.series"


def sliding_window_check(
    x: Any,
    reference: Any = None,
    *,
    length: int,
    n_clusters: int = 3,
    n_init: int = 5,
    random_state: Any = None,
) -> WindowCheck:
    r"""Tell whether clusters of the sliding windows of a signal depend on the signal at all.

    All :math:`M` windows of length :math:`w` overlap, so that every value but those at the ends
    stands at every place of a window once: their mean is constant up to
    :math:`\frac{w-1}M(\max x-\min x)`. Centres of k-means must average to it, and often are sine
    waves that do not depend on the data [KeoghLin2005]_. The ratio compares centres of several
    runs on ``x`` with each other, and with those of another signal: near 1 they tell the signals
    apart no better than two runs on the same one, and a warning says so.

    Parameters
    ----------
    x : array of shape (n_steps,)
        A signal of one channel.
    reference : array of shape (m_steps,) or None, default=None
        Another signal; None takes a random walk of the same length.
    length : int
        Elements in a window, at least 2.
    n_clusters : int, default=3
    n_init : int, default=5
        Runs of k-means on each signal, from one random start each. At least 2.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    WindowCheck
        ``mean_range``, ``bound``, ``ratio`` and ``centers``. Windows are standardised one by one
        before they are clustered; constant ones are left out.

    See Also
    --------
    TimeWindows : the windows themselves. Windows that do not overlap (``stride=length``), or are
        cut around events, may be clustered.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.series import sliding_window_check
    >>> walk = np.random.default_rng(0).normal(size=400).cumsum()
    >>> found = sliding_window_check(walk, np.sin(np.arange(400)), length=16, random_state=0)
    >>> found.mean_range <= found.bound
    True
    """
    owner = "sliding_window_check"
    check_int(length, "length", owner, low=2)
    check_int(n_clusters, "n_clusters", owner, low=1)
    check_int(n_init, "n_init", owner, low=2)
    rng = check_random_state(random_state)
    signal = _one_channel(x, "x", length, owner)
    if reference is None:
        other = rng.normal(size=len(signal)).cumsum()
    else:
        other = _one_channel(reference, "reference", length, owner)
    windows = _windows(signal, length)
    runs = [
        _runs(_standardize(table), n_clusters, n_init, rng, owner)
        for table in (windows, _windows(other, length))
    ]
    within, between = _distance(runs[0], runs[0]), _distance(runs[0], runs[1])
    ratio = within / between if between > 0 else 1.0
    if ratio > MEANINGLESS:
        warn(
            f"Clusters of sliding windows of length {length} mean little here: centres differ from "
            f"run to run by {ratio:.2f} times what they differ by from another signal. Cut windows "
            "around events, or take windows that do not overlap.",
            UserWarning,
        )
    bound = (length - 1) / len(windows) * float(np.ptp(signal))
    return WindowCheck(float(np.ptp(windows.mean(axis=0))), bound, float(ratio), runs[0][0])


def _one_channel(x: Any, name: str, length: int, owner: str) -> Array:
    signal = as_series(x, owner=owner, name=name)
    if signal.shape[1] != 1 or len(signal) <= length:
        raise ValueError(
            f"{owner} expected a signal of one channel with more than length={length} steps as "
            f"{name}. Got shape {np.shape(x)}."
        )
    return np.asarray(signal[:, 0], dtype=np.float64)


def _windows(signal: Array, length: int) -> Array:
    return TimeWindows(length, pad=None).fit_transform(signal[:, None])


def _standardize(windows: Array) -> Array:
    centred = windows - windows.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.mean(centred * centred, axis=1))
    some = spread > 1e-12 * max(windows.max(initial=0.0), -windows.min(initial=0.0))
    if not some.any():
        raise ValueError("sliding_window_check needs a signal that is not constant.")
    if some.all():
        centred /= spread[:, None]
        return centred
    return np.asarray(centred[some] / spread[some, None])


def _runs(table: Array, k: int, n_init: int, rng: Any, owner: str) -> list[Array]:
    """Centres of several runs of k-means, each from windows that are different."""
    kinds = _distinct(table)
    check_int(k, "n_clusters", owner, low=1, high=len(kinds), why="different windows")
    starts = [kinds[rng.choice(len(kinds), k, replace=False)] for _ in range(n_init)]
    with openmp():
        return [np.asarray(KMeans(k, init=s, n_init=1).fit(table).cluster_centers_) for s in starts]


def _distinct(table: Array) -> Array:
    """The windows that differ when rounded, in order of their elements."""
    first = table[:, 0].round(9)
    order = np.argsort(first)
    if np.all(np.diff(first[order]) > 0):  # as most signals have it: the first elements tell
        return np.asarray(table[order].round(9))
    return np.unique(table.round(9), axis=0)


def _distance(first: list[Array], second: list[Array]) -> float:
    """Mean distance of a centre to the nearest one of another run."""
    gaps = [
        cdist(a, b).min(axis=1).mean()
        for i, a in enumerate(first)
        for j, b in enumerate(second)
        if not (first is second and i == j)
    ]
    return float(np.mean(gaps))
