"""What the searches for sequences and for graphs share."""

from typing import Any

import numpy as np

from isthmus.kernels.points import squared_norms
from isthmus.typing import Array, IntArray


class PointDistance:
    r"""Distance of candidates from the point with coordinates :math:`\beta`.

    Candidates are given by products of their kernel rows with the axes and with the weights of the
    origin, and by squared norms, which is all that both objectives need.
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


def common_seed(random: np.random.RandomState) -> int:
    """One seed for the searches of all points, so that no answer depends on the other points."""
    return int(random.randint(2**31 - 1))


def largest_remainder(shares: Array, total: int) -> IntArray:
    """Integers that sum to ``total``, closest to ``shares`` of it.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    wanted = np.maximum(shares, 0)
    wanted = wanted * (total / wanted.sum()) if wanted.sum() > 0 else wanted + total / len(wanted)
    counts = np.floor(wanted).astype(np.int64)
    order = np.argsort(counts - wanted, kind="stable")
    counts[order[: total - counts.sum()]] += 1
    return counts
