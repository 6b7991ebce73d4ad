"""Kernel PCA: limiting cases, expansions, landmarks, objects, bad input."""

import tracemalloc

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from isthmus.features import KernelPCA
from isthmus.kernels import Delta, FunctionKernel, Gaussian, Linear, Polynomial, Precomputed
from isthmus.kernels.points import squared_norms
from isthmus.linalg import center_gram
from isthmus.preimage import LearnedPreimage


def test_all_coordinates_carry_the_whole_gram_matrix(points):
    k = Gaussian(5.0)
    C = KernelPCA(kernel=k).fit_transform(points)
    assert_allclose(C @ C.T, center_gram(k(points))[0], atol=1e-8)


def test_uncentred_coordinates_carry_the_uncentred_gram_matrix(points):
    k = Gaussian(5.0)
    C = KernelPCA(kernel=k, center=False).fit_transform(points)
    assert_allclose(C @ C.T, k(points), atol=1e-8)


@pytest.mark.parametrize("shape", [(40, 5), (6, 30)])
def test_linear_kernel_is_pca(rng, shape):
    X = rng.normal(size=shape)
    ours = KernelPCA(4, kernel="linear").fit(X)
    theirs = PCA(4).fit(X)
    New = rng.normal(size=(3, shape[1]))
    assert_allclose(np.abs(ours.transform(New)), np.abs(theirs.transform(New)), atol=1e-8)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8)


def test_primal_and_dual_paths_agree(rng):
    X = rng.normal(size=(30, 4))
    primal = KernelPCA(kernel=Linear()).fit(X)
    dual = KernelPCA(kernel=FunctionKernel(lambda A, B: A @ B.T, on_vectors=True)).fit(X)
    New = rng.normal(size=(5, 4))
    assert_allclose(np.abs(primal.transform(New)), np.abs(dual.transform(New)), atol=1e-9)
    assert_allclose(
        primal.expand(primal.transform(New)), dual.expand(dual.transform(New)), atol=1e-9
    )


def test_agrees_with_scikit_learn(points, rng):
    New = rng.uniform(size=(7, 2))
    ours = KernelPCA(6, kernel=Gaussian(3.0)).fit(points)
    theirs = SklearnKernelPCA(6, kernel="rbf", gamma=3.0).fit(points)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(ours.transform(New)), np.abs(theirs.transform(New)), atol=1e-8)


def test_training_coordinates_need_no_kernel(points):
    pca = KernelPCA(5, kernel=Gaussian(3.0))
    assert_allclose(pca.fit_transform(points), pca.transform(points), atol=1e-10)


