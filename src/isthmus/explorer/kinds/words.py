"""Sequences, sets of labels and plain numbers, as text in a picture."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus.explorer.kinds.picture import COLORS, INK, Picture, number, text

_WIDTH = 220.0
_LINE = 17.0
_PER_LINE = 22
_MOST_LINES = 12


def draw_sequence(symbols: Any, alphabet: Sequence[str] = ()) -> Picture:
    """Return the symbols of a sequence, in colours where they are of a small alphabet."""
    items = [str(symbol) for symbol in symbols][: _PER_LINE * _MOST_LINES]
    single = all(len(item) == 1 for item in items)
    if not single:
        return _lines([text(item, 26) for item in items])
    colors = dict(zip(alphabet, COLORS, strict=False)) if len(alphabet) <= len(COLORS) else {}
    width = _WIDTH / _PER_LINE
    cells = []
    for i, symbol in enumerate(items):
        line, place = divmod(i, _PER_LINE)
        color = colors.get(symbol, INK)
        cells.append(
            f'<text x="{(place + 0.5) * width:.1f}" y="{(line + 0.8) * _LINE:.1f}" '
            f'font-size="15" font-family="monospace" text-anchor="middle" fill="{color}">'
            f"{text(symbol)}</text>"
        )
    n_lines = max(1, -(-len(items) // _PER_LINE))
    return Picture(_WIDTH, n_lines * _LINE + 4, "".join(cells))


def draw_labels(members: Sequence[str], shares: Sequence[float] | None = None) -> Picture:
    """Return the members of a set, with the share of each where there is one."""
    if not len(members):
        return _lines(["∅ no label"])
    shown = [
        text(name, 24) if shares is None else f"{text(name, 18)} {share:.2f}"
        for name, share in zip(members, shares or [0.0] * len(members), strict=True)
    ]
    return _lines(shown)


def draw_numbers(values: Any, names: Sequence[str]) -> Picture:
    """Return names and numbers in two columns; beyond a page it says how many are left."""
    numbers = np.atleast_1d(np.asarray(values)).ravel()
    n_lines = min(len(numbers), _MOST_LINES)
    parts = []
    for i in range(n_lines):
        name = names[i] if i < len(names) else f"{i + 1}"
        value = numbers[i]
        shown = number(float(value)) if isinstance(value, (int, float, np.number)) else text(value)
        y = (i + 0.8) * _LINE
        parts.append(
            f'<text x="2" y="{y:.1f}" font-size="12" fill="{INK}" opacity="0.75">'
            f"{text(name, 20)}</text>"
            f'<text x="{_WIDTH - 2}" y="{y:.1f}" font-size="12" text-anchor="end" fill="{INK}">'
            f"{shown}</text>"
        )
    if len(numbers) > n_lines:
        left = f"and {len(numbers) - n_lines} more"
        parts.append(
            f'<text x="2" y="{(n_lines + 0.8) * _LINE:.1f}" font-size="12" fill="{INK}">{left}'
            "</text>"
        )
        n_lines += 1
    return Picture(_WIDTH, max(n_lines, 1) * _LINE + 4, "".join(parts))


def _lines(lines: Sequence[str]) -> Picture:
    """Lines of text that has been escaped."""
    shown = list(lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        shown.append(f"and {len(lines) - _MOST_LINES} more")
    body = "".join(
        f'<text x="2" y="{(i + 0.8) * _LINE:.1f}" font-size="13" fill="{INK}">{line}</text>'
        for i, line in enumerate(shown)
    )
    return Picture(_WIDTH, len(shown) * _LINE + 4, body)
