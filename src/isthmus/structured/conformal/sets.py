"""The sets that are predicted: intervals, balls, boxes and lists of objects."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus.typing import Array


@dataclass(frozen=True)
class Interval:
    """All numbers between two ends, both included."""

    __module__ = "isthmus.structured"

    low: float
    high: float

    def __contains__(self, y: Any) -> bool:
        return bool(self.low <= float(np.squeeze(y)) <= self.high)

    @property
    def size(self) -> float:
        """Its length."""
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Ball:
    """All vectors within a distance of a centre."""

    __module__ = "isthmus.structured"

    center: Array
    radius: float

    def __contains__(self, y: Any) -> bool:
        return bool(np.linalg.norm(np.asarray(y) - self.center) <= self.radius)

    @property
    def size(self) -> float:
        """Its radius."""
        return self.radius


@dataclass(frozen=True, eq=False)
class Box:
    """All vectors between two corners."""

    __module__ = "isthmus.structured"

    low: Array
    high: Array

    def __contains__(self, y: Any) -> bool:
        return bool(((np.asarray(y) >= self.low) & (np.asarray(y) <= self.high)).all())

    @property
    def size(self) -> float:
        """The mean length of its edges."""
        return float(np.mean(self.high - self.low))


class ObjectSet:
    """Objects whose score is low enough, best first.

    ``complete`` says whether ``objects`` lists all of them: where any word or graph may be the
    answer, only those that a search met are listed. Membership is decided by the score, so it
    holds for objects that are not listed too.
    """

    __module__ = "isthmus.structured"

    __slots__ = ("_names", "_scores", "_start", "_stop", "accepts", "complete")

    def __init__(
        self,
        objects: list[Any],
        scores: Array,
        complete: bool,
        accepts: Callable[[Any], bool] | None = None,
        start: int = 0,
        stop: int | None = None,
    ):
        # Sets of many rows share one list, of which each has a part, cut where it is asked for.
        self._names = objects
        self._scores = scores
        self._start = start
        self._stop = len(objects) if stop is None else stop
        self.complete = complete
        self.accepts = accepts

    @property
    def objects(self) -> list[Any]:
        """The objects that are listed."""
        return self._names[self._start : self._stop]

    @property
    def scores(self) -> Array:
        """Their scores."""
        return self._scores[self._start : self._stop]

    def accepted_by(self, accepts: Callable[[Any], bool]) -> "ObjectSet":
        """The same objects of a set that is larger: whatever ``accepts`` says is in it."""
        names, scores = self._names, self._scores
        return ObjectSet(names, scores, self.complete, accepts, self._start, self._stop)

    def __reduce__(self) -> Any:
        # Without what belongs to other rows.
        return ObjectSet, (self.objects, self.scores, self.complete, self.accepts)

    def __repr__(self) -> str:
        return (
            f"ObjectSet(objects={self.objects!r}, scores={self.scores!r}, "
            f"complete={self.complete!r})"
        )

    def __contains__(self, y: Any) -> bool:
        if self.accepts is not None:
            return self.accepts(y)
        return any(np.array_equal(y, other) for other in self.objects)

    def __iter__(self) -> Any:
        return iter(self.objects)

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def size(self) -> float:
        """The number of objects listed."""
        return float(len(self))


def parts_of(objects: list[Any], scores: Array, ends: list[int], complete: bool) -> list[ObjectSet]:
    """The sets of many rows, from their objects and scores one row after the other.

    Row i has those from ``ends[i]`` to ``ends[i + 1]``.
    """
    return [ObjectSet(objects, scores, complete, None, i, j) for i, j in pairwise(ends)]
