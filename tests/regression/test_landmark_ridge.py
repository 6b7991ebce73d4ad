"""Kernel ridge regression on landmarks, and rows that count more than once."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from isthmus.kernels import Gaussian, Linear, Normalized, Polynomial, Precomputed, Spectrum
from isthmus.kernels.landmarks import LandmarkFeatures, landmark_features
from isthmus.regression import KernelRidgeCV, Selection
from isthmus.regression.ridge.landmarks import LandmarkSystem, landmark_sums, map_block, merge

KERNEL = Gaussian(3.0)


@pytest.fixture
def pairs(rng):
    X = rng.uniform(-1, 1, size=(90, 2))
    Y = np.column_stack([np.sin(4 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)])
    return X, Y + 0.05 * rng.normal(size=Y.shape) + 3


def plain_formula(X, Z, Y, new, *, alpha, intercept, weights=None):
    """Minimise Σ w (y - K_nm c - b)² + α c'K_mm c over c and b at once."""
    K, w = KERNEL(X, Z), np.ones(len(X)) if weights is None else weights
    A = np.c_[K, np.ones(len(X))] if intercept else K
    penalty = np.zeros((A.shape[1], A.shape[1]))
    penalty[: len(Z), : len(Z)] = alpha * KERNEL(Z)
    solution = np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * Y))
    A_new = KERNEL(new, Z)
    return (np.c_[A_new, np.ones(len(new))] if intercept else A_new) @ solution


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_is_the_plain_formula(pairs, rng, intercept, weighted):
    X, Y = pairs
    new = rng.uniform(-1, 1, size=(7, 2))
    w = rng.uniform(0.2, 3, size=90) if weighted else None
    model = KernelRidgeCV(KERNEL, alpha=0.1, fit_intercept=intercept, n_landmarks=12)
    model.fit(X, Y, sample_weight=w)
    slow = plain_formula(X, model.objects_, Y, new, alpha=0.1, intercept=intercept, weights=w)
    assert_allclose(model.predict(new), slow, atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_all_rows_as_landmarks_are_kernel_ridge(pairs, rng, intercept):
    X, Y = pairs
    new = rng.uniform(-1, 1, size=(7, 2))
    features = landmark_features(KERNEL, X, np.arange(90))
    system = LandmarkSystem(features, landmark_sums(features, X, Y), center=intercept)
    exact = KernelRidgeCV(KERNEL, alpha=[0.03, 0.1], fit_intercept=intercept).fit(X, Y)
    C, offset = system.function(exact.alpha_)
    assert_allclose(KERNEL(new, features.objects) @ C + offset, exact.predict(new), atol=1e-8)
    errors = {a: e for e, a in system.left_out_errors(X, Y, [0.03, 0.1])}
    assert errors[exact.alpha_] == pytest.approx(exact.loo_error_, rel=1e-8)
    for m in (90, 200):
        few = KernelRidgeCV(KERNEL, alpha=0.1, fit_intercept=intercept, n_landmarks=m).fit(X, Y)
        whole = KernelRidgeCV(KERNEL, alpha=0.1, fit_intercept=intercept).fit(X, Y)
        assert_allclose(few.predict(new), whole.predict(new), atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_reported_error_is_that_of_refitting_without_each_row(pairs, intercept):
    X, Y = pairs
    model = KernelRidgeCV(KERNEL, alpha=[0.01, 1.0], fit_intercept=intercept, n_landmarks=20)
    model.fit(X, Y)
    left_out = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        options = {"alpha": model.alpha_, "intercept": intercept}
        row = plain_formula(X[rest], model.objects_, Y[rest], X[i : i + 1], **options)
        left_out.append(row[0])
    assert model.loo_error_ == pytest.approx(np.mean((np.array(left_out) - Y) ** 2), rel=1e-6)


def test_folds_leave_out_what_they_say(pairs):
    X, Y = pairs
    model = KernelRidgeCV(KERNEL, alpha=[0.01, 1.0], n_landmarks=20, cv=5).fit(X, Y)
    squares = [
        np.square(
            Y[test]
            - plain_formula(
                X[train], model.objects_, Y[train], X[test], alpha=model.alpha_, intercept=True
            )
        )
        for train, test in KFold(5).split(X)
    ]
    assert model.loo_error_ == pytest.approx(np.mean(np.concatenate(squares)), rel=1e-6)


def test_the_penalty_is_the_best_of_a_fine_search_on_new_rows(rng):
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = np.sin(5 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=3000)
    new = rng.uniform(-1, 1, size=(2000, 2))
    truth = np.sin(5 * new[:, 0]) * new[:, 1]
    chosen = KernelRidgeCV(n_landmarks=60).fit(X, y)

    def error(model):
        return np.mean((model.predict(new) - truth) ** 2)

    tried = [
        error(KernelRidgeCV(chosen.kernel_, alpha=chosen.alpha_ * f, n_landmarks=60).fit(X, y))
        for f in (1e-4, 1e-2, 1e2, 1e4)
    ]
    assert error(chosen) < 1.1 * min(tried)
    assert error(chosen) < 0.01


def test_sums_do_not_depend_on_blocks(pairs, rng):
    X, Y = pairs
    features = landmark_features(KERNEL, X, np.arange(0, 90, 6))
    w = rng.uniform(0, 2, size=90)
    for weights in (None, w):
        whole = map_block(features(X), Y, weights)
        parts = [slice(0, 40), slice(40, 41), slice(41, 90)]
        found = [
            map_block(features(X[p]), Y[p], None if weights is None else weights[p]) for p in parts
        ]
        joined = merge(merge(found[0], found[1]), found[2])
        for a, b in zip(joined, whole, strict=True):
            assert_allclose(a, b, atol=1e-10)


def test_landmarks_that_others_span_are_left_out(rng):
    Z = np.repeat(rng.normal(size=(5, 2)), 3, axis=0)
    features = LandmarkFeatures(KERNEL, Z)
    assert len(features) == len(features.objects) == 5
    X = rng.normal(size=(6, 2))
    K = KERNEL(X, features.objects)
    projected = K @ np.linalg.solve(KERNEL(features.objects), K.T)
    assert_allclose(features(X) @ features(X).T, projected, atol=1e-9)


def test_a_linear_kernel_far_from_the_origin_keeps_its_digits(pairs):
    X, Y = pairs
    near = KernelRidgeCV("linear", alpha=0.1, n_landmarks=20).fit(X, Y)
    far = KernelRidgeCV("linear", alpha=0.1, n_landmarks=20).fit(X + 1e6, Y)
    assert_allclose(far.predict(X + 1e6), near.predict(X), atol=1e-6)
    assert_allclose(near.predict(X), Ridge(alpha=0.1).fit(X, Y).predict(X), atol=1e-8)


def test_single_precision_stays_single(pairs):
    X, Y = pairs
    model = KernelRidgeCV(n_landmarks=30).fit(X.astype(np.float32), Y.astype(np.float32))
    assert model.dual_coef_.dtype == model.predict(X.astype(np.float32)).dtype == np.float32
    line = KernelRidgeCV("linear", n_landmarks=30).fit(X.astype(np.float32), Y)
    assert line.predict(X.astype(np.float32)).dtype == np.float32
    assert_allclose(line.smooth(X[:4], Y), line.predict(X[:4]), atol=1e-4)
    double = KernelRidgeCV(n_landmarks=30).fit(X, Y)
    assert_allclose(model.predict(X.astype(np.float32)), double.predict(X), atol=0.05)


def test_objects_and_gram_matrices_have_landmarks_too(pairs, rng):
    words = ["".join(rng.choice(list("abc"), size=8)) for _ in range(60)]
    y = np.array([word.count("a") for word in words], dtype=float)
    model = KernelRidgeCV(Normalized(Spectrum(2)), n_landmarks=25).fit(words, y)
    assert model.score(words, y) > 0.8
    assert set(model.objects_) <= set(words)
    X, Y = pairs
    K = KERNEL(X)
    direct = KernelRidgeCV(KERNEL, n_landmarks=20).fit(X, Y)
    rows = KernelRidgeCV("precomputed", n_landmarks=20).fit(K, Y)
    index = KernelRidgeCV(Precomputed(K), n_landmarks=20).fit(np.arange(90), Y)
    assert_allclose(rows.predict(K[:4]), direct.predict(X[:4]), atol=1e-7)
    assert_allclose(index.predict([0, 1, 2, 3]), direct.predict(X[:4]), atol=1e-7)


def test_constant_inputs_predict_the_mean():
    y = np.arange(40.0)
    for kernel in ("gaussian", "linear"):
        model = KernelRidgeCV(kernel, n_landmarks=5).fit(np.ones((40, 2)), y)
        assert_allclose(model.predict(np.ones((3, 2))), y.mean())


def test_many_rows_are_not_refused_for_memory(monkeypatch):
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 2**30)
    X = np.linspace(0, 1, 50_000)[:, None]
    with pytest.raises(MemoryError, match=r"Gram matrix of 50000 rows.*n_landmarks"):
        KernelRidgeCV(solver="dense").fit(X, X[:, 0])
    model = KernelRidgeCV("gaussian", alpha=1e-3, n_landmarks=5).fit(X, X[:, 0])
    assert model.score(X, X[:, 0]) > 0.99


def test_a_copy_without_training_rows_predicts_the_same_from_a_short_file(rng):
    X = rng.normal(size=(2000, 5))
    model = KernelRidgeCV(n_landmarks=10).fit(X, X[:, 0])
    short = model.with_expansion(model.expansion_)
    assert len(pickle.dumps(short)) < len(pickle.dumps(model)) / 5
    assert_allclose(short.predict(X), model.predict(X))
    with pytest.raises(TypeError, match="knows no weights"):
        short.weights(X[:2])
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.weights(X[:2]), model.weights(X[:2]))


