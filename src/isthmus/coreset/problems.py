"""The quadratic programs of the machines, as points with a Gram matrix and a linear term."""

from dataclasses import dataclass

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.coreset.columns import KernelColumns
from isthmus.typing import Array, IntArray


@dataclass
class KernelProblem:
    r"""Points :math:`(s_i\varphi(x_i),s_i\sqrt b,e_i\sqrt{d_i})`, where x repeats if s is longer.

    Parameters
    ----------
    columns : the objects that the points are made of, and their kernels.
    signs : +1 or -1 for each point; a multiple of the number of objects.
    bias : the constant b that is added to the kernel.
    shifts : :math:`d_i`, on the diagonal alone.
    v : the linear term.
    """

    columns: KernelColumns
    signs: Array
    bias: float
    shifts: Array
    v: Array

    def __len__(self) -> int:
        return len(self.signs)

    def objects_of(self, points: IntArray) -> IntArray:
        """The objects that points are made of, (1, n_points)."""
        return points[None] % self.columns.n

    def expansion(self, points: IntArray, weights: Array) -> tuple[IntArray, Array]:
        """A weighted sum of points as a sum over objects, each named once."""
        used, where = np.unique(points % self.columns.n, return_inverse=True)
        return used, _sum_by_object(where, weights * self.signs[points])

    def values(self, points: IntArray | slice, sums: Array, coefficients: Array) -> Array:
        """Inner products of points with the expansion, given its sums at their objects."""
        return self.signs[points] * (sums[0] + self.bias * coefficients.sum())

    def gram(self, rows: IntArray, columns: IntArray) -> Array:
        """Block of M without what is on its diagonal alone."""
        K = self.columns.block(rows % self.columns.n, columns % self.columns.n) + self.bias
        K *= self.signs[columns]
        K *= self.signs[rows, None]
        return K

    def rows(self, points: IntArray) -> Array:
        """Rows of M without what is on its diagonal alone, where all objects are watched."""
        K = self.columns.at_watched(points % self.columns.n)
        if self.bias:
            K += self.bias
        if len(self) > self.columns.n:
            K = np.tile(K, len(self) // self.columns.n)
        if self.signs.min() < 0:
            K *= self.signs
            K *= self.signs[points, None]
        return K

    def shift(self, rows: IntArray) -> Array:
        """What is on the diagonal alone."""
        return self.shifts[rows]

    def diag(self) -> Array:
        """The diagonal of M, with the shift."""
        k = np.asarray(self.columns.kernel.diag(self.columns.objects), dtype=float) + self.bias
        return np.tile(k, len(self.signs) // self.columns.n) + self.shifts


@dataclass
class PairProblem:
    r"""Points :math:`\varphi(x_i)-\varphi(x_j)` for pairs in which i is to be above j."""

    columns: KernelColumns
    above: IntArray
    below: IntArray
    cost: float

    @property
    def v(self) -> Array:
        """The linear term: none."""
        return np.zeros(len(self.above))

    def __len__(self) -> int:
        return len(self.above)

    def objects_of(self, points: IntArray) -> IntArray:
        """The objects that points are made of, (2, n_points)."""
        return np.stack([self.above[points], self.below[points]])

    def expansion(self, points: IntArray, weights: Array) -> tuple[IntArray, Array]:
        """A weighted sum of points as a sum over objects, each named once."""
        ends = self.objects_of(points)
        used, where = np.unique(ends, return_inverse=True)
        return used, _sum_by_object(where.ravel(), np.concatenate([weights, -weights]))

    def values(self, points: IntArray | slice, sums: Array, coefficients: Array) -> Array:
        """Inner products of points with the expansion, given its sums at their objects."""
        return np.asarray(sums[0] - sums[1])

    def gram(self, rows: IntArray, columns: IntArray) -> Array:
        """Block of M: four kernels per pair of pairs, each object compared once."""
        used_r, at_r = np.unique(self.objects_of(rows), return_inverse=True)
        used_c, at_c = np.unique(self.objects_of(columns), return_inverse=True)
        K = self.columns.block(used_r, used_c)
        at_r, at_c = at_r.reshape(2, -1), at_c.reshape(2, -1)
        # Differences along rows first, while there are as few of them as objects.
        half = np.take(K, at_c[0], axis=1)
        half -= np.take(K, at_c[1], axis=1)
        found = np.empty((at_r.shape[1], at_c.shape[1]))
        for part in block_slices(len(found), 1, block_size=128):  # what is gathered stays cached
            above, below = at_r[:, part]
            np.subtract(np.take(half, above, axis=0), np.take(half, below, axis=0), out=found[part])
        return found

    def shift(self, rows: IntArray) -> Array:
        """1/C on the diagonal."""
        return np.full(len(rows), 1.0 / self.cost)

    def diag(self) -> Array:
        """The diagonal of M, with the shift."""
        k = np.asarray(self.columns.kernel.diag(self.columns.objects), dtype=float)
        cross = np.empty(len(self.above))
        order = np.argsort(self.above, kind="stable")  # so that neighbours share an object
        for start in range(0, len(cross), 512):
            pairs = order[start : start + 512]
            first, at_first = np.unique(self.above[pairs], return_inverse=True)
            second, at_second = np.unique(self.below[pairs], return_inverse=True)
            cross[pairs] = self.columns.block(first, second)[at_first, at_second]
        return k[self.above] + k[self.below] - 2 * cross + 1.0 / self.cost


def _sum_by_object(where: IntArray, weights: Array) -> Array:
    return np.asarray(np.bincount(where, weights), dtype=float)
