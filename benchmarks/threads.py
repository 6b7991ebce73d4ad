"""``python -m benchmarks.threads``: the work that users do, on one thread and on all.

Every task runs in two processes, one with a single thread in every pool and one with the default,
which take turns; the least of many wall-clock times counts, since other work on the machine only
adds to it. No task should be slower on the default number of threads than on one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parent / "results" / "threads.md"
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
TASKS: dict[str, Callable[[], Callable[[], object]]] = {}


def task(name: str):
    """Register a function that prepares data and returns the work to be timed."""

    def register(prepare):
        TASKS[name] = prepare
        return prepare

    return register


def _data(n: int, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, np.sin(X[:, :2]).sum(axis=1) + 0.1 * X[:, 2:4].T


@task("GaussianProcess fit, 1000 rows")
def _gaussian_process():
    from isthmus.regression import GaussianProcess

    X, Y = _data(1000)
    return lambda: GaussianProcess().fit(X, Y[0])


@task("KernelPCA fit, 3000 rows")
def _kernel_pca():
    from isthmus.features import KernelPCA

    X, _ = _data(3000, 20)
    return lambda: KernelPCA(20).fit(X)


@task("KernelRidgeCV fit, 1500 rows")
def _ridge():
    from isthmus.regression import KernelRidgeCV

    X, Y = _data(1500)
    return lambda: KernelRidgeCV().fit(X, Y.T)


@task("DependencyEstimator fit, 1000 rows")
def _dependency():
    from isthmus.structured import DependencyEstimator

    X, Y = _data(1000)
    return lambda: DependencyEstimator().fit(X, Y.T)


@task("UnsupervisedKernelRegression fit, 400 rows")
def _ukr():
    from isthmus.manifold import UnsupervisedKernelRegression

    X, _ = _data(400, 5)
    return lambda: UnsupervisedKernelRegression(2, random_state=0, max_iter=30).fit(X)


@task("TwinGaussianProcess fit and predict, 500 rows")
def _twin():
    from isthmus.structured import TwinGaussianProcess

    X, Y = _data(500)
    return lambda: TwinGaussianProcess(random_state=0).fit(X, Y.T).predict(X[:50])


@task("StiefelRegression fit, 4000 rows")
def _stiefel():
    from isthmus.regression import StiefelRegression

    X, _ = _data(4000, 100)
    Y = X[:, :60] @ np.random.default_rng(1).normal(size=(60, 80))
    return lambda: StiefelRegression(10, loss="huber").fit(X, Y)


@task("GenerativeTopographicMapping fit, 1000 rows")
def _gtm():
    from isthmus.manifold import GenerativeTopographicMapping

    X, _ = _data(1000, 10)
    return lambda: GenerativeTopographicMapping(random_state=0).fit(X)


@task("SlowFeatureAnalysis fit, 20000 rows, squares of 20 columns")
def _slow():
    from isthmus.features import SlowFeatureAnalysis

    X = np.random.default_rng(0).normal(size=(20000, 20)).cumsum(axis=0)
    return lambda: SlowFeatureAnalysis(3, expansion=2).fit(X)


@task("dtw_matrix, 60 series")
def _warping():
    from isthmus.series import dtw_matrix

    X = list(np.random.default_rng(0).normal(size=(60, 150, 2)))
    return lambda: dtw_matrix(X)


@task("distance correlation, 3000 rows, 10 and 3 columns")
def _distance_correlation():
    from isthmus.dependence import distance_correlation

    X, _ = _data(3000, 10)
    return lambda: distance_correlation(X, X[:, :3] ** 2)


def serve(name: str) -> None:
    """Do the work once for every line that comes in, and answer with its wall-clock seconds."""
    warnings.simplefilter("ignore")
    work = TASKS[name]()
    work()
    print("ready", flush=True)
    for _ in sys.stdin:
        busy, own, start = busy_seconds(), time.process_time(), time.perf_counter()
        work()
        wall = time.perf_counter() - start
        others = busy_seconds() - busy - (time.process_time() - own)
        print(wall, max(others, 0.0) / wall, flush=True)


def busy_seconds() -> float:
    """CPU seconds of all processes since the machine started; NaN where no system file tells."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return float("nan")
    user, nice, system, _idle, _waiting, *rest = map(int, numbers)
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


def _server(name: str, threads: int | None) -> subprocess.Popen:
    environment = {k: v for k, v in os.environ.items() if k not in POOLS}
    if threads is not None:
        environment |= dict.fromkeys(POOLS, str(threads))
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.threads", "--serve", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


Run = tuple[float, float]  # wall-clock seconds, and processors that other processes took


def measure(name: str, repeat: int) -> tuple[list[Run], list[Run]]:
    """Runs on one thread and on the default number, in turn."""
    servers = [_server(name, 1), _server(name, None)]
    runs: tuple[list[Run], list[Run]] = ([], [])
    try:
        for server in servers:
            if server.stdout.readline().strip() != "ready":
                raise RuntimeError(f"{name} failed.")
        for _ in range(repeat):
            for server, found in zip(servers, runs, strict=True):
                print("once", file=server.stdin, flush=True)
                wall, others = map(float, server.stdout.readline().split())
                found.append((wall, others))
    finally:
        for server in servers:
            server.stdin.close()
            server.wait()
    return runs


def line(name: str, one: list[Run], many: list[Run]) -> str:
    """The row of a task: its fastest runs, and what other processes took in these."""
    (first, others), (second, others_too) = min(one), min(many)
    day, n = date.today().isoformat(), len(one)
    return (
        f"| {name} | {first:.3f} | {second:.3f} | {first / second:.2f} "
        f"| {others:.2f} {others_too:.2f} | {n} | {day} |"
    )


def former_lines() -> dict[str, str]:
    """Rows of the page as it is."""
    if not PAGE.exists():
        return {}
    lines = [text for text in PAGE.read_text(encoding="utf-8").splitlines() if text[:2] == "| "]
    return {text.split("|")[1].strip(): text for text in lines}


def page(lines: dict[str, str]) -> str:
    """The table as Markdown."""
    head = [
        "# One thread and the default",
        "",
        f"Written by `python -m benchmarks.threads` on {os.cpu_count()} processors; `--only` with "
        "words writes the rows",
        "whose name has one of them.",
        "",
        "Least wall-clock seconds of runs that take turns. *Others* are processors that other",
        "processes took during the two fastest runs: above 0.1 the machine was not quiet, and",
        "what two threads would gain there cannot be seen. A ratio above 1 is a gain by threads.",
        "",
        "| work | one thread | default | ratio | others | runs | on |",
        "|---|---:|---:|---:|---|---:|---|",
    ]
    return "\n".join(head + [lines[name] for name in TASKS if name in lines]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="tasks whose name has a word")
    parser.add_argument("--repeat", type=int, default=15, metavar="N")
    parser.add_argument("--serve", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    words, lines = options.only, former_lines()
    for name in TASKS:
        if words is None or any(word in name for word in words):
            lines[name] = line(name, *measure(name, options.repeat))
            print(lines[name], flush=True)
            PAGE.write_text(page(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
