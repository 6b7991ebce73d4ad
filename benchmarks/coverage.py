"""Coverage of conformal sets over many splits: ``python -m benchmarks.coverage [n_splits]``.

Six sets of data, one for each kind of output. Given the training rows, the number of test rows that
are covered is beta-binomial; the table says how many splits lie inside its central 95 %.
"""

import csv
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.kernels import NGrams, Normalized
from isthmus.losses import EditDistance
from isthmus.regression import KernelRidgeCV
from isthmus.structured import ConformalSets, DependencyEstimator, coverage_band

LEVEL = 0.95
DATA = Path(os.environ.get("ISTHMUS_DATA", "data"))


def pronunciations(n):
    with open(DATA / "pronunciations" / "pronunciations.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:n]
    words = np.array([row["word"] for row in rows], dtype=object)
    outputs = np.empty(n, dtype=object)
    outputs[:] = [row["phonemes"].split() for row in rows]
    return words, outputs


def tasks():
    """Name, inputs, outputs, estimator, rows to fit and calibrate, rows to test."""
    yield "diabetes, intervals", *load_diabetes(return_X_y=True), Ridge(), 300, 142
    table = np.genfromtxt(DATA / "boston" / "boston.csv.gz", delimiter=",", skip_header=1)
    scaled = make_pipeline(StandardScaler(), KNeighborsRegressor(5))
    yield "boston, intervals", table[:, :-1], table[:, -1], scaled, 350, 156
    music = np.load(DATA / "music_origin" / "music_origin.npz")
    yield "music origin, balls", music["X"], music["latlon"], Ridge(100.0), 600, 400
    X, y = load_digits(return_X_y=True)
    yield "digits, classes", X[:, ::4] / 16, y, LogisticRegression(max_iter=1000), 800, 500
    emotions = np.load(DATA / "multilabel" / "emotions.npz")
    chain = make_pipeline(
        StandardScaler(), MultiOutputClassifier(LogisticRegression(C=0.1, max_iter=1000))
    )
    yield "emotions, label sets", emotions["X"], emotions["Y"].astype(int), chain, 400, 193
    machine = KernelRidgeCV(Normalized(NGrams(3)), alpha=0.1)
    words = DependencyEstimator(regressor=machine, loss=EditDistance(max_outputs=300))
    yield "pronunciations, words", *pronunciations(700), words, 500, 200


def measure(X, y, estimator, n_fit, n_test, n_splits):
    """Shares of test rows covered, one for each split, and the number of calibration rows."""
    shares = []
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(len(X))
        fit, test = order[:n_fit], order[n_fit : n_fit + n_test]
        model = ConformalSets(estimator, random_state=seed).fit(X[fit], y[fit])
        shares.append(model.covers(X[test], y[test]).mean())
    return np.array(shares), len(model.scores_)


def main(n_splits=50):
    """Print the table."""
    print(
        f"| data | calibration rows | mean coverage | {LEVEL:.0%} band of a split | splits inside |"
    )
    print("|---|---|---|---|---|")
    for name, X, y, estimator, n_fit, n_test in tasks():
        shares, n = measure(X, y, estimator, n_fit, n_test, n_splits)
        low, high = coverage_band(n, n_test, 0.9, level=LEVEL)
        inside = int(((shares >= low) & (shares <= high)).sum())
        print(
            f"| {name} | {n} | {shares.mean():.3f} | {low:.3f} to {high:.3f} | "
            f"{inside} of {n_splits} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
