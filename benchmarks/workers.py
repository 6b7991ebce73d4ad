"""``python -m benchmarks.workers``: the same folds here, on one worker process and on two.

Rows are read from a file, chunk by chunk. For each fold: wall-clock seconds in this process, on a
cluster of one worker and on one of two, each with one thread; what the model of *How far it goes*
says; and the peak memory of a worker. How fast two processes read memory at once, against one,
tells where the memory and not the processors is the limit. Needs a quiet machine.
"""

import argparse
import multiprocessing
import os
import pickle
import resource
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.how_far import N_FEATURES, cluster_constants, least, modelled, run_fold
from benchmarks.how_far import statistics_of as of_block

PAGE = Path(__file__).parent / "results" / "workers.md"
CHUNK = 50_000
FOLDS = (
    "moments",
    "ReducedRankRegression",
    "SlowFeatureAnalysis",
    "SmoothPSOM",
    "KernelRidgeCV",
)


def load(path, start, n):
    """Some rows of the file."""
    skip = 8 * N_FEATURES * start
    return np.fromfile(path, count=n * N_FEATURES, offset=skip).reshape(n, N_FEATURES)


def stream_of(path, n):
    """A function that yields the chunks of the file anew at each call."""

    def read():
        return (load(path, start, CHUNK) for start in range(0, n, CHUNK))

    return read


def array_of(path, n):
    """The same chunks as a Dask array, read by the workers."""
    import dask
    import dask.array as da

    read = dask.delayed(load, pure=False)
    parts = [
        da.from_delayed(read(str(path), start, CHUNK), shape=(CHUNK, N_FEATURES), dtype=float)
        for start in range(0, n, CHUNK)
    ]
    return da.concatenate(parts)


def timed(name, X, few, repeat=2):
    """Least wall-clock seconds of a fold; a first call on a few rows is not counted."""
    fit(name, few)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        fit(name, X)
        times.append(time.perf_counter() - start)
    return min(times)


def fit(name, X):
    """One of the folds; a kernel machine on 200 landmarks besides those of ``how_far``."""
    if name != "KernelRidgeCV":
        return run_fold(name, X)
    from isthmus.blocks import Blocks, each
    from isthmus.kernels import Gaussian
    from isthmus.regression import KernelRidgeCV

    model = KernelRidgeCV(Gaussian(0.01), alpha=1e-3, n_landmarks=200, random_state=0)
    y = each(X, first_column)
    return model.fit(X, (lambda: iter(y)) if isinstance(y, Blocks) else y)


def first_column(block):
    """The first column of a block, as outputs."""
    return np.ascontiguousarray(block[:, 0])


def peak():
    """Peak memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def on_workers(n_workers, path, n):
    """Seconds of each fold on a cluster of processes here, and the peak memory of a worker."""
    import distributed

    options = {"processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    limit = {"memory_limit": "1GiB"}
    with (
        distributed.LocalCluster(n_workers, threads_per_worker=1, **options, **limit) as local,
        distributed.Client(local) as client,
    ):
        X = array_of(path, n)
        seconds = {name: timed(name, X, array_of(path, 2 * CHUNK)) for name in FOLDS}
        return seconds, max(client.run(peak).values())


def read_memory(barrier, found):
    """Gigabytes per second at which this process sums 800 MB."""
    A = np.ones(10**8)
    rates = []
    for _ in range(3):
        barrier.wait()
        start = time.perf_counter()
        A.sum()
        rates.append(A.nbytes / (time.perf_counter() - start) / 1e9)
    found.put(max(rates))


def bandwidth(n_processes):
    """What all processes together read of memory, GB/s."""
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(n_processes), context.Queue()
    running = [
        context.Process(target=read_memory, args=(barrier, found)) for _ in range(n_processes)
    ]
    for process in running:
        process.start()
    total = sum(found.get() for _ in running)
    for process in running:
        process.join()
    return total


def page(n, here, runs, rates, constants):
    """The results as Markdown."""
    task, byte = constants
    n_chunks = n // CHUNK
    lines = [
        "# One worker and two",
        "",
        f"Written on {date.today()} by `python -m benchmarks.workers`, with the load average at "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.",
        "",
        f"{n} rows of {N_FEATURES} doubles in a file ({8 * n * N_FEATURES / 1e6:.0f} MB), in "
        f"{n_chunks} chunks; least wall-clock seconds of two runs. Here is this process, without "
        "Dask. A worker is a process of one thread with a limit of 1 GiB. Overhead is one worker "
        "over here, gain one worker over two; in brackets what the model of *How far it goes* "
        f"says, with {task:.1e} s for a task and {byte:.1e} s for a byte.",
        "",
        "| fold | here | one worker | two workers | overhead | gain |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    block = np.random.default_rng(0).normal(size=(CHUNK, N_FEATURES))
    for name in FOLDS:
        cells = [f"{here[name]:.2f}"]
        for workers, (seconds, _) in runs.items():
            shown = f"{seconds[name]:.2f}"
            if name != "KernelRidgeCV":
                statistics, merge = of_block(name, block)
                costs = {
                    "leaf": here[name] / n_chunks,
                    "merge": least(lambda s=statistics, m=merge: m(s, s)),
                    "n_bytes": len(pickle.dumps(statistics)),
                    "task": task,
                    "byte": byte,
                }
                shown += f" ({modelled(n_chunks, workers, **costs):.2f})"
            cells.append(shown)
        one, two = (runs[k][0][name] for k in (1, 2))
        cells += [f"{one / here[name]:.2f}", f"{one / two:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Peak memory of a worker: {runs[1][1]:.0f} MB of one, {runs[2][1]:.0f} MB of two.",
        "",
        f"One process reads {rates[1]:.1f} GB/s of memory, two together {rates[2]:.1f} GB/s: "
        f"{rates[2] / rates[1]:.2f} times as much is what a fold limited by memory could gain.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments=None):
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=4e5)
    options = parser.parse_args(arguments)
    n = max(round(options.rows / CHUNK), 1) * CHUNK
    with tempfile.TemporaryDirectory(prefix="isthmus-rows-") as folder:
        path = Path(folder) / "rows"
        rng = np.random.default_rng(0)
        with path.open("wb") as file:
            for _ in range(n // CHUNK):
                rng.normal(size=(CHUNK, N_FEATURES)).tofile(file)
        few = stream_of(path, 2 * CHUNK)
        here = {name: timed(name, stream_of(path, n), few) for name in FOLDS}
        runs = {k: on_workers(k, path, n) for k in (1, 2)}
    rates = {k: bandwidth(k) for k in (1, 2)}
    text = page(n, here, runs, rates, cluster_constants())
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
