"""What an experiment declares: which published result it remakes, how much of it, and how."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WAYS", "Covers"]

#: How a published result is remade.
WAYS = ("value", "claim", "other data")


@dataclass(frozen=True)
class Covers:
    """Part or all of one published table or figure.

    Parameters
    ----------
    item : str
        Document and number, for example ``"003 table 5.1"``.
    results : int
        How many of its cells or claims have a row; 0 for all of them.
    way : {"value", "claim", "other data"}
        ``"value"``: a published number stands beside ours and is judged by a band. ``"claim"``:
        what is published has no number, or only its order is judged. ``"other data"``: the
        published data are not available, and others take their place.
    why : str
        Why the data are others, or why not all of it is remade. Must be given for other data.

    >>> Covers("004 table 5.1", 24)
    Covers(item='004 table 5.1', results=24, way='value', why='')
    """

    item: str
    results: int = 0
    way: str = "value"
    why: str = ""

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise ValueError(f"way must be one of {', '.join(WAYS)}. Got {self.way!r}.")
        if self.way == "other data" and not self.why:
            raise ValueError(f"{self.item} is remade on other data: why must say the reason.")
        if self.results < 0:
            raise ValueError(f"results must be at least 0. Got {self.results}.")
