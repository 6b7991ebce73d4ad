"""Hot paths with the least work that each needs, for ``python -m benchmarks.limits``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

PRODUCT, EXP, ROOT, FRESH, COPY, GATHER, STEPS = (
    "product, double (flop)",
    "exp",
    "sqrt",
    "fresh memory (bytes)",
    "copy (bytes)",
    "gathered numbers, compiled",
    "dependent steps, compiled",
)
PATHS: list[Callable[[], HotPath]] = []


class HotPath(NamedTuple):
    """A call, its least work in words and in operations, and why it stays below the goal."""

    name: str
    words: str
    needs: dict[str, float]
    work: Callable[[], object]
    why: str = ""
    compiled: bool = False  # a recurrence: the goal is a third of the limit, otherwise half


def path(make: Callable[[], HotPath]) -> Callable[[], HotPath]:
    """Register a function that prepares the data of a path."""
    PATHS.append(make)
    return make


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def _gram(n: int, d: int, why: str) -> HotPath:
    from isthmus.kernels import Gaussian

    X, kernel = _normal(n, d), Gaussian(0.5 / d)
    needs = {PRODUCT: n * n * d, EXP: n * n / 2, FRESH: 8 * n * n}
    words = "n²d flop, n²/2 exp, n² numbers written"
    return HotPath(f"Gaussian Gram matrix, {n} rows, d = {d}", words, needs, lambda: kernel(X), why)


@path
def gram_narrow():
    return _gram(
        3000,
        20,
        "fresh memory is a third, the product a quarter, exp and both copies of it the rest",
    )


@path
def gram_wide():
    return _gram(3000, 784, "checks of the input, and the other half is copied")


@path
def kernel_pca():
    from isthmus.features import KernelPCA
    from isthmus.kernels import Gaussian

    n, d, r = 8000, 20, 20
    X = _normal(n, d)
    needs = {PRODUCT: n * n * d + 2 * n * n * 6 * r, EXP: n * n / 2, FRESH: 8 * n * n}
    return HotPath(
        f"KernelPCA fit, {n} rows, {r} axes",
        "Gram matrix, products with 6r vectors",
        needs,
        lambda: KernelPCA(r, kernel=Gaussian(0.02)).fit(X),
        "two thirds are six products with blocks of 24 vectors, a third the Gram matrix",
    )


@path
def ridge():
    from isthmus.kernels import Gaussian
    from isthmus.linalg.ridge import left_out_path

    n, alphas = 800, 10.0 ** np.arange(-10, 2.01, 0.5)
    K, Y = Gaussian(0.02)(_normal(n, 20)), _normal(n, 3)
    return HotPath(
        f"ridge path with left-out errors, {n} rows, {len(alphas)} penalties",
        "4/3 n³ + 4/3 n³ flop, 7n² for each penalty",
        {PRODUCT: 8 / 3 * n**3 + 7 * len(alphas) * n**2},
        lambda: list(left_out_path(K, Y, intercept=False).left_out(alphas.tolist())),
        "half is LAPACK's reduction, of which half is products with vectors, bound by memory",
    )


def _ukr_step(kernel: str, n: int, words: str, needs: dict[str, float], why: str) -> HotPath:
    from isthmus.losses import Squared
    from isthmus.manifold.ukr.objective import reconstruction_error
    from isthmus.smoothers import density_kernel
    from isthmus.smoothers.local_polynomial import LocalSmoother

    X = np.sqrt(np.pi * n / 20) * np.random.default_rng(0).uniform(size=(n, 2))
    Y, smoother, itself = _normal(n, 16), LocalSmoother(density_kernel(kernel)), np.arange(n)
    return HotPath(
        f"UKR step, {kernel}, {n} rows, 16 columns",
        words,
        needs,
        lambda: reconstruction_error(X, None, Y, Y, smoother, Squared(), excluded=itself[:, None]),
        why,
    )


@path
def ukr_gaussian():
    n, d = 2000, 16
    needs = {PRODUCT: n * n * (4 * d + 8), EXP: n * n / 2}
    why = "products are a half, exp of both halves a third, distances and sums of weights the rest"
    return _ukr_step("gaussian", n, "n²(4d + 8) flop, n²/2 exp", needs, why)


@path
def ukr_quartic():
    n, d = 4000, 16
    needs = {PRODUCT: n * 20 * (4 * d + 20)}
    why = (
        "a third finds the pairs, of which every second place that is tested is one; over a third "
        "are sums and slopes of rows of 16 numbers, sorted and once for both places of a pair; the "
        "loss and calls are the rest"
    )
    return _ukr_step("quartic", n, "20 pairs a row, 4d + 20 flop each", needs, why)._replace(
        compiled=True
    )


@path
def warping():
    from isthmus.series import dtw_matrix

    series = list(_normal(40, 200, 1))
    return HotPath(
        "dtw_matrix, 40 series of 200",
        "a step per cell, 4 in a register",
        {STEPS: 40 * 39 / 2 * 200**2 / 4},
        lambda: dtw_matrix(series, n_jobs=1),
        compiled=True,
    )


@path
def alignment():
    from isthmus.kernels import GlobalAlignment

    series = list(_normal(40, 100, 1).cumsum(axis=1))
    kernel = GlobalAlignment().resolve(series)
    cells = 40 * 41 / 2 * 100**2
    return HotPath(
        "global alignment, 40 series of 100",
        "an exp and a step per cell, 4 in a register",
        {EXP: cells, STEPS: cells / 4},
        lambda: kernel(series),
        "sums are rescaled against overflow, and every pair has its own table",
        compiled=True,
    )


@path
def distance_correlation():
    from isthmus.dependence import distance_correlation

    n = 3000
    X, Y = _normal(n, 10), _normal(n, 3, seed=1)
    return HotPath(
        f"distance correlation, {n} rows, 10 and 3 columns",
        "13n² flop, n² roots",
        {PRODUCT: 13 * n * n, ROOT: n * n},
        lambda: distance_correlation(X, Y),
        "squared distances and roots, side by side, are most of it, sums over both the rest",
    )


@path
def permutations():
    from isthmus.dependence import independence_test

    n, times = 500, 500
    X, Y = _normal(n, 5), _normal(n, 2, seed=1)
    return HotPath(
        f"HSIC test, {n} rows, {times} permutations",
        "n²/2 entries gathered and multiplied for each",
        {GATHER: n * n / 2 * times, EXP: n * n},
        lambda: independence_test(X, Y, n_permutations=times, random_state=0),
        "two thirds gather permuted entries; a tenth draws permutations",
    )


def _atoms(n_atoms: int = 256, d: int = 64) -> np.ndarray:
    D = _normal(n_atoms, d, seed=1)
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@path
def pursuit():
    from isthmus.sparse import orthogonal_matching_pursuit

    n, k, D = 3000, 10, _atoms()
    X = _normal(n, 64)
    needs = {PRODUCT: 2.0 * n * D.size + n * len(D) * k * (k - 1), FRESH: 8.0 * n * len(D)}
    return HotPath(
        f"orthogonal pursuit, {n} signals, 256 atoms, {k} non-zeros",
        "2ndK + nKk(k - 1) flop, nK numbers written",
        needs,
        lambda: orthogonal_matching_pursuit(X, D, n_nonzero=k),
        "half is one pass over all atoms for each that is chosen: one load for each product, and "
        "the next pass waits for the best atom, a root and a division",
    )


@path
def signs():
    from isthmus.sparse import feature_sign_search

    n, D = 1000, _atoms()
    X = _normal(n, 64)
    # counted: as many as these signals need at this penalty
    k = round(np.count_nonzero(feature_sign_search(X, D, alpha=0.5)) / n)
    needs = {PRODUCT: 2.0 * n * D.size + n * len(D) * k * (k + 1)}
    return HotPath(
        f"feature-sign search, {n} signals, 256 atoms, {k} non-zeros",
        "2ndK + nKk(k + 1) flop",
        needs,
        lambda: feature_sign_search(X, D, alpha=0.5),
        "nearly all is the compiled search: slopes of all atoms, ten times for a signal, read the "
        "Gram matrix from the second cache; systems of few rows wait for roots and divisions",
    )


@path
def dictionary():
    from isthmus.sparse import KSVD

    n, k, sweeps, D = 2000, 4, 5, _atoms(128)
    X = _normal(n, 64)
    needs = {PRODUCT: sweeps * (2.0 * n * D.size + n * 128 * k * (k - 1) + 8.0 * n * k * 64)}
    return HotPath(
        f"K-SVD, {sweeps} sweeps, {n} signals, 128 atoms, {k} non-zeros",
        "pursuit, and 8ndk flop for the atoms",
        needs,
        _quiet(lambda: KSVD(128, n_nonzero=k, max_iter=sweeps, random_state=0).fit(X)),
        "two thirds are the pursuits, as above, and half of these products with blocks of signals; "
        "a sixth are the atoms, one after the other, by three power steps each",
    )


@path
def factorization():
    from isthmus.sparse import NonnegativeFactorization

    n, d, k, steps = 2000, 200, 20, 20
    X = np.abs(_normal(n, d))
    # a start of ours would be steps on a sketch, which are no part of these
    start = np.abs(_normal(n, k, seed=1)), np.abs(_normal(k, d, seed=2))
    model = NonnegativeFactorization(k, init=start, tol=0.0, max_iter=steps)
    return HotPath(
        f"factorisation, {steps} steps from a given start, {n} × {d}, rank {k}",
        "4ndk + 2(n + d)k² flop a step",
        {PRODUCT: steps * (4.0 * n * d * k + 2.0 * (n + d) * k * k)},
        _quiet(lambda: model.fit(X)),
        "products are compiled, faster than those of BLAS; sweeps over coordinates, up to four for "
        "each product, exact codes at the end and passes over both factors are no less than they",
    )


@path
def slow_stream():
    from isthmus.features import SlowFeatureAnalysis

    n, d, block = 100_000, 20, 1000
    blocks = np.split(_normal(n, d).cumsum(axis=0), n // block)

    def learn():
        model = SlowFeatureAnalysis(3)
        for rows in blocks:
            model.partial_fit(rows)
        return model

    return HotPath(
        f"slow features of a stream, {n} rows of {d} in blocks of {block}",
        "2nd² flop, 2nd numbers read",
        {PRODUCT: 2.0 * n * d * d, COPY: 16.0 * n * d},
        learn,
        "a third are two products with 20 columns, halves of squares in registers; the rest are "
        "calls, a first look at each block, and sums that become roots now and then",
    )


@path
def reduced_rank():
    from isthmus.regression import ReducedRankRegression

    n, d, o = 5000, 200, 100
    X, Y = _normal(n, d), _normal(n, o, seed=1)
    return HotPath(
        f"reduced rank, {n} rows, {d} to {o}, rank 10",
        "nd² + 2ndo flop, 9d³ for spectra",
        {PRODUCT: n * d * d + 2.0 * n * d * o + 9.0 * d**3},
        lambda: ReducedRankRegression(10, alpha=0.0).fit(X, Y),
        "two thirds are moments of centred blocks, which sum the outputs' own too",
    )


@path
def likelihood():
    from isthmus.kernels import Gaussian
    from isthmus.regression.gaussian_process.formulas import likelihood

    n = 1000
    X, Y, kernel = _normal(n, 4), _normal(n, 1), Gaussian(0.1)

    def evaluate():
        K = kernel.gram(X, X)
        found = likelihood([K.copy()], [Y], [0.1], None)
        return kernel.parameter_gradient(X, X, found.weights[0], K)

    return HotPath(
        f"Gaussian process, likelihood and gradient, {n} rows",
        "n³ flop, n²/2 exp",
        {PRODUCT: float(n**3), EXP: n * n / 2},
        evaluate,
        "the factor is a quarter and its inverse two fifths, both far below the rate of products",
    )


@path
def twin_step():
    from isthmus.structured.twin.formulas import kl_criterion

    n, b = 1000, 200
    g, Q, u = np.abs(_normal(b, n)), np.eye(n) * 0.1, _normal(b, n)
    from isthmus.linalg import product

    return HotPath(
        f"twin process, criterion and slope of {b} trial outputs, {n} pairs",
        "2bn² flop",
        {PRODUCT: 2.0 * b * n * n},
        lambda: kl_criterion(g, np.full(b, n), product(g, Q), u, np.ones(b), 1e-3),
        "passes over the b × n table for sums of products",
    )


@path
def preimages():
    from isthmus.features import KernelPCA
    from isthmus.kernels import Gaussian
    from isthmus.preimage import FixedPointPreimage

    n, b, d, steps = 800, 200, 64, 10
    X = _normal(n, d)
    pca = KernelPCA(20, kernel=Gaussian(0.01)).fit(X)
    solver = FixedPointPreimage().fit(X, pca)
    queries = pca.transform(_normal(b, d, seed=1))
    return HotPath(
        f"fixed-point pre-images, {b} queries, {n} objects",
        f"{steps} steps of 4bnd flop and bn exp",
        {PRODUCT: 4.0 * steps * b * n * d, EXP: float(steps * b * n)},
        _quiet(lambda: solver.solve(queries)),
        "fourteen steps are taken and not ten; choosing the next point is a sixth",
    )


def _quiet(work: Callable[[], object]) -> Callable[[], object]:
    """The same without warnings: what a few steps leave undone is meant."""

    def silent() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()

    return silent
