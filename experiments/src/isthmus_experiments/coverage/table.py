"""The published tables and figures, and how much of each the experiments remake."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from isthmus_experiments.coverage.declaration import Covers

if TYPE_CHECKING:
    from isthmus_experiments.registry import Experiment

__all__ = ["LEVELS", "Coverage", "Published", "coverage", "coverage_text", "list_published"]

LEVELS = ("full", "other data", "part", "none", "impossible")


@dataclass(frozen=True)
class Published:
    """One table or figure with results: how many it has, and why it cannot be remade, if so."""

    item: str
    results: int
    title: str
    impossible: str = ""


@dataclass(frozen=True)
class Coverage:
    """A published table or figure with what the experiments declare of it."""

    published: Published
    declared: Sequence[tuple[str, Covers]]

    @property
    def results(self) -> int:
        """How many of its results have a row, on any data."""
        return min(self._count(own=True) + self._count(own=False), self.published.results)

    @property
    def level(self) -> str:
        """One word of :data:`LEVELS`.

        *Full*: every result has a row on data of the published kind. *Other data*: every result
        has a row, some of them on other data. *Part*: some results have none.
        """
        own, other = self._count(own=True), self._count(own=False)
        if own >= self.published.results:
            return "full"
        if own + other >= self.published.results:
            return "other data"
        if own + other > 0:
            return "part"
        return "impossible" if self.published.impossible else "none"

    @property
    def why(self) -> str:
        """Why the data are others, or why it is remade in part or not at all; empty if neither."""
        reasons = dict.fromkeys(d.why for _, d in self.declared if d.why)
        return "; ".join(reasons) or self.published.impossible

    def _count(self, *, own: bool) -> int:
        return sum(
            c.results or self.published.results
            for _, c in self.declared
            if (c.way != "other data") == own
        )


def list_published() -> list[Published]:
    """Return every published table and figure that reports results, in the order of documents.

    >>> len(list_published())
    145
    """
    text = files(__package__).joinpath("published.csv").read_text(encoding="utf-8")
    lines = csv.DictReader(text.splitlines(), delimiter=";")
    found = [
        Published(line["item"], int(line["results"]), line["title"], line["impossible"])
        for line in lines
    ]
    return sorted(found, key=lambda p: _order(p.item))


def coverage(experiments: Iterable[Experiment]) -> list[Coverage]:
    """Return the coverage of every published table and figure by these experiments."""
    by_item: dict[str, list[tuple[str, Covers]]] = {p.item: [] for p in list_published()}
    for e in experiments:
        for declared in e.covers:
            if declared.item not in by_item:
                raise ValueError(
                    f"{e.id} covers {declared.item!r}, which the list of published tables and "
                    "figures does not have."
                )
            by_item[declared.item].append((e.id, declared))
    return [Coverage(p, by_item[p.item]) for p in list_published()]


def coverage_text(chosen: Sequence[Experiment] | None = None) -> str:
    """Return totals, and what is missing, in lines of text.

    With experiments given, only what these declare is listed.
    """
    from isthmus_experiments.registry import list_experiments

    found = coverage(list_experiments() if chosen is None else chosen)
    if chosen is not None:
        return "\n".join(_line(c) for c in found if c.declared)
    counts = Counter(c.level for c in found)
    cells = sum(c.results for c in found), sum(c.published.results for c in found)
    lines = [
        f"{len(found)} published tables and figures: "
        + ", ".join(f"{counts[level]} {level}" for level in LEVELS),
        f"{cells[0]} of their {cells[1]} cells and claims have a row of their own",
    ]
    for level in LEVELS:
        some = [c for c in found if c.level == level]
        if some:
            lines += ["", f"{level}:", *map(_line, some)]
    return "\n".join(lines)


def _line(c: Coverage) -> str:
    ids = ", ".join(dict.fromkeys(id for id, _ in c.declared))
    ways = "/".join(dict.fromkeys(d.way for _, d in c.declared))
    parts = [f"  {c.published.item}  {c.published.title}"]
    if c.declared:
        parts.append(f"{c.results}/{c.published.results} by {ways}: {ids}")
    return ". ".join(parts) + (f" ({c.why})" if c.why else "")


def _order(item: str) -> tuple[str, str, list[tuple[int, str]]]:
    """Documents, then tables before figures, then by number: 5.9 before 5.10, letters last."""
    document, kind, label = item.split()
    numbers = [(int(p), "") if p.isdigit() else (10**6, p) for p in label.split(".")]
    return document, {"table": "0", "figure": "1"}[kind], numbers
