"""``python -m benchmarks.matrix_free``: kernel machines with and without their Gram matrix.

Kernel PCA with 10 axes and kernel ridge regression of 3 outputs, on rows of 20 columns with a
Gaussian kernel: processor time and peak of memory of either solver, and how far apart the answers
at 500 new rows are.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.regression import KernelRidgeCV
from isthmus.regression.ridge.matrix_free import LANDMARKS

PAGE = Path(__file__).parent / "results" / "matrix_free.md"
SIZES = (3000, 6000, 12000)
BOUND_ROWS = 2000
HEAD = [
    "# Without the Gram matrix",
    "",
    "Written by `python -m benchmarks.matrix_free`: processor seconds and peak of memory of a fit",
    '(`tracemalloc`), `solver="dense"` and `solver="matrix-free"`, and the largest difference of',
    "their answers at 500 new rows. Rows of 20 columns, a Gaussian kernel; the ridge chooses its",
    "penalty. Where rows are too many for the matrix, the left columns are empty.",
    "",
]


def measured(model, X, Y):
    """The fitted model, its processor seconds, and its peak in MB."""
    tracemalloc.start()
    begun = time.process_time()
    model.fit(X, Y)
    spent = time.process_time() - begun
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return model, spent, peak


def row(name: str, n: int, make, answer, *, dense: bool) -> str:
    """A line of the table."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 20)), rng.normal(size=(500, 20))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]] + 0.1 * rng.normal(size=(n, 3))
    free, spent, peak = measured(make("matrix-free"), X, Y)
    told = [f"{spent:.1f} s", f"{peak:.0f} MB"]
    if not dense:
        return f"| {name} | {n} |  |  | {told[0]} | {told[1]} |  |"
    held, own_spent, own_peak = measured(make("dense"), X, Y)
    gap = float(np.abs(answer(held, new) - answer(free, new)).max())
    own = f"{own_spent:.1f} s | {own_peak:.0f} MB"
    return f"| {name} | {n} | {own} | {told[0]} | {told[1]} | {gap:.0e} |"


def bound(n: int) -> list[str]:
    """A table of small penalties: how many eigenvalues lie above them, and how it ends."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 8)), rng.normal(size=(500, 8))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]] + 0.1 * rng.normal(size=(n, 3))
    kernel = Gaussian().resolve(X)
    spectrum = np.linalg.eigvalsh(kernel(X))
    spanned = min(LANDMARKS, n // 4)
    lines = [
        "",
        f"Small penalties, {n} rows of 8 columns. The preconditioner spans {spanned} directions,",
        "and up to half of the rows where conjugate gradients are slow; eigenvalues between the",
        "penalty and the least of these have to be found by them, one by one. A warning says how",
        "far they came; then the dense way, or `n_landmarks`, is the right one.",
        "",
        "| penalty | eigenvalues above it | matrix-free | warned | apart |",
        "|---|---|---|---|---|",
    ]
    for alpha in (1e-1, 1e-3, 1e-5, 1e-7):
        make = partial(KernelRidgeCV, kernel, alpha=alpha)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            free, spent, _ = measured(make(solver="matrix-free"), X, Y)
        gap = float(np.abs(make(solver="dense").fit(X, Y).predict(new) - free.predict(new)).max())
        above = int(np.sum(spectrum > alpha))
        warned = "yes" if told else "no"
        lines.append(f"| {alpha:g} | {above} | {spent:.1f} s | {warned} | {gap:.0e} |")
    return lines


def main() -> None:
    """Print the table and write it to the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matrix_free", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1000 rows, nothing is written")
    parser.add_argument("--rows", type=float, nargs="+", help="numbers of rows", default=SIZES)
    parser.add_argument("--dense-rows", type=float, default=16000, help="most with the matrix")
    told = parser.parse_args()
    lines = [
        "| fit | rows | dense | its peak | matrix-free | its peak | apart |",
        "|---|---|---|---|---|---|---|",
    ]
    for n in map(int, (1000,) if told.quick else told.rows):
        dense = n <= told.dense_rows
        lines.append(
            row(
                "KernelPCA(10)",
                n,
                lambda solver: KernelPCA(10, solver=solver),
                lambda model, new: model.transform(new),
                dense=dense,
            )
        )
        lines.append(
            row(
                "KernelRidgeCV",
                n,
                lambda solver: KernelRidgeCV(Gaussian(), solver=solver),
                lambda model, new: model.predict(new),
                dense=dense,
            )
        )
        print("\n".join(lines[-2:]), file=sys.stderr, flush=True)
    lines += bound(500 if told.quick else BOUND_ROWS)
    print("\n".join(lines))
    if not told.quick:
        PAGE.write_text("\n".join([*HEAD, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
