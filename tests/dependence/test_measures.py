import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from isthmus.dependence import (
    cka,
    coco,
    distance_correlation,
    distance_covariance,
    hsic,
    mmd,
    partial_distance_correlation,
)
from isthmus.dependence.univariate import univariate_correlations
from isthmus.kernels import Delta, FunctionKernel, Gaussian, Laplacian, Linear, Precomputed

EXPONENTS = [0.5, 1, 1.5, 2]
KERNELS = [Gaussian(0.1), Laplacian(0.3), Linear(), Gaussian(0.1) * Laplacian(0.2)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_hsic_is_the_product_of_centred_gram_matrices(oracles, pair, kernel, n_jobs):
    X, Y = pair
    K, L = kernel(X - 50), Laplacian(0.3)(Y)
    kernels = {"x_kernel": kernel, "y_kernel": Laplacian(0.3), "n_jobs": n_jobs}
    assert_allclose(hsic(X - 50, Y, **kernels), oracles.v_product(K, L), rtol=1e-11)
    unbiased = hsic(X - 50, Y, **kernels, unbiased=True)
    assert_allclose(unbiased, oracles.u_product(K, L), rtol=1e-9)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_parts_and_threads_do_not_change_distance_correlation(oracles, rng, monkeypatch, n_jobs):
    X, Y = rng.normal(size=(700, 3)), rng.normal(size=(700, 2))
    E, F = oracles.distances(X, 1), oracles.distances(Y, 1)
    monkeypatch.setattr("isthmus.linalg.threads.LEAST_SECONDS", 0.0)
    found = []
    for parts in (1, 2, 16):  # of eleven strips
        monkeypatch.setattr("isthmus.dependence.distance_sums.PARTS", parts)
        found.append(distance_covariance(X, Y, squared=True, n_jobs=n_jobs))
    assert_allclose(found, oracles.v_product(E, F), rtol=1e-11)


def test_all_columns_with_one_are_correlated_as_each_by_itself(rng):
    X = rng.normal(size=(90, 6))
    X[:, 1], X[:, 2], X[:, 3] = 7.0, X[:, 2].round(), 1e6 + X[:, 3]
    for y in (X[:, 0] ** 2 + X[:, 2], X[:, 2], np.full(90, 0.1)):
        each = [distance_correlation(x, y, unbiased=True, squared=True) for x in X.T]
        assert_allclose(univariate_correlations(X, y), each, atol=1e-12)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("columns", [(4, 2), (1, 1), (1, 2)])
def test_distance_measures_are_double_centring(oracles, pair, columns, exponent, unbiased):
    X, Y = pair[0][:, : columns[0]], pair[1][:, : columns[1]]
    E, F = oracles.distances(X, exponent), oracles.distances(Y, exponent)
    product = oracles.u_product if unbiased else oracles.v_product
    options = {"exponent": exponent, "unbiased": unbiased, "squared": True}
    assert_allclose(distance_covariance(X, Y, **options), product(E, F), rtol=1e-9, atol=1e-13)
    expected = oracles.correlation(product, E, F)
    assert_allclose(distance_correlation(X, Y, **options), expected, rtol=1e-9, atol=1e-12)
    root = distance_correlation(X, Y, exponent=exponent, unbiased=unbiased)
    assert_allclose(root * abs(root), expected, rtol=1e-9, atol=1e-12)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 90),
    kind=st.sampled_from(["normal", "tied", "sorted", "reversed", "nearly constant"]),
)
def test_sorting_gives_what_the_matrix_gives(oracles, seed, n, kind):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    if kind == "tied":
        x, y = rng.integers(0, 4, size=(2, n)).astype(float)
    elif kind in ("sorted", "reversed"):
        x, y = np.sort(x), np.sort(y)[:: 1 if kind == "sorted" else -1].copy()
    elif kind == "nearly constant":
        x = np.zeros(n)
        x[0] = 1.0
    E, F = oracles.distances(x), oracles.distances(y)
    for unbiased, product in ((False, oracles.v_product), (True, oracles.u_product)):
        ours = distance_covariance(x, y, unbiased=unbiased, squared=True)
        assert_allclose(ours, product(E, F), rtol=1e-9, atol=1e-12)


