"""SERIES-windows: delay embedding, and why windows must not be clustered."""

import numpy as np
from sklearn.cluster import KMeans

from isthmus.datasets import make_cylinder_bell_funnel
from isthmus.plotting import curves
from isthmus.series import TimeWindows
from isthmus_experiments import Outcome, Picture, Row, experiment

WIDTH, N_CLUSTERS = 32, 3


@experiment(
    "SERIES-windows",
    document="[002] 7.4",
    title="Time windows: a mean without content, clusters without meaning",
    published=(
        "The mean of all sliding windows is nearly constant, and k-means on overlapping windows "
        "gives sine-like centres that do not depend on the data (Keogh and Lin)."
    ),
    readings={
        "share of each centre": (
            "three shapes of fixed length leave their mark in the centres; those of a random walk "
            "are waves, as claimed"
        ),
        "centres of k-means": (
            "k-means++ finds the same optimum in every restart, where the paper's random starts "
            "did not"
        ),
    },
    in_short=(
        "fixed shapes leave their mark in the centres; k-means++ finds the same optimum in "
        "every restart"
    ),
    quick={"n_series": 30, "n_restarts": 3},
    full={"n_series": 90, "n_restarts": 10},
)
def windows(settings, seed, progress):
    rng = np.random.RandomState(seed)
    shapes = make_cylinder_bell_funnel(settings["n_series"], random_state=rng)[0].ravel()
    walk = rng.normal(size=len(shapes)).cumsum()
    signals = {"cylinder, bell, funnel": shapes, "random walk": walk}
    tables = {
        name: _standardised(TimeWindows(WIDTH, pad=None).fit_transform(x[:, None]))
        for name, x in signals.items()
    }
    raw = TimeWindows(WIDTH, pad=None).fit_transform(shapes[:, None])
    bound = (WIDTH - 1) / len(raw) * np.ptp(shapes)
    spread = np.ptp(raw.mean(axis=0))
    centres = {name: [] for name in tables}
    for i in range(settings["n_restarts"]):
        for name, table in tables.items():
            progress(i / settings["n_restarts"], f"restart {i + 1}: {name}")
            means = KMeans(N_CLUSTERS, n_init=1, random_state=i).fit(table)
            centres[name].append(means.cluster_centers_)
    own, other = (_distance(centres[a], centres[b]) for a, b in _pairs(list(centres)))
    ratio = own / other
    steps = np.arange(WIDTH)
    panels = {
        name: {f"centre {k + 1}": (steps, c) for k, c in enumerate(found[0])}
        for name, found in centres.items()
    }
    return Outcome(
        [
            Row(
                "range of the mean window, and its bound (w - 1) / M range",
                "below the bound",
                f"{spread:.3f} and {bound:.3f}",
                "nearly constant: it holds the mean of the signal and nothing else"
                if spread <= bound
                else "above the bound",
                bool(spread <= bound),
            ),
            _wave_row(centres),
            Row(
                "centres of k-means: distance between restarts over distance between data sets",
                "near 1: meaningless",
                f"{ratio:.2f}",
                "about as far apart from run to run as from one data set to the other"
                if ratio > 0.5
                else "the clusters tell the data sets apart",
                bool(ratio > 0.5),
            ),
        ],
        [
            Picture(
                "centres",
                "Centres of k-means on all windows of two signals.",
                lambda: curves(panels, xlabel="step in the window", ylabel="standardised value"),
            )
        ],
        [
            "Windows are standardised one by one, as in the paper that the document cites. "
            "Distances are means over centres of the distance to the nearest centre of the other "
            "run. k-means++ finds the same optimum in every restart, and the three shapes leave "
            "their mark in the centres: on these signals the warning is not reproduced in its "
            "strong form, only for the random walk, whose centres are waves.",
        ],
    )


def _wave_row(centres):
    shares = {name: min(_wave_share(c) for c in found[0]) for name, found in centres.items()}
    good = min(shares.values()) > 0.9
    return Row(
        "share of each centre that is one sine wave, the least of: " + "; ".join(shares),
        "sine-like",
        "; ".join(f"{v:.2f}" for v in shares.values()),
        "waves, whatever the data" if good else "not all of them are waves",
        bool(good),
    )


def _wave_share(centre):
    """R² of the best sine wave, of any frequency up to one period in a window."""
    t = np.arange(len(centre))
    total = ((centre - centre.mean()) ** 2).sum()
    best = 0.0
    for periods in np.linspace(0.25, 1.0, 31):
        angle = 2 * np.pi * periods * t / len(t)
        A = np.column_stack([np.ones_like(angle), np.sin(angle), np.cos(angle)])
        rest = centre - A @ np.linalg.lstsq(A, centre, rcond=None)[0]
        best = max(best, 1 - (rest**2).sum() / total)
    return best


def _standardised(table):
    return (table - table.mean(axis=1)[:, None]) / table.std(axis=1)[:, None]


def _pairs(names):
    return (names[0], names[0]), (names[0], names[1])


def _distance(first, second):
    gaps = [
        np.linalg.norm(a[:, None] - b, axis=2).min(axis=1).mean()
        for i, a in enumerate(first)
        for j, b in enumerate(second)
        if not (first is second and i == j)
    ]
    return float(np.mean(gaps))
