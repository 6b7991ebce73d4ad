"""Larger problems, for which single precision is meant to be faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks._precision_cases import Case, Rows
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.regression import KernelRidgeCV, ReducedRankRegression, StiefelRegression
from isthmus.sensing import basis_pursuit
from isthmus.sparse import (
    NonnegativeFactorization,
    SparseCoder,
    feature_sign_search,
    orthogonal_matching_pursuit,
)

Path = Callable[[np.ndarray, type], tuple[Any, Callable[[Any], float]]]


def paths(only: str = "") -> Iterator[Case]:
    """Rows of the second table."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 20)).astype(np.float32)
    wide = rng.normal(size=(20_000, 100)).astype(np.float32)
    for name, table, path in (
        ("Gaussian Gram matrix, 2000 rows of 20", rows, _gram),
        ("KernelPCA(10), 2000 rows of 20", rows, _components),
        ("KernelPCA(10, n_landmarks=200), 20 000 rows of 20", wide[:, :20].copy(), _landmarks),
        ("KernelRidgeCV.predict, 2000 for 20 000 rows of 20", wide[:, :20].copy(), _ridge()),
        ("ReducedRankRegression, 20 000 rows of 100", wide, _linear(ReducedRankRegression)),
        ("StiefelRegression, 20 000 rows of 100", wide, _linear(StiefelRegression)),
        ("NonnegativeFactorization(10), 1000 rows of 400", _positive(rng), _factors),
        ("SparseCoder, 3000 rows of 64, 128 atoms", wide[:3000, :64].copy(), _coder),
        ("orthogonal_matching_pursuit, the same", wide[:3000, :64].copy(), _pursuit),
        ("feature_sign_search, 500 of them", wide[:500, :64].copy(), _feature_sign),
        ("basis_pursuit, 80 of 200", wide[:200, :80].T.copy(), _basis_pursuit),
    ):
        if only in name:
            yield _case(name, table, path)


def _case(name: str, table: np.ndarray, path: Path) -> Case:
    def run(_: Any, rows: Rows, dtype: type) -> tuple[np.ndarray, Callable[[], float]]:
        answer, error = path(rows.X.astype(dtype), dtype)
        return np.asarray(answer), lambda: error(np.asarray(answer, dtype=np.float64))

    empty = np.empty((0, 0))
    return Case(name, lambda: None, Rows(table, empty, empty, empty), "the whole", run)


def _no_truth(answer: Any) -> float:
    return float("nan")


def _relative(answer: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(answer - truth) / np.linalg.norm(truth))


def _gram(X: np.ndarray, dtype: type) -> Any:
    return Gaussian(0.05)(X), _no_truth


def _components(X: np.ndarray, dtype: type) -> Any:
    return KernelPCA(10, kernel="gaussian").fit(X).transform(X[:200]), _no_truth


def _landmarks(X: np.ndarray, dtype: type) -> Any:
    model = KernelPCA(10, kernel="gaussian", n_landmarks=200, random_state=0)
    return model.fit(X).transform(X), _no_truth


def _ridge() -> Path:
    fitted: dict[type, KernelRidgeCV] = {}

    def outputs(X: np.ndarray) -> np.ndarray:
        return np.sin(X[:, :3].astype(np.float64))

    def path(X: np.ndarray, dtype: type) -> Any:
        if dtype not in fitted:  # in the first run, which is not counted
            fitted[dtype] = KernelRidgeCV("gaussian", alpha=1e-3).fit(X[:2000], outputs(X[:2000]))
        return fitted[dtype].predict(X), lambda answer: _relative(answer, outputs(X))

    return path


def _linear(cls: Any) -> Path:
    W = np.random.default_rng(1).normal(size=(100, 20))

    def path(X: np.ndarray, dtype: type) -> Any:
        Y = X.astype(np.float64) @ W
        return cls().fit(X, Y).predict(X), lambda answer: _relative(answer, Y)

    return path


def _positive(rng: np.random.Generator) -> np.ndarray:
    product = rng.exponential(size=(1000, 10)) @ rng.exponential(size=(10, 400))
    return (product + 0.1 * rng.random((1000, 400))).astype(np.float32)


def _factors(X: np.ndarray, dtype: type) -> Any:
    model = NonnegativeFactorization(10, random_state=0)
    codes = model.fit_transform(X)
    return codes @ model.components_, lambda answer: _relative(answer, X.astype(np.float64))


def _atoms(dtype: type) -> np.ndarray:
    D = np.random.default_rng(1).normal(size=(128, 64))
    return (D / np.linalg.norm(D, axis=1, keepdims=True)).astype(dtype)


def _coder(X: np.ndarray, dtype: type) -> Any:
    D = _atoms(dtype)
    codes = SparseCoder(D, n_nonzero=6).fit(X).transform(X)
    return codes, lambda answer: _relative(answer @ D, X.astype(np.float64))


def _pursuit(X: np.ndarray, dtype: type) -> Any:
    D = _atoms(dtype)
    codes = orthogonal_matching_pursuit(X, D, n_nonzero=6)
    return codes, lambda answer: _relative(answer @ D, X.astype(np.float64))


def _feature_sign(X: np.ndarray, dtype: type) -> Any:
    D = _atoms(dtype)
    codes = feature_sign_search(X, D, alpha=0.5)
    return codes, lambda answer: _relative(answer @ D, X.astype(np.float64))


def _basis_pursuit(A: np.ndarray, dtype: type) -> Any:
    truth = np.zeros(A.shape[1])
    truth[:8] = np.arange(1, 9) / 4  # exact in either precision
    measured = (A.astype(np.float64) @ truth).astype(dtype)
    return basis_pursuit(A, measured), lambda answer: _relative(answer, truth)
