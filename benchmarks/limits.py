"""``python -m benchmarks.limits``: what the machine can do, and what share of it hot paths reach.

First the rates of the machine, then for each hot path the least work that it needs, the time that
follows from the rates of one thread, ours, and the share. Times are CPU seconds of one thread, the
least of several, so that other work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import pairwise
from pathlib import Path

import numba
import numpy as np
import scipy.linalg.blas  # noqa: F401  its pool of threads is to be limited too
from threadpoolctl import threadpool_limits

import benchmarks._counted_paths  # noqa: F401  registers its paths
from benchmarks.hot_paths import PATHS, HotPath

PAGE = Path(__file__).parent / "results" / "limits.md"


def least(work: Callable[[], object], repeat: int, clock: Callable[[], float]) -> float:
    """Least seconds of several runs, after one that is not counted."""
    work()
    times = []
    for _ in range(repeat):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


@numba.njit(nogil=True)
def _recurrence(n):
    """A chain of dependent multiplications and additions, as in a table of a recurrence."""
    x = 0.5
    for _ in range(n):
        x = 0.999 * x + 0.001
    return x


@numba.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _gathered(k, row, permutations, room):
    """Sums of products of a row with another one, permuted: both stay in the nearest cache."""
    total = 0.0
    for index in permutations:
        for j in range(len(k)):
            room[j] = row[index[j]]
        for j in range(len(k)):
            total += k[j] * room[j]
    return total


def rates(repeat: int, clock: Callable[[], float], n_threads: int) -> dict[str, float]:
    """Operations or bytes per second, each from the least time of several runs.

    Products are shared among threads by BLAS; of the other work every thread takes a part.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1000, 1000))
    B = A.astype(np.float32)
    v = -rng.random(2**20)
    positive = -v
    big, out = np.ones(2**23), np.empty(2**23)
    steps, row = 2**24, rng.normal(size=500)
    permutations = rng.permuted(np.tile(np.arange(500, dtype=np.uint32), (4000, 1)), axis=1)
    works: dict[str, tuple[float, Callable[[slice], object]]] = {
        "exp": (len(v), lambda part: np.exp(v[part], out=out[part])),
        "sqrt": (len(v), lambda part: np.sqrt(positive[part], out=out[part])),
        "fresh memory (bytes)": (big.size, lambda part: np.full(part.stop - part.start, 1.0)),
        "copy (bytes)": (big.size, lambda part: np.copyto(out[part], big[part])),
        "gathered numbers, compiled": (
            len(permutations),
            lambda part: _gathered(row, row, permutations[part], np.empty(500)),
        ),
        "dependent steps, compiled": (steps, lambda part: _recurrence(part.stop - part.start)),
    }
    each = {"fresh memory (bytes)": 8, "copy (bytes)": 16, "gathered numbers, compiled": 500}
    found = {
        "product, double (flop)": 2e9 / least(lambda: A @ A, repeat, clock),
        "product, single (flop)": 2e9 / least(lambda: B @ B, repeat, clock),
    }
    with ThreadPoolExecutor(n_threads) as pool:
        for name, (n, work) in works.items():
            ends = np.linspace(0, n, n_threads + 1).astype(int)
            parts = [slice(int(a), int(b)) for a, b in pairwise(ends)]

            def whole(work=work, parts=parts) -> None:
                list(pool.map(work, parts)) if n_threads > 1 else work(parts[0])

            found[name] = n * each.get(name, 1) / least(whole, repeat, clock)
    return found


def page(one: dict[str, float], many: dict[str, float], rows: list[tuple]) -> str:
    """The two tables as Markdown."""
    threads = os.cpu_count() or 1
    lines = [
        "# Limits of the machine",
        "",
        f"Written on {date.today().isoformat()} by `python -m benchmarks.limits`.",
        "",
        "Rates are from the least of several times: CPU time for one thread, wall-clock time for",
        f"{threads}, which other work on the machine lowers: the load average was "
        f"{os.getloadavg()[0]:.1f} on {threads} processors, and above {threads} the second column",
        "says little.",
        "",
        f"| per second | one thread | {threads} threads |",
        "|---|---:|---:|",
        *(f"| {name} | {one[name]:.3g} | {many[name]:.3g} |" for name in one),
        "",
        "The limit of a path is its least work at the rates of one thread; *share* is the limit",
        "over our CPU time. The goal is a half where BLAS does the work and a third where a",
        "compiled recurrence does. Entries of a permuted matrix are priced as numbers that are",
        "gathered and multiplied: there is no product for them. Core sets, inverse kinematics and",
        "projections on a PSOM take as many steps as the data need: those that were taken are",
        "counted and priced.",
        "",
        "| path | least work | limit s | ours s | share | goal | why below |",
        "|---|---|---:|---:|---:|---:|---|",
        *(_line(hot, limit, ours) for hot, limit, ours in rows),
    ]
    return "\n".join(lines) + "\n"


def _line(hot: HotPath, limit: float, ours: float) -> str:
    share, goal = limit / ours, 1 / 3 if hot.compiled else 0.5
    why = hot.why if share < goal else ""
    times = f"{limit:.4f} | {ours:.4f} | {share:.2f} | {goal:.2f}"
    return f"| {hot.name} | {hot.words} | {times} | {why} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    repeat = parser.parse_args().repeat
    with threadpool_limits(limits=1):
        one = rates(repeat, time.process_time, 1)
        rows = []
        for make in PATHS:
            hot = make()
            limit = sum(amount / one[what] for what, amount in hot.needs.items())
            times = 2 if limit > 0.1 else repeat
            rows.append((hot, limit, least(hot.work, times, time.process_time)))
            share = limit / rows[-1][2]
            print(
                f"{hot.name:70s} limit {limit:.4f}  ours {rows[-1][2]:.4f} {share:.2f}", flush=True
            )
    many = rates(repeat, time.perf_counter, os.cpu_count() or 1)
    PAGE.write_text(page(one, many, rows), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(PAGE.parent.parent.parent)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
