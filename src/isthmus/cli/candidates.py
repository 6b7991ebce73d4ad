"""The estimators that ``isthmus fit`` compares."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isthmus.cli.cells import KINDS
from isthmus.cli.columns import TaskColumns
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.sequences.positions import NGrams
from isthmus.kernels.sequences.strings import Spectrum
from isthmus.kernels.series.alignment import GlobalAlignment
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.laplacian import Laplacian
from isthmus.preimage.candidate import CandidatePreimage
from isthmus.preimage.vectors.fixed_point import FixedPointPreimage
from isthmus.preimage.vectors.learned import LearnedPreimage
from isthmus.structured.classifier import DependencyClassifier
from isthmus.structured.dependency import DependencyEstimator

KERNEL_ROWS = 4000
"""Maximum number of rows for a kernel method, which takes O(n²) memory and O(n³) time."""


@dataclass(frozen=True)
class Candidate:
    """An estimator, the name shown in the table, and the maximum number of rows to fit it on."""

    name: str
    estimator: Any
    max_rows: int | None = None
    is_baseline: bool = False


def candidates(columns: TaskColumns, n_rows: int) -> list[Candidate]:
    """Return estimators for the task, simplest first; each takes the raw input columns."""
    # Neighbours by brute force, because a model file cannot hold a search tree.
    n_neighbors = max(1, min(10, n_rows // 4))
    baselines = _baselines(columns, n_neighbors)
    if columns.objects:  # only the kernel knows how to compare them
        baselines = baselines[:1]
    if columns.task in KINDS:
        found = _for_cells(columns)
    else:
        found = {
            name + which: estimator.set_params(x_features=x)
            for which, x in _input_maps(columns).items()
            for name, estimator in _dependency(columns).items()
        }
    ours = [Candidate(f"dependency, {name}", e, KERNEL_ROWS) for name, e in found.items()]
    plain = [Candidate(name, estimator, is_baseline=True) for name, estimator in baselines] + ours
    return [_with_encoding(candidate, columns) for candidate in plain]


def _input_maps(columns: TaskColumns) -> dict[str, Any]:
    if columns.objects == "series":
        return {", series": GlobalAlignment()}
    if columns.objects:
        part = "letter" if columns.objects == "text" else "symbol"
        return {f", {part} pairs": Spectrum(2), f", {part} triples": Spectrum(3)}
    return {"": None}


def _baselines(columns: TaskColumns, n_neighbors: int) -> list[tuple[str, Any]]:
    voting = KNeighborsClassifier(n_neighbors, algorithm="brute")
    if columns.task == "classification":
        return [
            ("most frequent label", DummyClassifier()),
            ("logistic regression", LogisticRegression(max_iter=1000)),
            (f"{n_neighbors} nearest neighbours", voting),
        ]
    if columns.task == "labels":
        return [
            ("most frequent labels", DummyClassifier()),
            (f"{n_neighbors} nearest neighbours", voting),
        ]
    if columns.task in KINDS:
        return [
            (f"most frequent {columns.task}", DummyClassifier()),
            ("nearest neighbour", KNeighborsClassifier(1, algorithm="brute")),
        ]
    nearest = KNeighborsRegressor(n_neighbors, weights="distance", algorithm="brute")
    return [
        ("mean", DummyRegressor()),
        ("ridge", RidgeCV(alphas=np.logspace(-4, 4, 17))),
        (f"{n_neighbors} nearest neighbours", nearest),
    ]


def _dependency(columns: TaskColumns) -> dict[str, Any]:
    if columns.task == "classification":
        return {"classes": DependencyClassifier()}
    if columns.task == "labels":
        return {
            "fewest wrong labels": DependencyEstimator(loss="hamming"),
            "best F1": DependencyEstimator(loss="f1"),
        }
    found = {"kernel ridge": DependencyEstimator()}
    if len(columns.outputs) > 1 and not columns.objects:
        # Several outputs may depend on each other; only a nonlinear output kernel sees that.
        preimages = {"learned": LearnedPreimage(), "fixed point": FixedPointPreimage()}
        for name, preimage in preimages.items():
            outputs = KernelPCA(0.99, kernel=Gaussian())
            found[name] = DependencyEstimator(y_features=outputs, preimage=preimage)
    return found


def _for_cells(columns: TaskColumns) -> dict[str, Any]:
    """Estimators of texts, sequences and series."""
    # Few kernels, named: to choose among all that could be meant takes five times as long.
    kernels = {
        "": {"": Gaussian(), ", Laplacian kernel": Laplacian()},
        "series": {"": GlobalAlignment()},
    }.get(columns.objects, {"": Normalized(NGrams(3))})
    if columns.task == "series":
        name, found, loss = "closest alignment", {}, "alignment"
    else:
        nearest = DependencyEstimator(y_features=Spectrum(2), preimage=CandidatePreimage())
        found = {"known answers": nearest.set_params(x_features=kernels[""])}
        name, loss = "fewest edits", "edit"
    for which, kernel in kernels.items():
        found[name + which] = DependencyEstimator(x_features=kernel, loss=loss)
    return found


def _with_encoding(candidate: Candidate, columns: TaskColumns) -> Candidate:
    estimator = candidate.estimator
    if columns.task == "regression":
        estimator = TransformedTargetRegressor(estimator, transformer=StandardScaler())
    if not columns.objects:
        estimator = make_pipeline(input_encoder(columns), estimator)
    return Candidate(candidate.name, estimator, candidate.max_rows, candidate.is_baseline)


def input_encoder(columns: TaskColumns) -> ColumnTransformer:
    """Return the step that turns the raw input columns into numbers of one size."""
    text = list(columns.categories)
    # By position: scikit-learn searches the whole header for each name.
    place = {name: i for i, name in enumerate(columns.inputs)}
    numeric = [place[name] for name in columns.numeric_inputs]
    # The labels of the whole table, because a fold may lack one.
    encoder = OneHotEncoder(
        categories=[np.array(columns.categories[name], dtype=object) for name in text],
        handle_unknown="ignore",
        sparse_output=False,
    )
    filled = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    parts = [("numeric", filled, numeric)] if numeric else []
    words = [("text", encoder, [place[name] for name in text])] if text else []
    return ColumnTransformer(parts + words)
