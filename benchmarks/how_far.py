"""``python -m benchmarks.how_far``: folds over rows on disk, and a model of many workers.

For each fold: CPU time and peak memory over rows that are read from a file block by block, the size
of its statistics and the time to merge two of them. From these, and from the costs of a task and of
a byte on a cluster of processes here, a model of the time for 10^9 rows; a simulated scheduler and
runs with one and two workers are held against it.
"""

import argparse
import heapq
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks._folds import FOLDS, N_FEATURES, SWEEPS, run_fold, watched
from isthmus.blocks.tree import FAN_IN, depth

PAGE = Path(__file__).parent / "results" / "how_far.md"
BLOCK = 20_000
# Rows of a chunk on a cluster, 400 MB of doubles.
CHUNK, ROWS = 10**6, 10**9


def blocks_of(path, n):
    """A function that yields the rows of a file anew at each call."""

    def read():
        with open(path, "rb") as file:
            for start in range(0, n, BLOCK):
                rows = min(BLOCK, n - start)
                yield np.fromfile(file, count=rows * N_FEATURES).reshape(rows, N_FEATURES)

    return read


def child(name, path, n):
    """In a process of its own: CPU seconds, peak memory and passes of one fold."""
    warnings.simplefilter("ignore")  # sweeps end before they converge
    # Loading and compiling are not the fold's.
    run_fold(name, lambda: iter([np.random.default_rng(0).normal(size=(2000, N_FEATURES))]))
    start = time.process_time()
    run_fold(name, blocks_of(path, n))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with watched() as passes:
        run_fold(name, blocks_of(path, 3 * BLOCK))
    n_bytes, merging = (sum(part) for part in zip(*passes, strict=True))
    print(json.dumps([seconds, peak, len(passes), n_bytes, merging]))


class Fold(NamedTuple):
    """What was measured of a fold; bytes and merges are sums over its passes."""

    name: str
    sizes: Sequence[int]
    seconds: Sequence[float]
    peaks: Sequence[float]
    passes: int
    n_bytes: int
    merging: float

    @property
    def growth(self):
        """The power of n between the two largest sizes."""
        n, s = np.log(self.sizes[-2:]), np.log(self.seconds[-2:])
        return float(np.diff(s)[0] / np.diff(n)[0])


def measure(path, sizes, names, kept):
    """Run each fold at each of the sizes that it is measured on, unless ``kept`` has it already.

    Yields a line of JSON for each: name, rows and what :func:`child` prints.
    """
    known = {tuple(json.loads(line)[:2]) for line in kept}
    for n in sizes:
        for name in names:
            if n > FOLDS[name] or (name, n) in known:
                continue
            call = [sys.executable, "-m", "benchmarks.how_far", "--child", name, str(path), str(n)]
            out = subprocess.run(call, check=True, capture_output=True, text=True).stdout
            yield json.dumps([name, n, *json.loads(out)])


def gather(lines, sizes):
    """What the lines of :func:`measure` say of each fold, sizes in order."""
    found = {name: {} for name in FOLDS}
    for name, n, *told in map(json.loads, lines):
        found[name][n] = told
    folds = []
    for name, runs in found.items():
        mine = [n for n in sizes if n in runs]
        if len(mine) > 1:
            seconds, peaks, passes, n_bytes, merging = zip(*(runs[n] for n in mine), strict=True)
            folds.append(Fold(name, mine, seconds, peaks, passes[0], n_bytes[0], min(merging)))
    return folds


def cluster_constants():
    """Seconds for a task and for a byte between two worker processes here."""
    import distributed

    options = {"processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as local,
        distributed.Client(local) as client,
    ):
        client.gather(client.map(abs, range(50)))
        start = time.perf_counter()
        client.gather(client.map(abs, range(100, 600)))
        task = (time.perf_counter() - start) / 500
        first, second = sorted(client.scheduler_info()["workers"])
        made = client.submit(np.ones, 2 * 10**6, workers=[first])
        distributed.wait(made)
        start = time.perf_counter()
        client.submit(len, made, workers=[second]).result()
        byte = (time.perf_counter() - start - task) / (8 * 2 * 10**6)
    return task, byte


