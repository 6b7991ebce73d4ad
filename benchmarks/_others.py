"""How many processors other processes take while something is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

QUIET = 0.1  # processors of others up to which a time is taken for undisturbed


def busy_seconds() -> float:
    """CPU seconds of all processes since the machine started; NaN where no system file tells."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return float("nan")
    user, nice, system, _idle, _waiting, *rest = map(int, numbers)
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def watched() -> Iterator[list[float]]:
    """A list that holds the processors others took in the block, once it has ended.

    >>> with watched() as others:
    ...     assert others == []
    >>> len(others)
    1
    """
    found: list[float] = []
    busy, own, start = busy_seconds(), time.process_time(), time.perf_counter()
    yield found
    wall = max(time.perf_counter() - start, 1e-9)
    others = busy_seconds() - busy - (time.process_time() - own)
    found.append(max(others, 0.0) / wall)
