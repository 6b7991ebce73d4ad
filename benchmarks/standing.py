"""``python -m benchmarks.standing``: what the pages say together: rows lost and why, and goals.

Nothing is measured here: all is read from the pages of ``results``. A ratio is the peer's time over
ours, so a row with one below 1, on one thread or by default, is lost. What both sides reached
decides whether it is lost at equal quality, or bought something.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._harness import Benchmark, discover
from benchmarks._report import sections_of

RESULTS = Path(__file__).parent / "results"
PAGE = RESULTS / "standing.md"
EQUAL = 0.02  # qualities within this share of the peer's are the same
ROUNDING = 1e-6  # residuals and gaps below it are all nought
KINDS = ("equal", "better", "worse", "mixed", "not compared")

# Of most named qualities less is better: errors, objectives, sizes. Of these more is,
MORE = {"accuracy", "svm accuracy", "area", "correlation", "eigenvalue sum", "explained"}
MORE |= {"log likelihood", "log-likelihood", "PSNR", "reached", "recovered", "right side"}
MORE |= {"share of variance", "tau", "true ones", "trustworthiness", "variance"}
# and these say what was done, not how well.
NEUTRAL = {"bound", "coverage", "hsic", "non-zeros", "p-value", "ratio of distances", "square"}


@dataclass(frozen=True)
class Standing:
    """One row of a page: its ratios, and what ours reached beside the peer."""

    benchmark: str
    case: str
    ratio: float
    default: float
    kind: str

    @property
    def lost(self) -> bool:
        return self.ratio < 1 or self.default < 1


@dataclass(frozen=True)
class Goal:
    """A ratio that some rows are to reach, on one thread and by default."""

    work: str
    rows: tuple[tuple[str, str], ...]  # name of a benchmark, and what its cases match
    least: float


def _goal(work: str, least: float, **rows: str) -> Goal:
    return Goal(work, tuple((name.replace("_", "-"), case) for name, case in rows.items()), least)


GOALS = (
    _goal("slow features of a stream, against deeptime", 1, slow_stream=""),
    _goal("noisy basis pursuit, 2000 numbers and more", 1.5, pursuit_noise="[24] 000"),
    _goal("factorisation with default settings", 1.5, nmf_default=""),
    _goal("L1 codes at a small penalty, against SPAMS", 1.2, code_spams_penalty="0.01"),
    _goal("fixed-point pre-images of noisy digits", 1, digits_gaussian="fixed point"),
    _goal("`CoreVectorClassifier` of 10 000 rows and more", 1.5, core_svc=""),
    _goal("distance-correlation reduction in closed form", 1, reduction_closed_form="0 000"),
    _goal("the same, by default", 0.1, reduction_default="0 000"),
    _goal("inducing points, at most the peer's error", 1, gp_inducing_100=""),
    _goal("dictionaries, to the same objective", 10, dictionary_equal=""),
    _goal("predictions of local lines", 10, local_linear_predict=""),
    _goal("step of a manifold, Gaussian, against plain NumPy", 6, manifold_step_gaussian=""),
    _goal("Stiefel iteration, plain inputs", 10, rank_descent="plain"),
    _goal("Huber's loss, plain inputs", 10, rank_huber="plain"),
    _goal("support features, against L1 and elimination", 1, features_l1="", features_rfe=""),
    _goal("gradient of distance correlation", 6, reduction_gradient=""),
    _goal("inpainting, against biharmonic", 0.5, inpaint_biharmonic=""),
)


def qualities(cell: str) -> dict[str, float]:
    """The named numbers of a cell; empty where it has a dash or says how the peer refused."""
    found = (part.rpartition(" ") for part in cell.split(", "))
    try:
        return {name: float(number) for name, _, number in found if name}
    except ValueError:
        return {}


def kind_of(ours: dict[str, float], peer: dict[str, float]) -> str:
    """What our result is beside the peer's: one of ``KINDS``."""
    signs = set()
    for name in sorted(set(ours) & set(peer) - NEUTRAL):
        a, b = ours[name], peer[name]
        same = abs(a - b) <= EQUAL * abs(b) or max(abs(a), abs(b)) < ROUNDING
        signs.add("equal" if same else "better" if (a > b) == (name in MORE) else "worse")
    if not signs:
        return "not compared"
    if len(signs) > 1:
        signs.discard("equal")
    return signs.pop() if len(signs) == 1 else "mixed"