# Rows that count more than once -------------------------------------------------------------------


@pytest.mark.parametrize("n_landmarks", [None, 20])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("cv", ["loo", Selection([(np.arange(0, 60), np.arange(60, 90))])])
def test_a_row_of_weight_three_is_three_rows(pairs, rng, n_landmarks, intercept, cv):
    X, Y = pairs
    counts = rng.integers(0, 4, size=90)
    copies = np.repeat(np.arange(90), counts)
    if not isinstance(cv, str):
        train, test = (np.flatnonzero(np.isin(copies, rows)) for rows in cv.criterion[0])
        repeated_cv = Selection([(train, test)])
    else:
        repeated_cv = cv
    options = {"alpha": [0.01, 1.0], "fit_intercept": intercept}
    weighted = KernelRidgeCV(KERNEL, cv=cv, n_landmarks=n_landmarks, **options)
    weighted.fit(X, Y, sample_weight=counts.astype(float))
    if n_landmarks is None:
        repeated = KernelRidgeCV(KERNEL, cv=repeated_cv, **options).fit(X[copies], Y[copies])
        assert weighted.loo_error_ == pytest.approx(repeated.loo_error_, rel=1e-6)
        assert weighted.alpha_ == repeated.alpha_
        assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-7)
        return
    Z = weighted.objects_
    system = LandmarkSystem(
        (features := LandmarkFeatures(KERNEL, Z)),
        landmark_sums(features, X[copies], Y[copies]),
        center=intercept,
    )
    C, offset = system.function(weighted.alpha_)
    assert_allclose(KERNEL(X, features.objects) @ C + offset, weighted.predict(X), atol=1e-8)
    if isinstance(cv, str):
        errors = {a: e for e, a in system.left_out_errors(X[copies], Y[copies], [0.01, 1.0])}
        assert weighted.loo_error_ == pytest.approx(errors[weighted.alpha_], rel=1e-6)


