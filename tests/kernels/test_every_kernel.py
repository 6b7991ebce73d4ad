"""A new kernel joins the list and inherits these checks."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.svm import SVC

from isthmus.kernels import (
    ARD,
    Columns,
    Constant,
    Delta,
    Exponential,
    FunctionKernel,
    GammaExponential,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    NeuralNetwork,
    Normalized,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    SpectralMixture,
    Transformed,
)

VECTOR_KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, coef0=0.0, gamma=0.5),
    Exponential(0.7),
    Gaussian(1.3),
    Gaussian(),
    Laplacian(0.8),
    Laplacian(),
    HistogramIntersection(),
    Normalized(Linear()),
    Normalized(Polynomial(2)),
    Linear() + Gaussian(2.0),
    Gaussian(0.5) * Polynomial(2),
    3.0 * Gaussian(1.0),
    Columns(Linear(), stop=1) + Columns(Gaussian(1.3), start=1),
    Linear() + 1.0,
    (Linear() + 0.5 * Gaussian(1.0)) * Gaussian(0.3),
    Transformed(Gaussian(), (0.5, 0.0, 0.5)),
    Transformed(Polynomial(2), (1.0, 0.1)),
    Transformed(Normalized(Linear()), (0.3, 0.3, 0.4), basis="gegenbauer"),
    Matern(0.5, length_scale=0.7),
    Matern(1.5),
    Matern(2.5, length_scale=0.7),
    Matern(1.2, length_scale=0.7),
    Matern(np.inf),
    RationalQuadratic(0.8, length_scale=0.5),
    GammaExponential(1.4),
    SpectralMixture(3),
    NeuralNetwork(2.0, bias=0.5),
    NeuralNetwork(bias=0.0),
    ARD(Gaussian()),
    ARD(Linear()),
    ARD(NeuralNetwork(0.5)),
    ARD(RationalQuadratic(0.8) * Matern(2.5)),
]
SMOOTH = [k for k in VECTOR_KERNELS if not isinstance(k, (HistogramIntersection, Laplacian))]
RADIAL = [
    Gaussian(1.3),
    Gaussian(0.5) + Gaussian(2.0),
    Gaussian(0.5) * Gaussian(2.0),
    2 * Gaussian(1.0),
    Transformed(Gaussian(1.0), (0.5, 0.0, 0.5)),
]
OF_INNER_PRODUCTS = [Linear(), Polynomial(3), Polynomial(5, coef0=0.0), Exponential(0.7)]


def two_sets(rng, n=12, m=9, d=3):
    return rng.uniform(size=(n, d)), rng.uniform(size=(m, d))


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=repr)
class TestEveryKernel:
    def test_gram_is_symmetric_and_positive(self, kernel, rng):
        X, _ = two_sets(rng)
        K = kernel(X)
        assert_allclose(K, K.T, atol=1e-12)
        assert np.linalg.eigvalsh(K).min() > -1e-10 * np.linalg.eigvalsh(K).max()

    def test_one_argument_is_the_same_as_twice_that_argument(self, kernel, rng):
        X, _ = two_sets(rng)
        assert_allclose(kernel(X), kernel(X, X.copy()), atol=1e-12)

    def test_diag_is_the_diagonal(self, kernel, rng):
        X, _ = two_sets(rng)
        assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-10)

    def test_blocks_make_up_the_gram_matrix(self, kernel, rng):
        X, Z = two_sets(rng)
        rows, parts = zip(*kernel.blocks(X, Z, block_size=5), strict=True)
        assert [r.stop - r.start for r in rows] == [5, 5, 2]
        assert_allclose(np.vstack(parts), kernel(X, Z), atol=1e-12)

    def test_clone_and_pickle_compute_the_same(self, kernel, rng):
        X, Z = two_sets(rng)
        for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
            assert copy is not kernel
            assert repr(copy) == repr(kernel)
            assert_allclose(copy(X, Z), kernel(X, Z))

    def test_scikit_learn_takes_it_as_kernel(self, kernel, rng):
        X, Z = two_sets(rng, 40, 10)
        y = np.repeat([0, 1], 20)
        ours = SVC(kernel=kernel).fit(X, y).decision_function(Z)
        theirs = SVC(kernel="precomputed").fit(kernel(X), y).decision_function(kernel(Z, X))
        assert_allclose(ours, theirs, atol=1e-6)

    def test_float32_stays_float32(self, kernel, rng):
        X = two_sets(rng)[0].astype(np.float32)
        if "Constant" in repr(kernel):
            return
        assert kernel(X).dtype == np.float32
        assert_allclose(kernel(X), kernel(X.astype(np.float64)), rtol=2e-5)

    def test_two_single_vectors_give_a_number(self, kernel, rng):
        X, Z = two_sets(rng)
        fixed = kernel.resolve(Z)
        assert fixed(X[0], Z[0]) == pytest.approx(fixed(X[:1], Z[:1])[0, 0])

    def test_bad_input_is_refused(self, kernel):
        with pytest.raises(ValueError, match="NaN"):
            kernel(np.array([[np.nan, 1.0]]))
        with pytest.raises(ValueError, match="dim"):
            kernel(np.ones((2, 2, 2)))
        with pytest.raises(ValueError, match="minimum of 1"):
            kernel(np.empty((0, 2)))

    def test_vectors_of_other_lengths_are_refused(self, kernel):
        X, Z = np.ones((3, 4)), np.ones((2, 3))
        with pytest.raises(ValueError, match=r"Got X.shape=\(3, 4\) and Z.shape=\(2, 3\)"):
            kernel(X, Z)

    def test_input_is_not_changed(self, kernel, points):
        kernel(points, points)  # read-only: writing would raise
        kernel.diag(points)


@pytest.mark.parametrize("kernel", SMOOTH, ids=repr)
class TestSmoothKernels:
    def test_gradient(self, kernel, rng, assert_gradient):
        X, Z = two_sets(rng)
        fixed = kernel.resolve(Z)
        W = rng.normal(size=(len(X), len(Z)))
        assert_gradient(
            lambda X: (W * fixed.gram(X, Z)).sum(),
            lambda X: fixed.weighted_gradient(X, Z, W),
            X,
            rng,
        )

    def test_gradient_of_the_diagonal(self, kernel, rng, assert_gradient):
        X, _ = two_sets(rng)
        fixed = kernel.resolve(X)
        assert_gradient(lambda X: fixed.diag(X).sum(), fixed.diag_gradient, X, rng)

    def test_weighted_gradient_is_the_sum_of_gradients(self, kernel, rng):
        X, Z = two_sets(rng)
        fixed = kernel.resolve(Z)
        W = rng.normal(size=(len(X), len(Z)))
        slow = np.einsum("ij,ijd->id", W, fixed.gradient(X, Z))
        assert_allclose(fixed.weighted_gradient(X, Z, W), slow, atol=1e-10)


def test_laplacian_gradient_away_from_its_kinks(rng, assert_gradient):
    X, Z = rng.uniform(size=(5, 2)), rng.uniform(2, 3, size=(4, 2))
    k = Laplacian(0.8)
    assert_gradient(
        lambda X: k.gram(X, Z).sum(), lambda X: k.weighted_gradient(X, Z, np.ones((5, 4))), X, rng
    )


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_radial_weights_give_the_gradient(kernel, rng):
    X, Z = two_sets(rng)
    M = kernel.radial_weights(X, Z)
    # ∂k/∂x = 2 (-∂k/∂‖x-z‖²) (z - x)
    expected = 2 * (M @ Z - M.sum(axis=1)[:, None] * X)
    assert_allclose(kernel.weighted_gradient(X, Z, np.ones(M.shape)), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", OF_INNER_PRODUCTS, ids=repr)
def test_inner_products_come_back(kernel, rng):
    X, Z = two_sets(rng)
    assert_allclose(kernel.inverse_inner_product(kernel(X, Z)), X @ Z.T, atol=1e-10)


@pytest.mark.parametrize("kernel", [*OF_INNER_PRODUCTS, Gaussian(1.3)], ids=repr)
def test_distances_come_back(kernel, rng):
    X, Z = two_sets(rng)
    expected = ((X[:, None] - Z) ** 2).sum(axis=2)
    got = kernel.squared_distances_from(kernel(X, Z), kernel.diag(X)[:, None], kernel.diag(Z))
    assert_allclose(got, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "call"),
    [
        (HistogramIntersection(), lambda k, X: k.weighted_gradient(X, X, np.ones((3, 3)))),
        (Delta(), lambda k, X: k.diag_gradient(X)),
        (Linear(), lambda k, X: k.radial_weights(X, X)),
        (Polynomial(2), lambda k, X: k.inverse_inner_product(X)),
        (Laplacian(1.0), lambda k, X: k.squared_distances_from(X, X, X)),
    ],
)
def test_what_a_kernel_lacks_is_named(kernel, call):
    with pytest.raises(TypeError, match=type(kernel).__name__ + r".* has no "):
        call(kernel, np.ones((3, 3)))


@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-1e4, 1e4))
@settings(max_examples=25, deadline=None)
def test_gaussian_does_not_depend_on_the_origin(seed, shift):
    X = np.random.default_rng(seed).normal(size=(8, 3))
    assert_allclose(Gaussian(0.5)(X + shift), Gaussian(0.5)(X), rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_median_width_makes_the_gaussian_free_of_scale(seed):
    X = np.random.default_rng(seed).normal(size=(10, 3))
    assert_allclose(Gaussian()(1000 * X), Gaussian()(X), rtol=1e-8)


def test_algebra_of_formulas(rng):
    X, Z = two_sets(rng)
    a, b = Gaussian(1.0), Polynomial(2)
    assert_allclose((a + b)(X, Z), a(X, Z) + b(X, Z))
    assert_allclose((a * b)(X, Z), a(X, Z) * b(X, Z))
    assert_allclose((2 * a)(X, Z), 2 * a(X, Z))
    assert_allclose((a * 2)(X, Z), 2 * a(X, Z))
    assert_allclose((1 + a)(X, Z), 1 + a(X, Z))
    assert_allclose((a + 1)(X, Z), 1 + a(X, Z))
    assert_allclose(Constant(3.0)(X, Z), 3)


@pytest.mark.parametrize("bad", ["text", None, [1]])
def test_operators_refuse_what_is_no_kernel(bad):
    with pytest.raises(TypeError):
        Linear() + bad
    with pytest.raises(TypeError):
        bad * Linear()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            Gaussian(-1.0),
            r"'gamma' parameter of Gaussian must be a float in \(0.0, inf\). Got -1.0",
        ),
        (Gaussian("mean"), "'gamma' parameter of Gaussian must be a positive float or 'median'"),
        (Laplacian("mean"), "'gamma' parameter of Laplacian"),
        (Polynomial(0), r"'degree' parameter of Polynomial must be an int in \[1, inf\)"),
        (Polynomial(2, coef0=-1.0), "'coef0' parameter of Polynomial"),
        (-1.0 * Linear(), "'factor' parameter of Scaled"),
    ],
)
def test_bad_parameters_are_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(np.ones((2, 2)))


def test_histograms_must_not_be_negative():
    with pytest.raises(ValueError, match="entries must be in"):
        HistogramIntersection()(np.array([[-1.0, 2.0]]))


def test_histogram_intersection_is_the_sum_of_minima(rng):
    X, Z = two_sets(rng)
    slow = np.minimum(X[:, None], Z[None]).sum(axis=2)
    assert_allclose(HistogramIntersection()(X, Z), slow)


def test_a_zero_vector_is_similar_to_nothing():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert_allclose(Normalized(Linear())(X), [[0, 0], [0, 1]])


def test_width_and_gamma_conventions(points):
    half = Gaussian(width_factor=0.5).resolve(points)
    assert half.gamma == pytest.approx(4 * Gaussian().resolve(points).gamma)
    assert repr(Gaussian(width_factor=0.5)) == "Gaussian(gamma='median', width_factor=0.5)"
    assert Gaussian.from_width(2.0).gamma == pytest.approx(1 / 8)
    with pytest.raises(ValueError, match="width of a Gaussian must be positive"):
        Gaussian.from_width(0.0)


def test_median_of_equal_rows_is_one():
    assert_allclose(Gaussian()(np.ones((4, 2))), 1)


def test_precomputed_indices_and_rows(rng):
    X, Z = two_sets(rng)
    gram = Gaussian(1.0)(np.vstack([X, Z]))
    k = Precomputed(gram)
    assert_allclose(k(np.arange(12, 21), np.arange(12)), Gaussian(1.0)(Z, X))
    assert_allclose(k.diag([0, 1]), 1)
    rows = Precomputed()
    reference = rows.reference(gram)
    assert_allclose(rows(gram[:3], reference), gram[:3])
    assert_allclose(rows(gram[:3], rows.reference(gram, [4, 5])), gram[:3, [4, 5]])


def test_precomputed_says_what_is_wrong():
    with pytest.raises(ValueError, match=r"index in \[0, 1\]. Got 0 to 5"):
        Precomputed(np.eye(2))([0, 5])
    with pytest.raises(TypeError, match="list of int"):
        Precomputed(np.eye(2))([0.5])
    with pytest.raises(ValueError, match="square Gram matrix"):
        Precomputed().reference(np.ones((2, 3)))
    with pytest.raises(ValueError, match="against the 2 training objects"):
        Precomputed()(np.ones((1, 3)), Precomputed().reference(np.eye(2)))
    with pytest.raises(TypeError, match="Normalized cannot scale rows"):
        Normalized(Precomputed())(np.eye(2))


def test_delta_compares_any_hashable_objects():
    k = Delta()
    assert_allclose(k([("a", 1), "b"], ["b", ("a", 1)]), [[0, 1], [1, 0]])
    assert_allclose(k(np.array([[1, 2], [1, 3]])), np.eye(2))
    assert_allclose(k(["seen"], ["other"]), 0)


def test_one_string_is_no_collection():
    with pytest.raises(TypeError, match="Delta expected a collection of objects"):
        Delta()("word")
    with pytest.raises(ValueError, match="at least one object"):
        Delta()([])


def test_function_kernels(rng):
    X, Z = two_sets(rng)
    gram = FunctionKernel(lambda A, B: A @ B.T)
    assert_allclose(gram(X, Z), X @ Z.T)
    assert_allclose(gram.diag(X), (X**2).sum(axis=1))
    pairs = FunctionKernel(lambda a, b: float(a @ b), pairwise_calls=True)
    assert_allclose(pairs(X, Z), X @ Z.T)
    assert_allclose(pairs.diag(X), (X**2).sum(axis=1))
    with pytest.raises(
        ValueError, match=r"shape \(12, 9\). Got shape \(\) instead.*pairwise_calls"
    ):
        FunctionKernel(lambda a, b: 1.0)(X, Z)


@pytest.mark.parametrize("n", [1, 5, 256, 300, 700])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaussian_of_many_columns_with_itself_computes_every_pair_once(n, dtype):
    X = np.random.default_rng(0).normal(size=(n, 70)).astype(dtype)
    kernel = Gaussian(0.01)
    K = kernel.gram(X, X)
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, K.T)
    atol = 1e-12 if dtype == np.float64 else 2e-5
    assert_allclose(K, kernel.gram(X, X.copy()), atol=atol)
