"""Every estimator of the library on smooth rows, and what its answers are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.preimage import BasePreimage
from isthmus.testing import all_estimators

# Rows that are no numbers have no precision; a learner of kernels and sets of outputs answer no
# rows by themselves, and the rest of robotics has models of its own in the benchmark of its family.
LEFT_OUT = (
    *("GraphPreimage", "MinimumRiskPreimage", "SequencePreimage"),
    *("ConformalSets", "ImitationModel", "PoseFeatures", "TwinKernelLearner"),
)
# Where the default would ask for more rows or time than a row of a table is worth.
SETTINGS: dict[str, dict[str, Any]] = {
    "PSOM": {"local": 3},  # one polynomial through hundreds of regular nodes rings
    "ManifoldClassifier": {"manifold": UnsupervisedKernelRegression(1, homotopy=None)},
    "GaussianProcess": {"n_init": 1},
    "GaussianProcessClassifier": {"n_init": 1},
    "MaximumVarianceUnfolding": {"n_landmarks": 40},
    "RegularizedPrincipalManifold": {"alpha": 0.01, "init": "pca"},
    "NonnegativeFactorization": {"n_components": 3},
    "ConvexFactorization": {"n_components": 3},
}
FEW = ("CurvilinearComponents", "MaximumVarianceUnfolding", "SammonMapping", "TwinGaussianProcess")
FEW += ("DistanceCorrelationRegressor", "ManifoldClassifier", "UnsupervisedKernelRegression")


class Rows(NamedTuple):
    """Rows to learn from and to ask, in single precision, their outputs and their classes."""

    X: np.ndarray
    new: np.ndarray
    Y: np.ndarray
    Y_new: np.ndarray

    @classmethod
    def of_a_sheet(cls, n: int) -> Rows:
        """Positive rows of ten columns on a bent sheet of two dimensions, in the order of one."""
        rng = np.random.default_rng(0)
        t = np.column_stack([np.sort(rng.uniform(size=2 * n)), rng.uniform(size=2 * n)])
        waves = np.sin(t @ rng.uniform(1, 3, size=(2, 10)) + rng.uniform(0, 3, size=10)) + 1.5
        Y = np.column_stack([np.sin(4 * t[:, 0]), t[:, 0] * np.cos(3 * t[:, 1])])
        X = waves.astype(np.float32)
        return cls(X[::2], X[1::2], Y[::2], Y[1::2])


class Case(NamedTuple):
    """An estimator, its rows, and what it is asked: answers, and the error of these."""

    name: str
    make: Callable[[], Any]
    rows: Rows
    error: str
    run: Callable[[Any, Rows, type], tuple[np.ndarray, Callable[[], float]]]


def cases(only: str = "") -> Iterator[Case]:
    """All estimators that take rows of numbers."""
    many, few = Rows.of_a_sheet(400), Rows.of_a_sheet(120)
    for _, name, cls in all_estimators():
        if name in LEFT_OUT or only not in name:
            continue
        settings = dict(SETTINGS.get(name, {}))
        if "random_state" in cls._get_param_names():
            settings["random_state"] = 0
        error, run = question(cls(**settings))
        yield Case(
            name,
            lambda cls=cls, settings=settings: cls(**settings),  # type: ignore[misc]
            few if name in FEW else many,
            error,
            run,
        )


def question(estimator: Any) -> tuple[str, Any]:
    """What the estimator is asked, and in which words its error is told."""
    if isinstance(estimator, BasePreimage):
        return "distance of pre-images", _preimages
    if is_classifier(estimator) or type(estimator).__name__ == "CoreVectorOutlierDetector":
        return "other labels", _labels
    if hasattr(estimator, "inverse_transform") and type(estimator).__name__ != "KernelPCA":
        return "reconstruction", _reconstruction
    if hasattr(estimator, "transform"):
        return "line from features", _features
    if hasattr(estimator, "predict") and type(estimator).__name__ != "CoreVectorRanker":
        return "prediction", _prediction
    return "no truth", _scores


def _as(rows: np.ndarray, dtype: type) -> np.ndarray:
    return rows.astype(dtype)


def missed(answer: Any, truth: np.ndarray) -> float:
    """Root of the mean squared error, in units of the spread of the truth."""
    spread = float(np.sqrt(np.mean((truth - truth.mean(axis=0)) ** 2)))
    off = np.asarray(answer, dtype=np.float64).reshape(truth.shape) - truth
    return float(np.sqrt(np.mean(off**2))) / spread


def _fit(model: Any, rows: Rows, dtype: type, outputs: np.ndarray) -> Any:
    tags = model.__sklearn_tags__()
    needs = tags.target_tags.required
    return model.fit(_as(rows.X, dtype), outputs) if needs else model.fit(_as(rows.X, dtype))


def _prediction(model: Any, rows: Rows, dtype: type) -> Any:
    several = not model.__sklearn_tags__().target_tags.single_output
    Y, truth = (rows.Y, rows.Y_new) if several else (rows.Y[:, 0], rows.Y_new[:, 0])
    answer = np.asarray(_fit(model, rows, dtype, Y).predict(_as(rows.new, dtype)))
    return answer, lambda: missed(answer, truth)


def classes(Y: np.ndarray) -> np.ndarray:
    """Two of them, by the first output."""
    return (Y[:, 0] > 0.5).astype(int)


def error_of_labels(model: Any, X: np.ndarray, new: np.ndarray, rows: Rows) -> float:
    """The share of new rows whose class is missed."""
    return float(np.mean(model.fit(X, classes(rows.Y)).predict(new) != classes(rows.Y_new)))


def _labels(model: Any, rows: Rows, dtype: type) -> Any:
    fitted = _fit(model, rows, dtype, classes(rows.Y))
    answer = np.asarray(fitted.predict(_as(rows.new, dtype)))
    truth = classes(rows.Y_new) if is_classifier(model) else np.ones(len(answer), dtype=int)
    return answer, lambda: float(np.mean(answer != truth))


def _reconstruction(model: Any, rows: Rows, dtype: type) -> Any:
    fitted = _fit(model, rows, dtype, rows.Y[:, 0])
    answer = np.asarray(fitted.inverse_transform(fitted.transform(_as(rows.new, dtype))))
    truth = rows.new.astype(np.float64)
    if answer.shape != truth.shape:
        return answer, lambda: float("nan")
    return answer, lambda: missed(answer, truth)


def _features(model: Any, rows: Rows, dtype: type) -> Any:
    fitted = _fit(model, rows, dtype, rows.Y[:, 0])
    known, answer = (np.asarray(fitted.transform(_as(part, dtype))) for part in rows[:2])
    return answer, lambda: error_of_features(known, answer, rows)


def error_of_features(known: np.ndarray, answer: np.ndarray, rows: Rows) -> float:
    """Of a line from features to outputs, on new rows."""
    A, B = (np.column_stack([np.ones(len(F)), F.reshape(len(F), -1)]) for F in (known, answer))
    if len(A) != len(rows.Y):  # windows of several rows
        return float("nan")
    return missed(B @ np.linalg.lstsq(A, rows.Y, rcond=1e-6)[0], rows.Y_new)


def _scores(model: Any, rows: Rows, dtype: type) -> Any:
    fitted = _fit(model, rows, dtype, rows.Y[:, 0])
    names = ("score_samples", "decision_function", "distances", "predict")
    ask = next(getattr(fitted, name) for name in names if hasattr(fitted, name))
    return np.asarray(ask(_as(rows.new, dtype))), lambda: float("nan")


def _preimages(model: Any, rows: Rows, dtype: type) -> Any:
    X, new = _as(rows.X, dtype), _as(rows.new, dtype)
    linear = "Analytic" in type(model).__name__  # it has no other
    features = KernelPCA(kernel="linear" if linear else Gaussian(0.5)).fit(X)
    answer = np.asarray(model.fit(X, features).solve(features.transform(new)))
    return answer, lambda: missed(answer, rows.new.astype(np.float64))