@pytest.mark.parametrize("kernel", [Gaussian(5.0), Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_expansion_is_the_point_with_these_coordinates(points, rng, kernel, center, n_landmarks):
    pca = KernelPCA(2, kernel=kernel, center=center, n_landmarks=n_landmarks, random_state=0).fit(
        points
    )
    beta = rng.normal(size=(4, 2))
    a = pca.expand(beta)
    K = kernel(pca.objects_)
    # <v_i, Ψ> - <v_i, φ̄> are the coordinates, and ‖Ψ‖² = a'Ka.
    assert_allclose(a @ K @ pca.dual_ + pca.axes_.offset, beta, atol=1e-7)
    assert_allclose(squared_norms(pca, beta), np.einsum("ij,jk,ik->i", a, K, a), rtol=1e-7)


def test_centred_expansions_sum_to_one(points, rng):
    pca = KernelPCA(kernel=Gaussian(2.0)).fit(points)
    beta = rng.normal(size=(5, pca.n_components_))
    assert_allclose(pca.expand(beta).sum(axis=1), 1, atol=1e-8)


def test_expansion_of_a_training_object_is_that_object(points):
    k = Gaussian(2.0)  # nearly singular: rounding errors along the mean must not be amplified
    pca = KernelPCA(kernel=k).fit(points)
    error = pca.expand(pca.transform(points)) - np.eye(60)
    assert np.einsum("ij,jk,ik->i", error, k(points), error).max() < 1e-8


def test_residual_norms_vanish_with_all_components(points):
    full = KernelPCA(kernel=Gaussian(20.0)).fit(points)
    assert_allclose(full.residual_norms(points), 0, atol=1e-8)
    few = KernelPCA(3, kernel=Gaussian(20.0)).fit(points)
    assert few.residual_norms(points).min() > 1e-3


def test_share_of_variance(points):
    pca = KernelPCA(0.9, kernel=Gaussian(5.0)).fit(points)
    held = np.cumsum(pca.explained_variance_ratio_)
    assert held[-1] >= 0.9
    assert held[-2] < 0.9


def test_all_landmarks_are_the_exact_map(points, rng):
    New = rng.uniform(size=(5, 2))
    exact = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
    # One landmark less than all: the Nyström path, with next to nothing lost.
    near = KernelPCA(5, kernel=Gaussian(5.0), n_landmarks=59, random_state=0).fit(points)
    assert_allclose(np.abs(near.transform(New)), np.abs(exact.transform(New)), atol=1e-3)
    assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-4)


def test_more_landmarks_hold_more_variance(rng):
    X = rng.normal(size=(300, 3))
    held = [
        KernelPCA(10, kernel=Gaussian(0.5), n_landmarks=m, random_state=0).fit(X).eigenvalues_.sum()
        for m in (15, 40, 120, None)
    ]
    assert held == sorted(held)


def test_what_the_landmarks_miss_counts_as_unexplained(rng):
    X = rng.normal(size=(300, 3))
    few = KernelPCA(kernel=Gaussian(2.0), n_landmarks=10, random_state=0).fit(X)
    exact = KernelPCA(kernel=Gaussian(2.0)).fit(X)
    share = few.explained_variance_ratio_.sum()
    assert share < 0.7
    assert share == pytest.approx(few.eigenvalues_.sum() / exact.eigenvalues_.sum(), abs=0.02)
    half = KernelPCA(kernel=Gaussian(2.0), n_landmarks=10, random_state=0).fit(X[:150])
    assert half.partial_fit(X[150:]).explained_variance_ratio_.sum() < 0.7


def test_partial_fit_equals_fit(rng):
    X = rng.normal(size=(200, 3))
    landmarks_first = KernelPCA(4, kernel=Gaussian(0.5), n_landmarks=30, random_state=0)
    landmarks_first.fit(X[:80]).partial_fit(X[80:150]).partial_fit(X[150:])
    basis = landmarks_first.objects_
    # The same landmarks with all rows at once.
    at_once = KernelPCA(4, kernel=Gaussian(0.5), n_landmarks=30, random_state=0).fit(X[:80])
    at_once.partial_fit(X[80:])
    assert_allclose(at_once.objects_, basis)
    assert_allclose(landmarks_first.eigenvalues_, at_once.eigenvalues_, rtol=1e-8)
    assert_allclose(landmarks_first.transform(X), at_once.transform(X), atol=1e-7)


def test_partial_fit_is_there_with_landmarks_only():
    assert not hasattr(KernelPCA(), "partial_fit")
    assert hasattr(KernelPCA(n_landmarks=5), "partial_fit")


def test_words_as_objects():
    words = ["tree", "root", "tree", "leaf"]
    C = KernelPCA(kernel=Delta()).fit_transform(words)
    assert C.shape == (4, 2)
    assert_allclose(C[0], C[2], atol=1e-12)
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))), pairwise_calls=True)
    assert KernelPCA(1, kernel=shared).fit(words).transform(["toe"]).shape == (1, 1)


def test_gram_matrices_both_ways(points, rng):
    k, New = Gaussian(3.0), rng.uniform(size=(4, 2))
    everything = np.vstack([points, New])
    direct = KernelPCA(4, kernel=k).fit(points).transform(New)
    rows = KernelPCA(4, kernel="precomputed").fit(k(points)).transform(k(New, points))
    indices = KernelPCA(4, kernel=Precomputed(k(everything))).fit(np.arange(60))
    assert_allclose(rows, direct, atol=1e-9)
    assert_allclose(indices.transform(np.arange(60, 64)), direct, atol=1e-9)
    few = KernelPCA(4, kernel="precomputed", n_landmarks=30, random_state=0).fit(k(points))
    same = KernelPCA(4, kernel=k, n_landmarks=30, random_state=0).fit(points)
    assert_allclose(few.transform(k(New, points)), same.transform(New), atol=1e-8)


def test_gram_matrix_is_not_changed(points):
    K = Gaussian(3.0)(points)
    before = K.copy()
    KernelPCA(3, kernel="precomputed").fit(K)
    assert_allclose(K, before)


def test_folds_cut_gram_matrices_on_both_sides(points):
    y = (points[:, 0] > 0.5).astype(int)
    pipe = make_pipeline(KernelPCA(5, kernel="precomputed"), LinearSVC())
    assert cross_val_score(pipe, Gaussian(3.0)(points), y, cv=3).mean() > 0.85


def test_inverse_transform_returns_training_objects(points):
    for pca in (
        KernelPCA(kernel=Gaussian(20.0)),
        KernelPCA(kernel="linear"),
        KernelPCA(kernel="laplacian", preimage=LearnedPreimage()),
    ):
        C = pca.fit_transform(points)
        assert_allclose(pca.inverse_transform(C), points, atol=1e-2)


def test_inverse_transform_needs_objects(points):
    pca = KernelPCA(3, kernel="precomputed").fit(Gaussian(3.0)(points))
    with pytest.raises(ValueError, match=r"LearnedPreimage\(\).fit\(objects, kernel_pca\)"):
        pca.inverse_transform(np.zeros((1, 3)))
    found = LearnedPreimage().fit(points, pca).solve(pca.coordinates_)
    assert np.sqrt(np.mean((found - points) ** 2)) < 0.1


