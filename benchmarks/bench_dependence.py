"""Measures of dependence and tests, against dcor and hyppo."""

import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module

import numpy as np

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.dependence import (
    dependence_matrix,
    distance_correlation,
    independence_test,
    mmd,
    partial_distance_correlation,
    two_sample_test,
)
from isthmus.kernels import Gaussian

N_PERMUTATIONS = 100


@cache
def _dcor():
    """The package, compiled: its first calls take seconds, which are not its speed."""
    try:
        import dcor
    except ImportError:
        raise Unavailable("dcor is not installed") from None
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    for method in ("avl", "mergesort"):
        dcor.distance_correlation(x, y, method=method)
    _all_pairs(dcor, np.array([x, y]))
    return dcor


def _all_pairs(dcor, rows):
    rows = np.ascontiguousarray(rows)
    left, right = np.triu_indices(len(rows), 1)
    return dcor.rowwise(
        dcor.distance_correlation,
        rows[left],
        rows[right],
        compile_mode=dcor.CompileMode.COMPILE_PARALLEL,
    )


@cache
def _hyppo(family, name):
    """A test of hyppo, compiled: its first call takes a minute, which is not its speed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test = getattr(import_module(f"hyppo.{family}"), name)()
            X = np.random.default_rng(0).normal(size=(2, 20, 3))
            test.test(X[0], X[1], reps=2, auto=False, workers=1)
    except ImportError:
        raise Unavailable("hyppo is not installed") from None
    return test


def _attempt(load, *arguments):
    """Compile a peer before anything is timed; where it is absent, the contest says so later."""
    with suppress(Unavailable):
        load(*arguments)


def _difference(a, b):
    return abs(a - b)


def _univariate(n, method):
    _attempt(_dcor)
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = x**2 + rng.normal(size=n)
    return Contest(
        lambda: distance_correlation(x, y),
        lambda: float(_dcor().distance_correlation(x, y, method=method)),
        None,
        _difference,
    )


@benchmark(
    "dcor-avl",
    work="Distance correlation of two columns",
    peer='dcor, method="avl"',
    cases=(1000, 10_000, 100_000, 1_000_000),
    quick=(300, 1000, 3000),
    goal="at least equal",
)
def univariate_avl(n):
    return _univariate(n, "avl")


@benchmark(
    "dcor-mergesort",
    work="Distance correlation of two columns",
    peer='dcor, method="mergesort"',
    cases=(1000, 10_000, 100_000, 1_000_000),
    quick=(300, 1000, 3000),
    goal="at least equal",
)
def univariate_mergesort(n):
    return _univariate(n, "mergesort")


def _tables(n, p, q):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.tanh(X[:, :q]) + rng.normal(size=(n, q))


@benchmark(
    "dcor-multivariate",
    work="Distance correlation, 10 against 3 columns",
    peer="dcor",
    cases=(1000, 2000, 5000),
    quick=(200, 400, 800),
    goal="8 times faster, a tenth of the memory",
)
def multivariate(n):
    _attempt(_dcor)
    X, Y = _tables(n, 10, 3)
    return Contest(
        lambda: distance_correlation(X, Y),
        lambda: float(_dcor().distance_correlation(X, Y)),
        None,
        _difference,
    )


@benchmark(
    "dcor-large",
    work="Distance correlation, 10 against 3 columns",
    peer="dcor",
    cases=(50_000,),
    quick=(3000,),
    goal="possible in 2 GB",
)
def large(n):
    _attempt(_dcor)
    X, Y = _tables(n, 10, 3)

    def peer():
        dcor = _dcor()
        if 2 * 8 * n**2 > 8e9:  # two matrices; it holds more
            raise Unavailable(f"needs {2 * 8 * n**2 / 1e9:.0f} GB for two matrices of distances")
        return float(dcor.distance_correlation(X, Y))

    return Contest(lambda: distance_correlation(X, Y), peer, None, _difference)


@benchmark(
    "dcor-partial",
    work="Partial distance correlation, 3 and 3 columns given 2",
    peer="dcor",
    cases=(500, 1000, 2000),
    quick=(100, 200, 400),
)
def partial(n):
    _attempt(_dcor)
    X, Y = _tables(n, 3, 3)
    Z = X[:, :2] + Y[:, :2]
    return Contest(
        lambda: partial_distance_correlation(X, Y, Z),
        lambda: float(_dcor().partial_distance_correlation(X, Y, Z)),
        None,
        _difference,
    )


@benchmark(
    "dcor-matrix",
    work="Distance correlation of all pairs of columns, n = 1000",
    peer="dcor rowwise, compiled, each pair once",
    cases=(25, 50, 100),
    quick=(3, 6, 12),
    unit="columns",
    goal="twice as fast",
)
def matrix(d):
    _attempt(_dcor)
    A = np.random.default_rng(0).normal(size=(1000, d)).cumsum(axis=1)
    upper = np.triu_indices(d, 1)

    def peer():
        return _all_pairs(_dcor(), A.T)

    return Contest(
        lambda: dependence_matrix(A).to_numpy()[upper],
        peer,
        None,
        lambda a, b: np.abs(a - b).max(),
    )


def _test_contest(n, statistic, peer_name):
    _attempt(_hyppo, "independence", peer_name)
    X, Y = _tables(n, 5, 2)

    def ours():
        return independence_test(
            X, Y, statistic=statistic, n_permutations=N_PERMUTATIONS, random_state=0
        ).pvalue

    def peer():
        test = _hyppo("independence", peer_name)
        return test.test(X, Y, reps=N_PERMUTATIONS, auto=False, workers=1, random_state=0).pvalue

    return Contest(ours, peer, lambda p: {"p-value": p})


@benchmark(
    "hsic-test",
    work="HSIC test, 100 permutations, 5 against 2 columns",
    peer="hyppo Hsic, workers=1",
    cases=(250, 500, 1000),
    quick=(50, 100, 200),
    goal="10 times faster",
)
def hsic_test(n):
    return _test_contest(n, "hsic", "Hsic")


@benchmark(
    "dcor-test",
    work="Distance correlation test, 100 permutations, 5 against 2 columns",
    peer="hyppo Dcorr, workers=1",
    cases=(250, 500, 1000),
    quick=(50, 100, 200),
    goal="10 times faster",
)
def dcor_test(n):
    return _test_contest(n, "dcor", "Dcorr")


@benchmark(
    "mmd-test",
    work="Two-sample test, 100 permutations, 5 columns",
    peer="hyppo MMD, workers=1",
    cases=(250, 500, 1000),
    quick=(50, 100, 200),
)
def mmd_test(n):
    _attempt(_hyppo, "ksample", "MMD")
    X, _ = _tables(n, 5, 2)
    half = n // 2
    Z = X[half:] + 0.1

    def ours():
        return two_sample_test(X[:half], Z, n_permutations=N_PERMUTATIONS, random_state=0).pvalue

    def peer():
        test = _hyppo("ksample", "MMD")
        return test.test(X[:half], Z, reps=N_PERMUTATIONS, auto=False, workers=1)[1]

    return Contest(ours, peer, lambda p: {"p-value": p})


@benchmark(
    "dcor-affine",
    work="Distance correlation in units of the covariances, 5 against 3 columns",
    peer="dcor distance_correlation_af_inv",
    cases=(500, 1_000, 2_000),
    quick=(200,),
    goal="twice as fast",
)
def affine(n):
    _attempt(_dcor)
    X, Y = _tables(n, 5, 3)
    return Contest(
        lambda: distance_correlation(X, Y, affine_invariant=True),
        lambda: float(_dcor().distance_correlation_af_inv(X, Y)),
        None,
        _difference,
    )


@benchmark(
    "mmd-blocks",
    work="Mean discrepancy of two samples of n rows of 5 columns",
    peer="the exact one of ours (all pairs)",
    cases=("10 000 rows, blocks of 2", "10 000 rows, blocks of 100", "1 000 000 rows, blocks of 2"),
    quick=("1 000 rows, blocks of 2",),
    unit="size",
    goal="linear in rows: a million in seconds",
)
def mmd_blocks(case):
    rows, _, blocks = case.partition(" rows, blocks of ")
    n, size = int(rows.replace(" ", "")), int(blocks)
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(n, 5)), rng.normal(size=(n, 5)) + 0.2
    kernel = Gaussian(0.1)

    def peer():
        if n > 10_000:
            raise Unavailable(f"{n**2 * 2:.0e} pairs")
        return mmd(X, Z, kernel=kernel, unbiased=True, squared=True)

    return Contest(
        lambda: mmd(X, Z, kernel=kernel, block_size=size, squared=True),
        peer,
        lambda value: {"square": float(value)},
    )
