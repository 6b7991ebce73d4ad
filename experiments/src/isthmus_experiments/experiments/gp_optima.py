"""GP-optima: a likelihood with two tops, and which of them is found."""

import numpy as np

from isthmus.kernels import Gaussian
from isthmus.plotting import bands
from isthmus.regression import GaussianProcess
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._gp import REACH, fixed

N_POINTS = 7
LENGTHS = np.geomspace(0.1, 30, 30)
NOISES = np.geomspace(0.03, 3, 25)
GRID = np.linspace(-7.5, 7.5, 201)[:, None]


@experiment(
    "GP-optima",
    document="[002] 8, figure 29",
    title="Two tops of the marginal likelihood: a short scale with little noise, or a long one",
    published=(
        "Seven points have a likelihood of length scale and noise with two local optima: one "
        "explains the data by a function that varies, one by noise. Pictures only."
    ),
    covers=[
        Covers("002 figure 29", way="claim"),
    ],
    quick={"n_sets": 8, "n_init": 6},
    full={"n_sets": 200, "n_init": 20},
)
def optima(settings, seed, progress):
    several, found, reached, shown = 0, [], 0, None
    for i in range(settings["n_sets"]):
        progress(i / settings["n_sets"], f"data set {i + 1}")
        rng = np.random.default_rng([seed, i])
        X = rng.uniform(-7, 7, size=(N_POINTS, 1))
        y = fixed(1.0, 1.0, 0.0).sample_prior(X, random_state=rng.integers(2**31))[0]
        y = y + 0.1 * rng.normal(size=N_POINTS)
        surface = likelihood_surface(X, y)
        tops = interior_tops(surface)
        several += len(tops) > 1
        model = GaussianProcess(
            Gaussian(0.5),
            amplitude=1.0,
            center=False,
            random_state=seed,
            n_init=settings["n_init"],
        ).fit(X, y)
        found.append(model.log_marginal_likelihood_ - surface.max())
        if len(tops) > 1:
            reached += found[-1] > -1e-3
            if shown is None:
                shown = (X, y, tops, surface)
    share = several / settings["n_sets"]
    worst = float(min(found))
    pictures = []
    if shown is not None:
        pictures.append(
            Picture(
                "fits",
                "One data set at the two tops of its likelihood, with bands of 95 % for outputs.",
                lambda: _figure(*shown),
            )
        )
    return Outcome(
        [
            Row(
                "data sets with two or more tops inside the grid",
                "one is shown",
                f"{several} of {settings['n_sets']} ({share:.0%})",
                "common, so restarts are needed" if share > 0.1 else "rare",
                share > 0.1,
            ),
            Row(
                "those in which the search reaches the highest point of the grid or better",
                "",
                f"{reached} of {several}",
                "the better top is found every time" if reached == several else "it misses some",
                reached == several,
            ),
            Row(
                "smallest gain of the search over the best point of the grid, all sets",
                "",
                f"{worst:.2g}",
                "never below it"
                if worst > -1e-3
                else "below it at least once: a top at the edge, such as an endless length scale",
                None,
            ),
        ],
        pictures,
        [
            f"The grid has {len(LENGTHS)} x {len(NOISES)} points of length scale 0.1 to 30 and "
            "noise 0.03 to 3, the amplitude being 1; tops at its edge are not counted."
        ],
    )


def likelihood_surface(X, y):
    """Log likelihood at all pairs of length scale and noise, from one spectrum a length."""
    surface = np.empty((len(LENGTHS), len(NOISES)))
    for i, length in enumerate(LENGTHS):
        eigenvalues, U = np.linalg.eigh(Gaussian.from_width(length)(X))
        z2 = (U.T @ y) ** 2
        total = np.maximum(eigenvalues, 0)[:, None] + NOISES**2
        surface[i] = -0.5 * np.sum(z2[:, None] / total + np.log(2 * np.pi * total), axis=0)
    return surface


def interior_tops(surface):
    """Places of the grid that are above all eight neighbours."""
    inner = surface[1:-1, 1:-1]
    higher = np.ones_like(inner, dtype=bool)
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            if di or dj:
                n, m = surface.shape
                higher &= inner > surface[1 + di : n - 1 + di, 1 + dj : m - 1 + dj]
    return [(int(i) + 1, int(j) + 1) for i, j in np.argwhere(higher)]


def _figure(X, y, tops, surface):
    panels = {}
    for i, j in tops[:2]:
        mean, std = fixed(LENGTHS[i], 1.0, NOISES[j]).fit(X, y).predict(GRID, return_std=True)
        title = (
            f"length {LENGTHS[i]:.2g}, noise {NOISES[j]:.2g}\nlog likelihood {surface[i, j]:.2f}"
        )
        panels[title] = {
            "x": GRID[:, 0],
            "mean": mean,
            "band": (mean - REACH * std, mean + REACH * std),
            "points": (X[:, 0], y),
        }
    return bands(panels)
