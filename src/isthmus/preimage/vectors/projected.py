"""Least squares within a set onto which one can project."""

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus.typing import Array, BoolArray

Projection = Callable[[Array], Array]
SUFFICIENT = 1e-4  # share of the predicted decrease that a projected step must achieve
SHORTEST = 1e-12  # a step size at which nothing decreases any more


def minimize_in_set(
    model: Any, start: Array, targets: Array, projection: Projection, *, tol: float, max_iter: int
) -> tuple[Array, BoolArray]:
    """Least squares within a set, by projected gradients of Barzilai-Borwein length."""
    x = start.copy()
    rows = np.arange(len(x))
    value, gradient = _half_gradient(model, x, targets, rows)
    length = np.full(len(x), 1.0) / np.maximum(np.linalg.norm(gradient, axis=1), 1e-300)
    converged = np.zeros(len(x), dtype=bool)
    for _ in range(max_iter):
        trial = np.asarray(projection(x[rows] - length[rows, None] * gradient[rows]))
        step = trial - x[rows]
        size = np.einsum("ij,ij->i", step, step)
        new, slope = _half_gradient(model, trial, targets, rows)
        accepted = new <= value[rows] - SUFFICIENT * size / length[rows]
        turn = np.einsum("ij,ij->i", step, slope - gradient[rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            longer = np.where(turn > 0, size / turn, 4 * length[rows])
        still = size <= tol**2 * (1 + np.einsum("ij,ij->i", trial, trial))
        done = still & (accepted | (length[rows] < SHORTEST)) | (size == 0)
        length[rows] = np.where(accepted, np.maximum(longer, SHORTEST), length[rows] / 4)
        taken = rows[accepted]
        x[taken], value[taken], gradient[taken] = trial[accepted], new[accepted], slope[accepted]
        converged[rows[done]] = True
        rows = rows[~done]
        if not len(rows):
            break
    return x, converged


def _half_gradient(model: Any, x: Array, targets: Array, rows: Any) -> tuple[Array, Array]:
    values, J = model(x, rows)
    residual = values - targets[rows]
    half = np.einsum("ij,ij->i", residual, residual) / 2
    return half, np.matmul(residual[:, None], J)[:, 0]
