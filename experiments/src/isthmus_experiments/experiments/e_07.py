"""E-07: noise in the lower half of a digit, taken off by regression of limited rank."""

from collections import deque

import numpy as np
from sklearn.model_selection import KFold

from isthmus.datasets import load_usps
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.plotting import error_bars, image_grid
from isthmus.regression import ReducedRankRegression
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._partial_least_squares import pls_coefficients

N_TRAIN, N_TEST, N_FEATURES, WIDTH, RIDGE, NOISE = 1000, 1000, 500, 10.0, 1e-6, 0.1
ENERGY = NOISE**2 * 128 * N_TEST  # of the noise in all test digits
RANK, PLS_RANK = 110, 123
PUBLISHED = {"ridge": 552.5, "ridge cut": 554.9, "PLS": 648.5, "limited rank": 550.53}
LABELS = {
    "ridge": "ridge",
    "ridge cut": f"ridge cut to rank {RANK}",
    "PLS": f"PLS of rank {PLS_RANK}",
    "limited rank": f"limited rank {RANK}",
}
LOWER, ALL = slice(128, 256), slice(0, 256)
# What the outputs may have been, and the value of white paper; ink is 1.
READINGS = {
    "lower half, [-1, 1]": (LOWER, -1.0),
    "all pixels, [-1, 1]": (ALL, -1.0),
    "lower half, [0, 1]": (LOWER, 0.0),
}
SIZES = {reading: pixels.stop - pixels.start for reading, (pixels, _) in READINGS.items()}


@experiment(
    "E-07",
    document="[001] 6.2, table 4, figure 6.1",
    title="USPS digits: noise in the lower half taken off",
    published=(
        "1000 training and 1000 test digits, noise of standard deviation 0.1 on the lower half, "
        "500 kernel PCA features (Gaussian, width 10), ridge 1e-6; errors called RMSE: ridge "
        "552.5, ridge cut to rank 110 554.9, partial least squares of rank 123 648.5, Stiefel "
        "regression of rank 110 550.53, each +- 0.1. Ranks and ridge by 5-fold cross-validation."
    ),
    covers=[
        Covers("001 table 4"),
        Covers("001 figure 6.1", way="claim"),
    ],
    readings={
        "partial least squares over": (
            "on this scale the kernel is flatter, and the components that least squares of the "
            "covariance finds first suffice; the document does not state its scale"
        ),
    },
    in_short=(
        "limited rank and ridge are within half a percent of each other; the scale of the "
        "pixels is not stated and decides the rest"
    ),
    quick={"n_splits": 2},
    full={"n_splits": 20},
    needs_data=True,
)
def usps_restoration(settings, seed, progress):
    data = load_usps()
    images = np.concatenate([data.X_train, data.X_test]).astype(float)
    n = settings["n_splits"]
    found = {reading: [] for reading in READINGS}
    for split in range(n):
        progress(split / n, f"split {split + 1} of {n}")
        for paper in (-1.0, 0.0):
            X, Y = _noisy_and_clean(images, paper, np.random.default_rng([seed, split]))
            features = KernelPCA(N_FEATURES, kernel=Gaussian.from_width(WIDTH)).fit(X[:N_TRAIN])
            Z, Zt = features.coordinates_, features.transform(X[N_TRAIN:])
            for reading, (pixels, its_paper) in READINGS.items():
                if its_paper == paper:
                    parts = Y[:N_TRAIN, pixels], Zt, Y[N_TRAIN:, pixels]
                    found[reading].append(_restored(Z, *parts))
            if split == 0 and paper == -1.0:
                progress(0.0, "choice of the rank")
                chosen = _chosen_ranks(X[:N_TRAIN], Y[:N_TRAIN], seed)
                shown = X[N_TRAIN:], Y[N_TRAIN:]

    totals = {
        reading: {name: np.array([errors[name] for errors, _ in splits]) for name in PUBLISHED}
        for reading, splits in found.items()
    }
    rows = [row for reading in READINGS for row in _rows(reading, totals[reading])]
    rows.append(
        Row(
            "rank by 5-fold cross-validation of limited rank",
            f"{RANK}",
            ", ".join(f"{rank} ({reading})" for reading, rank in chosen.items()),
            "near the published rank if the outputs are the lower half; all 256 pixels want more",
        )
    )
    panels = {
        reading: {LABELS[name]: values.mean() / 1000 for name, values in totals[reading].items()}
        for reading in READINGS
    }
    spread = {
        reading: {LABELS[name]: values.std() / 1000 for name, values in totals[reading].items()}
        for reading in READINGS
    }
    restored = [found[reading][0][1] for reading in READINGS][:2]
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                f"Squared error of a test digit; means and standard deviations over {n} splits.",
                lambda: error_bars(panels, spread=spread),
            ),
            Picture(
                "digits",
                "Five test digits, and what limited rank makes of them.",
                lambda: _grid(*shown, *restored),
            ),
        ],
        NOTES,
    )


