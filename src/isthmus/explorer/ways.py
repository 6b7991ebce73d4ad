"""Ways through the coordinates: straight between stops, or as a pen has drawn them."""

from itertools import pairwise
from typing import Any

import numpy as np

MOST_STOPS = 40


def way_between(walk: Any, stops: np.ndarray, n_steps: int) -> np.ndarray:
    """Return ``n_steps`` places evenly along straight lines from stop to stop, (n_steps, q).

    Where a coordinate is periodic the shorter way round is taken.
    """
    stops = np.asarray(stops, dtype=float)[: 50 * MOST_STOPS]
    if len(stops) == 1:
        return np.repeat(stops, n_steps, axis=0)
    legs = np.array([walk.difference(b, a) for a, b in pairwise(stops)])
    lengths = np.linalg.norm(legs, axis=1)
    ends = np.r_[0.0, np.cumsum(lengths)]
    if ends[-1] == 0:
        return np.repeat(stops[:1], n_steps, axis=0)
    along = np.linspace(0.0, ends[-1], n_steps)
    leg = np.clip(np.searchsorted(ends, along, side="right") - 1, 0, len(legs) - 1)
    share = (along - ends[leg]) / np.where(lengths[leg] > 0, lengths[leg], 1.0)
    return walk.inside(stops[leg] + share[:, None] * legs[leg])
