"""``python -m benchmarks.workers``: the same folds here, on one worker process and on two.

Rows are read from a file, chunk by chunk. For each fold: CPU and wall-clock seconds here, on
a cluster of one worker and on one of two, each with one thread, and the peak memory of a worker.
CPU seconds are those of the busiest worker: where nothing else runs and memory is fast enough, they
are what one waits for. Workers keep memory that they have freed, as the guide on large data says;
one that keeps it only while it is at a block, and else gives it back as Dask tells its own, is
measured too. How fast two processes read memory,
multiply and exponentiate at once, against one, tells what a second worker can gain at most.
Wall-clock seconds need a quiet machine.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from contextlib import nullcontext
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import threads_at
from benchmarks._folds import N_FEATURES, run_fold
from benchmarks.how_far import rows_on_disk

PAGE = Path(__file__).parent / "results" / "workers.md"
CHUNK = 100_000  # 40 MB
FOLDS = (
    "moments",
    "ReducedRankRegression",
    "SlowFeatureAnalysis",
    "SmoothPSOM",
    "KernelPCA, landmarks",
    "KernelRidgeCV, landmarks",
    "KHarmonicMeans",
)
# Bytes that a worker process keeps, and arrays below which it asks for no new memory.
KEPT = {"MALLOC_TRIM_THRESHOLD_": 256 * 2**20, "MALLOC_MMAP_THRESHOLD_": 32 * 2**20}


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


def timed(name, X, few, clocks):
    """CPU and wall-clock seconds of a fold; a first call on a few rows is not counted.

    ``clocks`` returns the CPU seconds that each process has had.
    """
    run_fold(name, few)
    before, start = clocks(), time.perf_counter()
    run_fold(name, X)
    wall, after = time.perf_counter() - start, clocks()
    return max(after[k] - before[k] for k in before), wall


def peak():
    """Peak memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def on_workers(n_workers, path, n, *, keep=True):
    """Seconds of each fold on a cluster of processes here, and the peak memory of a worker."""
    import dask
    import distributed

    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    limit = {"memory_limit": "1GiB", "host": "127.0.0.1"}
    start = "distributed.nanny.pre-spawn-environ."
    settings = {start + name: value for name, value in KEPT.items()}
    for name in KEPT:  # the last cluster has left its own, which would win
        os.environ.pop(name, None)
    X, few = array_of(path, n), array_of(path, 2 * CHUNK)
    seconds, peaks = {}, []
    for name in FOLDS:  # each in a cluster of its own: memory that one leaves slows the next
        with (
            dask.config.set(settings) if keep else nullcontext(),
            distributed.LocalCluster(n_workers=n_workers, **options, **limit) as local,
            distributed.Client(local) as client,
        ):
            seconds[name] = timed(name, X, few, partial(client.run, time.process_time))
            peaks += client.run(peak).values()
    return seconds, max(peaks)


def read_memory(barrier, found):
    """Gigabytes per second at which this process sums 800 MB."""
    A = np.ones(10**8)
    found.put(best_rate(barrier, A.sum, A.nbytes / 1e9))


def read_file(barrier, found):
    """Gigabytes per second at which this process reads a file that the system has in memory."""
    with tempfile.NamedTemporaryFile() as file:
        np.ones(CHUNK * N_FEATURES).tofile(file.name)
        gigabytes = 8 * CHUNK * N_FEATURES / 1e9

        def work():
            for _ in range(20):
                load(file.name, 0, CHUNK)

        found.put(best_rate(barrier, work, 20 * gigabytes))


def multiply(barrier, found):
    """Gigaflops at which this process multiplies matrices that stay in its cache."""
    A = np.random.default_rng(0).normal(size=(300, 300))

    def work():
        for _ in range(200):
            A @ A

    with threadpool_limits(1):
        found.put(best_rate(barrier, work, 200 * 2 * len(A) ** 3 / 1e9))


