"""Starting points of iterative pre-images, and the choice among their results."""

from typing import Any

import numpy as np

from isthmus.typing import Array

# Share of the queries that a typical step of a search still goes on with.
SHARE_GOING = 0.25


def find_starts(preimage: Any, coordinates: Array, start: Array | None, n_init: int) -> Array:
    """Vectors to start from, (n, n_init, d): those given, or the objects nearest in coordinates.

    The nearest come first.
    """
    if start is not None:
        return start[:, None].astype(preimage.objects_.dtype, copy=False)
    near = preimage.nearest(coordinates, min(n_init, len(preimage.objects_)))[1]
    return preimage.objects_[near]


def best_of_restarts(preimage: Any, coordinates: Array, found: Array) -> Array:
    """The best of ``found`` (n, n_init, d) by the pre-image's objective, (n, d).

    Among answers that differ by rounding only, the one whose start was nearest.
    """
    n, n_init, d = found.shape
    if n_init == 1:
        return found[:, 0]
    flat = preimage.objective(np.repeat(coordinates, n_init, axis=0), found.reshape(-1, d))
    values = flat.reshape(n, n_init)
    known = np.asarray(preimage.coordinates_)
    rounding = 100 * np.finfo(known.dtype).eps * float(np.mean(known**2)) * known.shape[1]
    best = np.argmax(values <= values.min(axis=1, keepdims=True) + rounding, axis=1)
    return found[np.arange(n), best]