def test_offsets_do_not_cost_digits(oracles, rng):
    X = rng.normal(size=(200, 3))
    Y = np.tanh(X[:, :1]) + rng.normal(size=(200, 1))
    for measure in (distance_covariance, lambda X, Y: hsic(X, Y, x_kernel="linear")):
        assert_allclose(measure(X + 1e6, Y), measure(X, Y), rtol=1e-8)
    nearly_constant = Gaussian(1e-9)
    H = np.eye(200) - 1 / 200
    small = -np.expm1(-1e-9 * oracles.distances(X, 2))  # 1 - k, to full precision
    expected = -np.sum(H @ small @ H * Gaussian(1.0)(Y)) / 200**2
    ours = hsic(X, Y, x_kernel=nearly_constant, y_kernel=Gaussian(1.0))
    assert_allclose(ours, expected, rtol=1e-5)


def test_identities_of_distance_covariance_and_hsic(pair):
    X, Y = pair

    def induced(exponent, origin):
        def kernel(A, B):
            a, b = np.linalg.norm(A - origin, axis=1), np.linalg.norm(B - origin, axis=1)
            between = np.linalg.norm(A[:, None] - B, axis=2)
            return (a[:, None] ** exponent + b**exponent - between**exponent) / 2

        return FunctionKernel(kernel, on_vectors=True)

    for exponent in (0.5, 1, 1.5):
        kernels = {"x_kernel": induced(exponent, X[7]), "y_kernel": induced(exponent, Y[3])}
        for unbiased in (False, True):
            dcov = distance_covariance(X, Y, exponent=exponent, unbiased=unbiased, squared=True)
            assert_allclose(dcov, 4 * hsic(X, Y, **kernels, unbiased=unbiased), rtol=1e-8)
        assert_allclose(
            distance_correlation(X, Y, exponent=exponent, squared=True), cka(X, Y, **kernels)
        )


def test_hsic_is_the_discrepancy_of_pairs_and_combinations(pair):
    X, Y = pair[0][:12], pair[1][:12]
    K, L = Gaussian(0.1)(X), Laplacian(0.5)(Y)
    everything = np.array([(i, j) for i in range(12) for j in range(12)])
    i, j = everything.T
    gram = K[np.ix_(i, i)] * L[np.ix_(j, j)]
    pairs = np.flatnonzero(i == j)
    discrepancy = mmd(pairs, np.arange(144), kernel=Precomputed(gram), squared=True)
    assert_allclose(hsic(X, Y, x_kernel=Gaussian(0.1), y_kernel=Laplacian(0.5)), discrepancy)


def test_exponent_two_is_the_rv_coefficient(pair):
    X, Y = (D - D.mean(axis=0) for D in pair)
    cross = np.square(X.T @ Y).sum()
    rv = cross / np.sqrt(np.square(X.T @ X).sum() * np.square(Y.T @ Y).sum())
    assert_allclose(distance_covariance(*pair, exponent=2, squared=True), 4 * cross / 300**2)
    assert_allclose(distance_correlation(*pair, exponent=2, squared=True), rv)
    assert_allclose(cka(*pair, x_kernel="linear", y_kernel="linear"), rv)
    x, y = X[:, 0], Y[:, 0]
    pearson = abs(np.corrcoef(x, y)[0, 1])
    assert_allclose(distance_correlation(x, y, exponent=2), pearson)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_distance_covariance_is_a_laplacian_form_of_the_embedding(oracles, pair, exponent):
    X, Y = pair[0][:40], pair[1][:40]
    values, vectors = np.linalg.eigh(-oracles.v_centered(oracles.distances(X, exponent)) / 2)
    U = vectors * np.sqrt(np.maximum(values, 0))  # ‖u_i - u_j‖² = ‖x_i - x_j‖^a
    laplacian = -oracles.v_centered(oracles.distances(Y, exponent))
    expected = 2 / 40**2 * np.trace(U.T @ laplacian @ U)
    assert_allclose(distance_covariance(X, Y, exponent=exponent, squared=True), expected)


