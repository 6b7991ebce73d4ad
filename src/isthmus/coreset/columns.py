"""Kernel columns that are computed once and kept, within a budget of memory."""

from collections.abc import Callable

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.typing import Array, IntArray, Objects

CHUNK = 128  # columns that are allocated together where they come one by one
MANY = 32  # columns that come together and are kept as they are, without a copy


class KernelColumns:
    r"""Sums :math:`f(x)=\sum_jc_jk(x,x_j)` at watched objects, from columns that are kept.

    Columns belong to objects, not to the points that a machine makes of them: those of all
    classes, of both sides of a tube and of all pairs are the same.

    Parameters
    ----------
    kernel, objects : what is compared.
    megabytes : memory for columns. Those that do not fit are computed each time.
    """

    def __init__(self, kernel: Kernel, objects: Objects, megabytes: float):
        self.kernel, self.objects = kernel, objects
        self.n = n_objects(objects)
        self._numbers = int(megabytes * 2**20 / 8)
        self._rows: IntArray = np.empty(0, dtype=int)
        self._watched = objects
        self._values: Callable[[Objects], Array]  # kernels with the watched objects
        self._chunks: list[Array] = []
        self._starts: list[int] = []  # the first slot of each chunk
        self._slot = np.full(self.n, -1)  # where the column of an object is kept
        self._owner: IntArray = np.empty(0, dtype=int)  # whose column is in a slot

    def room(self, n_columns: int) -> int:
        """Number of objects that can be watched if ``n_columns`` columns are to be kept."""
        return self._numbers // max(1, n_columns)

    @property
    def watches_all(self) -> bool:
        """Whether the sums at watched objects are those at all objects."""
        return len(self._rows) == self.n

    def watch(self, rows: IntArray) -> None:
        """Keep columns at these objects from now on; nothing is lost if they are the same."""
        if np.array_equal(rows, self._rows):
            return
        self._rows = rows
        everything = len(rows) == self.n
        self._watched = self.objects if everything else take(self.objects, rows)
        reference = self.kernel.reference(self.objects, None if everything else rows)
        self._values = self.kernel.against_in_fit(reference)
        self._chunks, self._starts, self._owner = [], [], np.empty(0, dtype=int)
        self._slot[:] = -1

    def sums(self, used: IntArray, weights: Array) -> Array:
        """The sums over the objects ``used``, each named once, at the watched objects."""
        lacking = used[self._slot[used] < 0]
        if len(lacking):
            self._keep(lacking, used)
        slots = self._slot[used]
        kept = slots >= 0
        spread = np.zeros(len(self._owner))
        spread[slots[kept]] = weights[kept]
        total = np.zeros(len(self._rows))
        for start, chunk in zip(self._starts, self._chunks, strict=True):
            part = spread[start : start + len(chunk)]
            if part.any():
                total += part @ chunk[: len(part)]
        if not kept.all():
            total += self._computed(self._watched, used[~kept], weights[~kept])
        return total

    def sums_at_all(self, used: IntArray, weights: Array) -> Array:
        """The sums at all objects, computed block by block and not kept."""
        return self._computed(self.objects, used, weights)

    def sums_at(self, rows: IntArray, used: IntArray, weights: Array) -> Array:
        """The sums at some objects, not kept either."""
        return self._computed(take(self.objects, rows), used, weights)

    def at_watched(self, objects: IntArray) -> Array:
        """Kernels of some objects with those that are watched, (n, n_watched), not kept."""
        return self._columns(objects)

    def block(self, rows: IntArray, columns: IntArray) -> Array:
        """Kernels of some objects with others."""
        return self.gram(take(self.objects, rows), columns)

    def gram(self, some: Objects, columns: IntArray) -> Array:
        return np.asarray(
            self.kernel.gram(some, self.kernel.reference(self.objects, columns)), dtype=float
        )

    def _computed(self, objects: Objects, used: IntArray, weights: Array) -> Array:
        values = np.empty(n_objects(objects))
        for rows in block_slices(len(values), len(used)):
            values[rows] = self.gram(take(objects, rows), used) @ weights
        return values

    def _keep(self, lacking: IntArray, used: IntArray) -> None:
        """Compute columns and keep those that fit, if need be in place of idle ones."""
        most = self.room(len(self._rows))
        free = np.arange(len(self._owner), max(most, len(self._owner)))
        if len(lacking) > len(free):
            idle = np.flatnonzero(~np.isin(self._owner, used))
            free = np.concatenate([free, idle])
        free = np.sort(free[: len(lacking)])
        lacking = lacking[: len(free)]
        if not len(free):
            return
        n_known = len(self._owner)
        grown = np.full(max(int(free[-1]) + 1, n_known), -1)
        grown[:n_known] = self._owner
        left = grown[free]
        self._slot[left[left >= 0]] = -1
        grown[free] = lacking
        self._owner = grown
        self._slot[lacking] = free
        known = free < n_known
        self._replace(free[known], lacking[known])
        self._append(n_known, lacking[~known], most)

    def _replace(self, slots: IntArray, objects: IntArray) -> None:
        """Columns in the place of others; slots that follow each other are filled together."""
        if not len(slots):
            return
        chunks = np.searchsorted(self._starts, slots, side="right") - 1
        breaks = np.flatnonzero((np.diff(slots) != 1) | (np.diff(chunks) != 0)) + 1
        for part in np.split(np.arange(len(slots)), breaks):
            at = chunks[part[0]]
            first = slots[part[0]] - self._starts[at]
            self._chunks[at][first : first + len(part)] = self._columns(objects[part])

    def _append(self, first: int, objects: IntArray, most: int) -> None:
        """Columns in slots that have not been used, from ``first`` on."""
        while len(objects):
            end = self._starts[-1] + len(self._chunks[-1]) if self._chunks else 0
            if first == end:  # no room in the last chunk
                self._starts.append(end)
                if len(objects) >= MANY:
                    self._chunks.append(self._columns(objects))
                    return
                self._chunks.append(np.empty((min(CHUNK, most - end), len(self._rows))))
                end += len(self._chunks[-1])
            n = min(end - first, len(objects))
            place = first - self._starts[-1]
            self._chunks[-1][place : place + n] = self._columns(objects[:n])
            first, objects = first + n, objects[n:]

    def _columns(self, objects: IntArray) -> Array:
        """Kernels of some objects with those that are watched."""
        values = self._values(take(self.objects, objects))
        return np.ascontiguousarray(values, dtype=np.float64)
