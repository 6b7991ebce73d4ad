"""Memory that a worker of a cluster keeps while it is at a block.

Dask tells its workers to give freed memory back to the system at once, and each array of more than
128 kB is then made of fresh memory, which the system clears first: a map of a block that makes many
takes twice as long. While a block is mapped, what is freed is kept for the next array.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

# Parameters of the GNU allocator, see mallopt(3), with the values that hold inside and, unless the
# environment says otherwise, outside: bytes at the end of a heap that are given back, and of an
# array that gets memory of its own.
TRIM, MMAP = -1, -3
INSIDE = {TRIM: 256 * 2**20, MMAP: 32 * 2**20}
FRESH = 128 * 2**10

_lock = Lock()
_inside = 0


def _started_with() -> dict[str, str]:
    """The environment in which the process began, which alone its allocator has read.

    That of a process which starts workers may hold theirs.
    """
    try:
        lines = Path("/proc/self/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


@cache
def _allocator() -> tuple[Callable[[int, int], int], int] | None:
    """The function that sets a parameter, and the bytes given back outside.

    None where the allocator is another, or keeps memory anyway, or was told what to do.
    """
    environment = _started_with()
    given = environment.get("MALLOC_TRIM_THRESHOLD_", "")
    if not given.isdecimal() or "MALLOC_MMAP_THRESHOLD_" in environment:
        return None
    try:
        return ctypes.CDLL(None).mallopt, int(given)
    except (AttributeError, OSError, TypeError):
        return None


@contextmanager
def memory_kept() -> Iterator[None]:
    """Keep memory that is freed in a section, which several threads may enter at once.

    >>> with memory_kept():
    ...     pass
    """
    found = _allocator()
    if found is None:
        yield
        return
    mallopt, trim = found
    _count(1, mallopt, INSIDE)
    try:
        yield
    finally:
        _count(-1, mallopt, {TRIM: trim, MMAP: FRESH})


def _count(change: int, mallopt: Callable[[int, int], int], values: dict[int, int]) -> None:
    """The first to enter and the last to leave set the parameters."""
    global _inside
    with _lock:
        if _inside == (change < 0):
            for parameter, value in values.items():
                mallopt(parameter, value)
        _inside += change
