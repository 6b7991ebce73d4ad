"""What a benchmark is, and how two sides of one are measured."""

from __future__ import annotations

import gc
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pkgutil import iter_modules
from statistics import median
from typing import Any

import numpy as np
from numba.core.event import install_timer

SLOW_SECONDS = 10.0  # where a side takes longer, one call is timed
SHORT_SECONDS = 0.1  # sides that are faster are timed three times as often
SETTLED = 0.1  # seconds after which threads of the other side no longer wait for work by spinning
MINUTE = 60.0  # a side that takes longer is not called once more: its first call counts


class Unavailable(Exception):
    """The peer is not on this machine; the message says why."""


@dataclass(frozen=True)
class Contest:
    """The same work done by us and by a peer, as two functions without arguments.

    ``quality`` turns what a side returned into named numbers; ``difference`` compares what
    the two returned. Both are computed outside the measured time.
    """

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    quality: Callable[[Any], dict[str, float]] | None = None
    difference: Callable[[Any, Any], float] | None = None


@dataclass(frozen=True)
class Benchmark:
    """One comparison over several sizes, or over several variants of the work."""

    name: str
    work: str
    peer: str
    cases: Sequence[int | str]
    quick: Sequence[int | str]
    unit: str
    goal: str
    contest: Callable[[Any], Contest]
    shared: bool = False
    why: str = ""

    @property
    def family(self) -> str:
        return self.contest.__module__.rpartition("bench_")[2]


@dataclass(frozen=True)
class Side:
    """What one side cost and reached; ``failure`` where it refused the work."""

    cpu: float = float("nan")
    wall: float = float("nan")
    default: float = float("nan")  # wall-clock seconds on the default number of threads
    peak: float = float("nan")
    quality: dict[str, float] = field(default_factory=dict)
    failure: str = ""
    warned: str = ""


@dataclass(frozen=True)
class Row:
    """One case of a benchmark, measured."""

    case: int | str
    ours: Side
    peer: Side
    difference: float | None
    compilation: float  # seconds that numba compiled in our first call
    others: float = 0.0  # processors that other processes took meanwhile

    def ratio(self, quantity: str) -> float:
        """Peer over ours, so more than one is in our favour."""
        return getattr(self.peer, quantity) / max(getattr(self.ours, quantity), 1e-12)


REGISTRY: dict[str, Benchmark] = {}


def benchmark(
    name: str,
    *,
    work: str,
    peer: str,
    cases: Sequence[int | str],
    quick: Sequence[int | str] | None = None,
    unit: str = "n",
    goal: str = "",
    shared: bool = False,
    why: str = "",
) -> Callable[[Callable[[Any], Contest]], Callable[[Any], Contest]]:
    """Register the decorated function, which makes a :class:`Contest` of a case.

    Parameters
    ----------
    name : what ``--only`` takes.
    work, peer : what is done, and against whom, in words.
    cases : sizes (then the growth of time is fitted) or names of variants.
    quick : the cases under ``--quick``; all by default.
    unit : what a size counts.
    goal : what we want to show.
    why : why we are slower, where a row is below 1.
    shared : whether our side is the same in all cases, which then differ in the peer alone; it
        is measured with the first of them.
    """

    def register(contest: Callable[[Any], Contest]) -> Callable[[Any], Contest]:
        if name in REGISTRY:
            raise ValueError(f"Two benchmarks are called {name!r}.")
        REGISTRY[name] = Benchmark(
            name, work, peer, cases, quick or cases, unit, goal, contest, shared, why
        )
        return contest

    return register


def discover() -> dict[str, Benchmark]:
    """All benchmarks of all ``bench_*.py`` files beside this one, by name."""
    import benchmarks

    for module in sorted(m.name for m in iter_modules(benchmarks.__path__)):
        if module.startswith("bench_"):
            import_module(f"benchmarks.{module}")
    return REGISTRY


def chosen(registry: dict[str, Benchmark], only: Sequence[str] | None) -> list[Benchmark]:
    """The benchmarks whose name or family is in ``only``; all where it is empty."""
    if not only:
        return list(registry.values())
    known = set(registry) | {b.family for b in registry.values()}
    if unknown := sorted(set(only) - known):
        raise ValueError(
            f"No benchmark or family is called {', '.join(unknown)}: expected some of "
            f"{', '.join(sorted(known))}."
        )
    return [b for b in registry.values() if b.name in only or b.family in only]


