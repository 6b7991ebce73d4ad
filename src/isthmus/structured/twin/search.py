"""The search for the output that agrees best with a new input."""

from typing import Any, NamedTuple, cast

import numpy as np

from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import object_array, take
from isthmus.optimize.batched_lbfgs import minimize_rows
from isthmus.structured.twin.bridge import Query
from isthmus.typing import Array, BoolArray, IntArray, Objects

# Starts of one query must differ: outputs this similar count as one.
SIMILAR = 0.5
# So many outputs are tried as starts.
MAX_TRIED = 500


class Found(NamedTuple):
    """What a search came to."""

    outputs: Array
    values: Array
    converged: BoolArray


class Box(NamedTuple):
    """Where outputs may lie, and the length that counts as one."""

    low: Array
    high: Array
    unit: float


def box_around(Y: Array, margin: float) -> Box:
    """The range of every column with a margin on both sides, as a share of it."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    slack = margin * (high - low)
    unit = float(np.sqrt(Y.var(axis=0).sum()))
    return Box(low - slack, high + slack, unit if unit > 0 else 1.0)


def best_outputs(
    bridge: Any, query: Query, box: Box | None, candidates: Objects, **precision: Any
) -> Found:
    """The best vectors in the box; without one, the best of the candidates."""
    kernel, noise = bridge.sides.y_kernel, bridge.sides.y_noise
    if box is not None:
        return search(query, kernel, bridge.outputs, noise, box, **precision)
    table = query.table(kernel.gram(candidates, bridge.outputs), kernel.diag(candidates) + noise)
    best = table.argmin(axis=1)
    chosen = take(candidates, best)
    chosen = chosen if isinstance(chosen, np.ndarray) else object_array(chosen)
    return Found(chosen, table[np.arange(len(best)), best], np.ones(len(best), dtype=bool))


def search(
    query: Query,
    kernel: Kernel,
    reference: Array,
    noise: float,
    box: Box,
    *,
    n_restarts: int,
    tol: float,
    max_iter: int,
    verbose: int = 0,
) -> Found:
    """Minimise the criterion of all queries together, from one start or several."""
    starts = [np.asarray(query.start)]
    if n_restarts > 1:
        starts += _unlike_starts(query, kernel, reference, noise, n_restarts - 1)
    bounds = cast(Any, (box.low / box.unit, box.high / box.unit))

    def value_and_gradient(V: Array, rows: IntArray) -> tuple[Array, Array]:
        Y = V * box.unit
        g = kernel.gram(Y, reference)
        found = query.criterion(g, kernel.diag(Y) + noise, rows)
        slope = kernel.weighted_gradient(Y, reference, found.by_row, g)
        slope += found.by_diagonal[:, None] * kernel.diag_gradient(Y)
        return found.value, box.unit * slope

    best: Found | None = None
    for start in starts:
        result = minimize_rows(
            value_and_gradient,
            start / box.unit,
            bounds=bounds,
            tol=tol,
            max_iter=max_iter,
            scale=1.0,  # values are of the size of kernel values, whatever the batch
            verbose=verbose,
        )
        found = Found(result.x * box.unit, result.value, result.converged)
        best = found if best is None else _better(best, found)
    assert best is not None
    return best


def _better(one: Found, other: Found) -> Found:
    take_other = other.values < one.values
    return Found(
        np.where(take_other[:, None], other.outputs, one.outputs),
        np.where(take_other, other.values, one.values),
        np.where(take_other, other.converged, one.converged),
    )


def _unlike_starts(
    query: Query, kernel: Kernel, reference: Array, noise: float, n_starts: int
) -> list[Array]:
    """The best of some reference outputs for each query, each unlike those before it."""
    tried = reference[:: -(-len(reference) // MAX_TRIED)]
    scale = kernel.diag(tried)
    table = query.table(kernel.gram(tried, reference), scale + noise)
    starts = []
    for _ in range(n_starts):
        points = tried[table.argmin(axis=1)]
        starts.append(points)
        table = np.where(kernel.gram(points, tried) > SIMILAR * scale, np.inf, table)
    return starts
