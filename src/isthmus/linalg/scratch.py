"""Memory that is kept from one call to the next.

To touch fresh memory takes longer than to compute what goes there: a step of a descent that asks
for its blocks anew each time spends most of its time in the operating system.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

import numpy as np

from isthmus.typing import Array

# Doubles that are kept in a buffer, and buffers that are kept; larger ones go back at once.
_LARGEST, _KEPT = 2**20, 4
LINE = 8  # doubles of a line of the cache
_free: list[Array] = []


@contextmanager
def scratch(*shape: int) -> Iterator[Array]:
    """Lend an array of doubles with unknown content, for the body of a ``with`` statement alone.

    >>> with scratch(2, 3) as block:
    ...     block.shape
    (2, 3)
    """
    size = prod(shape)
    try:
        # Taking from a list and adding to it are single steps: threads do not share a buffer.
        buffer = _free.pop()
    except IndexError:
        buffer = np.empty(0)
    if len(buffer) < size:
        buffer = np.empty(size)
    try:
        yield buffer[:size].reshape(shape)
    finally:
        if len(buffer) <= _LARGEST and len(_free) < _KEPT:
            _free.append(buffer)


def from_a_line(memory: Array, size: int) -> Array:
    """So many numbers of lent memory, from where a line of the cache begins: lend eight more.

    >>> with scratch(24) as memory:
    ...     len(from_a_line(memory, 16))
    16
    """
    start = -memory.__array_interface__["data"][0] // memory.itemsize % LINE
    return memory[start : start + size]
