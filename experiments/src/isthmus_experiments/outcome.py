"""What an experiment hands back: rows of a table, pictures drawn on demand, notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Outcome", "Picture", "Row", "shown"]


@dataclass(frozen=True)
class Row:
    """One published finding beside ours.

    Parameters
    ----------
    quantity : str
        What is compared, for example ``"time, gradient : fixed point"``.
    published, ours : str, float or None
        The two values; None where a side has none.
    verdict : str
        In words, with our reading of why where the two differ.
    agrees : bool or None
        None for a row that only informs.
    """

    quantity: str
    published: str | float | None
    ours: str | float | None
    verdict: str
    agrees: bool | None = None


@dataclass(frozen=True)
class Picture:
    """A figure drawn only when a report wants it, so that runs need no matplotlib."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Outcome:
    """All that one run of an experiment found."""

    rows: Sequence[Row]
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = field(default=())


def shown(value: str | float | None) -> str:
    """Return a table cell: text as it is, numbers to four digits, a dash for nothing.

    >>> shown(0.123456), shown(1400.0), shown(None), shown("30 x 30")
    ('0.1235', '1400', '–', '30 x 30')
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:.4g}"
