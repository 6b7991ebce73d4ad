"""``python -m benchmarks.memory``: peak of memory of a fit, in square matrices of its rows.

Rows of 8 columns, 3 outputs, Gaussian kernels; the peak (`tracemalloc`) is divided by the bytes of
an n x n matrix of doubles, so that 1 is the Gram matrix alone.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

PAGE = Path(__file__).parent / "results" / "memory.md"
N_ROWS = 3000
HEAD = [
    "# Square matrices in memory",
    "",
    "Written by `python -m benchmarks.memory`: the peak of memory while fitting {n} rows of 8",
    "columns with 3 outputs (`tracemalloc`), in square matrices of {n} rows of doubles. Blocks of",
    "a fixed size, 16 MB at most, are {block:.2f} of one and count less where rows are more.",
    "",
    "| fit | square matrices | which |",
    "|---|---:|---|",
]
Task = tuple[str, Callable[[Any, Any], object], str]


def tasks() -> list[Task]:
    """What is fitted, and which square matrices it holds at its peak."""
    from isthmus.dependence import distance_correlation, hsic, independence_test
    from isthmus.features import KernelPCA
    from isthmus.kernels import Gaussian
    from isthmus.manifold import UnsupervisedKernelRegression
    from isthmus.regression import GaussianProcess, KernelRidgeCV
    from isthmus.structured import DependencyEstimator, TwinGaussianProcess

    return [
        ("KernelPCA, 10 axes", lambda X, Y: KernelPCA(10).fit(X), "the Gram matrix"),
        (
            "KernelPCA, all axes",
            lambda X, Y: KernelPCA().fit(X),
            "the eigenvectors beside half of the Gram matrix, the reflections that made it "
            "tridiagonal: of what is left of it, the other half is given back first",
        ),
        (
            "KernelRidgeCV",
            lambda X, Y: KernelRidgeCV(Gaussian()).fit(X, Y),
            "the Gram matrix; that of the 2000 rows that choose is turned in place",
        ),
        (
            "KernelRidgeCV, one penalty",
            lambda X, Y: KernelRidgeCV(Gaussian(0.1), alpha=0.1).fit(X, Y),
            "the Gram matrix, factored in place",
        ),
        (
            "GaussianProcess",
            lambda X, Y: GaussianProcess(max_iter=5).fit(X, Y[:, 0]),
            "the covariance, factored and inverted in place; kernel values again in blocks",
        ),
        ("DependencyEstimator", lambda X, Y: DependencyEstimator().fit(X, Y), "as KernelRidgeCV"),
        (
            "TwinGaussianProcess",
            lambda X, Y: TwinGaussianProcess().fit(X, Y),
            "of the inputs and of the outputs, one each: predictions solve with the factors of "
            "both, of which LAPACK reads a half and takes the whole square",
        ),
        (
            "UnsupervisedKernelRegression",
            lambda X, Y: UnsupervisedKernelRegression(max_iter=3).fit(X),
            "blocks of pairs",
        ),
        ("hsic", lambda X, Y: hsic(X, Y), "tiles"),
        (
            "independence_test, 20 permutations",
            lambda X, Y: independence_test(X, Y, n_permutations=20, random_state=0),
            "the matrix that is permuted; the other in strips",
        ),
        ("distance_correlation", lambda X, Y: distance_correlation(X, Y), "tiles"),
    ]


def peak(work: Callable[[Any, Any], object], n: int) -> float:
    """Peak in matrices of n x n doubles."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]] + 0.1 * rng.normal(size=(n, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        work(X[:1000], Y[:1000])  # what is loaded or compiled once does not count
        tracemalloc.start()
        work(X, Y)
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top / (8 * n * n)


def main() -> None:
    """Print the table and write it to the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 rows, nothing is written")
    quick = parser.parse_args().quick
    n = 500 if quick else N_ROWS
    lines = [line.format(n=n, block=2**21 / n**2) for line in HEAD]
    for name, work, which in tasks():
        lines.append(f"| {name} | {peak(work, n):.2f} | {which} |")
        print(lines[-1], flush=True)
    if not quick:
        PAGE.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
