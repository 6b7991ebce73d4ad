"""``python -m benchmarks.one_row``: what the answer to a single row costs.

Each model is fitted once on 500 rows and then asked for one row at a time; the median of many CPU
times counts, beside that of scikit-learn's nearest relative. A closed form should take at most a
millisecond, or twice as long as the relative; models that search are listed below.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

PAGE = Path(__file__).parent / "results" / "one_row.md"
MODELS: list[Callable[[], OneRow]] = []


class OneRow(NamedTuple):
    """A question to a fitted model, and to a relative; ``closed`` where nothing is searched."""

    name: str
    ours: Callable[[np.ndarray], Any]
    relative: str
    theirs: Callable[[np.ndarray], Any]
    closed: bool = True


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]])


def model(make: Callable[[], OneRow]) -> Callable[[], OneRow]:
    """Register a function that fits a model and its relative."""
    MODELS.append(make)
    return make


@model
def kernel_pca():
    from sklearn.decomposition import KernelPCA as Relative

    from isthmus.features import KernelPCA

    X, _ = _data()
    ours, theirs = KernelPCA(10).fit(X), Relative(10, kernel="rbf", gamma=0.1).fit(X)
    return OneRow("KernelPCA.transform", ours.transform, "KernelPCA", theirs.transform)


@model
def slow_features():
    from sklearn.decomposition import PCA

    from isthmus.features import SlowFeatureAnalysis

    X, _ = _data()
    ours, theirs = SlowFeatureAnalysis(3).fit(X), PCA(3).fit(X)
    return OneRow("SlowFeatureAnalysis.transform", ours.transform, "PCA", theirs.transform)


@model
def distance_reduction():
    from sklearn.cross_decomposition import PLSRegression

    from isthmus.features import DistanceCorrelationReduction

    X, Y = _data()
    ours = DistanceCorrelationReduction(2).fit(X, Y)
    theirs = PLSRegression(2).fit(X, Y)
    name = "DistanceCorrelationReduction.transform"
    return OneRow(name, ours.transform, "PLSRegression", theirs.transform)


@model
def kernel_ridge():
    from sklearn.kernel_ridge import KernelRidge

    from isthmus.regression import KernelRidgeCV

    X, Y = _data()
    theirs = KernelRidge(kernel="rbf", gamma=0.1).fit(X, Y)
    ours = KernelRidgeCV().fit(X, Y)
    return OneRow("KernelRidgeCV.predict", ours.predict, "KernelRidge", theirs.predict)


def _linear(name: str, ours: Any) -> OneRow:
    from sklearn.linear_model import Ridge

    return OneRow(f"{name}.predict", ours.predict, "Ridge", Ridge().fit(*_data()).predict)


@model
def reduced_rank():
    from isthmus.regression import ReducedRankRegression

    return _linear("ReducedRankRegression", ReducedRankRegression(2).fit(*_data()))


@model
def stiefel():
    from isthmus.regression import StiefelRegression

    return _linear("StiefelRegression", StiefelRegression(2, loss="huber").fit(*_data()))


@model
def local_lines():
    from sklearn.neighbors import KNeighborsRegressor

    from isthmus.regression import LocalPolynomialRegression

    X, Y = _data()
    ours = LocalPolynomialRegression(1).fit(X[:, :2], Y)
    theirs = KNeighborsRegressor(20).fit(X[:, :2], Y)
    return OneRow(
        "LocalPolynomialRegression.predict",
        lambda x: ours.predict(x[:, :2]),
        "KNeighborsRegressor",
        lambda x: theirs.predict(x[:, :2]),
    )


@model
def process():
    from sklearn.gaussian_process import GaussianProcessRegressor

    from isthmus.regression import GaussianProcess

    X, Y = _data()
    ours = GaussianProcess(n_init=1).fit(X, Y)
    theirs = GaussianProcessRegressor(optimizer=None, alpha=0.1).fit(X, Y)
    name = "GaussianProcess.predict, with deviation"
    return OneRow(
        name,
        lambda x: ours.predict(x, return_std=True),
        "GaussianProcessRegressor",
        lambda x: theirs.predict(x, return_std=True),
    )


@model
def core_sets():
    from sklearn.svm import SVC

    from isthmus.coreset import CoreVectorClassifier

    X, Y = _data()
    labels = (Y[:, 0] > 0).astype(int)
    ours, theirs = CoreVectorClassifier(random_state=0).fit(X, labels), SVC().fit(X, labels)
    return OneRow("CoreVectorClassifier.predict", ours.predict, "SVC", theirs.predict)


@model
def dependency():
    from isthmus.structured import DependencyEstimator

    X, Y = _data()
    return OneRow(
        "DependencyEstimator.predict",
        DependencyEstimator().fit(X, Y).predict,
        "MultiOutputRegressor of SVR",
        _support_vectors(X, Y),
        closed=False,
    )


def _support_vectors(X: np.ndarray, Y: np.ndarray) -> Callable[[np.ndarray], Any]:
    from sklearn.multioutput import MultiOutputRegressor
    from sklearn.svm import SVR

    return MultiOutputRegressor(SVR()).fit(X, Y).predict


@model
def twin():
    from isthmus.structured import TwinGaussianProcess

    X, Y = _data()
    return OneRow(
        "TwinGaussianProcess.predict",
        TwinGaussianProcess().fit(X, Y).predict,
        "MultiOutputRegressor of SVR",
        _support_vectors(X, Y),
        closed=False,
    )


def _manifold(name: str, ours: Any) -> OneRow:
    from sklearn.manifold import Isomap

    theirs = Isomap(n_components=2).fit(_data()[1])
    return OneRow(
        f"{name}.transform",
        lambda x: ours.transform(x[:, :3]),
        "Isomap",
        lambda x: theirs.transform(x[:, :3]),
        closed=False,
    )


@model
def kernel_manifold():
    from isthmus.manifold import UnsupervisedKernelRegression

    ours = UnsupervisedKernelRegression(2, random_state=0).fit(_data()[1])
    return _manifold("UnsupervisedKernelRegression", ours)


@model
def topographic_map():
    from isthmus.manifold import GenerativeTopographicMapping

    ours = GenerativeTopographicMapping(random_state=0).fit(_data()[1])
    return _manifold("GenerativeTopographicMapping", ours)._replace(closed=True)


def milliseconds(ask: Callable[[np.ndarray], Any], rows: np.ndarray) -> float:
    """Median CPU milliseconds of one row at a time, after three that are not counted."""
    times = []
    for i in range(len(rows)):
        start = time.process_time()
        ask(rows[i : i + 1])
        times.append(time.process_time() - start)
    return 1e3 * float(np.median(times[3:]))


def page(rows: list[tuple[OneRow, float, float]]) -> str:
    """The two tables as Markdown."""
    lines = [
        "# One row",
        "",
        f"Written on {date.today().isoformat()} by `python -m benchmarks.one_row`.",
        "",
        "Median CPU milliseconds of one thread for the answer to one row, by models of 500 rows of",
        "8 columns (3 for manifolds), and by scikit-learn's nearest relative. The load average was",
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; above that number other work",
        "ran too. *Within* says whether a closed form takes at most 1 ms or twice the time of its",
        "relative.",
        "",
        "| closed form | ours ms | relative | its ms | within |",
        "|---|---:|---|---:|---|",
    ]
    for row, ours, theirs in rows:
        if row.closed:
            within = "yes" if ours <= max(1.0, 2 * theirs) else "no"
            lines.append(f"| {row.name} | {ours:.2f} | {row.relative} | {theirs:.2f} | {within} |")
    lines += ["", "| search | ours ms | relative | its ms |", "|---|---:|---|---:|"]
    lines += [
        f"| {row.name} | {ours:.2f} | {row.relative} | {theirs:.2f} |"
        for row, ours, theirs in rows
        if not row.closed
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_row", description=__doc__)
    parser.add_argument("--repeat", type=int, default=30, metavar="N")
    repeat = parser.parse_args().repeat
    warnings.simplefilter("ignore")
    new, found = np.random.default_rng(1).normal(size=(repeat + 3, 8)), []
    with threadpool_limits(limits=1):
        for make in MODELS:
            row = make()
            found.append((row, milliseconds(row.ours, new), milliseconds(row.theirs, new)))
            print(
                f"{row.name:45s} {found[-1][1]:.3f} {row.relative} {found[-1][2]:.3f}", flush=True
            )
    PAGE.write_text(page(found), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(PAGE.parent.parent.parent)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
