"""Errors of kernel ridge regression on rows left out, for all penalties at once."""

from collections.abc import Iterator, Sequence

import numpy as np

from isthmus.linalg.centering import center_gram
from isthmus.linalg.ridge import RidgePath
from isthmus.regression.selection import Selection
from isthmus.typing import Array


def left_out_errors(
    K: Array, Y: Array, alphas: Sequence[float], selection: Selection, *, fit_intercept: bool
) -> Iterator[tuple[float, float]]:
    """Yield the mean squared error and the penalty, for penalties that rounding allows.

    ``K`` may be overwritten.
    """
    if selection.leaves_one_out:
        return _leave_one_out(K, Y, alphas, fit_intercept=fit_intercept)
    return _folds(K, Y, alphas, selection, fit_intercept=fit_intercept)


def _leave_one_out(
    K: Array, Y: Array, alphas: Sequence[float], *, fit_intercept: bool
) -> Iterator[tuple[float, float]]:
    """One eigendecomposition for all rows and penalties."""
    Y = Y - Y.mean(axis=0) * fit_intercept
    n_values = Y.size
    if Y.shape[1] > len(Y):
        # Only sums of squares over outputs count: rotate them into few columns.
        Y = np.asarray(np.linalg.qr(Y.T, mode="r")).T
    if fit_intercept:
        K, _ = center_gram(K, overwrite=True)
    path = RidgePath(K, Y, intercept=fit_intercept)
    for alpha in alphas:
        if alpha >= path.smallest_penalty or alpha == max(alphas):
            yield float(np.sum(path.loo_residuals(alpha) ** 2)) / n_values, alpha


def _folds(
    K: Array, Y: Array, alphas: Sequence[float], selection: Selection, *, fit_intercept: bool
) -> Iterator[tuple[float, float]]:
    """One eigendecomposition for each set of rows that is left out."""
    totals, n_values = np.zeros(len(alphas)), 0
    for train, test in selection.splits(len(Y)):
        inner, mean = K[np.ix_(train, train)], np.zeros(len(train), dtype=K.dtype)
        y_mean = Y[train].mean(axis=0) * fit_intercept
        if fit_intercept:
            inner, mean = center_gram(inner, overwrite=True)
        path = RidgePath(inner, Y[train] - y_mean, intercept=fit_intercept)
        across = K[np.ix_(test, train)] - mean
        for i, alpha in enumerate(alphas):
            if alpha < path.smallest_penalty and alpha != max(alphas):
                totals[i] = np.inf
                continue
            C = path.coefficients(alpha)
            C -= C.mean(axis=0) * fit_intercept
            totals[i] += np.sum((Y[test] - y_mean - across @ C) ** 2)
        n_values += Y[test].size
    yield from zip((totals / max(n_values, 1)).tolist(), alphas, strict=True)