def measured(
    contest: Contest,
    case: int | str,
    *,
    repeat: int,
    tell: Callable[[str], None],
    ours: Side | None = None,
    widen: Callable[[], AbstractContextManager[Any]] | None = None,
) -> Row:
    """Run both sides of a contest and return what they cost and reached.

    The first call of each side compiles and fills caches and is not counted; the second is
    traced for its peak memory, and what it returned is judged. Then the sides are timed in turn,
    so that a disturbance of the machine meets both, and the median is taken. Of a side that
    takes over a minute the first call counts, without the seconds that numba compiled.
    Give ``ours`` where our side is known from another case. ``widen`` is a context in which all
    threads may be used: both sides are then timed once more in it, by the clock on the wall, a
    moment apart, and the least time counts, since waking threads and other work only add to it.
    """
    runs = {"ours": contest.ours, "peer": contest.peer}
    if ours is not None:
        del runs["ours"]
    firsts: dict[str, Side] = {}
    compiled, peer_failure = 0.0, ""
    for who in list(runs):
        tell(f"first call of {who}")
        compilations: list[float] = []
        with install_timer("numba:compile", compilations.append):
            first, failure = _attempt(runs[who])
        if failure and who == "ours":
            raise RuntimeError(f"Our side failed at {case}: {failure}")
        if failure:
            peer_failure = failure
            del runs[who]
            continue
        seconds = sum(compilations)
        firsts[who] = replace(first, cpu=first.cpu - seconds, wall=first.wall - seconds)
        compiled += seconds if who == "ours" else 0.0

    kept, peaks, qualities = {}, {}, {}
    for who, run in runs.items():
        tell(f"memory and quality of {who}")
        kept[who], peaks[who] = _traced(run)
        qualities[who] = contest.quality(kept[who]) if contest.quality else {}
    difference = None
    if contest.difference and len(kept) == 2:
        difference = float(contest.difference(kept["ours"], kept["peer"]))
    kept.clear()

    slowest = max((first.wall for first in firsts.values()), default=0.0)
    n = repeat * (3 if slowest < SHORT_SECONDS else 1)
    if slowest > SLOW_SECONDS:
        n = 1
    long = {who for who, first in firsts.items() if first.wall > MINUTE}
    times: dict[str, list[Side]] = {who: [firsts[who]] if who in long else [] for who in runs}
    for i in range(n):
        tell(f"repeat {i + 1} of {n}")
        for who, run in runs.items():
            if who not in long:
                times[who].append(_attempt(run)[0])

    wide = _wide_times(runs, long, n, widen, tell)

    def side(who: str) -> Side:
        return Side(
            median(t.cpu for t in times[who]),
            median(t.wall for t in times[who]),
            wide.get(who, float("nan")),
            peaks[who],
            qualities[who],
            warned=firsts[who].warned,
        )

    peer = Side(failure=peer_failure) if peer_failure else side("peer")
    return Row(case, ours or side("ours"), peer, difference, compiled)


def _wide_times(
    runs: dict[str, Callable[[], Any]],
    long: set[str],
    n: int,
    widen: Callable[[], AbstractContextManager[Any]] | None,
    tell: Callable[[str], None],
) -> dict[str, float]:
    """Least wall-clock seconds of each side with all threads, those of over a minute left out."""
    if widen is None:
        return {}
    walls: dict[str, list[float]] = {who: [] for who in runs if who not in long}
    with widen():
        for i in range(n):
            tell(f"repeat {i + 1} of {n}, all threads")
            for who, seconds in walls.items():
                time.sleep(SETTLED)
                seconds.append(_attempt(runs[who])[0].wall)
    return {who: min(seconds) for who, seconds in walls.items()}


def _attempt(run: Callable[[], Any]) -> tuple[Side, str]:
    """Time one call; the second value is empty, or says how the side refused."""
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            run()
        except Unavailable as reason:
            return Side(), f"skipped: {reason}"
        except Exception as error:  # whatever a peer raises is the finding
            return Side(), f"refuses: {type(error).__name__}: {str(error).splitlines()[0]}"
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    said = f"{caught[0].category.__name__}: {str(caught[0].message)[:100]}" if caught else ""
    return Side(cpu=cpu, wall=wall, warned=said), ""


def _traced(run: Callable[[], Any]) -> tuple[Any, float]:
    """What ``run`` returns, and the peak of its allocations in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were recorded in the warm-up
            before = tracemalloc.get_traced_memory()[0]
            result = run()
        return result, float(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float | None:
    """Slope of log cost over log size; None with fewer than three sizes.

    >>> round(growth_exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    if len(sizes) < 3 or not np.all(np.isfinite(costs)) or min(costs) <= 0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
