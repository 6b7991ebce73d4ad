"""Structured output-associative regression: every output is predicted from the inputs and the
other outputs, and a prediction is a point at which all of them agree.

Output j has a regression f_j(x, y without y_j) with the kernel
exp(-gamma_x |x - x'|² - gamma_y |y - y'|²), the distance of outputs without column j. For a new x
the sum of (f_j(x, y) - y_j)² is minimised over y, from the prediction without the other outputs.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.svm import SVR

EPSILON, BOUND = 0.05, 10.0  # of the support vector machines
BLOCK = 100  # new rows at a time
TOL = 1e-5  # of the residual, in units of the outputs


class Association(NamedTuple):
    """Regressions of every output on the inputs and the other outputs."""

    X: Any
    Y: Any
    weights: Any  # (rows, outputs)
    offsets: Any  # (outputs,)
    gamma_x: float
    gamma_y: float


def learn_ridge(X, Y, gamma_x, gamma_y, alpha):
    """One kernel ridge regression for each output; the mean is taken off."""
    mean = Y.mean(axis=0)
    weights = np.empty_like(Y)
    for j, K in _gram_matrices(X, Y, gamma_x, gamma_y):
        K[np.diag_indices_from(K)] += alpha
        weights[:, j] = linalg.solve(
            K, Y[:, j] - mean[j], assume_a="pos", overwrite_a=True, check_finite=False
        )
    return Association(X, Y, weights, mean, gamma_x, gamma_y)


def learn_support_vectors(X, Y, gamma_x, gamma_y):
    """One support vector regression for each output."""
    weights, offsets = np.zeros_like(Y), np.empty(Y.shape[1])
    for j, K in _gram_matrices(X, Y, gamma_x, gamma_y):
        machine = SVR(kernel="precomputed", C=BOUND, epsilon=EPSILON).fit(K, Y[:, j])
        weights[machine.support_, j] = machine.dual_coef_[0]
        offsets[j] = machine.intercept_[0]
    return Association(X, Y, weights, offsets, gamma_x, gamma_y)


def predict(model, X, start, *, max_iter=12):
    """The outputs on which all regressions agree best, from a ``start`` for every row."""
    found = np.array(start, dtype=float)
    for first in range(0, len(X), BLOCK):
        rows = slice(first, first + BLOCK)
        K = np.exp(-model.gamma_x * cdist(X[rows], model.X, "sqeuclidean"))
        found[rows] = _agree(model, K, found[rows], max_iter)
    return found


def _agree(model, K, Z, max_iter):
    """Newton's steps on f(z) - z, halved where the sum of squares would not fall."""
    size = np.ones(len(Z))
    F, J = associate(model, K, Z)
    error = np.sum((F - Z) ** 2, axis=1)
    for _ in range(max_iter):
        A = J - np.eye(Z.shape[1])
        step = np.linalg.solve(A, (Z - F)[..., None])[..., 0]
        trial = Z + size[:, None] * step
        F_trial, J_trial = associate(model, K, trial)
        error_trial = np.sum((F_trial - trial) ** 2, axis=1)
        better = error_trial < error
        Z, F, J = (
            np.where(better.reshape(-1, *(1,) * (new.ndim - 1)), new, old)
            for new, old in ((trial, Z), (F_trial, F), (J_trial, J))
        )
        error = np.where(better, error_trial, error)
        size = np.where(better, np.minimum(1.0, 2 * size), size / 4)
        if np.sqrt(error.max() / Z.shape[1]) < TOL:
            break
    return Z


def associate(model, K, Z):
    """Values f_j(x, z), shape (rows, outputs), and their slopes in z, (rows, outputs, outputs).

    ``K`` has the input part of the kernel, (rows, training rows).
    """
    n, n_outputs = Z.shape
    F, J = np.empty((n, n_outputs)), np.empty((n, n_outputs, n_outputs))
    squares = cdist(Z, model.Y, "sqeuclidean")
    for j in range(n_outputs):
        others = squares - np.subtract.outer(Z[:, j], model.Y[:, j]) ** 2
        W = K * np.exp(-model.gamma_y * others) * model.weights[:, j]
        total = W.sum(axis=1)
        F[:, j] = total + model.offsets[j]
        J[:, j] = -2 * model.gamma_y * (Z * total[:, None] - W @ model.Y)
        J[:, j, j] = 0.0
    return F, J


def _gram_matrices(X, Y, gamma_x, gamma_y):
    inputs = gamma_x * cdist(X, X, "sqeuclidean")
    inputs += gamma_y * cdist(Y, Y, "sqeuclidean")
    for j in range(Y.shape[1]):
        yield j, np.exp(gamma_y * np.subtract.outer(Y[:, j], Y[:, j]) ** 2 - inputs)


def choose(X, Y, gamma_x, *, gammas=(0.003, 0.01, 0.03), alphas=(0.01, 0.03, 0.1)):
    """The width of the outputs and the penalty with the least absolute error on every third row."""
    held_out = np.arange(len(X)) % 3 == 0
    new, truth = X[held_out], Y[held_out]
    errors = {}
    for alpha in alphas:
        start = np.zeros_like(truth)
        for gamma_y in (0.0, *gammas):  # the others begin where outputs have no say
            model = learn_ridge(X[~held_out], Y[~held_out], gamma_x, gamma_y, alpha)
            found = predict(model, new, start)
            if gamma_y == 0.0:
                start = found
            else:
                errors[gamma_y, alpha] = float(np.mean(np.abs(found - truth)))
    return min(errors, key=errors.__getitem__)
