"""Tables of what was measured: on the terminal and as Markdown."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from isthmus_experiments.machine import machine_facts
from rich.markup import escape
from rich.table import Table
from threadpoolctl import threadpool_info

from benchmarks._harness import Benchmark, Row, Side, growth_exponent
from benchmarks._others import QUIET

MOVED = 1.5  # a ratio that another run gives this many times as large or small is doubtful
COLUMNS = (
    "ours s",
    "peer s",
    "ratio",
    "wall",
    "ours s, default",
    "peer s, default",
    "ratio, default",
    "ours MB",
    "peer MB",
    "memory",
)

METHOD = """\
Times are {clock}, with {threads}; a ratio is peer over ours, so more than 1 is in our favour
("ratio" of that time, "wall" of wall-clock time, "memory" of peak memory). "Default" columns are
the least wall-clock times with the default number of threads, which is what a user has.
Each other time is a median of {repeat} runs, the two sides in turn, after a first call that is not
counted (three times as many runs below 0.1 s; above 10 s one; above a minute the first call,
without its compilation). Ratios within about 1.3 are ties on a machine with other work. Memory is
the peak of what a call allocates beyond its inputs, traced by `tracemalloc`: it sees every array of
numpy and scipy, is the same in every run, and needs no fresh process; it does not see buffers
inside BLAS or compiled loops. "Growth" is the exponent b of
time ~ size^b."""


def clock_of(threads: int) -> str:
    """Which time the ratio is of: CPU seconds add up over threads, so only with one."""
    return "cpu" if threads == 1 else "wall"


def method_note(threads: int, repeat: int) -> str:
    """How the numbers came about, in one paragraph."""
    one = threads == 1
    return METHOD.format(
        clock="CPU seconds of the process" if one else "wall-clock seconds",
        threads="one thread (stable numbers; the default)" if one else f"{threads} threads",
        repeat=repeat,
    )


def cells(row: Row, clock: str) -> list[str]:
    """One row of a table as strings."""
    ours, peer = row.ours, row.peer
    case = f"{row.case:,}".replace(",", " ") if isinstance(row.case, int) else row.case
    if peer.failure:
        alone, memory = f"{getattr(ours, clock):.3g}", f"{ours.peak / 1e6:.3g}"
        ratios = [alone, "–", "–", "–", _seconds(ours.default), "–", "–", memory, "–", "–"]
    else:
        ratios = [
            f"{getattr(ours, clock):.3g}",
            f"{getattr(peer, clock):.3g}",
            f"{row.ratio(clock):.2f}",
            f"{row.ratio('wall'):.2f}",
            _seconds(ours.default),
            _seconds(peer.default),
            _seconds(row.ratio("default"), ".2f"),
            f"{ours.peak / 1e6:.3g}",
            f"{peer.peak / 1e6:.3g}",
            f"{row.ratio('peak'):.2f}",
        ]
    return [case, *ratios, _qualities(ours), peer.failure or _qualities(peer)]


def _seconds(value: float, form: str = ".3g") -> str:
    return "–" if math.isnan(value) else format(value, form)


def _qualities(side: Side) -> str:
    return ", ".join(f"{name} {value:.5g}" for name, value in side.quality.items()) or "–"


def remarks(benchmark: Benchmark, rows: Sequence[Row], clock: str) -> list[str]:
    """Sentences below a table: growth, differences, compilation, warnings."""
    said = []
    sizes = [row.case for row in rows]
    if all(isinstance(size, int) for size in sizes):
        slopes = [
            growth_exponent(sizes, [getattr(getattr(row, who), clock) for row in rows])
            for who in ("ours", "peer")
        ]
        if None not in slopes:
            unit = benchmark.unit
            said.append(f"Growth: ours {unit}^{slopes[0]:.2f}, peer {unit}^{slopes[1]:.2f}.")
    differences = [row.difference for row in rows if row.difference is not None]
    if differences:
        said.append(f"Largest difference between the two results: {max(differences):.2g}.")
    compilation = sum(row.compilation for row in rows)
    if compilation:
        said.append(f"Compiled for {compilation:.1f} s in our first call (once, kept on disk).")
    for who in ("ours", "peer"):
        warned = sorted({getattr(row, who).warned for row in rows} - {""})
        if warned:
            said.append(f"Warning of {who if who == 'ours' else 'the peer'}: {warned[0]}")
    others = max((row.others for row in rows), default=0.0)
    if others > QUIET:
        said.append(f"Other processes took up to {others:.1f} processors meanwhile.")
    if benchmark.shared and len(rows) > 1:
        said.append("Our side is the same in all rows and was measured once.")
    if benchmark.goal:
        said.append(f"Goal: {benchmark.goal}.")
    if benchmark.why and any(min(row.ratio(clock), row.ratio("default")) < 1 for row in rows):
        said.append(f"Where ours is slower: {benchmark.why}.")
    return said


def terminal_table(benchmark: Benchmark, rows: Sequence[Row], clock: str) -> Table:
    """The rows of one benchmark, ratios in colour."""
    table = Table(
        title=escape(f"{benchmark.name}: {benchmark.work}  ·  against {benchmark.peer}"),
        title_justify="left",
        caption=escape("\n".join(remarks(benchmark, rows, clock))),
        caption_justify="left",
    )
    table.add_column(benchmark.unit)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("quality of ours", overflow="fold")
    table.add_column("quality of peer", overflow="fold")
    for row in rows:
        texts = [escape(text) for text in cells(row, clock)]
        if not row.peer.failure:
            colour = "green" if row.ratio(clock) >= 1 else "red"
            texts[3] = f"[{colour}]{texts[3]}[/]"
        table.add_row(*texts)
    return table


def markdown(
    family: str,
    results: dict[str, tuple[Benchmark, list[Row]]],
    *,
    threads: int,
    repeat: int,
    before: str = "",
) -> str:
    """The page of a family; ``before`` is the text of the page that it takes the place of."""
    clock = clock_of(threads)
    facts = ", ".join(f"{name} {value}" for name, value in machine().items())
    lines = [
        f"# Benchmarks: {family}",
        "",
        f'Written on {date.today().isoformat()} by `make bench BENCH_ARGS="--only {family} '
        f'--threads {threads} --repeat {repeat}"`.',
        "",
        method_note(threads, repeat),
        "",
        f"Machine: {facts}.",
    ]
    old = sections_of(before)
    parts = [
        section(benchmark, rows, clock, moved(old.get(name, ""), rows, clock))
        for name, (benchmark, rows) in results.items()
    ]
    return "\n".join([*lines, "", "\n".join(parts)])


def sections_of(page: str) -> dict[str, str]:
    """The parts of a page by the names of their benchmarks."""
    parts = page.split("\n## ")[1:]
    return {text.partition("\n")[0]: f"## {text.rstrip()}\n" for text in parts}


def moved(before: str, rows: Sequence[Row], clock: str) -> list[str]:
    """A sentence on the rows whose ratio was another by more than half in a former section."""
    lines = [
        [text.strip() for text in line[1:-1].split("|")]
        for line in before.splitlines()
        if line[:2] == "| "
    ]
    old = {line[0]: line for line in lines}
    head, said = next((line for line in lines if "ratio" in line), []), []
    for row in rows:
        now = dict(zip(("case", *COLUMNS), cells(row, clock), strict=False))
        was = dict(zip(head, old.get(now["case"], []), strict=False))
        pairs = [(was.get(name, "–"), now[name]) for name in ("ratio", "ratio, default")]
        if any(_far_apart(*pair) for pair in pairs):
            said.append(f"{now['case']}: {pairs[0][0]} ({pairs[1][0]})")
    if not said:
        return []
    return [f"Ratio (default) on the page before, where one moved by half: {'; '.join(said)}."]


def _far_apart(was: str, now: str) -> bool:
    try:
        low, high = sorted((float(was), float(now)))
    except ValueError:
        return False
    return high > MOVED * max(low, 0.01)


def section(
    benchmark: Benchmark, rows: Sequence[Row], clock: str, notes: Sequence[str] = ()
) -> str:
    """The part of a page that is one benchmark's."""
    lines = [
        f"## {benchmark.name}",
        "",
        f"{benchmark.work}, against {benchmark.peer}.",
        "",
        _line([benchmark.unit, *COLUMNS, "quality of ours", "quality of peer"]),
        _line(["---", *["---:"] * len(COLUMNS), "---", "---"]),
        *(_line(cells(row, clock)) for row in rows),
    ]
    said = [*notes, *remarks(benchmark, rows, clock)]
    if said:
        lines += ["", *(f"- {text}" for text in said)]
    return "\n".join(lines) + "\n"


def with_sections(
    page: str, results: dict[str, tuple[Benchmark, list[Row]]], *, threads: int, repeat: int
) -> str:
    """A page on which the parts of some benchmarks are new, with their date."""
    clock, parts = clock_of(threads), sections_of(page)
    note = f"Measured alone on {date.today().isoformat()}, --repeat {repeat}."
    for name, (benchmark, rows) in results.items():
        notes = [note, *moved(parts.get(name, ""), rows, clock)]
        parts[name] = section(benchmark, rows, clock, notes)
    return "\n".join([page.partition("\n## ")[0], *parts.values()])


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def machine() -> dict[str, str]:
    """Facts a time depends on; no host name, no folder."""
    blas = {
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'unknown')})"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {"processor": _processor(), **machine_facts(), "BLAS": " and ".join(sorted(blas))}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
