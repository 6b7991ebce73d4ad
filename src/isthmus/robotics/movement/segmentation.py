"""Recordings cut into known movements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import find_peaks

from isthmus.robotics.movement.primitive import MovementPrimitive, as_primitive, check_trajectory
from isthmus.series.warping import dtw
from isthmus.typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a recording, steps ``first`` to ``last`` inclusive, and the template it matches.

    Neighbouring segments share the step at which they meet.
    """

    __module__ = "isthmus.robotics"

    first: int
    last: int
    template: int
    cost: float

    def cut(self, trajectory: Any) -> MovementPrimitive:
        """This part of the recording, as a movement."""
        return MovementPrimitive.from_trajectory(np.asarray(trajectory)[self.first : self.last + 1])


def key_events(trajectory: Any, *, depth: float = 0.1) -> IntArray:
    """Steps at which a movement may be cut: its end points and the minima of its speed.

    Parameters
    ----------
    trajectory : array-like of shape (n_steps, ...)
        A recording with constant time steps.
    depth : float, default=0.1
        How far the speed has to fall to a minimum and rise again, relative to its largest value.

    Returns
    -------
    events : ndarray of int
        In order, with 0 and n_steps - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import key_events
    >>> t = np.linspace(0, 3 * np.pi, 91)
    >>> key_events(np.cos(t)).tolist()  # it rests where it turns
    [0, 30, 60, 90]
    """
    X = check_trajectory(trajectory, "key_events")
    speed = np.linalg.norm(np.gradient(X.reshape(len(X), -1), axis=0), axis=1)
    minima, _ = find_peaks(-speed, prominence=depth * speed.max() if speed.max() > 0 else None)
    return np.unique(np.concatenate([[0], minima, [len(X) - 1]]))


def segment(
    trajectory: Any,
    templates: Sequence[Any],
    *,
    events: Any = None,
    segment_cost: float = 0.001,
    max_stretch: float = 2.0,
) -> list[Segment]:
    """Explain a recording as a sequence of known movements.

    Between any two key events the shape of the recording (see :class:`MovementPrimitive`) is
    compared with that of every template by dynamic time warping, per step and in units of the
    variance of the recording; a second dynamic program chooses the cuts.

    Parameters
    ----------
    trajectory : array-like of shape (n_steps, ...)
        The recording.
    templates : sequence of MovementPrimitive or array-like of shape (n_steps, ...)
        The movements to look for.
    events : array-like of int, default=None
        Steps at which the recording may be cut. None: :func:`key_events`.
    segment_cost : float, default=0.001
        Cost of every segment; larger values give fewer segments.
    max_stretch : float, default=2.0
        Maximum factor by which a part may be longer or shorter than its template.

    Returns
    -------
    list of Segment
        From the first to the last event without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import segment
    >>> t = np.linspace(0, np.pi, 30)
    >>> hop, dip = np.c_[t, np.sin(t)], np.c_[t, -np.sin(t)]
    >>> line = np.vstack([hop, hop[-1] + dip[1:], hop[-1] + dip[-1] + hop[1:]])
    >>> [s.template for s in segment(line, [hop, dip], events=[0, 29, 58, 87])]
    [0, 1, 0]
    """
    X = check_trajectory(trajectory, "segment").reshape(len(trajectory), -1)
    at = key_events(X) if events is None else np.unique(np.asarray(events, dtype=int))
    if len(at) < 2 or at[0] < 0 or at[-1] >= len(X):
        raise ValueError(
            f"The 'events' parameter of segment must be two or more steps in [0, {len(X) - 1}]. "
            f"Got {events!r} instead."
        )
    known = [_flat_shape(as_primitive(t)) for t in templates]
    if not known or any(t.shape[1] != X.shape[1] for t in known):
        raise ValueError(
            f"segment needs templates with the {X.shape[1]} coordinates of the recording. Got "
            f"{', '.join(str(t.shape[1]) for t in known) or 'none'}."
        )
    variance = max(float(X.var(axis=0).sum()), np.finfo(float).tiny)
    best = np.full(len(at), np.inf)
    best[0] = 0.0
    came: list[Segment | None] = [None] * len(at)
    origin = np.zeros(len(at), dtype=int)
    for j in range(1, len(at)):
        for i in range(j):
            if not np.isfinite(best[i]):
                continue
            part = _flat_shape(MovementPrimitive.from_trajectory(X[at[i] : at[j] + 1]))
            for k, template in enumerate(known):
                stretch = (len(part) - 1) / (len(template) - 1)
                if not 1 / max_stretch <= stretch <= max_stretch:
                    continue
                # All paths of this step pattern have the total weight n + m.
                total = dtw(part, template, step="symmetric2")
                cost = total / (len(part) + len(template)) / variance
                share = cost * (at[j] - at[i]) / len(X) + segment_cost
                if best[i] + share < best[j]:
                    best[j], origin[j] = best[i] + share, i
                    came[j] = Segment(int(at[i]), int(at[j]), k, float(cost))
    if not np.isfinite(best[-1]):
        raise ValueError(
            "segment: no sequence of templates fits the length of this recording. Give more key "
            "events, or a larger max_stretch."
        )
    found, j = [], len(at) - 1
    while j > 0:
        piece = came[j]
        assert piece is not None
        found.append(piece)
        j = int(origin[j])
    return found[::-1]


def _flat_shape(movement: MovementPrimitive) -> Array:
    flat: Array = movement.shape.reshape(len(movement.shape), -1)
    return flat