def test_norms_of_hsic_differ_by_a_factor(pair):
    n = 300
    assert_allclose(hsic(*pair, norm="n-1") / hsic(*pair), (n / (n - 1)) ** 2)
    signs = np.tile([-1.0, 1.0], 5)
    linear = {"x_kernel": "linear", "y_kernel": "linear"}
    assert_allclose(hsic(signs, signs, **linear), 1.0)
    assert hsic(signs, signs, **linear, norm="n-1") > 1  # so the published range is exceeded


def test_definition_13_is_biased_and_the_u_statistic_is_not(rng):
    values = {True: [], False: []}
    for _ in range(1000):
        x, y = rng.normal(size=(2, 12))
        values[True].append(hsic(x, y, unbiased=True))
        values[False].append(hsic(x, y, norm="n-1"))
    means = {key: np.mean(v) / (np.std(v) / np.sqrt(1000)) for key, v in values.items()}
    assert abs(means[True]) < 3
    assert means[False] > 30


@pytest.mark.parametrize("kernels", [("gaussian", "laplacian"), ("linear", "gaussian")])
def test_coco_is_the_largest_singular_value(oracles, pair, kernels):
    X, Y = pair
    x_kernel, y_kernel = kernels
    ours = coco(X, Y, x_kernel=x_kernel, y_kernel=y_kernel)
    grams = [{"gaussian": Gaussian(), "laplacian": Laplacian(), "linear": Linear()}[k](D)
             for k, D in zip(kernels, pair, strict=True)]  # fmt: skip
    Kc, Lc = map(oracles.v_centered, grams)
    expected = np.sqrt(np.linalg.eigvals(Kc @ Lc).real.max()) / len(X)
    assert_allclose(ours, expected, rtol=1e-7)
    assert_allclose(coco(Y, X, x_kernel=y_kernel, y_kernel=x_kernel), ours)


def test_coco_of_columns_is_their_covariance(rng):
    x, y = rng.normal(size=(2, 30))
    covariance = abs(np.cov(x, y, bias=True)[0, 1])
    assert_allclose(coco(x, y, x_kernel="linear", y_kernel="linear"), covariance)


def test_coco_is_at_most_the_root_of_hsic(pair):
    assert coco(*pair) ** 2 <= hsic(*pair)


@pytest.mark.parametrize("unbiased", [False, True])
def test_mmd_is_the_difference_of_mean_similarities(rng, unbiased):
    X, Z = rng.normal(size=(40, 3)), 1 + rng.normal(size=(55, 3))
    k = Gaussian(0.2)
    K, L, M = k(X), k(Z), k(X, Z)
    if unbiased:
        expected = (K.sum() - 40) / (40 * 39) + (L.sum() - 55) / (55 * 54) - 2 * M.mean()
    else:
        expected = K.mean() + L.mean() - 2 * M.mean()
    squared = mmd(X, Z, kernel=k, unbiased=unbiased, squared=True)
    assert_allclose(squared, expected, rtol=1e-10)
    assert_allclose(mmd(X, Z, kernel=k, unbiased=unbiased), np.sqrt(expected), rtol=1e-10)


def test_measures_are_roots_unless_asked_for_squares(rng):
    X, Y = rng.normal(size=(2, 30, 2))
    for measure in (mmd, distance_covariance, distance_correlation):
        for seed in range(20):
            X, Y = np.random.default_rng(seed).normal(size=(2, 12, 2))
            squared = measure(X, Y, unbiased=True, squared=True)
            root = measure(X, Y, unbiased=True)
            assert_allclose(np.sign(squared) * root**2, squared, rtol=1e-12)
            assert np.sign(root) == np.sign(squared)
            if squared < 0:
                break
        else:
            pytest.fail(f"{measure.__name__} was never negative")


