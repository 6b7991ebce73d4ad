"""``python -m benchmarks.how_far``: folds over rows on disk, and a model of many workers.

For each fold: CPU time and peak memory over rows that are read from a file block by block, the size
of its statistics and the time to merge two of them. From these, and from the costs of a task and of
a byte on a cluster of processes here, a model of the time for 10^9 rows; a simulated scheduler and
runs with one and two workers are held against it.
"""

import argparse
import heapq
import os
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np

from isthmus.blocks.tree import FAN_IN, depth

PAGE = Path(__file__).parent / "results" / "how_far.md"
N_FEATURES, BLOCK = 50, 20_000
# Rows of a chunk on a cluster, 400 MB of doubles.
CHUNK, ROWS = 10**6, 10**9
FOLDS = (
    "moments",
    "ReducedRankRegression",
    "BayesianLinearRegression",
    "SlowFeatureAnalysis",
    "SmoothPSOM",
)


def blocks_of(path, n):
    """A function that yields the rows of a file anew at each call."""

    def read():
        with open(path, "rb") as file:
            for start in range(0, n, BLOCK):
                rows = min(BLOCK, n - start)
                yield np.fromfile(file, count=rows * N_FEATURES).reshape(rows, N_FEATURES)

    return read


def run_fold(name, X):
    """Fit to ``X``, whose first columns are outputs or latent points where such are needed."""
    from isthmus.blocks import Blocks, each, fold, map_block, merge
    from isthmus.features import SlowFeatureAnalysis
    from isthmus.manifold import SmoothPSOM
    from isthmus.regression import BayesianLinearRegression, ReducedRankRegression

    def columns(where):
        found = each(X, lambda block: np.ascontiguousarray(block[:, where]))
        return (lambda: iter(found)) if isinstance(found, Blocks) else found

    if name == "moments":
        return fold(X, map_block, merge)
    if name == "SlowFeatureAnalysis":
        return SlowFeatureAnalysis(3).fit(X)
    if name == "SmoothPSOM":
        grid = SmoothPSOM((8, 8), bounds=(-1e3, 1e3))
        return grid.fit(columns(slice(2, None)), latent=columns(slice(0, 2)))
    kinds = {
        "ReducedRankRegression": ReducedRankRegression(2, alpha=1.0),
        "BayesianLinearRegression": BayesianLinearRegression(),
    }
    return kinds[name].fit(columns(slice(5, None)), columns(slice(0, 5)))


def statistics_of(name, block):
    """The statistics of a block, and their merge."""
    from isthmus.blocks.moments import map_block, merge
    from isthmus.features.slow.in_blocks import SignalMap, merge_blocks
    from isthmus.manifold import SmoothPSOM
    from isthmus.manifold.psom.grid import make_grid
    from isthmus.manifold.psom.in_blocks import RootMap, merge_roots

    if name == "SlowFeatureAnalysis":
        return SignalMap(None, [1])(block, overlap=0), merge_blocks
    if name == "SmoothPSOM":
        grid = make_grid("how_far", (8, 8), bounds=(-1e3, 1e3), basis="chebyshev", parameter="grid")
        return RootMap(SmoothPSOM(), grid)(block[:, 2:], block[:, :2]), merge_roots
    return map_block(block), merge


def child(name, path, n):
    """In a process of its own: CPU seconds and peak memory of one fold."""
    # Loading and compiling are not the fold's.
    run_fold(name, lambda: iter([np.random.default_rng(0).normal(size=(2000, N_FEATURES))]))
    loaded = _peak()
    start = time.process_time()
    run_fold(name, blocks_of(path, n))
    print(time.process_time() - start, loaded, _peak())


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_folds(path, sizes):
    """Rows of the first table: name, seconds and peaks for each size, growth, bytes, merge time."""
    block = np.random.default_rng(0).normal(size=(BLOCK, N_FEATURES))
    found = []
    for name in FOLDS:
        seconds, peaks = [], []
        for n in sizes:
            call = [sys.executable, "-m", "benchmarks.how_far", "--child", name, str(path), str(n)]
            out = subprocess.run(call, check=True, capture_output=True, text=True).stdout.split()
            seconds.append(float(out[0]))
            peaks.append(float(out[2]))
        statistics, merge = statistics_of(name, block)
        merging = least(lambda s=statistics, m=merge: m(s, s))
        growth = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        found.append((name, seconds, peaks, growth, len(pickle.dumps(statistics)), merging))
        print(*found[-1], file=sys.stderr)
    return found


