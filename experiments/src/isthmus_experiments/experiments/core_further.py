"""CORE-further: what else is a ball of points: an order, and a surface."""

import numpy as np
from scipy.stats import kendalltau
from sklearn.linear_model import Ridge

from isthmus.coreset import CoreVectorRanker, ImplicitSurface
from isthmus.kernels import Gaussian
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment


@experiment(
    "CORE-further",
    document="[002] 6.5, ranking and implicit surfaces, figure 25",
    title="An order learned from pairs, and a surface through points",
    published=(
        "Ranking and implicit surfaces are named as further balls; figure 25 shows a surface "
        "fitted in three passes with narrower kernels. Pictures only."
    ),
    covers=[
        Covers("002 figure 25", 1, way="claim"),
    ],
    quick={"pairs": 300, "points": 400},
    full={"pairs": 1500, "points": 2000},
)
def further(settings, seed, progress):
    rng = np.random.default_rng(seed)
    rows = [_ranking(settings["pairs"], rng, seed)]
    progress(0.5, "surface")
    cloud, surfaces, distances = _surfaces(settings["points"], rng, seed)
    rows.append(
        Row(
            "mean distance of the zero set from the curve, after one, two and three passes",
            "falls from pass to pass",
            ", ".join(f"{d:.4f}" for d in distances),
            "each pass is nearer" if _falls(distances) else "a pass is not nearer",
            _falls(distances),
        )
    )
    ridge = ImplicitSurface(tube=0.05, random_state=seed).fit(cloud)
    rows.append(
        Row(
            "the same for narrow tubes in later passes, and the share of points within 20 % of the "
            "curve whose side is right, default and narrow",
            None,
            f"{_mean_distance(ridge):.4f}; {_right_side(surfaces[-1], rng):.3f}, "
            f"{_right_side(ridge, rng):.3f}",
            "a narrow tube makes a ridge along the curve, near it but without sides",
        )
    )
    return Outcome(
        rows,
        [
            Picture(
                "surface",
                "Points of a trefoil with noise 0.01 and the zero sets after each pass.",
                lambda: _drawn(cloud, surfaces),
            )
        ],
        ["Distances are taken from the zeros on rays from the centre, where each pass has one."],
    )


def _falls(values):
    return bool(np.all(np.diff(values) < 0))


def _ranking(n, rng, seed):
    """Order by a curved function of five columns, from noisy grades of five levels."""
    X = rng.normal(size=(2 * n, 5))
    worth = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    grades = np.digitize(
        worth + 0.3 * rng.normal(size=2 * n), np.quantile(worth, (0.2, 0.4, 0.6, 0.8))
    )
    ranker = CoreVectorRanker(Gaussian(0.1), random_state=seed).fit(X[:n], grades[:n])
    ours = kendalltau(ranker.predict(X[n:]), worth[n:]).statistic
    line = Ridge().fit(X[:n], grades[:n]).predict(X[n:])
    straight = kendalltau(line, worth[n:]).statistic
    return Row(
        "Kendall's tau with the true order of new rows: ranking machine, linear regression",
        "no value",
        f"{ours:.3f}, {straight:.3f}",
        "the machine sees the curved order" if ours > straight + 0.1 else "no gain over a line",
        bool(ours > straight + 0.1),
    )


def _radius(angle):
    return 1 + 0.3 * np.cos(3 * angle)


def _surfaces(n, rng, seed):
    angle = rng.uniform(0, 2 * np.pi, n)
    cloud = _radius(angle)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    cloud += 0.01 * rng.normal(size=cloud.shape)
    widths = ImplicitSurface().widths
    surfaces = [
        ImplicitSurface(widths[: i + 1], random_state=seed).fit(cloud) for i in range(len(widths))
    ]
    return cloud, surfaces, [_mean_distance(surface) for surface in surfaces]


def _mean_distance(surface):
    """Along rays from the centre, how far the outermost zero is from the curve."""
    angles = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    radii = np.linspace(0.3, 1.8, 301)
    rays = radii[None, :, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None]
    values = surface.decision_function(rays.reshape(-1, 2)).reshape(len(angles), len(radii))
    inside = values > 0
    found = inside.any(axis=1)
    last = len(radii) - 1 - inside[:, ::-1].argmax(axis=1)
    gaps = np.abs(radii[last] - _radius(angles))
    # A ray without a zero is as far off as the curve is from the centre.
    return float(np.where(found, gaps, _radius(angles)).mean())


def _right_side(surface, rng, n=3000):
    """How often the sign tells inside from outside near the curve."""
    angle, share = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.8, 1.2, n)
    points = (share * _radius(angle))[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    return float(np.mean((surface.decision_function(points) > 0) == (share < 1)))


def _drawn(cloud, surfaces):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(surfaces), figsize=(9, 3.2), sharex=True, sharey=True)
    grid = np.linspace(-1.7, 1.7, 120)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    for i, (axis, surface) in enumerate(zip(axes, surfaces, strict=True)):
        values = surface.decision_function(points).reshape(len(grid), len(grid))
        axis.plot(*cloud.T, ".", ms=2, color="0.6")
        axis.contour(grid, grid, values, levels=[0.0], colors="C0")
        axis.set(title=f"{i + 1} pass{'es' if i else ''}", aspect="equal", xticks=[], yticks=[])
    return figure
