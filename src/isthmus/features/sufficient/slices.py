"""Outputs cut into slices, and the means and covariances of the inputs within them."""

from typing import NamedTuple

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array, IntArray

LEAST = 1e-8  # share of the identity that keeps covariances of slices regular


class Slice(NamedTuple):
    """The rows of one slice: their share of all, mean and covariance in whitened inputs."""

    share: float
    mean: Array
    covariance: Array


def slice_labels(Y: Array, n_slices: int) -> IntArray:
    """The number of the slice that each row of outputs falls into, shape (n,).

    One column is cut into slices of nearly equal size, and equal outputs stay together; with no
    more distinct values than slices, each value is a slice. Several columns are cut along their
    leading principal axis first and, within these slices, along the second.

    >>> import numpy as np
    >>> slice_labels(np.array([[3.0], [1.0], [2.0], [2.0], [9.0], [8.0]]), 3)
    array([1, 0, 1, 1, 2, 2])
    """
    if Y.shape[1] == 1:
        return _cut(Y[:, 0], n_slices)
    first, second = _principal_scores(Y)
    n_first = int(np.ceil(np.sqrt(n_slices)))
    labels = _cut(first, n_first)
    found = np.zeros(len(Y), dtype=int)
    n_second = int(np.ceil(n_slices / (labels.max() + 1)))
    for k in range(labels.max() + 1):
        rows = labels == k
        found[rows] = k * n_second + _cut(second[rows], n_second)
    return np.unique(found, return_inverse=True)[1]


def _cut(y: Array, n_slices: int) -> IntArray:
    values = np.unique(y)
    if len(values) <= n_slices:
        return np.searchsorted(values, y)
    edges = np.sort(y)[np.arange(1, n_slices) * len(y) // n_slices]
    return np.unique(np.searchsorted(np.unique(edges), y, side="right"), return_inverse=True)[1]


def _principal_scores(Y: Array) -> tuple[Array, Array]:
    centred = Y - Y.mean(axis=0)
    axes = fix_signs(np.linalg.svd(centred, full_matrices=False)[2][:2].T)
    scores = centred @ axes
    return scores[:, 0], scores[:, 1]


def whiten(X: Array, shrinkage: float | str) -> tuple[Array, Array]:
    r"""Centred inputs as rows with the covariance I, and the root that makes them so.

    The covariance is :math:`(1-s)\Sigma+s\,\mathrm{tr}(\Sigma)/p\,I`; ``"auto"`` takes the
    shrinkage of Ledoit and Wolf, which is nearly 0 where rows are many.
    """
    s = shrink_amount(X, shrinkage)
    sigma = X.T @ X / len(X)
    values, U = np.linalg.eigh(sigma)
    values = np.maximum((1 - s) * values + s * values.mean(), 1e-12 * max(values[-1], 1e-300))
    root = (U / np.sqrt(values)) @ U.T
    return X @ root, root


def shrink_amount(X: Array, shrinkage: float | str) -> float:
    """The weight of the identity in a covariance of centred rows."""
    if shrinkage != "auto":
        return float(shrinkage)
    return float(ledoit_wolf_shrinkage(X, assume_centered=True))


def cut_inputs(T: Array, labels: IntArray, shrinkage: float | str) -> list[Slice]:
    """The slices of whitened inputs; covariances are shrunk towards I, that of all rows.

    A slice of one row says nothing of variances: its covariance is I.
    """
    found = []
    for k in range(labels.max() + 1):
        part = T[labels == k]
        mean = part.mean(axis=0)
        V = np.eye(T.shape[1])
        if len(part) > 1:
            centred = part - mean
            # One row's worth of the identity: the covariance of few rows is singular. More, such as
            # what Ledoit and Wolf would take, hides the one direction in which slices differ.
            s = 1 / len(part) if shrinkage == "auto" else max(float(shrinkage), LEAST)
            V = (1 - s) * (centred.T @ centred) / len(part) + s * V
        found.append(Slice(len(part) / len(T), mean, V))
    return found
