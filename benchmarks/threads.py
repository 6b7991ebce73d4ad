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
        start = time.perf_counter()
        work()
        print(time.perf_counter() - start, flush=True)


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


def measure(name: str, repeat: int) -> tuple[list[float], list[float]]:
    """Seconds on one thread and on the default number, in turn."""
    servers = [_server(name, 1), _server(name, None)]
    times: tuple[list[float], list[float]] = ([], [])
    try:
        for server in servers:
            if server.stdout.readline().strip() != "ready":
                raise RuntimeError(f"{name} failed.")
        for _ in range(repeat):
            for server, seconds in zip(servers, times, strict=True):
                print("once", file=server.stdin, flush=True)
                seconds.append(float(server.stdout.readline()))
    finally:
        for server in servers:
            server.stdin.close()
            server.wait()
    return times


def page(rows: dict[str, tuple[list[float], list[float]]], repeat: int) -> str:
    """The table as Markdown."""
    lines = [
        "# One thread and the default",
        "",
        f"Written on {date.today().isoformat()} by `python -m benchmarks.threads "
        f"--repeat {repeat}` on {os.cpu_count()} processors.",
        "",
        f"Least wall-clock seconds of {repeat} runs that take turns; *spread* is the median over",
        "the least, for one thread and for the default: far above 1 the machine had other work.",
        "A ratio above 1 is a gain by threads.",
        "",
        "| work | one thread | default | ratio | spread |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, (one, many) in rows.items():
        spread = " ".join(f"{np.median(times) / min(times):.1f}" for times in (one, many))
        lines.append(
            f"| {name} | {min(one):.3f} | {min(many):.3f} | {min(one) / min(many):.2f} | {spread} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="tasks whose name has a word")
    parser.add_argument("--repeat", type=int, default=15, metavar="N")
    parser.add_argument("--serve", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    words = options.only
    rows = {}
    for name in TASKS:
        if words is None or any(word in name for word in words):
            rows[name] = measure(name, options.repeat)
            one, many = (min(times) for times in rows[name])
            print(
                f"{name:55s} one {one:.3f}  default {many:.3f}  ratio {one / many:.2f}", flush=True
            )
    if words is None:
        PAGE.write_text(page(rows, options.repeat), encoding="utf-8")
        print(f"Wrote {PAGE.relative_to(PAGE.parent.parent.parent)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