def least(work, repeat=5):
    """Least CPU seconds of several calls."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def cluster_constants():
    """Seconds for a task and for a byte between two worker processes here."""
    import distributed

    options = {"processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(2, threads_per_worker=1, **options) as local,
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
        distributed.LocalCluster(n_workers, threads_per_worker=1, **options) as local,
        distributed.Client(local) as client,
    ):
        X = da.random.default_rng(0).normal(size=(n, N_FEATURES), chunks=(n // 16, N_FEATURES))
        run_fold("moments", X[: n // 8])
        before = sum(client.run(time.process_time).values())
        start = time.perf_counter()
        run_fold("moments", X)
        wall = time.perf_counter() - start
        return wall, sum(client.run(time.process_time).values()) - before


def modelled(n_chunks, n_workers, *, leaf, merge, n_bytes, task, byte):
    """Seconds of a fold: leaves in rounds, a serial scheduler, and the levels of the tree."""
    rounds = -(-n_chunks // n_workers)
    level = (FAN_IN - 1) * (merge + n_bytes * byte) + task
    return max(rounds * leaf, n_chunks * task) + depth(n_chunks) * level


def simulated(n_chunks, n_workers, *, leaf, merge, n_bytes, task, byte, spread=0.1):
    """The same by a scheduler that hands out one task after the other, leaves of uneven length."""
    rng = random.Random(0)
    free = [0.0] * n_workers
    heapq.heapify(free)
    dispatched = 0.0
    done = []
    for _ in range(n_chunks):
        dispatched = max(dispatched + task, 0.0)
        start = max(heapq.heappop(free), dispatched)
        end = start + leaf * (1 + spread * rng.uniform(-1, 1))
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
            end = start + (len(group) - 1) * (merge + n_bytes * byte)
            done.append(end)
            heapq.heappush(free, end)
    return done[0]


def page(folds, sizes, task, byte, runs):
    """The results as Markdown."""
    lines = [
        "# How far folds go",
        "",
        f"Written on {date.today()} by `python -m benchmarks.how_far`, with the load average at "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.",
        "",
        f"Rows of {N_FEATURES} doubles, read from a file in blocks of {BLOCK}. CPU seconds of one "
        "thread, peak memory of the whole process (Python, libraries and all), growth n^b.",
        "",
        "| fold | "
        + " | ".join(f"s, {n:.0e} rows | MB" for n in sizes)
        + " | growth | statistics, bytes | merge, s |",
        "|---|" + "---:|" * (2 * len(sizes) + 3),
    ]
    for name, seconds, peaks, growth, n_bytes, merging in folds:
        cells = " | ".join(f"{s:.2f} | {p:.0f}" for s, p in zip(seconds, peaks, strict=True))
        lines.append(f"| {name} | {cells} | {growth:.2f} | {n_bytes} | {merging:.1e} |")
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
    ]
    n_chunks = ROWS // CHUNK
    for name, seconds, _, _, n_bytes, merging in folds:
        costs = {
            "leaf": CHUNK * seconds[-1] / sizes[-1],
            "merge": merging,
            "n_bytes": n_bytes,
            "task": task,
            "byte": byte,
        }
        cells = [
            f"{modelled(n_chunks, p, **costs):.0f} ({simulated(n_chunks, p, **costs):.0f})"
            for p in (1, 10, 100, 1000)
        ]
        sent = n_bytes * (n_chunks - 1) / 1e6
        lines.append(f"| {name} | {depth(n_chunks)} | {sent:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments=None):
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--child", nargs=3, metavar=("FOLD", "FILE", "ROWS"))
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5, 3e5, 1e6])
    options = parser.parse_args(arguments)
    if options.child:
        child(options.child[0], options.child[1], int(options.child[2]))
        return 0
    sizes = [int(n) for n in options.rows]
    with tempfile.TemporaryDirectory(prefix="isthmus-rows-") as folder:
        path = Path(folder) / "rows"
        rng = np.random.default_rng(0)
        with path.open("wb") as file:
            for start in range(0, max(sizes), BLOCK):
                rng.normal(size=(min(BLOCK, max(sizes) - start), N_FEATURES)).tofile(file)
        folds = measure_folds(path, sizes)
    task, byte = cluster_constants()
    runs = {n: timed_on_workers(n, 1_600_000) for n in (1, 2)}
    text = page(folds, sizes, task, byte, runs)
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
