"""Draws of an experiment that accumulate over runs, so that a long run can be stopped and resumed.

An experiment asks for its draws by ``draws(draw, n, progress)``. In a plain run this is
``[draw(i) for i in range(n)]``. Where results are kept, every draw is written when it is done, and
a later run computes only those that are missing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from isthmus_experiments.registry import Progress

__all__ = ["Store", "drawing_into", "draws", "plain"]

_STORE: ContextVar[Store | None] = ContextVar("store", default=None)


class Store:
    """Draws of one experiment in a file, and how long a run may go on drawing.

    Parameters
    ----------
    path : Path or None
        The file; None keeps nothing.
    about : mapping
        What the draws depend on (settings, seed). Draws that were made for anything else are
        dropped.
    seconds : float or None
        After so many seconds no further draw is begun; a first one always is.
    values : sequence
        Draws that are known already; those in the file come before them.
    """

    def __init__(
        self,
        path: Path | None,
        about: Mapping[str, Any],
        *,
        seconds: float | None = None,
        values: Sequence[Any] = (),
    ):
        self.path = path
        self.about = plain(about)
        self.end = None if seconds is None else time.monotonic() + seconds
        self.seconds_before = 0.0
        self.asked = 0
        self.period = 1
        self.values: list[Any] = list(values)
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["about"] == self.about:
                self.values, self.seconds_before = kept["values"], kept["seconds"]
        self._seconds = self.seconds_before

    def draw(
        self, draw: Callable[[int], Any], n: int, progress: Progress, period: int = 1
    ) -> list[Any]:
        """Return the first ``n`` draws, or as many as there are when the time is over."""
        self.asked, self.period = n, period
        for i in range(len(self.values), n):
            if i > 0 and self.end is not None and time.monotonic() >= self.end:
                break
            progress(i / n, f"draw {i + 1} of {n}")
            start = time.monotonic()
            self.values.append(plain(draw(i)))
            self._seconds += time.monotonic() - start
            self._write()
        return self.values[:n]

    @property
    def done(self) -> int:
        """How many draws the result stands on; 0 if the experiment has none of this kind."""
        return min(len(self.values), self.asked)

    def _write(self) -> None:
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(
            {"about": self.about, "seconds": round(self._seconds, 1), "values": self.values}
        )
        # Renamed when whole: a run that is stopped while it writes loses nothing.
        part = self.path.with_suffix(".part")
        part.write_text(text + "\n", encoding="utf-8")
        os.replace(part, self.path)


@contextmanager
def drawing_into(store: Store) -> Iterator[Store]:
    """Let the experiment that runs inside draw from ``store``."""
    token = _STORE.set(store)
    try:
        yield store
    finally:
        _STORE.reset(token)


def draws(draw: Callable[[int], Any], n: int, progress: Progress, *, period: int = 1) -> list[Any]:
    """Return ``[draw(0), ..., draw(n - 1)]``, those read from a file that were kept there.

    Parameters
    ----------
    draw : callable ``(i) -> value``
        One data set with everything that is measured on it. All its randomness comes from the
        seed and ``i``. The value is made of numbers, texts, lists and dictionaries with texts as
        keys; arrays come back as lists.
    n : int
        How many are wanted. There may be fewer where the time of a run is limited, never none.
    progress : callable
        That of the experiment.
    period : int
        Draws ``i`` and ``i + period`` measure the same thing on another data set; 1 where all do.

    An experiment calls this once: its settings and seed are what the kept draws are known by.

    >>> draws(lambda i: {"error": i / 2}, 2, lambda share, message="": None)
    [{'error': 0.0}, {'error': 0.5}]
    """
    store = _STORE.get() or Store(None, {})
    return store.draw(draw, n, progress, period)


def plain(value: Any) -> Any:
    """Return a value as JSON gives it back: lists for tuples and arrays, Python's own numbers.

    >>> plain({"a": (1, np.float64(0.5)), 2: np.ones(2)})
    {'a': [1, 0.5], '2': [1.0, 1.0]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
