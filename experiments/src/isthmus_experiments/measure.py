"""Measures that several experiments use."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["mae", "ratio", "rmse", "timed"]

T = TypeVar("T")


def mae(truth: ArrayLike, guess: ArrayLike) -> float:
    """Return the mean absolute error over all entries."""
    return float(np.mean(np.abs(np.subtract(truth, guess))))


def rmse(truth: ArrayLike, guess: ArrayLike) -> float:
    """Return the root of the mean squared error over all entries."""
    return float(np.sqrt(np.mean(np.subtract(truth, guess) ** 2)))


def timed(function: Callable[[], T], *, at_least: float = 0.2) -> tuple[T, float]:
    """Return the value of ``function`` and the seconds of its fastest call.

    It is called again until ``at_least`` seconds have passed: short times are mostly noise, and
    the fastest call is the least disturbed one.
    """
    best, spent = np.inf, 0.0
    while True:
        start = time.perf_counter()
        value = function()
        seconds = time.perf_counter() - start
        best, spent = min(best, seconds), spent + seconds
        if spent >= at_least:
            return value, best


def ratio(value: float) -> str:
    """Return a ratio of times as text.

    >>> ratio(74.6), ratio(3.14159)
    ('75 : 1', '3.1 : 1')
    """
    return f"{value:.0f} : 1" if value >= 10 else f"{value:.2g} : 1"
