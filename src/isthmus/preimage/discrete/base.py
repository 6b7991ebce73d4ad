"""What the searches for sequences and for graphs share."""

from typing import Any

import numpy as np

from isthmus.kernels.points import squared_norms
from isthmus.typing import Array, IntArray


class PointDistance:
    r"""Distance of candidates from the point with coordinates :math:`\beta`.

    Candidates come as products of their kernel rows with the axes and with the weights of the
    origin, and as squared norms: all that both objectives need.
    """

    def __init__(self, feature_map: Any, criterion: str):
        self.feature_map, self.criterion = feature_map, criterion
        self.offset = feature_map.axes_.offset

    def __call__(self, products: Array, norms: Array, beta: Array) -> Array:
        """Distances, shape (n,)."""
        if self.criterion == "coord":
            residual = products[:, :-1] + self.offset - beta
            return np.einsum("ij,ij->i", residual, residual)
        inner = products[:, :-1] @ beta + products[:, -1]
        return norms - 2 * inner + squared_norms(self.feature_map, beta[None])[0]


def seeds(random: np.random.RandomState) -> int:
    """One seed that all points are searched with: their answers depend on no other point."""
    return int(random.randint(2**31 - 1))


def largest_remainder(shares: Array, total: int) -> IntArray:
    """Whole numbers that sum to ``total``, nearest to ``shares`` of it.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    wanted = np.maximum(shares, 0)
    wanted = wanted * (total / wanted.sum()) if wanted.sum() > 0 else wanted + total / len(wanted)
    counts = np.floor(wanted).astype(np.int64)
    order = np.argsort(counts - wanted, kind="stable")
    counts[order[: total - counts.sum()]] += 1
    return counts
