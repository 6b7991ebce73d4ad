"""Projections on the map of a kernel of compact support, by a compiled search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.threads import rest_in_threads
from isthmus.manifold.projection import Search
from isthmus.optimize.levenberg_marquardt import DAMPING, LARGEST_DAMPING, LeastSquaresRows
from isthmus.smoothers.density_kernels import truncated_power
from isthmus.smoothers.pairs import cells_of
from isthmus.typing import Array

if TYPE_CHECKING:
    from isthmus.manifold.ukr.map import KernelMap

# Rows are searched among fewer centres without compiled loops, which a first call would wait for.
FEW_CENTRES = 128
# Rows that are searched at a time; threads share many.
PART = 256


def near_ends(
    latent_map: KernelMap, targets: Array, weights: Array | None, start: Array, search: Search
) -> LeastSquaresRows | None:
    """The ends from one start for each row, as ``least_squares_rows`` finds them.

    None for kernels that reach every centre, where products over all pairs of many rows are
    faster, and for little work.
    """
    smoother, Xc = latent_map.smoother, np.ascontiguousarray(latent_map.centres)
    power, n, q = truncated_power(smoother.kernel), *Xc.shape
    if n < FEW_CENTRES or not power or smoother.adaptive or not latent_map.floor > 0:
        return None
    from isthmus.manifold.ukr.search_loops import ENDED, search_near
    from isthmus.smoothers.point_loops import terms_of

    w = np.ones((1, targets.shape[1])) if weights is None else np.atleast_2d(weights)
    known = targets if weights is None else np.where(w > 0, targets, 0.0)
    # Rounding of an exact fit is relative to the target, not to its vanishing error.
    limits = np.finfo(float)
    floors = limits.eps * np.einsum("nd,nd->n", w * known, known) + limits.tiny
    x, error, state = np.array(start, order="C"), np.empty(len(start)), np.empty(len(start), int)
    outputs = _padded(latent_map.outputs)
    known, w = _padded(known), _padded(w)
    the_map = tuple(cells_of(Xc, smoother.kernel.support)), Xc, outputs, power, latent_map.floor
    settings = float(search.max_iter), float(search.tol), DAMPING, LARGEST_DAMPING
    n_iter = [0.0]

    def search_part(part: slice) -> None:
        terms = tuple(terms_of(smoother, q, n)) if smoother.degree else None
        rows = x[part], known[part], w if len(w) == 1 else w[part], floors[part]
        room = _room(n, q, outputs.shape[1])
        ends = error[part], state[part]
        n_iter.append(search_near(*rows, *the_map, settings, room, terms, *ends))

    rest_in_threads(search_part, list(block_slices(len(x), 1, block_size=PART)))
    alone = np.flatnonzero(error < 0)
    if len(alone):  # the map has no slope where no centre reaches: they stay at their start
        residual = _padded(latent_map.evaluate(x[alone]).values) - known[alone]
        error[alone] = np.sum(np.broadcast_to(w, known.shape)[alone] * residual**2, axis=1)
    return LeastSquaresRows(x, error, int(max(n_iter)), (state != ENDED) & np.isfinite(error))


def _room(n: int, q: int, d: int) -> tuple[Any, ...]:
    """Room for lists of near centres, for jets, and for what is known of a row."""
    from isthmus.linalg.lanes import LANES

    lists, slopes, jets = np.empty((4, n + LANES)), np.empty((q, n + LANES)), np.empty((q + 1, d))
    systems, places = np.empty((3, q + 1, q + 1)), np.empty((3, 1, q))
    return np.empty(n, np.int32), lists, slopes, jets, systems, places, np.empty(4)


def _padded(Y: Array) -> Array:
    """The columns, and columns of zeros up to a multiple of eight."""
    from isthmus.linalg.lanes import LANES

    (n, d), missing = Y.shape, -Y.shape[1] % LANES
    if not missing:
        return np.ascontiguousarray(Y, dtype=np.float64)
    padded = np.zeros((n, d + missing))  # in row order, whatever that of the columns is
    padded[:, :d] = Y
    return padded
