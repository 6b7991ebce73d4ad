"""Rivals of supervised reduction that use kernels: gKDR, SCA, LSDR.

All return directions (p, d) for centred inputs of unit variance.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from isthmus.features import GradientKernelReduction
from isthmus.features.sufficient.formulas import ascend
from isthmus_experiments.experiments._reduction.slices import save, sir

MAX_ROWS = 500
N_CENTRES = 100
PENALTIES = (1e-3, 1e-2, 1e-1)
WIDTHS = (0.5, 1.0, 2.0)
N_RANDOM = 3  # starts besides those of other methods


def gkdr(X, y, d, rng):
    """Gradient-based kernel dimension reduction, by the public estimator."""
    model = GradientKernelReduction(
        d, n_landmarks=MAX_ROWS, random_state=int(rng.integers(2**31 - 1))
    )
    return model.fit(X, y).components_.T


def sca(X, y, d, rng, n_steps=8):
    """Sufficient component analysis: squared-loss information with a kernel cut off at distance.

    Its weights and the directions, each a linear problem, are found in turn, from several starts;
    the directions with the smallest loss on rows held out are taken.
    """
    X, y, centres = _problem(X, y, rng)
    U, outputs = X[centres], _output_basis(y, centres)
    best = (np.inf, None)
    for B in _starts(X, y, d, rng):
        for _ in range(n_steps):
            squares = cdist(X @ B, U @ B, "sqeuclidean")
            found = fitted_ratio(squares, outputs, _cut_off)
            if found.loss < best[0]:
                best = (found.loss, B)
            near = (squares < 2 * found.width**2) * outputs * found.weights
            spread = _scatter_of_differences(X, U, near)
            D = near.sum() / d * np.eye(X.shape[1]) - spread / (2 * found.width**2)
            p = len(D)
            B = linalg.eigh(D, subset_by_index=(p - d, p - 1))[1][:, ::-1]
    return best[1]


def lsdr(X, y, d, rng, max_iter=25, n_rounds=3):
    """Least-squares dimension reduction: squared-loss information climbed on the Grassmannian.

    Width and penalty are chosen anew between the climbs, from several starts; the directions with
    the smallest loss on rows held out are taken.
    """
    X, y, centres = _problem(X, y, rng)
    U, outputs = X[centres], _output_basis(y, centres)
    best = (np.inf, None)
    for B in _starts(X, y, d, rng):
        for _ in range(n_rounds):
            found = fitted_ratio(cdist(X @ B, U @ B, "sqeuclidean"), outputs, _bell)
            if found.loss < best[0]:
                best = (found.loss, B)
            B = _climb(information(X, U, outputs, found.width, found.penalty), B, max_iter)
        found = fitted_ratio(cdist(X @ B, U @ B, "sqeuclidean"), outputs, _bell)
        if found.loss < best[0]:
            best = (found.loss, B)
    return best[1]


def _climb(criterion, B, max_iter):
    return ascend(criterion, B, max_iter=max_iter, tol=1e-6).B


def held_out_loss(X, y, B, rng, kernel=None):
    """The loss that both methods minimise, at given directions."""
    X, y, centres = _problem(X, y, rng)
    squares = cdist(X @ B, X[centres] @ B, "sqeuclidean")
    return fitted_ratio(squares, _output_basis(y, centres), kernel or _bell).loss


def _starts(X, y, d, rng):
    """Directions of cheaper methods, and a few at random."""
    found = [sir(X, y, d), save(X, y, d), gkdr(X, y, d, rng)]
    found += [rng.normal(size=(X.shape[1], d)) for _ in range(N_RANDOM)]
    return [np.linalg.qr(B)[0] for B in found]


def information(X, U, outputs, width, penalty):
    """Squared-loss information of projected inputs as a function of B, with its gradient."""
    n, second = len(X), outputs.T @ outputs

    def value_and_gradient(B):
        K = _bell(cdist(X @ B, U @ B, "sqeuclidean"), width)
        h, H = np.mean(K * outputs, axis=0), (K.T @ K) * second / n**2
        a = linalg.solve(H + penalty * np.eye(len(h)), h, assume_a="pos")
        # ½ h'(H + λ)^-1 h has the slope a'dh - ½ a'dH a
        W = (outputs * a / n - K @ (np.outer(a, a) * second) / n**2) * K
        return h @ a / 2 - 0.5, -_scatter_times(X, U, W, B) / width**2

    return value_and_gradient


class FittedRatio(NamedTuple):
    """A density ratio: its loss on rows held out, weights, width and penalty."""

    loss: float
    weights: Any
    width: float
    penalty: float


def fitted_ratio(squares, outputs, kernel):
    """The density ratio with the width and the penalty that do best on every third row."""
    held_out = np.arange(len(squares)) % 3 == 0
    scale = np.sqrt(np.median(squares))
    best = None
    for width in scale * np.array(WIDTHS):
        K = kernel(squares, width)
        h, H = _moments(K[~held_out], outputs[~held_out])
        h_test, H_test = _moments(K[held_out], outputs[held_out])
        for penalty in PENALTIES:
            a = linalg.solve(H + penalty * np.eye(len(h)), h, assume_a="pos")
            loss = a @ H_test @ a / 2 - h_test @ a
            if best is None or loss < best[0]:
                best = (loss, width, penalty)
    loss, width, penalty = best
    h, H = _moments(kernel(squares, width), outputs)
    a = linalg.solve(H + penalty * np.eye(len(h)), h, assume_a="pos")
    return FittedRatio(float(loss), a, float(width), penalty)


def _moments(K, outputs):
    n = len(K)
    return np.mean(K * outputs, axis=0), (K.T @ K) * (outputs.T @ outputs) / n**2


def _scatter_of_differences(X, U, W):
    """Σ_il W_il (x_i - u_l)(x_i - u_l)'."""
    cross = X.T @ W @ U
    return (X.T * W.sum(axis=1)) @ X - cross - cross.T + (U.T * W.sum(axis=0)) @ U


def _scatter_times(X, U, W, B):
    """The same matrix times B, which has few columns: nothing of p x p is made."""
    XB, UB = X @ B, U @ B
    own = X.T @ (W.sum(axis=1)[:, None] * XB - W @ UB)
    return own + U.T @ (W.sum(axis=0)[:, None] * UB - W.T @ XB)


def _problem(X, y, rng):
    rows = _part(len(X), rng)
    return X[rows], y[rows], rng.choice(len(rows), min(N_CENTRES, len(rows)), replace=False)


def _part(n, rng):
    """All rows, or as many as these methods can afford."""
    return np.arange(n) if n <= MAX_ROWS else rng.choice(n, MAX_ROWS, replace=False)


def _output_basis(y, centres):
    width = max(np.std(y), 1e-12)
    return _gaussian(y[:, None], y[centres][:, None], width)


def _gaussian(A, B, width):
    return np.exp(-cdist(A, B, "sqeuclidean") / (2 * max(width, 1e-12) ** 2))


def _bell(squares, width):
    return np.exp(-squares / (2 * width**2))


def _cut_off(squares, width):
    return np.maximum(0.0, 1 - squares / (2 * width**2))
