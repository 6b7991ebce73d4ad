"""``python -m benchmarks.workers``: the same folds in processes, on one worker and on two.

Rows are read from a file, chunk by chunk. For each fold: CPU and wall-clock seconds in one process
without Dask, on a cluster of one worker and on one of two, each with one thread, and the peak
memory of a worker. Two processes without Dask that fold one half of the rows each, side by side,
tell what a second worker can gain at most. Workers keep memory that they have freed, as the guide
on large data says; one that keeps it only while it is at a block, and else gives it back as Dask
tells its own, is measured too. Wall-clock seconds need a quiet machine; with ``--kept`` the page
can be made in several calls.
"""

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from datetime import date
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._folds import N_FEATURES, run_fold
from benchmarks.how_far import rows_on_disk

PAGE = Path(__file__).parent / "results" / "workers.md"
# 32 MB: larger arrays are always new memory, which the system clears first.
CHUNK = 80_000
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


def stream_of(path, first, last):
    """A function that yields the chunks of the rows from first to last anew at each call."""

    def read():
        return (load(path, start, CHUNK) for start in range(first, last, CHUNK))

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


def shortest(run):
    """Of two runs, or one that takes more than 3 s, what the shorter said; its first is seconds."""
    found = [run()]
    if found[0][0] < 3:
        found.append(run())
    return min(found)


def timed(run, clocks):
    """Seconds by the clock, CPU seconds of all workers, of this process and of the busiest worker.

    ``clocks`` returns the CPU seconds that each worker has had.
    """
    before, mine, start = clocks(), time.process_time(), time.perf_counter()
    run()
    wall, own = time.perf_counter() - start, time.process_time() - mine
    after = clocks()
    cpu = [after[k] - before[k] for k in before]
    return wall, sum(cpu), own, max(cpu)


def without_dask(barrier, told, name, path, first, last):
    """In a process of its own: CPU and wall-clock seconds of a fold over some of the rows."""
    warnings.simplefilter("ignore")  # sweeps end before they converge
    with threadpool_limits(1):
        run_fold(name, stream_of(path, first, first + 2 * CHUNK))
        barrier.wait()
        cpu, start = time.process_time(), time.perf_counter()
        run_fold(name, stream_of(path, first, last))
        told.put((time.perf_counter() - start, time.process_time() - cpu))


