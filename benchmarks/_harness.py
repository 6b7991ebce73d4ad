"""What a benchmark is, and how two sides of one are measured."""

from __future__ import annotations

import gc
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from statistics import median
from typing import Any

import numpy as np
from numba.core.event import install_timer

SLOW_SECONDS = 10.0  # where a side takes longer, one call is timed
SHORT_SECONDS = 0.1  # sides that are faster are timed three times as often


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

    @property
    def family(self) -> str:
        return self.contest.__module__.rpartition("bench_")[2]


@dataclass(frozen=True)
class Side:
    """What one side cost and reached; ``failure`` where it refused the work."""

    cpu: float = float("nan")
    wall: float = float("nan")
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
    """

    def register(contest: Callable[[Any], Contest]) -> Callable[[Any], Contest]:
        if name in REGISTRY:
            raise ValueError(f"Two benchmarks are called {name!r}.")
        REGISTRY[name] = Benchmark(name, work, peer, cases, quick or cases, unit, goal, contest)
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


def measured(contest: Contest, case: int | str, *, repeat: int, tell: Callable[[str], None]) -> Row:
    """Run both sides of a contest and return what they cost and reached.

    The first call of each side compiles and fills caches and is not counted; the second is
    traced for its peak memory, and what it returned is judged. Then the sides are timed in turn,
    so that a disturbance of the machine meets both, and the median is taken.
    """
    tell("warm-up")
    compilations: list[float] = []
    with install_timer("numba:compile", compilations.append):
        first, failure = _attempt(contest.ours)
    if failure:
        raise RuntimeError(f"Our side failed at {case}: {failure}")
    peer_first, peer_failure = _attempt(contest.peer)
    sides = {"ours": contest.ours} if peer_failure else {"ours": contest.ours, "peer": contest.peer}

    kept, peaks, qualities = {}, {}, {}
    for who, run in sides.items():
        tell(f"memory and quality of {who}")
        kept[who], peaks[who] = _traced(run)
        qualities[who] = contest.quality(kept[who]) if contest.quality else {}
    difference = None
    if contest.difference and not peer_failure:
        difference = float(contest.difference(kept["ours"], kept["peer"]))
    kept.clear()

    slowest = max(first.wall, 0.0 if peer_failure else peer_first.wall)
    times: dict[str, list[Side]] = {who: [] for who in sides}
    n = repeat * (3 if slowest < SHORT_SECONDS else 1)
    if slowest > SLOW_SECONDS:
        n = 1  # not the first call: it may have compiled, or loaded a library
    for i in range(n):
        tell(f"repeat {i + 1} of {n}")
        for who, run in sides.items():
            times[who].append(_attempt(run)[0])

    def side(who: str, warned: str) -> Side:
        return Side(
            median(t.cpu for t in times[who]),
            median(t.wall for t in times[who]),
            peaks[who],
            qualities[who],
            warned=warned,
        )

    ours = side("ours", first.warned)
    peer = Side(failure=peer_failure) if peer_failure else side("peer", peer_first.warned)
    return Row(case, ours, peer, difference, sum(compilations))


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
