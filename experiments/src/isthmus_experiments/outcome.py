"""What an experiment returns: rows of a table, pictures drawn on demand, notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Outcome", "Picture", "Row", "format_value"]


@dataclass(frozen=True)
class Row:
    """One published finding next to ours.

    Parameters
    ----------
    quantity : str
        What is compared, for example ``"time, gradient : fixed point"``.
    published, ours : str, float or None
        The two values; None if there is none.
    verdict : str
        In words; where the two differ, with our explanation.
    agrees : bool or None
        None for a row that is only for information.
    """

    quantity: str
    published: str | float | None
    ours: str | float | None
    verdict: str
    agrees: bool | None = None


@dataclass(frozen=True)
class Picture:
    """A figure that is drawn only for a report, so that runs need no matplotlib."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Outcome:
    """Everything that one run of an experiment found."""

    rows: Sequence[Row]
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = field(default=())


def format_value(value: str | float | None) -> str:
    """Return a table cell: text as it is, numbers to four digits, a dash for nothing.

    >>> [format_value(value) for value in (0.123456, 1400.0, None, "30 x 30")]
    ['0.1235', '1400', '–', '30 x 30']
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:.4g}"
