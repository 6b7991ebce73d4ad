"""Differences of evenly spaced numbers: few are distinct, and each is looked at once."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.typing import Array, IntArray

# Rounding of inputs, in units of the largest, by which they may lie off the grid: those of
# ``np.linspace`` and of multiples of a step do by one or two.
ROUNDINGS = 4
# Pairs for each distinct difference from which it pays to look for them.
LEAST_PAIRS = 4
# Pairs at a time, which stay in the cache.
BLOCK_PAIRS = 2**16


class Lags(NamedTuple):
    """Two columns as places on one grid, gaps allowed."""

    distances: Array  # of 0, 1, 2, … steps
    left: IntArray
    right: IntArray

    def spread(self, values: Array) -> Array:
        """The matrix of pairs, from a value for each distance."""
        K = np.empty((len(self.left), len(self.right)), dtype=values.dtype)
        for rows, steps in self._steps():
            np.take(values, steps, out=K[rows], mode="clip")  # the mode that writes in place
        return K

    def collect(self, W: Array) -> Array:
        """Sums of a matrix of pairs over those of each distance."""
        total = np.zeros(len(self.distances))
        for rows, steps in self._steps():
            total += np.bincount(steps.ravel(), W[rows].ravel(), len(total))
        return total

    def _steps(self) -> Iterator[tuple[slice, IntArray]]:
        """Blocks of rows, with the numbers of steps from them to each entry of the other column."""
        width = max(1, len(self.right))
        for rows in block_slices(len(self.left), width, block_size=max(1, BLOCK_PAIRS // width)):
            yield rows, np.abs(self.left[rows, None] - self.right)


def common_lags(x: Array, z: Array) -> Lags | None:
    """Places of two vectors on a grid with a step that occurs; None where there is no such grid.

    Numbers may lie off the grid by a few units of their last digit.

    >>> import numpy as np
    >>> common_lags(0.1 * np.arange(6), np.array([0.0, 0.1, 0.2, 0.5])).right.tolist()
    [0, 1, 2, 5]
    >>> common_lags(np.arange(6.0), np.arange(6.0) ** 1.5) is None
    True
    """
    if x.dtype != np.float64 or z.dtype != np.float64:
        return None
    together = x if z is x else np.concatenate([x, z])
    if not len(together):
        return None
    inner = np.sort(together)
    low, reach = inner[0], inner[-1] - inner[0]
    rounding = ROUNDINGS * np.finfo(np.float64).eps * max(-low, inner[-1])
    gaps = np.diff(inner)
    gaps = gaps[gaps > 2 * rounding]
    if not len(gaps) or not reach < gaps.min() * (len(x) * len(z) / LEAST_PAIRS):
        return None
    n_steps = np.rint(reach / gaps.min())
    step = reach / n_steps
    places = np.rint((together - low) / step)
    if np.abs(together - low - places * step).max() > rounding:
        return None
    distances = step * np.arange(int(n_steps) + 1)
    found = places.astype(np.intp)
    return Lags(distances, found[: len(x)], found if z is x else found[len(x) :])
