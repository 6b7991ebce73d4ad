"""Compare estimators by cross-validation and fit the best."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from isthmus.blocks.sampling import sample_rows
from isthmus.cli.candidates import Candidate
from isthmus.cli.cells import KINDS, cell_of, objects_of
from isthmus.cli.errors import UserError
from isthmus.cli.scores import Scores, scores

COMPARED_ROWS = 2000
QUICK_ROWS = 600


@dataclass(frozen=True)
class Comparison:
    """The cross-validated scores of one candidate, and the seconds per fold."""

    candidate: Candidate
    scores: Scores
    seconds: float
    predicted: np.ndarray = field(repr=False)


def compare_candidates(
    candidates: list[Candidate],
    X: Any,
    Y: np.ndarray,
    *,
    task: str = "regression",
    n_folds: int,
    random_state: int,
    on_fold: Callable[[str], None] = lambda name: None,
    on_done: Callable[[Comparison], None] = lambda result: None,
) -> list[Comparison]:
    """Score every candidate on the same folds; no row is predicted by a fit that has seen it."""
    fold = fold_numbers(Y, n_folds, random_state)
    if isinstance(X, pd.DataFrame) and all(dtype.kind == "f" for dtype in X.dtypes):
        X = X.to_numpy()  # scikit-learn checks the columns of a frame one by one, in every step
    results = []
    for candidate in candidates:
        predicted = np.empty_like(Y)
        start = time.perf_counter()
        for k in range(n_folds):
            on_fold(candidate.name)
            train, test = fold != k, fold == k
            model = _fitted(candidate, take(X, train), Y[train], task)
            predicted[test] = predictions(model, take(X, test), task)
        seconds = (time.perf_counter() - start) / n_folds
        results.append(Comparison(candidate, scores(Y, predicted, task), seconds, predicted))
        on_done(results[-1])
    return results


def best_of(results: list[Comparison]) -> Comparison:
    """Return the comparison with the highest quality, the simpler candidate in a tie."""
    return max(results, key=lambda result: result.scores.quality)


def fit_candidate(
    candidate: Candidate, X: Any, Y: np.ndarray, *, task: str = "regression", random_state: int
):
    """Fit the candidate on all rows, or on as many as it can take; return it and their number."""
    rows = sample_rows(len(X), candidate.max_rows, random_state)
    return _fitted(candidate, take(X, rows), Y[rows], task), len(rows)


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of a table, an array or a list, by their numbers or by a mask."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if isinstance(X, pd.DataFrame):
        return X[rows] if rows.dtype == bool else X.iloc[rows]
    return [X[i] for i in (np.flatnonzero(rows) if rows.dtype == bool else rows)]


def predictions(model, X: Any, task: str = "regression") -> np.ndarray:
    """Return the predictions of a fitted candidate: (n, n_outputs), or labels or cells (n,)."""
    found = model.predict(X)
    if task in KINDS:
        return np.array([cell_of(thing) for thing in found], dtype=object)
    predicted = np.asarray(found)
    return predicted.reshape(len(X), -1) if predicted.dtype.kind == "f" else predicted


def fold_numbers(Y: np.ndarray, n_folds: int, random_state: int) -> np.ndarray:
    """Return the fold of each row, at random; each label is spread evenly over the folds."""
    rng = np.random.default_rng(random_state)
    labels = np.unique(Y, return_inverse=True)[1] if Y.ndim == 1 else np.zeros(len(Y))
    fold = np.empty(len(Y), dtype=int)
    fold[np.lexsort([rng.random(len(Y)), labels])] = np.arange(len(Y)) % n_folds
    return fold


def check_folds(n_rows: int, n_folds: int, path: Path, n_columns: int = 0) -> None:
    """Refuse a cross-validation with too few folds or rows; a wide table may lie on its side."""
    if n_folds < 2:
        raise UserError(f"--cv must be at least 2, got {n_folds}")
    if n_rows < 2 * n_folds:
        on_its_side = f" (it has {n_columns} columns: is it transposed?)" * (n_columns > 4 * n_rows)
        raise UserError(
            f"table {path}: has {n_rows} row{'s' if n_rows > 1 else ''}; cross-validation with "
            f"--cv {n_folds} needs at least {2 * n_folds}{on_its_side}"
        )


def check_classes(Y: np.ndarray, task: str) -> None:
    """Refuse a cross-validation with too few labels."""
    if task == "classification" and (np.unique(Y, return_counts=True)[1] > 1).sum() < 2:
        raise UserError("cross-validation needs at least two labels that occur more than once")


def _fitted(candidate: Candidate, X: Any, Y: np.ndarray, task: str) -> Any:
    """The estimator, fitted on what the cells hold; a baseline takes a whole cell for a label."""
    targets: Any = Y
    if task in KINDS and not candidate.is_baseline:
        targets = objects_of(Y, task)
    elif task == "regression" and Y.shape[1] == 1:
        targets = Y[:, 0]  # as scikit-learn's regressors expect it
    with warnings.catch_warnings():
        # Nearly every text is a class of its own, which is meant.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        return clone(candidate.estimator).fit(X, targets)
