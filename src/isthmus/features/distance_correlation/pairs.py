r"""Two passes over all pairs of coordinates: sums of their distances, and slopes of the objective.

Each is written twice: for distances themselves, and for any power of them.
"""

from typing import Protocol

import numpy as np

from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array

# Squared distances are raised by this share of their scale, so that equal points have a slope.
SMOOTHING = 1e-12
# Rows of a part of the work, at least, and parts that threads share, at most.
PART_ROWS, PARTS = 256, 8


class Pairs(Protocol):
    r"""All pairs of coordinates beside a matrix :math:`S`, with :math:`c_{ij}=\|z_i-z_j\|^a`."""

    def sums(self, Z: Array) -> tuple[float, float, Array]:
        r""":math:`\sum_{ij}S_{ij}c_{ij}`, :math:`\sum_{ij}c_{ij}^2` and the row sums of c."""

    def slopes(self, means: Array, along: float, against: float) -> Array:
        r"""Twice the exponent times :math:`\sum_j(\alpha S_{ij}-\beta\hat c_{ij})`
        :math:`c_{ij}^{(a-2)/a}(z_i-z_j)`, with the distances of the last sums and the means of
        their rows.
        """


def pairs_of(S: Array, exponent: float) -> Pairs:
    """The faster of the two."""
    return PlainPairs(S) if exponent == 1 else PowerPairs(S, exponent)


class PowerPairs:
    """Any exponent: one row after the other."""

    def __init__(self, S: Array, exponent: float):
        n = len(S)
        self.S, self.exponent, self.C = S, float(exponent), np.zeros((n, n))

    def sums(self, Z: Array) -> tuple[float, float, Array]:
        from isthmus.features.distance_correlation.loops import fill_distances

        floor = SMOOTHING * _scale(Z) ** 2
        self.Zt = np.ascontiguousarray(Z.T)
        row_sums = np.empty(len(Z))
        product, squares = fill_distances(self.Zt, self.exponent, floor, self.S, self.C, row_sums)
        return 2 * product, 2 * squares, row_sums

    def slopes(self, means: Array, along: float, against: float) -> Array:
        from isthmus.features.distance_correlation.loops import add_slopes

        a, Gt, weights = self.exponent, np.empty_like(self.Zt), np.empty(len(means))
        add_slopes(
            self.Zt, a, self.S, self.C, means, means.mean(), 2 * a * along, 2 * a * against,
            weights, Gt,
        )  # fmt: skip
        return Gt.T


class PlainPairs:
    """Exponent 1: in registers, and in threads where rows are many."""

    def __init__(self, S: Array):
        from isthmus.features.distance_correlation.plain_loops import ROWS, pack_triangle
        from isthmus.linalg.lanes import LANES, aligned

        self.n, groups = len(S), -(-len(S) // LANES)
        self.size, self.aligned = groups * LANES, aligned
        self.S, self.reciprocals = aligned(2, groups * (groups + 1) // 2 * LANES**2)
        pack_triangle(S, self.S)
        # Parts of about equal area of the triangle, the same for any number of threads.
        n_parts = int(np.clip(self.n // PART_ROWS, 1, PARTS))
        ends = np.rint(groups * np.sqrt(np.linspace(0, 1, n_parts + 1))).astype(int).tolist()
        self.parts = list(zip(range(n_parts), ends[:-1], ends[1:], strict=True))
        self.weights = [aligned(ROWS, self.size) for _ in range(n_parts)]

    def sums(self, Z: Array) -> tuple[float, float, Array]:
        from isthmus.features.distance_correlation.plain_loops import fill_reciprocals

        n, Zt = self.n, self.aligned(Z.shape[1], self.size)
        Zt[:, n:] = 0
        Zt[:, :n] = Z.T
        Zt[:, :n] -= Zt[:, :n].mean(axis=1)[:, None]
        # In units of their scale, which single precision can hold.
        scale = float(np.sqrt(np.vdot(Zt, Zt) / n)) or 1.0
        Zt /= scale
        row_sums, found = np.zeros((len(self.parts), self.size)), np.empty(len(self.parts))

        def fill(part: tuple[int, int, int]) -> None:
            p, first, last = part
            found[p] = fill_reciprocals(
                Zt, n, SMOOTHING, self.S, self.reciprocals, first, last, row_sums[p]
            )

        rest_in_threads(fill, self.parts)
        self.Zt, self.scale = Zt, scale
        # Centred vectors: the sum of ‖z_i - z_j‖² over all pairs is 2n Σ‖z_i‖².
        squares = scale**2 * (2 * n * float(np.vdot(Zt, Zt)) + n * (n - 1) * SMOOTHING)
        return 2 * scale * float(found.sum()), squares, scale * row_sums.sum(axis=0)[:n]

    def slopes(self, means: Array, along: float, against: float) -> Array:
        from isthmus.features.distance_correlation.plain_loops import add_pulls

        shifts, along, against = np.zeros(self.size), 2 * along, 2 * against
        shifts[: self.n] = against * (means - means.mean() / 2)
        shape = len(self.parts), len(self.Zt), self.size
        pulls = self.aligned(shape[0] * shape[1], self.size).reshape(shape)

        def add(part: tuple[int, int, int]) -> None:
            p, first, last = part
            pulls[p] = 0
            add_pulls(
                self.Zt, self.n, self.S, self.reciprocals, shifts, along, against * self.scale,
                first, last, self.weights[p], pulls[p],
            )  # fmt: skip

        rest_in_threads(add, self.parts)
        return pulls.sum(axis=0)[:, : self.n].T


def _scale(Z: Array) -> float:
    """Root mean square of the rows' distances from their mean."""
    return float(np.sqrt(Z.var(axis=0).sum()))