def rows_of(page: str) -> Iterator[Standing]:
    """The rows of a page of benchmarks that have a ratio."""
    for name, text in sections_of(page).items():
        lines = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in text.splitlines()
            if line.startswith("| ")
        ]
        if not lines:
            continue
        head, *rows = lines
        for line in rows:
            row = dict(zip(head, line, strict=False))
            ratio, default = (_number(row.get(c, "")) for c in ("ratio", "ratio, default"))
            if math.isnan(ratio):
                continue
            ours, peer = (qualities(row.get(f"quality of {who}", "")) for who in ("ours", "peer"))
            yield Standing(name, line[0], ratio, default, kind_of(ours, peer))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def written(folder: Path) -> list[Standing]:
    """All rows of all pages of benchmarks in a folder."""
    pages = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md")))
    return [row for page in pages if page.startswith("# Benchmarks: ") for row in rows_of(page)]


def page(rows: Sequence[Standing], registry: dict[str, Benchmark]) -> str:
    """Counts, the rows that are lost with the reason of their benchmark, and the goals."""
    many, lost = Counter(row.kind for row in rows), Counter(row.kind for row in rows if row.lost)
    lines = [
        "# Where we stand",
        "",
        "Written by `python -m benchmarks.standing` from the other pages: nothing is measured.",
        "",
        "A ratio is the peer's time over ours. A row is lost where it is below 1 on one thread or",
        "by default. *Quality* compares what both sides reached, where it can be: within",
        f"{EQUAL:.0%} of the peer's it is equal. A ratio within about 1.3 is a tie on a machine",
        "with other work, but counts here as it stands.",
        "",
        "| quality of ours | rows | lost |",
        "|---|---:|---:|",
        *(f"| {kind} | {many[kind]} | {lost[kind]} |" for kind in KINDS),
        f"| all | {len(rows)} | {sum(lost.values())} |",
    ]
    for kind in KINDS:
        if lost[kind]:
            here = [row for row in rows if row.lost and row.kind == kind]
            lines += ["", f"## Lost, quality {kind}", "", *_lost(here, registry)]
    lines += ["", "## Goals of speed", "", *_goals(rows)]
    return "\n".join(lines) + "\n"


def _lost(rows: Sequence[Standing], registry: dict[str, Benchmark]) -> list[str]:
    """A line for each row, the reason beside the first of its benchmark."""
    lines, before = ["| benchmark | case | ratio | default | why |", "|---|---|---:|---:|---|"], ""
    for row in rows:
        name, why = "", ""
        if row.benchmark != before:
            name, before = row.benchmark, row.benchmark
            why = registry[name].why if name in registry else "no longer in the tree"
        lines.append(f"| {name} | {row.case} | {row.ratio:.2f} | {_or_dash(row.default)} | {why} |")
    return lines


def _goals(rows: Sequence[Standing]) -> list[str]:
    """A line for each goal: the least ratios of its rows, and whether both reach it."""
    lines = ["| work | goal | one thread | default | |", "|---|---:|---|---|---|"]
    for goal in GOALS:
        found = [
            row
            for name, case in goal.rows
            for row in rows
            if row.benchmark == name and re.search(case, row.case)
        ]
        ratios = [row.ratio for row in found]
        defaults = [row.default for row in found if not math.isnan(row.default)]
        short = not found or min([*ratios, *defaults]) < goal.least
        lines.append(
            f"| {goal.work} | {goal.least:g} | {_span(ratios)} | {_span(defaults)} | "
            f"{'short' if short else ''} |"
        )
    return lines


def _span(values: Sequence[float]) -> str:
    if not values:
        return "–"
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def main() -> int:
    text = page(written(RESULTS), discover())
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