def test_partial_distance_correlation_is_the_cosine_of_residual_matrices(oracles, pair, rng):
    X, Y = pair
    Z = X[:, :1] + rng.normal(size=(300, 1))
    A, B, C = (oracles.u_centered(oracles.distances(D)) for D in (X, Y, Z))
    A = A - (A * C).sum() / (C * C).sum() * C
    B = B - (B * C).sum() / (C * C).sum() * C
    expected = (A * B).sum() / np.sqrt((A * A).sum() * (B * B).sum())
    assert_allclose(partial_distance_correlation(X, Y, Z), expected, rtol=1e-8)


def test_partial_distance_correlation_is_not_zero_given_the_common_cause():
    rng = np.random.default_rng(0)
    z, e, f = rng.normal(size=(3, 100_000))
    value = partial_distance_correlation(z + e, z + f, z)
    assert 0.02 < value < 0.03


def test_partial_distance_correlation_given_the_same_thing_is_zero(pair):
    X, Y = pair
    assert partial_distance_correlation(X, Y, Y) == 0.0


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 100))
def test_distance_correlation_ignores_shift_rotation_and_scale(seed, scale):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    value = distance_correlation(X, Y)
    moved = scale * X @ Q + rng.normal(size=3)
    assert_allclose(distance_correlation(moved, Y), value, rtol=1e-8)
    assert_allclose(distance_correlation(Y, X), value, rtol=1e-10)
    order = rng.permutation(30)
    assert_allclose(distance_correlation(X[order], Y[order]), value, rtol=1e-10)
    assert 0 <= value <= 1
    assert_allclose(distance_correlation(X, moved), 1.0, rtol=1e-10)


@given(seed=st.integers(0, 2**32 - 1))
def test_kernel_measures_ignore_the_order_of_objects_and_sides(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(25, 3)), rng.normal(size=(25, 2))
    order = rng.permutation(25)
    for measure in (hsic, cka, coco):
        value = measure(X, Y)
        assert value >= 0
        assert_allclose(measure(X[order], Y[order]), value, rtol=1e-7)
        assert_allclose(measure(Y, X), value, rtol=1e-7)
    assert cka(X, Y) <= 1


def test_any_objects_that_a_kernel_compares(oracles):
    words = ["tree", "root", "leaf", "bark", "twig", "seed"] * 5
    lengths = [float(ord(word[0])) for word in words]
    letters = FunctionKernel(lambda a, b: len(set(a) & set(b)), pairwise_calls=True)
    K, L = letters(words), Gaussian(0.1)(np.array(lengths)[:, None])
    value = hsic(words, lengths, x_kernel=letters, y_kernel=Gaussian(0.1))
    assert_allclose(value, oracles.v_product(K, L))
    assert_allclose(hsic(K, L, x_kernel="precomputed", y_kernel="precomputed"), value)
    assert_allclose(cka(words, words, x_kernel=Delta(), y_kernel=Delta()), 1.0)
    assert mmd(words[:10], words[10:], kernel=Delta()) >= 0


def test_distances_may_be_precomputed(oracles, pair):
    E, F = map(oracles.distances, pair)
    for exponent in (0.5, 1, 2):
        given_vectors = distance_correlation(*pair, exponent=exponent)
        given_distances = distance_correlation(E, F, exponent=exponent, metric="precomputed")
        assert_allclose(given_distances, given_vectors, rtol=1e-8)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
def test_a_constant_side_has_no_dependence(rng, value):
    constant, y = np.full((50, 1), value), rng.normal(size=(50, 1))
    for measure in (hsic, cka, distance_correlation, distance_covariance):
        for unbiased in (False, True):
            assert measure(constant, y, unbiased=unbiased) == pytest.approx(0, abs=1e-15)
            assert measure(constant, constant, unbiased=unbiased) == pytest.approx(0, abs=1e-15)
    assert cka(constant, y, x_kernel="linear") == 0
    assert distance_correlation(constant, y, exponent=2) == 0
    assert coco(constant, y) < 1e-12
    assert partial_distance_correlation(constant, y, y**2) == 0


def test_integers_and_lists_are_numbers():
    assert distance_correlation([1, 2, 3, 4], [2, 4, 6, 8]) == pytest.approx(1)
    assert hsic([1, 2, 3, 4], [2, 4, 6, 8]) > 0