def test_refitting_forgets_everything(points, rng):
    pca = KernelPCA(2, kernel=Gaussian(3.0), n_landmarks=10, random_state=0).fit(points)
    pca.inverse_transform(np.zeros((1, 2)))
    pca.set_params(n_landmarks=None).fit(points[:30])
    assert pca.coordinates_.shape == (30, 2)
    assert len(pca._default_preimage.objects_ if hasattr(pca, "_default_preimage") else []) == 0


def test_fitted_maps_survive_the_disk(points, tmp_path):
    pca = KernelPCA(3).fit(points)
    joblib.dump(pca, tmp_path / "pca")
    assert_allclose(joblib.load(tmp_path / "pca").transform(points), pca.transform(points))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 61}, r"int in \[1, 60\] \(number of objects\). Got 61"),
        ({"n_components": 0}, r"int in \[1, inf\)"),
        ({"center": "abc"}, "'center' parameter of KernelPCA must be True or False"),
        ({"n_components": 1.5}, r"a float in \(0, 1\]"),
        ({"n_components": 3, "kernel": "linear"}, r"int in \[1, 2\] \(rank of the Gram matrix\)"),
        ({"n_landmarks": 0}, "'n_landmarks' parameter of KernelPCA"),
        ({"kernel": "nonsense"}, "'kernel' parameter of KernelPCA.*Unknown kernel 'nonsense'"),
    ],
)
def test_bad_parameters_are_named(points, params, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(**params).fit(points)


def test_bad_data_is_named(points):
    with pytest.raises(ValueError, match="found no variance"):
        KernelPCA(kernel="linear").fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelPCA(kernel="precomputed").fit(np.diag([1.0, 1.0, -2.0]))
    pca = KernelPCA(3, kernel=Gaussian(1.0)).fit(points)
    with pytest.raises(ValueError, match=r"shape \(n, 3\). Got shape \(2, 4\)"):
        pca.expand(np.ones((2, 4)))
    with pytest.raises(AttributeError, match="call transform on them"):
        KernelPCA(3, n_landmarks=9).fit(points).coordinates_  # noqa: B018


@pytest.mark.parametrize("block", [5, 20, 30])
def test_small_blocks_are_remembered_until_there_are_more_than_landmarks(rng, block):
    X = rng.normal(size=(120, 3))
    stream = KernelPCA(2, kernel=Gaussian(0.3), n_landmarks=20, random_state=0)
    for start in range(0, len(X), block):
        stream.partial_fit(X[start : start + block])
    first = KernelPCA(2, kernel=Gaussian(0.3), n_landmarks=20, random_state=0)
    n = block * (20 // block + 1)
    first.fit(X[:n]).partial_fit(X[n:])
    assert len(stream.objects_) == 20
    assert_allclose(stream.eigenvalues_, first.eigenvalues_, rtol=1e-10)
    whole = KernelPCA(2, kernel=Gaussian(0.3)).fit(X)
    assert_allclose(stream.eigenvalues_, whole.eigenvalues_, rtol=0.2)


def test_a_stream_of_fewer_objects_than_landmarks_is_the_exact_fit(rng):
    X = rng.normal(size=(30, 3))
    stream = KernelPCA(2, kernel=Gaussian(0.3), n_landmarks=50)
    stream.fit(X[:10]).partial_fit(X[10:])
    assert_allclose(stream.transform(X), KernelPCA(2, kernel=Gaussian(0.3)).fit_transform(X))


def test_constant_objects_are_said_to_have_no_variance():
    with pytest.raises(ValueError, match="found no variance"):
        KernelPCA(3).fit(np.ones((40, 4)))


def test_words_under_a_kernel_of_vectors_are_told_what_to_name():
    with pytest.raises(ValueError, match=r"KernelPCA got text.*Name a kernel for text"):
        KernelPCA(2).fit(["ab", "cd", "ef"])


def test_memory_is_looked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 10 * 2**30)
    rows = np.zeros((50_000, 2))
    rows[:, 0] = np.arange(50_000)
    with pytest.raises(MemoryError, match=r"needs 37.3 GiB .* 10.0 GiB are available. Set n_landm"):
        KernelPCA(3, solver="dense").fit(rows)
    KernelPCA(3, n_landmarks=50, random_state=0).fit(rows[:1000])


@pytest.mark.parametrize("d", [3, 40])
def test_a_linear_kernel_keeps_its_digits_far_from_the_origin(d):
    X = np.random.default_rng(0).normal(size=(24, d))
    near, far = (KernelPCA(2, kernel="linear").fit(X + s) for s in (0.0, 1e8))
    assert_allclose(np.abs(far.transform(X + 1e8)), np.abs(near.transform(X)), atol=1e-5)


def test_all_axes_take_two_square_matrices(rng):
    X = rng.normal(size=(1200, 6))
    KernelPCA(kernel=Gaussian(0.1)).fit(X[:50])
    tracemalloc.start()
    KernelPCA(kernel=Gaussian(0.1)).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 8 * len(X) ** 2
