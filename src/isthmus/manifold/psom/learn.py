r"""A smooth map learned from data alone: latent points and images of nodes in turn.

.. math::
    E(W)=\sum_i\min_x\|y_i-f(x;W)\|^2+\lambda\operatorname{tr}(W^\top MW)

is lowered by projecting the data on the map, and by a smooth fit to the projections; neither
raises it. The smoothness falls from step to step, so that the map unfolds from a plane.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from isthmus.linalg.signs import fix_signs
from isthmus.manifold.projection import Search, best_ends
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.map import GridMap, map_values
from isthmus.manifold.psom.smoothing import Samples, smooth_samples
from isthmus.typing import Array

RETRY = 5  # cycles after which the best node is tried as a start, too
SEARCH = Search(n_init=1, max_iter=10, tol=1e-6)  # of the projections while a map is learned
LEAST_FALL = 1e-3  # relative; a smaller fall of the held-out error is not worth its step


@dataclass
class Unfolding:
    """A map on its way from the principal plane to a curved manifold."""

    grid: NodeGrid
    data: Array
    latent: Array
    weights: Array
    n_cycles: int = 0

    @property
    def error(self) -> float:
        """Mean squared distance of the data to their images."""
        images = map_values(self.grid, self._shaped(), self.latent)
        return float(np.mean(np.sum((images - self.data) ** 2, axis=1)))

    def cycle(self, lam: float) -> None:
        """Project the data, then fit the nodes; the objective does not rise."""
        retry = self.n_cycles % RETRY == 0
        self.latent = project_again(self.grid, self._shaped(), self.data, self.latent, retry=retry)
        samples = Samples(self.latent, self.data, np.ones(len(self.data)))
        self.weights = smooth_samples(self.grid, samples, lam)
        self.n_cycles += 1

    def _shaped(self) -> Array:
        return self.weights.reshape(*self.grid.shape, -1)


def project_again(grid: NodeGrid, W: Array, Y: Array, start: Array, *, retry: bool) -> Array:
    """Latent points no worse than ``start``; with ``retry`` also no worse than from best nodes."""
    grid_map = GridMap(grid, W)
    latent, error, _ = best_ends(grid_map, Y, None, SEARCH, start)
    if retry:
        other, its_error, _ = best_ends(grid_map, Y, None, SEARCH)
        better = its_error < error
        latent[better] = other[better]
    return latent


def principal_plane(grid: NodeGrid, Y: Array) -> Unfolding:
    """The start: nodes on the principal plane, just far enough apart to hold the data."""
    center = Y.mean(axis=0)
    q = len(grid.axes)
    V = np.zeros((Y.shape[1], q))  # directions that the data lack have no extent
    axes = np.linalg.svd(Y - center, full_matrices=False)[2][:q].T
    V[:, : axes.shape[1]] = fix_signs(axes)
    scores = (Y - center) @ V
    extent = np.abs(scores).max(axis=0)
    extent[extent <= 1e-12 * extent.max()] = 0.0
    middle, half = (grid.high + grid.low) / 2, (grid.high - grid.low) / 2
    unit = np.divide(scores, extent, out=np.zeros_like(scores), where=extent > 0)
    weights = center + ((grid.points - middle) / half * extent) @ V.T
    return Unfolding(grid, Y, middle + half * unit, weights)


def unfold(
    state: Unfolding,
    schedule: Iterator[float],
    *,
    n_cycles: int,
    held_out: Array | None = None,
    patience: int = 1,
    tell: Callable[..., None] = lambda **_: None,
) -> tuple[Array, Array, list[dict[str, float]]]:
    """Anneal; with ``held_out`` data stop where their projection error rises, and go back.

    A stop comes after ``patience`` steps in which that error did not fall by a thousandth.
    Returns weights, latent points, and one row of the history for each smoothness.
    """
    history: list[dict[str, float]] = []
    best, best_error = (state.weights, state.latent), np.inf
    mark, since = np.inf, 0
    others: Array | None = None
    for lam in schedule:
        for _ in range(n_cycles):
            state.cycle(lam)
        row = {"smoothness": lam, "error": state.error}
        if held_out is not None:
            W = state.weights.reshape(*state.grid.shape, -1)
            if others is None:
                others = np.tile((state.grid.low + state.grid.high) / 2, (len(held_out), 1))
            others = project_again(state.grid, W, held_out, others, retry=len(history) % RETRY == 0)
            gaps = map_values(state.grid, W, others) - held_out
            row["held_out_error"] = float(np.mean(np.sum(gaps**2, axis=1)))
        history.append(row)
        tell(step=len(history), **row)
        now = row.get("held_out_error", -np.inf)
        if now < best_error or held_out is None:
            best, best_error = (state.weights, state.latent), now
        since = 0 if now < (1 - LEAST_FALL) * mark else since + 1
        mark = mark if since else now
        if held_out is not None and since >= patience:
            break
    return best[0], best[1], history
