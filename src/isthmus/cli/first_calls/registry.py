"""Where pieces of work are entered under a name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Work = Callable[[np.random.Generator], object]
FIRST_CALLS: dict[str, Work] = {}


def first_call(name: str) -> Callable[[Work], Work]:
    """Register the decorated function, which is given a generator, under ``name``."""

    def register(work: Work) -> Work:
        FIRST_CALLS[name] = work
        return work

    return register
