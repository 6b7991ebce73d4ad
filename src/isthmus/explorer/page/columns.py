"""Fields and sliders for the columns of a row."""

from html import escape
from typing import Any

import numpy as np
import panel as pn

from isthmus.explorer.page.parts import readable
from isthmus.explorer.rows import Rows

MOST_FIELDS = 24


def named_columns(words: str, names: list[str]) -> list[int]:
    """Return the columns that a person has written: names, numbers from 1, or ranges.

    >>> named_columns("a, 3-4", ["a", "b", "c", "d"])
    [0, 2, 3]
    """
    places = {name: i for i, name in enumerate(names)}
    found: list[int] = []
    for part in (piece.strip() for piece in words.split(",")):
        first, _, last = part.partition("-")
        if part in places:
            found.append(places[part])
        elif part.isdigit():
            found.append(int(part) - 1)
        elif first.strip().isdigit() and last.strip().isdigit():
            found += range(int(first) - 1, min(int(last), len(names)))
    return sorted({i for i in found if 0 <= i < len(names)})


def first_columns(n: int) -> str:
    """What the field for columns says at first."""
    return f"1-{min(n, 8 if n > MOST_FIELDS else n)}"


class ColumnField:
    """One column: whether it is known, a slider and a field for its value."""

    def __init__(self, name: str, values: np.ndarray, value: float, *, known: bool | None):
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
        self.slider = pn.widgets.EditableFloatSlider(
            name=escape(name[:60]),  # which this widget, unlike others, takes for a piece of a page
            start=low,
            end=high,
            step=float(f"{(high - low) / 100:.3g}"),
            value=float(f"{value:.6g}") if np.isfinite(value) else (low + high) / 2,
            sizing_mode="stretch_width",
        )
        readable(self.slider)
        self.known = None
        if known is not None:
            self.known = pn.widgets.Checkbox(name="known", value=known, width=70)

    def watch(self, changed: Any) -> None:
        """Call back when something changes."""
        self.slider.param.watch(changed, "value")
        if self.known is not None:
            self.known.param.watch(changed, "value")

    @property
    def value(self) -> float:
        """The value, NaN where it is not known."""
        if self.known is not None and not self.known.value:
            return float("nan")
        return float(self.slider.value)

    def layout(self) -> Any:
        """Return the widgets."""
        parts = [self.slider] if self.known is None else [self.known, self.slider]
        return pn.Row(*parts, sizing_mode="stretch_width", styles={"max-width": "480px"})


def column_fields(
    rows: Rows, row: np.ndarray, columns: list[int], known: list[int] | None
) -> list[ColumnField]:
    """Return fields for some columns, at the values of a row."""
    names = rows.column_names()
    return [
        ColumnField(
            names[i],
            np.asarray(rows.objects[:2000, i], dtype=float),
            float(row[i]),
            known=None if known is None else i in known,
        )
        for i in columns[:MOST_FIELDS]
    ]