def test_weights_are_those_of_scikit_learn(pairs, rng):
    X, Y = pairs
    w = rng.uniform(0.1, 2, size=90)
    ours = KernelRidgeCV(KERNEL, alpha=0.1, fit_intercept=False).fit(X, Y, sample_weight=w)
    theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=3.0).fit(X, Y, sample_weight=w)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    ours = KernelRidgeCV(Linear(), alpha=0.3).fit(X, Y, sample_weight=w)
    assert_allclose(
        ours.predict(X), Ridge(alpha=0.3).fit(X, Y, sample_weight=w).predict(X), atol=1e-9
    )


@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_weighted_rows_are_smoothed_by_weights(pairs, rng, n_landmarks):
    X, Y = pairs
    w = rng.uniform(0, 2, size=90)
    model = KernelRidgeCV(KERNEL, n_landmarks=n_landmarks).fit(X, Y, sample_weight=w)
    assert_allclose(model.smooth(X[:5], Y), model.predict(X[:5]), atol=1e-7)
    assert_allclose(model.weights(X[:5]) @ Y, model.predict(X[:5]), atol=1e-7)
    assert_allclose(model.weights(X[:5]).sum(axis=1), 1, atol=1e-8)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"one sample weight for each of 90 rows"),
        (np.r_[-1.0, np.ones(89)], r"not negative.* Got values from -1"),
        (np.zeros(90), r"not all zero"),
        (np.full(90, np.nan), "NaN"),
    ],
)
def test_bad_weights_are_named(pairs, weights, message):
    with pytest.raises(ValueError, match=message):
        KernelRidgeCV().fit(*pairs, sample_weight=weights)


# Sparse rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["auto", Gaussian(0.5), Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_sparse_rows_give_what_dense_ones_do(kernel, n_landmarks):
    S = sparse.random(150, 40, density=0.1, random_state=0, format="csr")
    dense = S.toarray()
    y = np.sin(dense @ np.random.default_rng(1).normal(size=(40, 2)))
    thick = KernelRidgeCV(kernel, n_landmarks=n_landmarks).fit(dense, y)
    thin = KernelRidgeCV(kernel, n_landmarks=n_landmarks).fit(S, y)
    assert sparse.issparse(thin.objects_)
    # The search walks widths, which rounding errors may lead another way.
    settled = thin.settled()
    assert_allclose(thin.loo_error_, thick.loo_error_, rtol=1e-3)
    again = settled.fit(dense, y)
    assert_allclose(thin.predict(S), again.predict(dense), atol=1e-6)
    assert_allclose(thin.weights(S[:3]), again.weights(dense[:3]), atol=1e-6)
    assert_allclose(thin.smooth(S[:3], y), thin.predict(S[:3]), atol=1e-7)
    assert_allclose(thin.predict(dense[:3]), thin.predict(S[:3]), atol=1e-9)


def test_sparse_rows_of_a_kernel_that_cannot_are_refused():
    S = sparse.random(30, 5, density=0.5, random_state=0, format="csr")
    with pytest.raises(TypeError, match=r"sparse rows by a kernel that can.*toarray"):
        KernelRidgeCV("laplacian").fit(S, np.arange(30.0))