def exponentiate(barrier, found):
    """Millions of exponentials in a second, of numbers that stay in the cache."""
    A = np.random.default_rng(0).normal(size=10_000)
    out = np.empty_like(A)

    def work():
        for _ in range(3000):
            np.exp(A, out=out)

    found.put(best_rate(barrier, work, 3000 * len(A) / 1e6))


def best_rate(barrier, work, amount):
    """The most of three runs, which begin together with those of the other processes."""
    rates = []
    for _ in range(3):
        barrier.wait()
        start = time.perf_counter()
        work()
        rates.append(amount / (time.perf_counter() - start))
    return max(rates)


# What a processor does, and in which unit.
RATES = {
    read_memory: "GB/s read of memory",
    read_file: "GB/s read of a file in memory, into new arrays of 40 MB",
    multiply: "Gflop/s of matrix products in the cache",
    exponentiate: "million exponentials in a second",
}


def rate(task, n_processes):
    """What all processes together do."""
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(n_processes), context.Queue()
    running = [context.Process(target=task, args=(barrier, found)) for _ in range(n_processes)]
    for process in running:
        process.start()
    total = sum(found.get() for _ in running)
    for process in running:
        process.join()
    return total


def page(n, here, runs, rates):
    """The results as Markdown; ``runs`` are those of one worker, of two, and of one as Dask is."""
    one, two, plain = runs
    lines = [
        "# One worker and two",
        "",
        f"Written on {date.today()} by `python -m benchmarks.workers`, with the load average at "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.",
        "",
        f"{n} rows of {N_FEATURES} doubles in a file ({8 * n * N_FEATURES / 1e6:.0f} MB), in "
        f"{n // CHUNK} chunks: CPU seconds, and in brackets wall-clock seconds. Here is this "
        "process, without Dask. A worker is a process of one thread with a limit of 1 GiB; of "
        "two the busier counts. Overhead is one worker over here and gain one worker over two, "
        "both in CPU seconds, and in brackets by the clock on the wall. Each fold has a cluster of "
        "its own. Workers keep memory that they have freed; the last column is the overhead of one "
        "as Dask starts it (`MALLOC_TRIM_THRESHOLD_=65536`), which gives freed memory back at once "
        "but for what is freed while a fold is at a block.",
        "",
        "| fold | here | one worker | two workers | overhead | gain | overhead, Dask's setting |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in FOLDS:
        cells = [
            f"{cpu:.2f} ({wall:.2f})" for cpu, wall in (here[name], one[0][name], two[0][name])
        ]
        for over, under in ((one[0], here), (one[0], two[0]), (plain[0], here)):
            ratios = [a / b for a, b in zip(over[name], under[name], strict=True)]
            cells.append(f"{ratios[0]:.2f} ({ratios[1]:.2f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Peak memory of a worker: {one[1]:.0f} MB of one, {two[1]:.0f} MB of two, "
        f"{plain[1]:.0f} MB of one with Dask's setting.",
        "",
        "What the machine itself gains from a second process, without Dask and without us:",
        "",
        "| | one process | two together | gain |",
        "|---|---:|---:|---:|",
        *(
            f"| {what} | {one:.1f} | {two:.1f} | {two / one:.2f} |"
            for what, (one, two) in rates.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def main(arguments=None):
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=4e6)
    parser.add_argument("--file", help="rows made before; otherwise they are made and deleted")
    options = parser.parse_args(arguments)
    n = max(round(options.rows / CHUNK), 1) * CHUNK
    with rows_on_disk(n, options.file) as path:
        few = stream_of(path, 2 * CHUNK)
        with threads_at(1):
            here = {
                name: timed(name, stream_of(path, n), few, lambda: {"here": time.process_time()})
                for name in FOLDS
            }
        runs = [on_workers(1, path, n), on_workers(2, path, n), on_workers(1, path, n, keep=False)]
    rates = {what: [rate(task, k) for k in (1, 2)] for task, what in RATES.items()}
    text = page(n, here, runs, rates)
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
