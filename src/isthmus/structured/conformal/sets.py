"""The sets that are predicted: intervals, balls, boxes and lists of objects."""

from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass(eq=False)
class ObjectSet:
    """Objects whose score is low enough, best first.

    ``complete`` says whether ``objects`` lists all of them: where any word or graph may be the
    answer, only those that a search met are listed. Membership is decided by the score, so it
    holds for objects that are not listed too.
    """

    __module__ = "isthmus.structured"

    objects: list[Any]
    scores: Array
    complete: bool
    accepts: Callable[[Any], bool] | None = field(default=None, repr=False)

    def __contains__(self, y: Any) -> bool:
        if self.accepts is not None:
            return self.accepts(y)
        return any(np.array_equal(y, other) for other in self.objects)

    def __iter__(self) -> Any:
        return iter(self.objects)

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def size(self) -> float:
        """The number of objects listed."""
        return float(len(self.objects))
