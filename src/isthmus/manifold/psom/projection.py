"""Points of a map that come nearest to given data, and what is recalled there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.optimize.levenberg_marquardt import LeastSquaresRows, least_squares_rows
from isthmus.typing import Array, BoolArray, IntArray

# A target counts as reached where its distance is below this share of the spread of the nodes.
REACHED = 1e-6


@dataclass(frozen=True)
class Projection:
    """What :meth:`project` found for every row of its data.

    Attributes
    ----------
    latent : ndarray of shape (n, q)
        The point of the domain whose image comes nearest.
    values : ndarray of shape (n, d)
        Its image: all components, known or not.
    error : ndarray of shape (n,)
        Root of the weighted sum of squared differences in the known components.
    reached : ndarray of bool of shape (n,)
        Whether the image meets the known components; False means best effort.
    converged : ndarray of bool of shape (n,)
        Whether the search ended at a (local) minimum.
    """

    __module__ = "isthmus.manifold"

    latent: Array
    values: Array
    error: Array
    reached: BoolArray
    converged: BoolArray


Jets = Callable[[Array], tuple[Array, Array]]


def project_rows(
    jets: Jets,
    targets: Array,
    weights: Array,
    starts: Array,
    low: Array,
    high: Array,
    *,
    spread: Array,
    max_iter: int,
    tol: float,
) -> Projection:
    r"""Minimise :math:`\sum_kp_k(y_k-f_k(x))^2` over the box, for all rows at once.

    ``starts`` has shape (n, n_starts, q); the best end is kept. ``weights`` is (n, d).
    """

    def search(rows: IntArray, points: Array) -> LeastSquaresRows:
        return least_squares_rows(
            lambda at, _: jets(at),
            points,
            targets[rows],
            weights=weights[rows],
            lower=low,
            upper=high,
            max_iter=max_iter,
            tol=tol,
        )

    n, n_starts, q = starts.shape
    goal = (REACHED * np.sqrt(weights @ spread**2)) ** 2
    first = search(np.arange(n), starts[:, 0])
    latent, error, converged = first.x, first.error, first.converged
    # Only rows whose first start ended in a poor minimum need the others.
    open_rows = np.flatnonzero(error > goal)
    if n_starts > 1 and len(open_rows):
        again = search(np.repeat(open_rows, n_starts - 1), starts[open_rows, 1:].reshape(-1, q))
        errors = again.error.reshape(len(open_rows), -1)
        best = np.argmin(errors, axis=1)
        flat = best + (n_starts - 1) * np.arange(len(open_rows))
        better = again.error[flat] < error[open_rows]
        taken = open_rows[better]
        latent[taken], error[taken] = again.x[flat[better]], again.error[flat[better]]
        converged[taken] = again.converged[flat[better]]
    return Projection(latent, jets(latent)[0], np.sqrt(error), error <= goal, converged)


def best_nodes(W: Array, targets: Array, weights: Array, n_best: int) -> Any:
    """Numbers of the nodes nearest to each target under its weights, shape (n, n_best)."""
    center = W.mean(axis=0)  # keeps the expanded square from cancelling
    nodes = W - center
    squares, known = nodes**2, weights * (targets - center)
    found = np.empty((len(targets), n_best), dtype=np.intp)
    for rows in block_slices(len(targets), len(W)):
        # |y - w|^2 without the part of y alone, which is the same for all nodes.
        distances = weights[rows] @ squares.T - 2 * known[rows] @ nodes.T
        nearest = np.argpartition(distances, n_best - 1, axis=1)[:, :n_best]
        order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)
        found[rows] = np.take_along_axis(nearest, order, axis=1)
    return found
