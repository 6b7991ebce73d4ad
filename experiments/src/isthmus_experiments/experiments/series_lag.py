"""SERIES-lag: delays that unfold a signal."""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from isthmus.plotting import curves
from isthmus.series import TimeWindows
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

LENGTH = 3
STEP = 0.01


@experiment(
    "SERIES-lag",
    document="[002] 7.4, figure 26",
    title="Delay embedding: neighbouring values, and values that are uncorrelated",
    published=(
        "A series and its windows with a lag of one, squeezed on the diagonal, and with the lag at "
        "which consecutive entries are uncorrelated, unfolded. Pictures of another paper's series."
    ),
    covers=[
        Covers("002 figure 26", way="other data",
               why="the series of the picture is not named; a chaotic system stands in")
    ],
    quick={"n": 2000},
    full={"n": 10_000},
)  # fmt: skip
def lag(settings, seed, progress):
    states = _lorenz(settings["n"] + 1000)[1000:]
    signal = states[:, :1]
    found = TimeWindows(LENGTH, lag="auto", pad=None).fit(signal)
    windows = {
        f"lag {k}": TimeWindows(LENGTH, lag=k, pad=None).fit_transform(signal)
        for k in (1, found.lag_)
    }
    off = {name: _off_diagonal(W) for name, W in windows.items()}
    near = {name: _true_neighbours(W, states[-len(W) :]) for name, W in windows.items()}
    (first, second) = windows
    correlation = float(np.corrcoef(signal[: -found.lag_, 0], signal[found.lag_ :, 0])[0, 1])
    rows = [
        Row(
            "lag at which consecutive entries are uncorrelated, and their correlation",
            "uncorrelated",
            f"{found.lag_}, {correlation:+.3f}",
            "below 0.1" if abs(correlation) < 0.1 else "not below 0.1",
            bool(abs(correlation) < 0.1),
        ),
        Row(
            f"share of the variance off the diagonal, {first} and {second}",
            "squeezed, then unfolded (pictures)",
            f"{off[first]:.1%} and {off[second]:.1%}",
            "unfolded" if off[second] > 10 * off[first] else "not ten times as much",
            bool(off[second] > 10 * off[first]),
        ),
        Row(
            f"distance of the states of nearest windows, over that of random ones, {first} and "
            f"{second}",
            None,
            f"{near[first]:.4f} and {near[second]:.4f}",
            "not in the document: how well windows stand for states",
        ),
    ]
    return Outcome(
        rows,
        [
            Picture(
                "windows",
                "The first two entries of windows.",
                lambda: curves(
                    {name: {"": (W[:1500, 0], W[:1500, 1])} for name, W in windows.items()},
                    xlabel="first entry", ylabel="second entry",
                ),
            )
        ],
        ["The first coordinate of the Lorenz system, a hundred steps a unit of time."],
    )  # fmt: skip


def _lorenz(n):
    """States of the Lorenz system by the classical Runge-Kutta method."""

    def slope(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    states = np.empty((n, 3))
    s = np.array([1.0, 1.0, 20.0])
    for i in range(n):
        a = slope(s)
        b = slope(s + STEP / 2 * a)
        c = slope(s + STEP / 2 * b)
        d = slope(s + STEP * c)
        s = s + STEP / 6 * (a + 2 * b + 2 * c + d)
        states[i] = s
    return states


def _off_diagonal(W):
    """Share of the variance that does not lie along (1, 1, ..., 1)."""
    W = W - W.mean(axis=0)
    along = W.mean(axis=1, keepdims=True)
    return float(np.sum((W - along) ** 2) / np.sum(W**2))


def _true_neighbours(W, states):
    nearest = NearestNeighbors(n_neighbors=1).fit(W).kneighbors(return_distance=False)[:, 0]
    away = np.linalg.norm(states - states[nearest], axis=1).mean()
    usual = np.linalg.norm(states - np.roll(states, len(states) // 2, axis=0), axis=1).mean()
    return float(away / usual)