def in_processes(name, path, n, n_processes):
    """Wall-clock and CPU seconds of the slowest of processes that share the rows."""
    context = multiprocessing.get_context("spawn")
    barrier, told = context.Barrier(n_processes), context.Queue()
    ends = [n // CHUNK * k // n_processes * CHUNK for k in range(n_processes + 1)]
    running = [
        context.Process(target=without_dask, args=(barrier, told, name, str(path), *part))
        for part in pairwise(ends)
    ]
    os.environ.update({name: str(value) for name, value in KEPT.items()})
    for process in running:
        process.start()
    found = max(told.get() for _ in running)
    for process in running:
        process.join()
    return found


def peak():
    """Peak memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def on_workers(name, path, n, n_workers, *, keep=True):
    """What :func:`timed` says of a fold on a cluster of its own, and the peak memory of a worker.

    On the cluster of another fold, memory that it left would slow this one.
    """
    import dask
    import distributed

    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    limit = {"memory_limit": "1GiB", "host": "127.0.0.1"}
    start = "distributed.nanny.pre-spawn-environ."
    settings = {start + name: value for name, value in KEPT.items()}
    for setting in KEPT:  # the last cluster has left its own, which would win
        os.environ.pop(setting, None)
    with (
        dask.config.set(settings) if keep else nullcontext(),
        distributed.LocalCluster(n_workers=n_workers, **options, **limit) as local,
        distributed.Client(local) as client,
    ):
        run_fold(name, array_of(path, 2 * CHUNK))
        run = partial(run_fold, name, array_of(path, n))
        found = shortest(partial(timed, run, partial(client.run, time.process_time)))
        return *found, max(client.run(peak).values())


def measured(name, path, n):
    """All that is told of a fold."""
    warnings.simplefilter("ignore")
    return {
        "here": shortest(partial(in_processes, name, path, n, 1)),
        "halves": shortest(partial(in_processes, name, path, n, 2)),
        "one": on_workers(name, path, n, 1),
        "two": on_workers(name, path, n, 2),
        "plain": on_workers(name, path, n, 1, keep=False),
    }


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
    read_file: "GB/s read of a file in memory, into arrays of 32 MB",
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


def row(name, found):
    """A row of the first table."""
    (here_wall, here), (halves, _) = found["here"], found["halves"]
    (one_wall, one, *_), (two_wall, _, _, busier, _) = found["one"], found["two"]
    plain_wall, plain, *_ = found["plain"]
    gain, ceiling = one_wall / two_wall, here_wall / halves
    cells = [
        f"{here:.2f} ({here_wall:.2f})",
        f"{one:.2f} ({one_wall:.2f})",
        f"{busier:.2f} ({two_wall:.2f})",
        f"{one / here:.2f} ({one_wall / here_wall:.2f})",
        f"{plain / here:.2f} ({plain_wall / here_wall:.2f})",
        f"{one / busier:.2f} ({gain:.2f})",
        f"{ceiling:.2f}",
        f"{gain / ceiling:.2f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def spent(name, found):
    """A row of the second table: what the time of two processors went to."""
    wall, workers, own, _, _ = found["two"]
    more = workers - found["one"][1]
    cells = [f"{100 * part / (2 * wall):.0f} %" for part in (workers, own)]
    rest = max(2 * wall - workers - own, 0.0)
    cells += [f"{100 * rest / (2 * wall):.0f} %", f"{100 * more / workers:.0f} %"]
    return f"| {name} | {' | '.join(cells)} |"


def page(n, folds, rates):
    """The results as Markdown."""
    peaks = {what: max(found[what][-1] for found in folds.values()) for what in ("one", "two")}
    lines = [
        "# One worker and two",
        "",
        f"Written on {date.today()} by `python -m benchmarks.workers`, on {os.cpu_count()} "
        "processors with nothing else to do.",
        "",
        f"{n} rows of {N_FEATURES} doubles in a file ({8 * n * N_FEATURES / 1e6:.0f} MB), in "
        f"{n // CHUNK} chunks: CPU seconds, and in brackets wall-clock seconds. Here is one "
        "process without Dask. A worker is a process of one thread with a limit of 1 GiB; of two "
        "the busier counts. Overhead is one worker over here and gain one worker over two, both in "
        "CPU seconds, and in brackets by the clock. The ceiling is what two processes without Dask "
        "gain by the clock, each with one half of the rows and nothing to tell the other; the last "
        "column is the gain by the clock as a part of it. Each fold has a cluster of its own; of "
        "two runs the shorter counts, above 3 s there is one. All processes keep memory that they "
        "have freed; the second overhead is that of one as Dask starts it "
        "(`MALLOC_TRIM_THRESHOLD_=65536`), which gives freed memory back at once but for what is "
        "freed while a fold is at a block.",
        "",
        "| fold | here | one worker | two workers | overhead | overhead, Dask's setting | gain "
        "| ceiling | of the ceiling |",
        "|---|" + "---:|" * 8,
        *(row(name, found) for name, found in folds.items()),
        "",
        f"Peak memory of a worker: {peaks['one']:.0f} MB of one, {peaks['two']:.0f} MB of two.",
        "",
        "What the two processors did while two workers were at a fold: the workers, this process "
        "(scheduler, client and what is not a sum over rows), and nothing. The last column is what "
        "two workers take more than one does, as a part of their time.",
        "",
        "| fold | workers | scheduler and client | idle | more than one worker |",
        "|---|" + "---:|" * 4,
        *(spent(name, found) for name, found in folds.items()),
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


def kept_lines(path):
    """What a file of earlier calls says: names and what was measured."""
    if path is None or not Path(path).exists():
        return {}
    return dict(map(json.loads, Path(path).read_text(encoding="utf-8").splitlines()))


def main(arguments=None):
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--file", help="rows made before; otherwise they are made and deleted")
    parser.add_argument("--kept", help="a file of measured folds, which are not measured again")
    parser.add_argument(
        "--fold", action="append", choices=FOLDS, help="these alone, to keep; no page"
    )
    options = parser.parse_args(arguments)
    n = max(round(options.rows / CHUNK), 2) * CHUNK
    known = kept_lines(options.kept)

    def keep(name, found):
        known[name] = found
        if options.kept:
            with open(options.kept, "a", encoding="utf-8") as file:
                print(json.dumps([name, found]), file=file)

    with rows_on_disk(n, options.file) as path:
        for name in options.fold or FOLDS:
            if name not in known:
                keep(name, measured(name, path, n))
    if options.fold:
        return 0
    if "rates" not in known:
        keep("rates", {what: [rate(task, k) for k in (1, 2)] for task, what in RATES.items()})
    text = page(n, {name: known[name] for name in FOLDS}, known["rates"])
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
