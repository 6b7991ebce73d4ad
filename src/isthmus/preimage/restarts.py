"""Starting points for iterative pre-images, and the choice among what they found."""

from typing import Any

import numpy as np

from isthmus.typing import Array


def start_table(preimage: Any, coordinates: Array, n_starts: int) -> Array:
    """Numbers of the objects to start from, (n, n_starts), nearest in coordinates first."""
    return preimage._nearest(coordinates, min(n_starts, len(preimage.objects_)))[1]


def best_of_restarts(preimage: Any, coordinates: Array, found: Array) -> Array:
    """The best of ``found`` (n, n_restarts, d) by the pre-image's objective, (n, d)."""
    n, n_restarts, d = found.shape
    if n_restarts == 1:
        return found[:, 0]
    flat = preimage.objective(np.repeat(coordinates, n_restarts, axis=0), found.reshape(-1, d))
    best = flat.reshape(n, n_restarts).argmin(axis=1)
    return found[np.arange(n), best]