def timed_on_workers(n_workers, n):
    """Wall-clock and CPU seconds of the moments of random rows on a cluster here."""
    import dask.array as da
    import distributed

    options = {"processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **options) as local,
        distributed.Client(local) as client,
    ):
        X = da.random.default_rng(0).normal(size=(n, N_FEATURES), chunks=(n // 16, N_FEATURES))
        run_fold("moments", X[: n // 8])
        before = sum(client.run(time.process_time).values())
        start = time.perf_counter()
        run_fold("moments", X)
        wall = time.perf_counter() - start
        return wall, sum(client.run(time.process_time).values()) - before


def modelled(n_chunks, n_workers, *, leaf, merge, n_bytes, task, byte, passes=1):
    """Seconds of a fold: leaves in rounds, a serial scheduler, and the levels of the tree."""
    rounds = -(-n_chunks // n_workers)
    level = (FAN_IN - 1) * (merge + n_bytes * byte) + passes * task
    return max(rounds * leaf, passes * n_chunks * task) + depth(n_chunks) * level


def simulated(n_chunks, n_workers, *, leaf, merge, n_bytes, task, byte, passes=1, spread=0.1):
    """The same by a scheduler that hands out one task after the other, leaves of uneven length."""
    rng = random.Random(0)
    joining = (merge + n_bytes * byte) / passes
    free = [0.0] * n_workers
    heapq.heapify(free)
    dispatched = 0.0
    done = []
    for _ in range(n_chunks):
        dispatched += task
        start = max(heapq.heappop(free), dispatched)
        end = start + leaf / passes * (1 + spread * rng.uniform(-1, 1))
        done.append(end)
        heapq.heappush(free, end)
    while len(done) > 1:
        groups = [done[i : i + FAN_IN] for i in range(0, len(done), FAN_IN)]
        done = []
        for group in sorted(groups, key=max):
            if len(group) == 1:
                done.append(group[0])
                continue
            start = max(max(group), heapq.heappop(free)) + task
            end = start + (len(group) - 1) * joining
            done.append(end)
            heapq.heappush(free, end)
    return passes * done[0]


def page(folds, sizes, task, byte, runs):
    """The results as Markdown."""
    lines = [
        "# How far folds go",
        "",
        f"Written on {date.today()} by `python -m benchmarks.how_far`, with the load average at "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors at the end; measurements that "
        "`--kept` had from calls before may be of a busier machine, which adds to CPU seconds too.",
        "",
        f"Rows of {N_FEATURES} doubles, read from a file in blocks of {BLOCK}; what each fold "
        "makes of them is in `benchmarks/_folds.py`. CPU seconds of one thread, peak memory of the "
        "whole process (Python, libraries and all), growth n^b between the two largest sizes, "
        "passes over 60 000 rows, bytes of the statistics of a chunk and seconds to merge two, "
        f"summed over the passes. Sweeps and descents were ended after {SWEEPS}.",
        "",
        "| fold | "
        + " | ".join(f"s, {n:.0e} rows | MB" for n in sizes)
        + " | growth | passes | bytes | merge, s |",
        "|---|" + "---:|" * (2 * len(sizes) + 4),
    ]
    for fold in folds:
        told = zip(fold.sizes, fold.seconds, fold.peaks, strict=True)
        known = {n: f"{s:.2f} | {p:.0f}" for n, s, p in told}
        cells = [known.get(n, "– | –") for n in sizes]
        tail = f"{fold.growth:.2f} | {fold.passes} | {fold.n_bytes} | {fold.merging:.1e}"
        lines.append(f"| {fold.name} | {' | '.join(cells)} | {tail} |")
    lines += [
        "",
        f"A task costs {task:.1e} s here, a byte between two worker processes {byte:.1e} s.",
        "",
        "| workers | wall s | CPU s of the workers |",
        "|---:|---:|---:|",
        *(f"| {n} | {wall:.2f} | {cpu:.2f} |" for n, (wall, cpu) in runs.items()),
        "",
        f"Modelled seconds for {ROWS:.0e} rows in chunks of {CHUNK:.0e}, reading left out; in "
        "brackets those of the simulated scheduler:",
        "",
        "| fold | depth | sent, MB | 1 | 10 | 100 | 1000 |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_modelled_row(fold, task, byte) for fold in folds),
    ]
    return "\n".join(lines) + "\n"


def _modelled_row(fold, task, byte):
    n_chunks = ROWS // CHUNK
    costs = {
        "leaf": CHUNK * fold.seconds[-1] / fold.sizes[-1],
        "merge": fold.merging,
        "n_bytes": fold.n_bytes,
        "passes": fold.passes,
        "task": task,
        "byte": byte,
    }
    cells = [
        f"{modelled(n_chunks, p, **costs):.0f} ({simulated(n_chunks, p, **costs):.0f})"
        for p in (1, 10, 100, 1000)
    ]
    sent = fold.n_bytes * (n_chunks - 1) / 1e6
    return f"| {fold.name} | {depth(n_chunks)} | {sent:.0f} | {' | '.join(cells)} |"


@contextmanager
def rows_on_disk(n, path=None):
    """A file of so many rows: the one given, or one that is deleted in the end."""
    if path is not None:
        if Path(path).stat().st_size < 8 * N_FEATURES * n:
            raise SystemExit(f"{path} has fewer than {n} rows of {N_FEATURES} doubles.")
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="isthmus-rows-") as folder:
        path = Path(folder) / "rows"
        rng = np.random.default_rng(0)
        with path.open("wb") as file:
            for start in range(0, n, BLOCK):
                rng.normal(size=(min(BLOCK, n - start), N_FEATURES)).tofile(file)
        yield path


def main(arguments=None):
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--child", nargs=3, metavar=("FOLD", "FILE", "ROWS"))
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5, 3e5, 1e6])
    parser.add_argument("--file", help="rows made before; otherwise they are made and deleted")
    parser.add_argument("--kept", help="a file of measured folds, which are not measured again")
    parser.add_argument(
        "--fold", action="append", choices=list(FOLDS), help="these alone, to keep; no page"
    )
    options = parser.parse_args(arguments)
    if options.child:
        child(options.child[0], options.child[1], int(options.child[2]))
        return 0
    sizes = sorted(int(n) for n in options.rows)
    kept = Path(options.kept) if options.kept else None
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    with rows_on_disk(max(sizes), options.file) as path:
        for line in measure(path, sizes, options.fold or list(FOLDS), lines.copy()):
            lines.append(line)
            if kept:
                with kept.open("a") as file:
                    print(line, file=file)
    if options.fold:
        return 0
    folds = gather(lines, sizes)
    task, byte = cluster_constants()
    runs = {n: timed_on_workers(n, 1_600_000) for n in (1, 2)}
    text = page(folds, sizes, task, byte, runs)
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
