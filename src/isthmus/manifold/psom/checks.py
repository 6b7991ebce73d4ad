"""Checks of nodes, latent points and variances of maps on grids."""

from typing import Any

import numpy as np

from isthmus.manifold.psom.grid import NodeGrid
from isthmus.typing import Array


def check_nodes(owner: Any, nodes: Array, grid: NodeGrid) -> Array:
    """Images of the nodes as rows, (size, d), if there is one for each."""
    if nodes.shape[:-1] not in (grid.shape, (grid.size,)):
        raise ValueError(
            f"{type(owner).__name__} needs nodes that match its grid: expected shape "
            f"{(*grid.shape, 'd')} or {(grid.size, 'd')}, got {nodes.shape}."
        )
    return np.ascontiguousarray(nodes).reshape(grid.size, -1)


def check_spread(owner: Any, points: Array, what: str) -> None:
    """Linear maps must be determined by the points, since they have no roughness."""
    q = points.shape[1]
    if len(points) <= q or np.linalg.matrix_rank(np.c_[np.ones(len(points)), points]) <= q:
        raise ValueError(
            f"{type(owner).__name__} needs at least {q + 1} {what} that do not lie in a plane of "
            f"fewer than {q} dimensions. Got {len(points)}."
        )


def check_latent(owner: Any, Z: Array, grid: NodeGrid) -> None:
    """Latent points of training rows must lie in the domain."""
    name = type(owner).__name__
    if Z.shape[1] != len(grid.axes):
        raise ValueError(
            f"{name} has a grid of {len(grid.axes)} axes. Got latent points of shape {Z.shape} "
            "instead."
        )
    if np.any(np.clip(Z, grid.low, grid.high) != Z):
        raise ValueError(
            f"The domain of {name} must hold the latent points: bounds from {grid.low} to "
            f"{grid.high}, got points from {Z.min(axis=0)} to {Z.max(axis=0)}."
        )


def check_variances(owner: Any, variances: Any, n: int) -> Array:
    """One number of at least 0 for each node; ones by default."""
    if variances is None:
        return np.ones(n)
    spread = np.asarray(variances, dtype=np.float64).reshape(-1)
    if spread.shape != (n,) or not np.isfinite(spread).all() or (spread < 0).any():
        raise ValueError(
            f"The variances of {type(owner).__name__} must be {n} numbers of at least 0, one for "
            f"each node. Got {spread.size} of them, from {spread.min():g} to {spread.max():g}."
        )
    return spread
