"""Measures of many objects: low rank, blocks, and their exact counterparts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.dependence import (
    Nystroem,
    RandomFourier,
    cka,
    coco,
    distance_correlation,
    distance_covariance,
    hsic,
    independence_test,
    mmd,
    two_sample_test,
)
from isthmus.kernels import Delta, Gaussian, Laplacian, Precomputed


@pytest.fixture
def tied(rng):
    X = rng.normal(size=(400, 2))
    return X, np.c_[X[:, 0] * X[:, 1], rng.normal(size=400)] + 3


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("measure", [hsic, cka])
def test_as_many_landmarks_as_objects_are_exact(tied, measure, unbiased):
    exact = measure(*tied, unbiased=unbiased)
    low = measure(*tied, unbiased=unbiased, approximation=Nystroem(400))
    assert low == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("unbiased", [True, False])
def test_few_features_are_the_measure_of_their_kernel(tied, oracles, unbiased):
    X, Y = tied
    kernel = Gaussian(0.3)
    K = {}
    for name, A in zip("XY", tied, strict=True):
        some = A[np.sort(np.random.default_rng(0).choice(400, 30, replace=False))]
        K[name] = kernel(A, some) @ np.linalg.pinv(kernel(some), hermitian=True) @ kernel(some, A)
    product = oracles.u_product if unbiased else oracles.v_product
    found = hsic(
        X, Y, x_kernel=kernel, y_kernel=kernel, unbiased=unbiased, approximation=Nystroem(30)
    )
    assert found == pytest.approx(product(K["X"], K["Y"]), rel=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(0.5)], ids=repr)
def test_random_features_come_near_the_kernel(kernel, tied):
    kernels = {"x_kernel": kernel, "y_kernel": kernel}
    exact = hsic(*tied, **kernels)
    found = [hsic(*tied, **kernels, approximation=RandomFourier(1000, s)) for s in range(3)]
    assert_allclose(np.mean(found), exact, rtol=0.1)
    linear = hsic(*tied, x_kernel="linear", y_kernel=kernel, approximation="fourier")
    assert linear == pytest.approx(hsic(*tied, x_kernel="linear", y_kernel=kernel), rel=0.3)


def test_objects_have_landmarks_too(rng):
    words = list(rng.choice(["tree", "leaf", "root"], size=200))
    heights = np.array([len(set(word)) for word in words]) + rng.normal(size=200)
    exact = hsic(words, heights, x_kernel=Delta())
    assert hsic(words, heights, x_kernel=Delta(), approximation="nystroem") == pytest.approx(
        exact, rel=0.02
    )


def test_what_an_approximation_cannot_do_is_refused(tied):
    X, Y = tied
    with pytest.raises(ValueError, match=r"'approximation' parameter of hsic must be None, one"):
        hsic(X, Y, approximation="random")
    with pytest.raises(TypeError, match="use Nystroem"):
        hsic(X, Y, y_kernel="polynomial", approximation="fourier")
    with pytest.raises(ValueError, match="n_landmarks"):
        hsic(X, Y, approximation=Nystroem(0))
    with pytest.raises(ValueError, match="equal length"):
        hsic(X, Y[:-1], approximation="nystroem")
    with pytest.raises(ValueError, match=r"Precomputed\(matrix\)"):
        hsic(X @ X.T, Y, x_kernel="precomputed", approximation="nystroem")
    index = hsic(np.arange(400), Y, x_kernel=Precomputed(X @ X.T), approximation="nystroem")
    assert index == pytest.approx(hsic(X, Y, x_kernel="linear", approximation="nystroem"), rel=1e-5)


# Blocks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unbiased", [True, False])
def test_blocks_give_what_arrays_do(tied, unbiased, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr("isthmus.dependence.block_pairs.STRIP", 150)
    X, Y = tied
    blocks = [da.from_array(A, chunks=(130, 2)) for A in tied]
    for measure in (hsic, cka, distance_covariance, distance_correlation):
        exact = measure(X, Y, unbiased=unbiased)
        assert measure(*blocks, unbiased=unbiased) == pytest.approx(exact, rel=1e-10)
    low = hsic(X, Y, unbiased=unbiased, approximation=Nystroem(40))
    found = hsic(*blocks, unbiased=unbiased, approximation=Nystroem(40))
    assert found == pytest.approx(low, rel=1e-10)
    flat = [da.from_array(A[:, 0], chunks=100) for A in tied]
    assert distance_covariance(*flat) == pytest.approx(
        distance_covariance(X[:, 0], Y[:, 0]), rel=1e-10
    )


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_discrepancies_of_blocks_are_those_of_arrays(rng, unbiased, kernel, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr("isthmus.dependence.discrepancy_in_blocks.STRIP", 50)
    X, Z = rng.normal(size=(130, 2)) + 1e4, rng.normal(size=(90, 2)) + 1e4 + 0.5
    blocks = da.from_array(X, chunks=(60, 2)), lambda: iter(np.array_split(Z, 4))
    options = {"unbiased": unbiased, "kernel": kernel}
    for approximation in (None, Nystroem(20)):
        expected = mmd(X, Z, approximation=approximation, **options)
        for pair in (blocks, (X, blocks[1])):
            found = mmd(*pair, approximation=approximation, **options)
            assert found == pytest.approx(expected, rel=1e-7)
    words = ["ab", "abc", "b", "bcd", "cc"]
    there = mmd(lambda: iter([words[:2], words[2:]]), words[1:4], kernel=Delta(), unbiased=unbiased)
    assert there == pytest.approx(mmd(words, words[1:4], kernel=Delta(), unbiased=unbiased))


def test_constrained_covariance_of_low_rank(tied):
    da = pytest.importorskip("dask.array")
    X, Y = tied
    exact = coco(X, Y)
    assert coco(X, Y, approximation=Nystroem(len(X))) == pytest.approx(exact, rel=1e-6)
    low = coco(X, Y, approximation=Nystroem(40))
    assert low == pytest.approx(exact, rel=0.05)
    blocks = [da.from_array(A, chunks=(130, 2)) for A in tied]
    assert coco(*blocks, approximation=Nystroem(40)) == pytest.approx(low, rel=1e-10)
    linear = {"x_kernel": "linear", "y_kernel": "linear"}
    assert coco(*blocks, approximation="nystroem", **linear) == pytest.approx(coco(X, Y, **linear))
    for measure in (coco, independence_test, two_sample_test):
        with pytest.raises(TypeError, match="hsic, cka and mmd, coco with an approximation"):
            measure(*blocks)
    with pytest.raises(ValueError, match=r"at least 2 objects in each sample\. Got 1 and"):
        mmd(blocks[0][:1], blocks[1], unbiased=True)
    with pytest.raises(ValueError, match=r"rows of one width\. Got 2 and 1"):
        mmd(blocks[0], blocks[1][:, :1])


# Affine invariance --------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [distance_correlation, distance_covariance])
def test_invertible_maps_change_nothing(tied, rng, measure):
    X, Y = tied
    M, N = rng.normal(size=(2, 2, 2)) + 3 * np.eye(2)
    value = measure(X, Y, affine_invariant=True)
    moved = measure(X @ M + 7, Y @ N, affine_invariant=True)
    assert moved == pytest.approx(value, rel=1e-8)
    assert abs(measure(X @ M, Y @ N) - measure(X, Y)) > 1e-3
    # The definition, with the root of the covariance.
    whitened = []
    for A in tied:
        eigenvalues, U = np.linalg.eigh(np.cov(A.T))
        whitened.append(A @ (U / np.sqrt(eigenvalues)) @ U.T)
    assert measure(*whitened) == pytest.approx(value, rel=1e-8)


def test_a_singular_covariance_is_named(tied):
    X, Y = tied
    with pytest.raises(ValueError, match=r"2 objects|covariance that can be inverted"):
        distance_correlation(np.c_[X, X[:, 0]], Y, affine_invariant=True)
    with pytest.raises(ValueError, match="precomputed"):
        distance_correlation(X @ X.T, Y @ Y.T, metric="precomputed", affine_invariant=True)


# Two samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_size", [2, 7, 100])
def test_block_discrepancy_is_the_mean_of_the_unbiased_ones(rng, block_size):
    X, Z = rng.normal(size=(230, 3)), rng.normal(size=(205, 3)) + 0.5
    kernel = Gaussian(0.2)
    n_blocks = 205 // block_size
    slow = [
        mmd(
            X[i * block_size : (i + 1) * block_size],
            Z[i * block_size : (i + 1) * block_size],
            kernel=kernel,
            unbiased=True,
            squared=True,
        )
        for i in range(n_blocks)
    ]
    found = mmd(X, Z, kernel=kernel, block_size=block_size, squared=True)
    assert found == pytest.approx(np.mean(slow), abs=1e-12)


@pytest.mark.parametrize("unbiased", [True, False])
def test_mmd_of_low_rank(rng, unbiased):
    X, Z = rng.normal(size=(120, 2)), rng.normal(size=(90, 2)) + 0.4
    exact = mmd(X, Z, unbiased=unbiased)
    assert mmd(X, Z, unbiased=unbiased, approximation=Nystroem(210)) == pytest.approx(
        exact, rel=1e-6
    )
    assert mmd(X, Z, unbiased=unbiased, approximation="nystroem") == pytest.approx(exact, rel=0.05)
    by_permutation = [
        two_sample_test(X, Z, unbiased=unbiased, approximation=a, n_permutations=99, random_state=0)
        for a in (None, Nystroem(210))
    ]
    assert_allclose(
        by_permutation[0].null_distribution, by_permutation[1].null_distribution, atol=1e-6
    )


def test_low_rank_tests_are_those_of_the_exact_kernel(tied):
    X, Y = tied[0][:80], tied[1][:80]
    for method in ("permutation", "gamma", "chi2"):
        options = {"method": method, "n_permutations": 60, "random_state": 0}
        exact = independence_test(X, Y, **options)
        low = independence_test(X, Y, approximation=Nystroem(80), **options)
        assert low.pvalue == pytest.approx(exact.pvalue, rel=1e-5)
        assert low.statistic == pytest.approx(exact.statistic, rel=1e-6)
    with pytest.raises(ValueError, match="no kernel to approximate"):
        independence_test(X, Y, statistic="dcor", approximation="nystroem")
    with pytest.raises(ValueError, match="takes an approximation with"):
        two_sample_test(X, Y, method="gamma", approximation="nystroem")
    with pytest.raises(ValueError, match="not both"):
        mmd(X, Y, block_size=5, approximation="nystroem")
    with pytest.raises(ValueError, match="at least 2 blocks"):
        two_sample_test(X, Y, method="blocks", block_size=80)


def test_levels_hold_and_power_is_there():
    rng = np.random.default_rng(3)
    rejected = {"blocks": 0, "two": 0, "gamma": 0}
    for _ in range(100):
        X, Z = rng.normal(size=(2, 200, 2))
        rejected["blocks"] += two_sample_test(X, Z, method="blocks", random_state=0).pvalue < 0.05
        two = two_sample_test(X, Z, method="blocks", block_size=2, random_state=0)
        rejected["two"] += two.pvalue < 0.05
        found = independence_test(X, Z, method="gamma", approximation=Nystroem(30))
        rejected["gamma"] += found.pvalue < 0.05
    # 0.05 of 100 is 5, with a standard deviation of 2.2.
    assert max(rejected.values()) <= 13
    assert sum(rejected.values()) >= 4
    shifted = rng.normal(size=(3000, 2)), rng.normal(size=(3000, 2)) + 0.3
    assert two_sample_test(*shifted, method="blocks", random_state=0).pvalue < 0.001