NOTES = (
    "What is called RMSE there can only be a total squared error over 1000 digits: 552.5 is 43 % "
    "of 1280, the energy of the noise. The scale of the pixels is not stated, so ratios are "
    "compared and both usual scales are run.",
    "Two readings of 'the outputs' are run. With all 256 pixels a rank of 110 throws away much of "
    "the upper half and can come nowhere near ridge; with the 128 noisy pixels the ratios are "
    "close to the published ones. The published table was probably about the lower half.",
    "With a Gaussian of width 10 on the scale [-1, 1], 1000 digits do not cover the space: every "
    "method loses more of the digit than the noise took. On the scale [0, 1] the kernel is flatter "
    "and noise is taken off, as in the document; but there partial least squares is no longer the "
    "worst.",
    "Limited rank here is the global minimum (ReducedRankRegression); the document descends from "
    "the ridge map cut to rank 110. Its spread of +- 0.1 is far below that between splits.",
)


def _noisy_and_clean(images, paper, rng):
    clean = images[rng.permutation(len(images))[: N_TRAIN + N_TEST]]
    clean = 1 - (1 - clean) * (1 - paper) / 2
    noisy = clean.copy()
    noisy[:, 128:] += NOISE * rng.normal(size=(len(clean), 128))
    return noisy, clean


def _restored(Z, Y, Zt, Yt):
    """Total squared test errors of the four methods, and what limited rank restored."""
    z_mean, y_mean = Z.mean(axis=0), Y.mean(axis=0)
    ridge = ReducedRankRegression(Y.shape[1], alpha=RIDGE).fit(Z, Y)
    U, s, Wt = np.linalg.svd(ridge.coef_, full_matrices=False)
    pls = deque(pls_coefficients(Z - z_mean, Y - y_mean, PLS_RANK), maxlen=1).pop()
    guesses = {
        "ridge": ridge.predict(Zt),
        "ridge cut": (Zt - z_mean) @ ((U[:, :RANK] * s[:RANK]) @ Wt[:RANK]).T + y_mean,
        "PLS": (Zt - z_mean) @ pls.T + y_mean,
        "limited rank": ridge.at_rank(RANK).predict(Zt),
    }
    return {k: float(np.sum((Yt - P) ** 2)) for k, P in guesses.items()}, guesses["limited rank"]


def _chosen_ranks(X, Y, seed):
    """Rank of least error in 5-fold cross-validation, kernel PCA included, in steps of ten."""
    outputs = {"lower half": LOWER, "all pixels": ALL}
    grids = {name: range(10, Y[:, pixels].shape[1] + 1, 10) for name, pixels in outputs.items()}
    errors = {name: np.zeros(len(grid)) for name, grid in grids.items()}
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        features = KernelPCA(N_FEATURES, kernel=Gaussian.from_width(WIDTH)).fit(X[train])
        Z, Zt = features.coordinates_, features.transform(X[test])
        for name, pixels in outputs.items():
            bridge = ReducedRankRegression(max(grids[name]), alpha=RIDGE).fit(Z, Y[train, pixels])
            for i, rank in enumerate(grids[name]):
                guess = bridge.at_rank(rank).predict(Zt)
                errors[name][i] += np.sum((guess - Y[test, pixels]) ** 2)
    return {name: grids[name][int(e.argmin())] for name, e in errors.items()}


def _rows(reading, totals):
    mean = {name: values.mean() for name, values in totals.items()}
    yield Row(
        f"{reading}: total squared error, ridge",
        PUBLISHED["ridge"],
        f"{mean['ridge']:.0f} ± {totals['ridge'].std():.0f}",
        f"per digit {mean['ridge'] / N_TEST:.3g}, per pixel RMSE "
        f"{np.sqrt(mean['ridge'] / N_TEST / SIZES[reading]):.3g}; the noise is "
        f"{NOISE**2 * 128 * N_TEST:.0f} in total, so it is "
        + (
            "taken off" if mean["ridge"] < NOISE**2 * 128 * N_TEST else "outweighed by what is lost"
        ),
    )
    ours = mean["limited rank"] / mean["ridge cut"]
    yield Row(
        f"{reading}: limited rank over ridge cut to the same rank",
        _ratio(PUBLISHED, "limited rank", "ridge cut"),
        f"{ours:.4f}",
        "limited rank is better, as it must be on training data"
        if ours <= 1
        else "the cut ridge map generalises better",
        bool(ours <= 1),
    )
    ours = mean["limited rank"] / mean["ridge"]
    yield Row(
        f"{reading}: limited rank over ridge",
        _ratio(PUBLISHED, "limited rank", "ridge"),
        f"{ours:.4f}",
        "limited rank is better"
        if ours <= 1
        else "within half a percent of ridge, but above it: the limit on the rank makes hardly any "
        "difference"
        if ours < 1.005
        else "110 directions are too few to restore all the pixels of a digit",
        bool(ours <= 1),
    )
    ours = mean["PLS"] / mean["limited rank"]
    worst = mean["PLS"] == max(mean.values())
    yield Row(
        f"{reading}: partial least squares over limited rank",
        _ratio(PUBLISHED, "PLS", "limited rank"),
        f"{ours:.3f}",
        "partial least squares is the worst of the four"
        if worst
        else "partial least squares is not the worst",
        bool(worst),
    )


def _ratio(values, above, below):
    return f"{values[above] / values[below]:.4f}"


def _grid(noisy, clean, lower, everything):
    rows = [
        [
            image.reshape(16, 16)
            for image in (
                noisy[k],
                np.concatenate([noisy[k][: LOWER.start], lower[k]]),
                everything[k],
                clean[k],
            )
        ]
        for k in range(5)
    ]
    titles = ["given", "lower half restored", "all pixels restored", "truth"]
    return image_grid(rows, titles=titles, limits=(-1.0, 1.0))
