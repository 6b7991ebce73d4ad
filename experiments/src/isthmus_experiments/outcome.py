"""What an experiment returns: rows of a table, pictures drawn on demand, notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BAND", "FINDINGS", "Outcome", "Picture", "Row", "count_findings", "format_value"]


#: How close a number must be to a published one to count as reproduced, as a share of it.
BAND = 0.2
UNPUBLISHED = frozenset({"", "-", "–", "—", "none", "not published", "not tried"})
FINDINGS = ("reproduced", "holds", "observed", "differs")


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
        Whether what the verdict says is so; None for a row that is only for information.
    """

    quantity: str
    published: str | float | None
    ours: str | float | None
    verdict: str
    agrees: bool | None = None

    @property
    def finding(self) -> str:
        """One word: reproduced, holds, observed, differs or informs.

        *Reproduced*: a number was published, and ours is within :data:`BAND` of it. *Holds*: what
        was published is a claim, or its number is not met so closely, and the claim is so with us.
        *Observed*: nothing was published, and what the verdict says is ours alone.

        >>> [Row("", p, o, "", True).finding for p, o in ((2.0, 2.2), (2.0, 3.0), (None, 3.0))]
        ['reproduced', 'holds', 'observed']
        """
        if self.agrees is None:
            return "informs"
        if not self.agrees:
            return "differs"
        if not self.is_published:
            return "observed"
        published, ours = _first_number(self.published), _first_number(self.ours)
        if published is None or ours is None:
            return "holds"
        return "reproduced" if abs(ours - published) <= BAND * abs(published) else "holds"

    @property
    def is_published(self) -> bool:
        """Whether there is something to stand against."""
        return self.published is not None and self.published not in UNPUBLISHED


def _first_number(value: str | float | None) -> float | None:
    """The number that a cell is, or begins with; a text that begins with words is a claim."""
    if not isinstance(value, str):
        return None if value is None else float(value)
    found = re.match(r"\s*([-+\N{MINUS SIGN}]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)", value)
    return float(found[1].replace("\N{MINUS SIGN}", "-")) if found else None


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


def count_findings(rows: Sequence[Row]) -> str:
    """How many findings there are of each kind, in words.

    >>> count_findings([Row("", 2.0, 2.1, "", True), Row("", None, 2.1, "", True)])
    '1 reproduced, 0 hold, 1 observed, 0 differ'
    """
    words = [row.finding for row in rows]
    counts = [words.count(word) for word in FINDINGS]
    return "{} reproduced, {} hold, {} observed, {} differ".format(*counts)


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
