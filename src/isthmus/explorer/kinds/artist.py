"""Draws every object of a table in one scale, so that pictures can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus.explorer.kinds.bodies import draw_graph, draw_posture
from isthmus.explorer.kinds.choice import Kind, guess_kind, parse_kind
from isthmus.explorer.kinds.images import draw_image
from isthmus.explorer.kinds.lines import draw_bars, draw_curve, draw_strokes
from isthmus.explorer.kinds.picture import Picture, in_a_row, svg
from isthmus.explorer.kinds.words import draw_labels, draw_numbers, draw_sequence

_SAMPLE = 500


@dataclass(frozen=True)
class Artist:
    """What an object looks like: its kind, names of columns, the scale of all, their alphabet."""

    kind: Kind
    names: list[str] = field(default_factory=list)
    low: float = 0.0
    high: float = 1.0
    alphabet: tuple[str, ...] = ()

    def picture(self, thing: Any, *, turn: float = 0.6) -> Picture:
        """Return the picture of one object; ``turn`` is from where a posture is seen."""
        name = self.kind.name
        if name == "image":
            return draw_image(thing, self.kind.shape, self.low, self.high)
        if name == "curve":
            return draw_curve(thing, self.low, self.high, self._axis(len(thing)))
        if name == "bars":
            return draw_bars(thing, self.low, self.high, self.names)
        if name == "labels":
            return draw_labels(*self._members(thing))
        if name == "chain":
            return draw_posture(thing, self.kind.chain, turn)
        if name == "strokes":
            return draw_strokes(thing)
        if name == "graph":
            return draw_graph(thing, self.alphabet)
        if name == "sequence":
            return draw_sequence(thing, self.alphabet)
        return draw_numbers(thing, self.names)

    def svg(self, thing: Any, label: str, *, turn: float = 0.6, standalone: bool = False) -> str:
        """Return the picture of one object as an element of a page, or as a file."""
        return svg(self.picture(thing, turn=turn), label, standalone=standalone)

    def strip(self, things: Sequence[Any], *, turn: float = 0.6) -> Picture:
        """Return objects side by side."""
        return in_a_row([self.picture(thing, turn=turn) for thing in things])

    def _axis(self, n: int) -> np.ndarray | None:
        axis = self.kind.axis
        return np.linspace(*axis, n) if isinstance(axis, tuple) else axis

    def _members(self, thing: Any) -> tuple[list[str], list[float] | None]:
        if isinstance(thing, (set, frozenset, list, tuple)):
            return sorted(map(str, thing)), None
        shares = np.asarray(thing, dtype=float)
        names = self.names or [str(i) for i in range(len(shares))]
        there = np.flatnonzero(shares > 0.05)
        order = there[np.argsort(-shares[there], kind="stable")]
        if np.isin(shares, (0.0, 1.0)).all():
            return [names[i] for i in order], None
        return [names[i] for i in order], [float(shares[i]) for i in order]


def artist_for(
    objects: Any,
    *,
    names: list[str] | None = None,
    kind: Any = None,
    words: frozenset[str] = frozenset(),
) -> Artist:
    """Return the artist for such objects; ``kind`` is told or guessed.

    >>> import numpy as np
    >>> artist_for(np.arange(18.0).reshape(2, 9), kind="image").kind.shape
    (3, 3)
    """
    found = guess_kind(objects, names, words) if kind is None else parse_kind(kind)
    table = isinstance(objects, np.ndarray) and objects.ndim == 2
    found = found.check(objects.shape[1] if table else None)
    low, high = _ends(objects)
    return Artist(found, list(names or []), low, high, _alphabet(found, objects))


def _alphabet(kind: Kind, objects: Any) -> tuple[str, ...]:
    """The symbols or labels that occur, so that each has one colour in all pictures."""
    if kind.name not in ("sequence", "graph"):
        return ()
    some = objects[:_SAMPLE]
    parts = (getattr(one, "labels", ()) if kind.name == "graph" else one for one in some)
    return tuple(sorted({str(symbol) for part in parts for symbol in part})[:_SAMPLE])


def _ends(objects: Any) -> tuple[float, float]:
    try:
        if isinstance(objects, np.ndarray) and objects.ndim == 2:
            values = np.asarray(objects[:_SAMPLE], dtype=float).ravel()
        else:
            values = np.concatenate([np.ravel(one).astype(float) for one in objects[:_SAMPLE]])
    except (TypeError, ValueError):
        return 0.0, 1.0
    values = values[np.isfinite(values)]
    if not len(values) or values.min() == values.max():
        return 0.0, 1.0
    return float(values.min()), float(values.max())
