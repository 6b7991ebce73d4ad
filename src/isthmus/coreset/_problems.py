"""The quadratic programs of the machines, as points with a Gram matrix and a linear term."""

from dataclasses import dataclass, field

import numpy as np

from isthmus.kernels import Kernel, take
from isthmus.kernels._objects import n_objects
from isthmus.typing import Array, IntArray, Objects


@dataclass
class KernelProblem:
    r"""Points :math:`(s_i\varphi(x_i),s_i\sqrt b,e_i\sqrt{d_i})`, where x repeats if s is longer.

    Parameters
    ----------
    kernel, objects : what the points are made of.
    signs : +1 or -1 for each point; a multiple of the number of objects.
    bias : the constant b that is added to the kernel.
    shifts : :math:`d_i`, on the diagonal alone.
    v : the linear term.
    """

    kernel: Kernel
    objects: Objects
    signs: Array
    bias: float
    shifts: Array
    v: Array
    _n: int = field(init=False)

    def __post_init__(self) -> None:
        self._n = n_objects(self.objects)

    def __len__(self) -> int:
        return len(self.signs)

    def gram(self, rows: IntArray, columns: IntArray) -> Array:
        """Block of M without what is on its diagonal alone."""
        first = take(self.objects, rows % self._n)
        K = self.kernel._gram(first, self.kernel.reference(self.objects, columns % self._n))
        K = np.array(K, dtype=float)
        if self.bias:
            K += self.bias
        K *= self.signs[columns]
        K *= self.signs[rows, None]
        return K

    def shift(self, rows: IntArray) -> Array:
        """What is on the diagonal alone."""
        return self.shifts[rows]

    def diag(self) -> Array:
        """The diagonal of M, with the shift."""
        k = np.asarray(self.kernel.diag(self.objects), dtype=float) + self.bias
        return np.tile(k, len(self.signs) // self._n) + self.shifts


@dataclass
class PairProblem:
    r"""Points :math:`\varphi(x_i)-\varphi(x_j)` for pairs in which i is to be above j."""

    kernel: Kernel
    objects: Objects
    above: IntArray
    below: IntArray
    cost: float

    @property
    def v(self) -> Array:
        """The linear term: none."""
        return np.zeros(len(self.above))

    def __len__(self) -> int:
        return len(self.above)

    def gram(self, rows: IntArray, columns: IntArray) -> Array:
        """Block of M: four kernels a pair of pairs, each object compared once."""
        used_r, at_r = np.unique([self.above[rows], self.below[rows]], return_inverse=True)
        used_c, at_c = np.unique([self.above[columns], self.below[columns]], return_inverse=True)
        K = self.kernel._gram(
            take(self.objects, used_r), self.kernel.reference(self.objects, used_c)
        )
        at_r, at_c = at_r.reshape(2, -1), at_c.reshape(2, -1)
        half = K[at_r[0]] - K[at_r[1]]
        return np.asarray(half[:, at_c[0]] - half[:, at_c[1]], dtype=float)

    def shift(self, rows: IntArray) -> Array:
        """1/C on the diagonal."""
        return np.full(len(rows), 1.0 / self.cost)

    def diag(self) -> Array:
        """The diagonal of M, with the shift."""
        k = np.asarray(self.kernel.diag(self.objects), dtype=float)
        cross = np.empty(len(self.above))
        for start in range(0, len(cross), 512):  # at most 1024 objects against each other
            rows = np.arange(start, min(start + 512, len(cross)))
            used, at = np.unique([self.above[rows], self.below[rows]], return_inverse=True)
            at = at.reshape(2, -1)
            K = self.kernel._gram(
                take(self.objects, used), self.kernel.reference(self.objects, used)
            )
            cross[rows] = K[at[0], at[1]]
        return k[self.above] + k[self.below] - 2 * cross + 1.0 / self.cost
