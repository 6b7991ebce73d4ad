"""The estimators that ``isthmus fit`` compares."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isthmus.cli.columns import TaskColumns
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.algebra.delta import Delta
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.preimage.vectors.fixed_point import FixedPointPreimage
from isthmus.preimage.vectors.learned import LearnedPreimage
from isthmus.structured.dependency import DependencyEstimator

KERNEL_ROWS = 4000
"""Maximum number of rows for a kernel method, which takes O(n²) memory and O(n³) time."""


@dataclass(frozen=True)
class Candidate:
    """An estimator, the name shown in the table, and the maximum number of rows to fit it on."""

    name: str
    estimator: Any
    max_rows: int | None = None


def candidates(columns: TaskColumns, n_rows: int) -> list[Candidate]:
    """Return estimators for the task, simplest first; each takes the raw input columns."""
    # Neighbours by brute force, because a model file cannot hold a search tree.
    n_neighbors = max(1, min(10, n_rows // 4))
    if columns.classes:
        labels = DependencyEstimator(y_features=Delta())
        voting = KNeighborsClassifier(n_neighbors, algorithm="brute")
        plain = [
            Candidate("most frequent label", DummyClassifier()),
            Candidate("logistic regression", LogisticRegression(max_iter=1000)),
            Candidate(f"{n_neighbors} nearest neighbours", voting),
            Candidate("dependency, labels", labels, KERNEL_ROWS),
        ]
        return [_with_encoding(c, columns, scale_outputs=False) for c in plain]
    neighbours = KNeighborsRegressor(n_neighbors, weights="distance", algorithm="brute")
    plain = [
        Candidate("mean", DummyRegressor()),
        Candidate("ridge", RidgeCV(alphas=np.logspace(-4, 4, 17))),
        Candidate(f"{n_neighbors} nearest neighbours", neighbours),
        Candidate("dependency, linear", DependencyEstimator(), KERNEL_ROWS),
    ]
    if len(columns.outputs) > 1:
        # Several outputs may depend on each other; only a nonlinear output kernel sees that.
        preimages = {"learned": LearnedPreimage(), "fixed point": FixedPointPreimage()}
        plain += [
            Candidate(
                f"dependency, {name}",
                DependencyEstimator(
                    y_features=KernelPCA(0.99, kernel=Gaussian()), preimage=preimage
                ),
                KERNEL_ROWS,
            )
            for name, preimage in preimages.items()
        ]
    return [_with_encoding(c, columns, scale_outputs=True) for c in plain]


def _with_encoding(candidate: Candidate, columns: TaskColumns, *, scale_outputs: bool) -> Candidate:
    text = list(columns.categories)
    # The labels of the whole table, because a fold may lack one.
    encoder = OneHotEncoder(
        categories=[np.array(columns.categories[name], dtype=object) for name in text],
        handle_unknown="error",
        sparse_output=False,
    )
    inputs = ColumnTransformer(
        [("numeric", StandardScaler(), columns.numeric_inputs), ("text", encoder, text)]
        if text
        else [("numeric", StandardScaler(), columns.numeric_inputs)]
    )
    estimator = candidate.estimator
    if scale_outputs:
        estimator = TransformedTargetRegressor(estimator, transformer=StandardScaler())
    return Candidate(candidate.name, make_pipeline(inputs, estimator), candidate.max_rows)
