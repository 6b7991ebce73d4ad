"""Landmarks and other rows drawn from whatever holds the rows, in one pass."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus.blocks.drawing import take_rows
from isthmus.blocks.rows import Rows
from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import take
from isthmus.kernels.vectors.width import MAX_ROWS
from isthmus.typing import Array, IntArray, Objects


class DrawnRows:
    """Some of the rows that are held in blocks, by their numbers.

    Parameters
    ----------
    rows : Rows
    *wanted : arrays of row numbers
        What is going to be asked for. Rows that a kernel takes its width from come besides: those
        that it would take of an array.
    kernel : Kernel
        Says in which form objects are compared.
    """

    def __init__(self, rows: Rows, *wanted: IntArray, kernel: Kernel):
        self.n_rows = rows.count()
        self._kernel = kernel
        self._for_width = sample_rows(self.n_rows, MAX_ROWS, sort=False)
        self._numbers = np.unique(np.concatenate([*wanted, self._for_width]))
        objects, *self._others = take_rows(rows, self._numbers)
        self._objects = checked_block(kernel, objects)

    def part(self, numbers: IntArray) -> tuple[Objects, Sequence[Array]]:
        """Objects of these numbers, and what goes along with them."""
        at = np.searchsorted(self._numbers, numbers)
        return take(self._objects, at), [np.asarray(other)[at] for other in self._others]

    def resolve(self, kernel: Kernel) -> Kernel:
        """The kernel with numbers from the rows, as it would take them of an array."""
        return kernel.resolve(self.part(self._for_width)[0])


def checked_block(kernel: Kernel, X: Any) -> Objects:
    """A block as the kernel compares it; rows of numbers have been checked when they were read."""
    return X if kernel.vectors else kernel.check(X)
