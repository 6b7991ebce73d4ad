"""Elements of movement: a start, an end, and the path between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus._checks import check_choice
from isthmus.typing import Array

JOINS = ("translate", "average")


def check_trajectory(trajectory: Any, owner: str) -> Array:
    """A trajectory as a float array (n_steps, ...), or an error that names what is wrong."""
    X = np.asarray(trajectory, dtype=float)
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim == 0 or len(X) < 2 or X[0].size == 0:
        raise ValueError(
            f"{owner} needs trajectories of shape (n_steps, n_coordinates) with at least 2 steps. "
            f"Got shape {X.shape} instead."
        )
    if not np.isfinite(X).all():
        step = int(np.flatnonzero(~np.isfinite(X.reshape(len(X), -1)).all(axis=1))[0])
        raise ValueError(
            f"{owner}: the trajectory contains NaN or infinity at step {step}. Fill gaps in the "
            "recording first, for example by interpolation."
        )
    return X


def resample(trajectory: Array, times: Array) -> Array:
    """The trajectory at times in [0, 1], by linear interpolation.

    >>> resample(np.array([[0.0], [1.0], [4.0]]), np.array([0.25, 0.75]))
    array([[0.5],
           [2.5]])
    """
    position = np.clip(times, 0.0, 1.0) * (len(trajectory) - 1)
    before = np.minimum(position.astype(int), len(trajectory) - 2)
    share = (position - before).reshape(-1, *([1] * (trajectory.ndim - 1)))
    between: Array = (1 - share) * trajectory[before] + share * trajectory[before + 1]
    return between


@dataclass(frozen=True, eq=False)
class MovementPrimitive:
    r"""An element of movement: where it starts, where it ends, and its shape.

    .. math:: \zeta(t) = a + (b - a)\, t / T + n(t), \qquad n(0) = n(T) = 0.

    Once the end points are separated from the shape, elements can be blended and chained without
    jumps.

    Parameters
    ----------
    start, end : ndarray of shape (...)
        The points a and b: coordinates, or markers times coordinates.
    shape : ndarray of shape (n_steps, ...)
        The shape n, zero at both ends.
    duration : float
        The duration T, in any unit.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import MovementPrimitive
    >>> stroke = MovementPrimitive.from_trajectory([[0, 0], [1, 2], [2, 0]], duration=0.5)
    >>> stroke.shape
    array([[0., 0.],
           [0., 2.],
           [0., 0.]])
    >>> stroke.move_to([5, 5]).trajectory()
    array([[5., 5.],
           [6., 7.],
           [7., 5.]])
    """

    __module__ = "isthmus.robotics"

    start: Array
    end: Array
    shape: Array
    duration: float

    @classmethod
    def from_trajectory(
        cls, trajectory: Any, *, duration: float | None = None
    ) -> "MovementPrimitive":
        """Decompose a recorded trajectory (n_steps, ...); by default it lasts n_steps - 1."""
        X = check_trajectory(trajectory, "MovementPrimitive")
        length = float(len(X) - 1) if duration is None else float(duration)
        if not (np.isfinite(length) and length > 0):
            raise ValueError(
                "The 'duration' of a MovementPrimitive must be a float in (0, inf). "
                f"Got {duration!r} instead."
            )
        return cls(X[0], X[-1], X - _straight(X[0], X[-1], len(X)), length)

    def trajectory(self, n_steps: int | None = None) -> Array:
        """The movement as points (n_steps, ...), by default as many as it was recorded with."""
        n = len(self.shape) if n_steps is None else n_steps
        if n < 2:
            raise ValueError(f"A trajectory needs at least 2 steps. Got n_steps={n}.")
        shape = self.shape if n == len(self.shape) else resample(self.shape, np.linspace(0, 1, n))
        points: Array = shape + _straight(self.start, self.end, n)
        return points

    def move_to(self, start: Any) -> "MovementPrimitive":
        """The same movement from another starting point."""
        at = np.asarray(start, dtype=float)
        return MovementPrimitive(at, self.end + (at - self.start), self.shape, self.duration)

    def between(self, start: Any, end: Any) -> "MovementPrimitive":
        """The same shape between other end points."""
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        return MovementPrimitive(a, b, self.shape, self.duration)


def concatenate(movements: Sequence[Any], *, join: str = "translate") -> MovementPrimitive:
    """Chain movements into one without a jump, in the order given.

    Parameters
    ----------
    movements : sequence of MovementPrimitive or array-like of shape (n_steps, ...)
        Elements, such as the strokes of letters.
    join : {"translate", "average"}, default="translate"
        Start each element where the previous one ends; or let neighbours meet halfway between end
        and start, which keeps the positions of elements that were recorded in this order.

    Returns
    -------
    MovementPrimitive
        All points; where two elements meet there is one point, not two.

    Examples
    --------
    >>> from isthmus.robotics import concatenate
    >>> concatenate([[[0.0], [1.0], [2.0]], [[7.0], [6.0]]]).trajectory().ravel()
    array([0., 1., 2., 1.])
    """
    check_choice(join, "join", "concatenate", JOINS)
    parts = [as_primitive(m) for m in movements]
    if not parts:
        raise ValueError("concatenate needs at least one movement. Got none.")
    if len({part.start.shape for part in parts}) > 1:
        raise ValueError(
            "concatenate needs movements with the same coordinates. Got "
            f"{', '.join(str(part.start.shape) for part in parts)}."
        )
    if join == "translate":
        chained = parts[:1]
        for part in parts[1:]:
            chained.append(part.move_to(chained[-1].end))
    else:
        meet = [(a.end + b.start) / 2 for a, b in pairwise(parts)]
        ends = [parts[0].start, *meet, parts[-1].end]
        chained = [p.between(a, b) for p, a, b in zip(parts, ends[:-1], ends[1:], strict=True)]
    points = [chained[0].trajectory(), *(part.trajectory()[1:] for part in chained[1:])]
    return MovementPrimitive.from_trajectory(
        np.concatenate(points), duration=sum(part.duration for part in parts)
    )


def as_primitive(movement: Any) -> MovementPrimitive:
    """A movement as it is, or made from its trajectory."""
    if isinstance(movement, MovementPrimitive):
        return movement
    return MovementPrimitive.from_trajectory(movement)


def _straight(start: Array, end: Array, n: int) -> Array:
    """Evenly spaced points from start to end, with exact end points."""
    share = np.linspace(0, 1, n).reshape(-1, *([1] * np.ndim(start)))
    line: Array = (1 - share) * start + share * end
    return line
