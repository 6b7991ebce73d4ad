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
from datetime import date
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

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


def rates(repeat: int, clock: Callable[[], float]) -> dict[str, float]:
    """Operations or bytes per second, each from the least time of several runs."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1000, 1000))
    B = A.astype(np.float32)
    v = -rng.random(2**20)
    big, out = np.ones(2**23), np.empty(2**23)
    steps = 2**24
    return {
        "product, double (flop)": 2e9 / least(lambda: A @ A, repeat, clock),
        "product, single (flop)": 2e9 / least(lambda: B @ B, repeat, clock),
        "exp": len(v) / least(lambda: np.exp(v, out=out[: len(v)]), repeat, clock),
        "copy (bytes)": 2 * big.nbytes / least(lambda: np.copyto(out, big), repeat, clock),
        "dependent steps, compiled": steps / least(lambda: _recurrence(steps), repeat, clock),
    }


def paths() -> list[tuple[str, str, dict[str, float], Callable[[], object]]]:
    """Hot paths: name, least work in words, in operations, and the call."""
    from isthmus.features import KernelPCA
    from isthmus.kernels import Gaussian
    from isthmus.linalg import RidgePath
    from isthmus.series import dtw_matrix

    rng = np.random.default_rng(0)
    n = 1500
    product, exp = "product, double (flop)", "exp"
    found = []
    for d in (20, 784):
        X, kernel = rng.normal(size=(n, d)), Gaussian(0.5 / d)
        needs = {product: n * n * d, exp: n * n / 2}
        found.append(
            (
                f"Gaussian Gram matrix, {n} rows, d = {d}",
                "n²d flop, n²/2 exp",
                needs,
                _bound(kernel, X),
            )
        )
    X, r = rng.normal(size=(n, 20)), 20
    needs = {product: n * n * 20 + 2 * n * n * 4 * r, exp: n * n / 2}
    found.append(
        (
            f"KernelPCA fit, {n} rows, {r} axes",
            "Gram matrix, products with 4r vectors",
            needs,
            lambda: KernelPCA(r, kernel=Gaussian(0.02)).fit(X),
        )
    )
    K, Y = Gaussian(0.02)(X[:800]), rng.normal(size=(800, 3))
    found.append(
        (
            "ridge path with left-out errors, 800 rows",
            "4/3 n³ + 2n³ flop",
            {product: (4 / 3 + 2) * 800**3},
            lambda: RidgePath(K, Y, intercept=False).loo_residuals(0.1),
        )
    )
    series = list(rng.normal(size=(40, 200, 1)))
    found.append(
        (
            "dtw_matrix, 40 series of 200",
            "a step per cell, 4 in a register",
            {"dependent steps, compiled": 40 * 39 / 2 * 200**2 / 4},
            lambda: dtw_matrix(series, n_jobs=1),
        )
    )
    return found


def _bound(kernel, X):
    return lambda: kernel(X)


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
        "over our CPU time.",
        "",
        "| path | least work | limit s | ours s | share |",
        "|---|---|---:|---:|---:|",
        *(
            f"| {name} | {words} | {limit:.4f} | {ours:.4f} | {limit / ours:.2f} |"
            for name, words, limit, ours in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, metavar="N")
    repeat = parser.parse_args().repeat
    hot = paths()
    with threadpool_limits(limits=1):
        one = rates(repeat, time.process_time)
        rows = []
        for name, words, needs, work in hot:
            limit = sum(amount / one[what] for what, amount in needs.items())
            rows.append((name, words, limit, least(work, repeat, time.process_time)))
            print(f"{name:50s} limit {limit:.4f}  ours {rows[-1][3]:.4f}", flush=True)
    many = rates(repeat, time.perf_counter)
    PAGE.write_text(page(one, many, rows), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(PAGE.parent.parent.parent)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
