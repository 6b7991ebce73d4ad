"""E-12: principal components in feature space from a twentieth of the points."""

import numpy as np

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.plotting import PALETTE, style
from isthmus.reduction import compress
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

CENTRES = np.array([[-1.0, -1.0], [2.0, 1.0], [2.0, -2.0]])
SPREAD, WIDTH, SIDE = 0.5, 0.6, 4.0
KEPT = 10
MOST = 40
GAMMAS = tuple(2.0 ** (k / 2) for k in range(-20, 1))


@experiment(
    "E-12",
    document="[000] 4.4.5, figures 4.6 and 4.7",
    title="Kernel PCA compressed: the same maps from 5 % of the points",
    published=(
        "Three Gaussian clusters at (-1, -1), (2, 1) and (2, -2), Gaussian kernel of width 0.6, "
        "two components: 5 % of the points give nearly the same maps. Pictures only."
    ),
    covers=[
        Covers("000 figure 4.6", way="claim"),
        Covers("000 figure 4.7", way="claim"),
    ],
    quick={"n": 200, "grid": 30},
    full={"n": 200, "grid": 81},
)
def kernel_pca_compression(settings, seed, progress):
    rng = np.random.default_rng(seed)
    n = settings["n"]
    X = CENTRES[rng.integers(0, 3, n)] + SPREAD * rng.normal(size=(n, 2))
    side = np.linspace(-SIDE, SIDE, settings["grid"])
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    full = KernelPCA(2, kernel=Gaussian.from_width(WIDTH), center=False).fit(X)
    before = full.transform(grid)
    path = {}
    for i, points in enumerate((3, KEPT, 20)):
        progress(i / 3, f"{points} points")
        small = compress(full, points, select="matching", points="kept")
        after = small.transform(grid)
        agreement = [float(np.corrcoef(before[:, j], after[:, j])[0, 1]) for j in range(2)]
        path[points] = (small, after, agreement)
    small, after, agreement = path[KEPT]
    rows = [
        Row(
            f"correlation of the two maps over the plane, {points} of {n} points",
            "nearly the same (picture)" if points == KEPT else None,
            f"{pair[0]:.4f}, {pair[1]:.4f} (squared error {model.compression_error_:.3g})",
            "the same to the eye" if min(pair) > 0.99 else "visibly different",
            min(pair) > 0.99 if points == KEPT else None,
        )
        for points, (model, _, pair) in path.items()
    ]

    rows += _penalty_rows(full, n)

    def draw():
        return _maps(X, small.objects_, side, before, after)

    caption = (
        f"Both components over the plane: from all {n} points above, from the {KEPT} that are "
        "marked below."
    )
    return Outcome(
        rows,
        [Picture("maps", caption, draw)],
        [
            "Size and spread of the clusters are not given (200 points, 0.5 here). The document "
            "lists 21 penalties, 2^-10 to 1 in half octaves, for a pursuit that has none; we read "
            "them as the squared error that may be left, as a share of the axes' own."
        ],
    )


def _penalty_rows(full, n):
    """How many points each of the published penalties keeps, and what error they leave."""
    sizes = np.arange(1, MOST + 1)
    left = np.array(
        [compress(full, int(m), select="matching", points="kept").compression_error_ for m in sizes]
    )
    left = left / full.n_components_  # the axes have unit length
    points = {
        g: next((m for m, e in zip(sizes, left, strict=True) if e <= g), None) for g in GAMMAS
    }
    yield Row(
        "points that leave a squared error of 2^-10, 2^-9.5, ..., 1",
        None,
        ", ".join(str(p) if p else f"more than {MOST}" for p in points.values()),
        "for information",
    )
    yield Row(
        "squared error over the points kept",
        "falls (picture)",
        f"{left[0]:.2g} at 1 point, {left[KEPT - 1]:.2g} at {KEPT}, {left[-1]:.1g} at {MOST}",
        "a pursuit cannot do otherwise: no verdict",
    )
    few = bool(left[KEPT - 1] < 0.05)
    yield Row(
        f"squared error left by {KEPT} of {n} points, as a share",
        "small: the maps look the same",
        float(left[KEPT - 1]),
        "below 5 %" if few else "5 % or more",
        few,
    )


def _maps(X, Z, side, before, after):
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(2, 2, figsize=(7.4, 6.6), layout="constrained")
        for row, (values, points) in enumerate([(before, X), (after, Z)]):
            for j in range(2):
                ax, high = axes[row, j], np.abs(before[:, j]).max()
                levels = np.linspace(-high, high, 15)
                ax.contourf(
                    side,
                    side,
                    values[:, j].reshape(len(side), -1),
                    levels=levels,
                    cmap="RdBu_r",
                    extend="both",
                )
                ax.plot(
                    *points.T,
                    ".",
                    color=PALETTE[7 % len(PALETTE)] if row else "0.2",
                    markersize=9 if row else 3,
                )
                ax.set(xticks=[], yticks=[], aspect="equal")
                ax.set_title(f"component {j + 1}, {len(points)} points")
    plt.close(figure)
    return figure
