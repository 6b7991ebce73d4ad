"""How rows are shared out among planes: by centres, by what planes lose, or by likelihood."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from isthmus.linalg.threads import openmp
from isthmus.manifold.local.models import Planes, planes_of
from isthmus.typing import Array, IntArray

METHODS = ("kmeans", "reconstruction", "mixture")
# Numbers of models that are tried, and rows that each must have on average.
NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


class Fitted(NamedTuple):
    """Planes, the value that the method has reached, and how."""

    planes: Planes
    value: float
    n_iter: int
    settled: bool


def fit_planes(
    Y: Array,
    q: int,
    n_models: int,
    method: str,
    rng: np.random.RandomState,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
) -> Fitted:
    """Planes of rows in units of their spread, the best of several starts."""
    best: Fitted | None = None
    for _ in range(n_init):
        with openmp():
            start = KMeans(n_models, n_init=1, random_state=rng.randint(2**31)).fit(Y)
        labels = _no_empty(start.labels_, n_models)
        if method == "kmeans":
            planes = planes_of(Y, np.eye(n_models)[labels], q)
            found = Fitted(planes, float(start.inertia_) / len(Y), int(start.n_iter_), True)
        elif method == "reconstruction":
            found = _by_reconstruction(Y, q, labels, n_models, max_iter=max_iter)
        else:
            found = _mixture(Y, q, labels, n_models, max_iter=max_iter, tol=tol)
        best = found if best is None or found.value < best.value else best
    assert best is not None
    return best


def _by_reconstruction(
    Y: Array, q: int, labels: IntArray, n_models: int, *, max_iter: int
) -> Fitted:
    """Rows go to the plane that reconstructs them best, planes to their rows, in turn."""
    planes, value = planes_of(Y, np.eye(n_models)[labels], q), np.inf
    for step in range(1, max_iter + 1):
        D = planes.distances(Y)
        new = _no_empty(np.asarray(D.argmin(axis=1)), n_models, D.min(axis=1))
        value = float(np.mean(D[np.arange(len(Y)), new]))
        if np.array_equal(new, labels) and step > 1:
            return Fitted(planes, value, step, True)
        labels = new
        planes = planes_of(Y, np.eye(n_models)[labels], q)
    return Fitted(planes, value, max_iter, False)


def _mixture(
    Y: Array, q: int, labels: IntArray, n_models: int, *, max_iter: int, tol: float
) -> Fitted:
    """EM of a mixture of probabilistic principal components [TippingBishop1999]_."""
    planes, before = planes_of(Y, np.eye(n_models)[labels], q), np.inf
    for step in range(1, max_iter + 1):
        L = planes.log_densities(Y)
        total = logsumexp(L, axis=1)
        value = -float(np.mean(total))
        if before - value <= tol:
            return Fitted(planes, value, step, True)
        before = value
        # A model that has lost its rows keeps a trace of all, so that it still has a plane.
        R = np.exp(L - total[:, None]) + 1e-10
        planes = planes_of(Y, R / R.sum(axis=1, keepdims=True), q)
    return Fitted(planes, before, max_iter, False)


def _no_empty(labels: IntArray, n_models: int, errors: Array | None = None) -> IntArray:
    """Labels of which none is missing: the worst rows of large cells go to empty ones."""
    labels = np.array(labels)
    for k in range(n_models):
        if np.any(labels == k):
            continue
        counts = np.bincount(labels, minlength=n_models)
        large = np.flatnonzero(counts[labels] > 1)
        worst = large[0] if errors is None else large[np.argmax(errors[large])]
        labels[worst] = k
    return labels


def choose_number(
    Y: Array, q: int, method: str, rng: np.random.RandomState, *, max_iter: int, tol: float
) -> tuple[int, list[dict[str, float]]]:
    """The number of models under which a fifth of the rows, left out, is most probable."""
    n = len(Y)
    order = rng.permutation(n)
    held, kept = Y[order[: n // 5]], Y[order[n // 5 :]]
    tried: list[dict[str, float]] = []
    for number in NUMBERS:
        if number > 1 and number * 2 * (q + 1) > len(kept):
            break
        found = fit_planes(kept, q, number, method, rng, n_init=1, max_iter=max_iter, tol=tol)
        density = float(np.mean(found.planes.log_density(held)))
        tried.append({"n_models": number, "log_density": density})
        best = max(row["log_density"] for row in tried)
        if len(tried) >= 3 and all(row["log_density"] < best for row in tried[-2:]):
            break
    return int(max(tried, key=lambda row: row["log_density"])["n_models"]), tried
