"""How well a place is supported by rows near it, in the map's own opinion if it has one."""

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from isthmus.blocks.sampling import sample_rows

_NEIGHBORS = 3
_MOST_KERNELS = 20_000_000


class Support:
    """Support of places, between 0 (nothing near) and 1 (as dense as among the rows).

    A latent map that has a density (``latent_density``) is asked, as long as that is cheap; its
    flags of feasible places count. Elsewhere it is the distance to the rows:
    :math:`\\exp(-(d_k(z)/2h)^2/2)` with the distance to the k-th nearest row and its median h
    over the rows.
    """

    def __init__(self, walk: Any, places: np.ndarray):
        self.tree = cKDTree(places)
        self._walk, self._n = walk, len(places)
        some = places[sample_rows(len(places), 500, 0)]
        k = min(_NEIGHBORS + 1, len(places))
        far = self._far(some, k)
        self._width = 2 * float(np.median(far)) or 1.0
        self._usual: float | None = None
        if walk.is_latent and callable(getattr(walk.model, "latent_density", None)):
            usual = float(np.median(walk.model.latent_density(some)))
            self._usual = usual if usual > 0 else None

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        """Return the support of places (n, q), shape (n,)."""
        Z = np.asarray(Z, dtype=float)
        if self._usual is not None and len(Z) * self._n <= _MOST_KERNELS:
            share = np.asarray(self._walk.model.latent_density(Z)) / self._usual
            return np.clip(share, 0.0, 1.0) * self._feasible(Z)
        near = self._far(Z, min(_NEIGHBORS, self._n)) / self._width
        return np.exp(-(near**2) / 2)

    def _feasible(self, Z: np.ndarray) -> np.ndarray:
        flags = np.asarray(self._walk.model.evaluate(self._walk.inside(Z)).feasible, dtype=float)
        # A place that projections avoid is no desert: rows may lie beside it.
        return 0.25 + 0.75 * flags

    def _far(self, Z: np.ndarray, k: int) -> np.ndarray:
        distances = self.tree.query(Z, k=[k])[0]
        return distances[:, 0]
