"""Kernel ridge on any objects."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict, cross_val_score

from isthmus.kernels import Delta, Gaussian, Linear, Polynomial, Precomputed, Spectrum
from isthmus.kernels.vectors import width
from isthmus.linalg.ridge import PositiveFactor
from isthmus.regression import KernelRidgeCV, Selection
from isthmus.regression.left_out import left_out_predictions
from isthmus.regression.ridge import estimator, exact
from isthmus.regression.ridge.left_out import (
    left_out_errors,
    left_out_of_features,
    penalties,
    penalties_of_features,
)
from isthmus.regression.ridge.search import AS_GOOD, KERNELS, explore_widths
from isthmus.regression.selection import Choice


@pytest.fixture
def pairs(rng):
    X = rng.uniform(-1, 1, size=(50, 2))
    Y = np.column_stack([np.sin(4 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)])
    return X, Y + 0.05 * rng.normal(size=Y.shape)


def test_without_intercept_it_is_kernel_ridge(pairs, rng):
    X, Y = pairs
    New = rng.uniform(-1, 1, size=(7, 2))
    ours = KernelRidgeCV(Gaussian(2.0), alpha=0.1, fit_intercept=False).fit(X, Y)
    theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=2.0).fit(X, Y)
    assert_allclose(ours.predict(New), theirs.predict(New), atol=1e-10)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-9)


def test_linear_kernel_with_intercept_is_ridge(pairs, rng):
    X, Y = pairs
    New = rng.uniform(-1, 1, size=(7, 2))
    ours = KernelRidgeCV(Linear(), alpha=0.3).fit(X, Y)
    assert_allclose(ours.predict(New), Ridge(alpha=0.3).fit(X, Y).predict(New), atol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alphas", [None, [1e-3, 1.0]])
@pytest.mark.parametrize("n_outputs", [3, 60])
def test_left_out_errors_by_features_are_those_of_their_gram_matrix(
    fit_intercept, alphas, n_outputs, rng
):
    Z, Y = rng.normal(size=(40, 4)) + 2.0, rng.normal(size=(40, n_outputs)) - 1.0
    Z[:, 3] = Z[:, 2]  # dependent columns
    found = list(left_out_of_features(Z, Y, alphas, fit_intercept=fit_intercept))
    expected = left_out_errors(Z @ Z.T, Y, alphas, Selection(), fit_intercept=fit_intercept)
    errors, penalties = np.transpose(list(expected))
    assert_allclose([alpha for _, alpha in found], penalties, rtol=1e-12)
    sure = penalties > 1e-5  # below, rounding errors of the Gram matrix are more than that
    assert_allclose(np.array([error for error, _ in found])[sure], errors[sure], rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_few_features_choose_what_the_gram_matrix_chooses(dtype, fit_intercept, rng, monkeypatch):
    X = rng.normal(size=(300, 3)).astype(dtype) + 1.0
    Y = X @ rng.normal(size=(3, 2)) + rng.normal(size=(300, 2))
    # Where the penalty is tiny, rounding in the Gram matrix costs digits of the error.
    alphas = np.geomspace(1e-3, 1e3, 13)
    model = KernelRidgeCV(Linear(), alpha=alphas, fit_intercept=fit_intercept)
    short = model.fit(X, Y)
    chosen = short.alpha_, short.loo_error_
    monkeypatch.setattr(exact, "is_short", lambda Z, Y: False)
    whole = model.fit(X, Y)
    assert_allclose(chosen, (whole.alpha_, whole.loo_error_), rtol=1e-6)
    Z, options = X.astype(float), {"fit_intercept": fit_intercept}
    assert_allclose(penalties_of_features(Z, **options), penalties(Z @ Z.T, **options))


def test_no_penalty_interpolates(pairs):
    X, Y = pairs
    model = KernelRidgeCV(Gaussian(20.0), alpha=1e-10).fit(X, Y)
    assert_allclose(model.predict(X), Y, atol=1e-5)


def test_large_penalty_predicts_the_mean(pairs):
    X, Y = pairs
    model = KernelRidgeCV(Gaussian(2.0), alpha=1e10).fit(X, Y)
    assert_allclose(model.predict(X), np.tile(Y.mean(axis=0), (50, 1)), atol=1e-6)


def test_reported_error_is_that_of_leaving_one_out(pairs):
    X, Y = pairs
    model = KernelRidgeCV(Gaussian(2.0), alpha=[0.01, 0.1]).fit(X, Y)
    alone = KernelRidgeCV(Gaussian(2.0), alpha=model.alpha_)
    left_out = cross_val_predict(alone, X, Y, cv=LeaveOneOut())
    assert model.loo_error_ == pytest.approx(np.mean((left_out - Y) ** 2), rel=1e-6)


def test_the_best_of_several_kernels_is_taken(pairs):
    X, Y = pairs
    model = KernelRidgeCV([Linear(), Gaussian(2.0), Polynomial(2)]).fit(X, Y[:, 0])
    assert model.kernel_ == Gaussian(2.0)


def test_choosing_on_a_part_is_near_choosing_on_all(rng):
    X = rng.uniform(-1, 1, size=(400, 2))
    y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=400)
    part = KernelRidgeCV(cv=Selection(max_rows=200)).fit(X, y)
    whole = KernelRidgeCV(cv=Selection(max_rows=400)).fit(X, y)
    assert abs(np.log10(part.alpha_ / whole.alpha_)) <= 1.5
    assert len(part.dual_coef_) == 400


def test_settled_it_fits_the_same_without_choosing(pairs):
    X, Y = pairs
    model = KernelRidgeCV([Gaussian(2.0), Linear()], fit_intercept=False).fit(X, Y)
    again = model.settled()
    assert not hasattr(again, "expansion_")
    assert (again.kernel, again.alpha, again.fit_intercept) == (model.kernel_, model.alpha_, False)
    assert_allclose(again.fit(X, Y).predict(X), model.predict(X))
    assert again.loo_error_ is None


def test_one_output_stays_flat(pairs):
    X, Y = pairs
    model = KernelRidgeCV().fit(X, Y[:, 0])
    assert model.predict(X).shape == (50,)
    assert isinstance(model.intercept_, float)


def test_labels_and_gram_matrices_as_inputs(pairs):
    X, Y = pairs
    labels = ["left" if x < 0 else "right" for x in X[:, 0]]
    model = KernelRidgeCV(Delta(), alpha=1e-8).fit(labels, X[:, 0])
    left = X[X[:, 0] < 0, 0].mean()
    assert_allclose(model.predict(["left"]), left, rtol=1e-5)
    K = Gaussian(2.0)(X)
    direct = KernelRidgeCV(Gaussian(2.0)).fit(X, Y)
    rows = KernelRidgeCV("precomputed").fit(K, Y)
    index = KernelRidgeCV(Precomputed(K)).fit(np.arange(50), Y)
    assert_allclose(rows.predict(K[:3]), direct.predict(X[:3]), atol=1e-8)
    assert_allclose(index.predict([0, 1, 2]), direct.predict(X[:3]), atol=1e-8)
    assert cross_val_score(KernelRidgeCV("precomputed"), K, Y[:, 2], cv=3).mean() > 0.9


def test_coefficients_sum_to_zero_even_with_next_to_no_penalty(pairs):
    # Rounding errors along the constant, over a tiny penalty, once spoilt every prediction.
    X, Y = pairs
    model = KernelRidgeCV(Gaussian(0.01), alpha=1e-10).fit(X, Y + 100)
    assert np.abs(model.dual_coef_.sum(axis=0)).max() < 1e-6 * np.abs(model.dual_coef_).max()


@pytest.mark.parametrize("noise", [0.0, 1e-4, 0.003, 0.1])
@pytest.mark.parametrize("alpha", ["loo", 1e-9])
def test_single_precision_predicts_as_well_as_double_whatever_the_noise(noise, alpha):
    rng = np.random.default_rng(0)
    X, new = (rng.uniform(size=(n, 2)).astype(np.float32).astype(float) for n in (150, 300))

    def smooth(Z):
        return np.sin(3 * Z[:, 0]) * np.cos(2 * Z[:, 1])

    y = smooth(X) + noise * rng.normal(size=150)
    errors, given = [], {} if alpha == "loo" else {"alpha": alpha}
    for kind in (np.float64, np.float32):
        model = KernelRidgeCV(Gaussian(0.5), **given).fit(X.astype(kind), y.astype(kind))
        predicted = model.predict(new.astype(kind))
        assert predicted.dtype == kind
        errors.append(np.sqrt(np.mean((predicted - smooth(new)) ** 2)))
    assert errors[1] < 1.05 * errors[0] + 1e-6  # the type of the answer


def test_more_outputs_than_rows_choose_the_same_penalty(pairs, rng):
    X, Y = pairs
    wide = Y @ rng.normal(size=(3, 80))
    small = KernelRidgeCV(Gaussian(2.0), cv=Selection(max_rows=100)).fit(X, wide)
    error = np.mean(
        (
            cross_val_predict(
                KernelRidgeCV(Gaussian(2.0), alpha=small.alpha_), X, wide, cv=LeaveOneOut()
            )
            - wide
        )
        ** 2
    )
    assert small.loo_error_ == pytest.approx(error, rel=1e-6)


def test_gram_matrix_is_not_changed(pairs):
    X, Y = pairs
    K = Gaussian(2.0)(X)
    before = K.copy()
    for fit_intercept in (True, False):
        KernelRidgeCV("precomputed", alpha=0.1, fit_intercept=fit_intercept).fit(K, Y)
        assert_allclose(K, before)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ([], "not empty"),
        (-1.0, r"'alpha' parameter of KernelRidgeCV must be .*a float in \[0, inf\).* Got -1.0"),
        ([0.0, 1.0], r"float in \(0.0, inf\)"),
    ],
)
def test_bad_penalties_are_named(pairs, alpha, message):
    with pytest.raises(ValueError, match=message):
        KernelRidgeCV(alpha=alpha).fit(*pairs)


def test_unequal_lengths_are_named(pairs):
    X, Y = pairs
    with pytest.raises(ValueError, match="as many outputs as inputs: expected 50, got 49"):
        KernelRidgeCV().fit(X, Y[:-1])


# The default ------------------------------------------------------------------------------------


def test_the_search_ends_where_all_widths_would(rng):
    X = rng.normal(size=(120, 3))
    for Y in (X @ rng.normal(size=(3, 2)), np.sin(3 * X), np.sin(X).sum(axis=1, keepdims=True)):
        noisy = Y + 0.05 * rng.normal(size=Y.shape)
        found = KernelRidgeCV().fit(X, noisy)
        errors = [KernelRidgeCV(kernel).fit(X, noisy).loo_error_ for kernel in KERNELS]
        narrowest = next(error for error in errors if error <= AS_GOOD * min(errors))
        assert found.loo_error_ == pytest.approx(narrowest, rel=1e-9)


def test_a_walk_looks_at_few_widths():
    looked = []

    def score(i):
        looked.append(i)
        return Choice(abs(i - 5.2), i)

    found = explore_widths(list(range(9)), score)
    assert min(found)[1] == 5
    assert sorted(looked) == [2, 3, 4, 5, 6, 8]


def test_of_widths_as_good_as_each_other_the_narrowest_is_taken():
    errors = [9.0, 5.0, 1.03, 1.015, 1.01, 1.0, 1.2, 2.0, 1.005]
    [(choice, taken)] = explore_widths(list(range(9)), lambda i: Choice(errors[i], i))
    assert (choice.error, taken) == (1.015, 3)


def test_a_row_far_from_all_others_is_predicted_nearer_the_outputs(rng):
    X = rng.normal(size=(150, 4))
    y = X @ [1.0, 0.5, 0.0, 0.0] + 0.3 * X[:, 0] ** 2 + rng.normal(size=150)
    far = np.array([[0.0, 0.0, 25.0, 0.0]])
    of_least_error = KernelRidgeCV(list(KERNELS)).fit(X, y).predict(far) - y.mean()
    assert abs(KernelRidgeCV().fit(X, y).predict(far) - y.mean()) < 0.5 * abs(of_least_error)


def test_linear_spectra_are_learned_by_a_linear_kernel(rng):
    shares = rng.random((60, 3))
    X = shares @ rng.normal(size=(3, 150)).cumsum(axis=1) + 0.01 * rng.normal(size=(60, 150))
    model = KernelRidgeCV().fit(X[:45], shares[:45])
    assert model.kernel_ == Linear()
    assert model.score(X[45:], shares[45:]) > 0.99


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_units_of_the_inputs_do_not_matter(pairs, unit):
    X, Y = pairs
    for kernel in ("auto", "linear"):
        plain = KernelRidgeCV(kernel).fit(X, Y)
        other = KernelRidgeCV(kernel).fit(unit * X, Y)
        assert_allclose(other.predict(unit * X), plain.predict(X), rtol=1e-6, atol=1e-8)


def test_single_precision_claims_no_more_than_it_predicts():
    rng = np.random.default_rng(0)
    X, new = rng.uniform(size=(300, 2)), rng.uniform(size=(500, 2))

    def smooth(Z):
        return np.sin(3 * Z[:, 0]) * np.cos(2 * Z[:, 1])

    y = smooth(X) + 0.003 * rng.normal(size=300)
    double = KernelRidgeCV("gaussian").fit(X, y)
    single = KernelRidgeCV("gaussian").fit(X.astype(np.float32), y.astype(np.float32))
    assert single.predict(new.astype(np.float32)).dtype == np.float32
    truth = smooth(new)
    rmse = [
        np.sqrt(np.mean((model.predict(new.astype(kind)) - truth) ** 2))
        for model, kind in ((double, np.float64), (single, np.float32))
    ]
    assert rmse[1] < 2 * rmse[0]
    noisy = truth + 0.003 * rng.normal(size=500)
    fresh = np.mean((single.predict(new.astype(np.float32)) - noisy) ** 2)
    assert 0.5 < single.loo_error_ / fresh < 2


def test_a_gram_matrix_that_does_not_fit_into_memory_is_refused_first(monkeypatch):
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"Gram matrix of 50000 rows, .*Inducing"):
        KernelRidgeCV(solver="dense").fit(np.zeros((50_000, 1)), np.zeros(50_000))


@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_spectra_in_single_precision_are_learned_as_well(rng, n_landmarks):
    # Far from the origin, nearly the same in every row, and a penalty near zero.
    waves = np.linspace(0, 1, 200)
    parts = np.exp(-(((waves - np.linspace(0.2, 0.8, 4)[:, None]) / 0.3) ** 2))
    shares = rng.normal(size=(80, 4))
    X = (5 + 0.01 * shares @ parts + 1e-6 * rng.normal(size=(80, 200))).astype(np.float32)
    model = KernelRidgeCV(n_landmarks=n_landmarks).fit(X[:50], shares[:50])
    double = KernelRidgeCV(n_landmarks=n_landmarks).fit(X[:50].astype(float), shares[:50])
    predicted = model.predict(X[50:])
    assert predicted.dtype == np.float32
    assert_allclose(predicted, double.predict(X[50:].astype(float)), atol=1e-4)
    assert_allclose(model.weights(X[50:]) @ shares[:50], predicted, atol=1e-4)


@pytest.mark.parametrize("value", [0.1, 1.0, 3.3, 1e5 / 3])
@pytest.mark.parametrize("kernel", ["linear", "gaussian", "polynomial"])
@pytest.mark.parametrize("cv", ["loo", 5])
def test_rows_that_are_all_alike_predict_the_mean(value, kernel, cv):
    rng = np.random.default_rng(0)
    X, y = np.full((50, 5), value), rng.normal(size=50)
    model = KernelRidgeCV(kernel=kernel, cv=cv).fit(X, y)
    assert_allclose(model.predict(X), np.full(50, y.mean()), atol=1e-5)
    assert np.all(np.abs(model.predict(X + 1.0)) < 2.0)


@pytest.mark.parametrize("cv", ["loo", 5])
@pytest.mark.parametrize("weights", [None, np.ones(300)], ids=["alike", "weighted"])
@pytest.mark.parametrize("seed", [0, 2])
def test_no_tiny_penalty_is_chosen_for_what_rounding_takes_off_its_error(
    cv, weights, seed, monkeypatch
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3)) + 1.0
    y = X @ rng.normal(size=(3, 2)) + rng.normal(size=(300, 2))
    monkeypatch.setattr(exact, "is_short", lambda Z, Y: False)
    model = KernelRidgeCV(Linear(), fit_intercept=False, cv=cv).fit(X, y, weights)
    offered = penalties_of_features(X, fit_intercept=False)
    # Beside the features' own variance of about 1 a penalty below a thousandth changes nothing.
    assert model.alpha_ > 1e-6 * float(np.mean(np.sum(X**2, axis=1)))
    found = {a: e for e, a in left_out_of_features(X, y, offered, fit_intercept=False)}
    if cv == "loo":
        assert_allclose(found[model.alpha_], min(found.values()), rtol=1e-6)


def test_widths_that_are_compared_come_from_one_median(rng, monkeypatch):
    X, other = rng.normal(size=(2, 90, 3))
    asked, plain = [], width._median_distance

    def counted(X, metric):
        asked.append(X)
        return plain(X, metric)

    slow = KernelRidgeCV().fit(X, X[:, :2] ** 2)
    monkeypatch.setattr(width, "_median_distance", counted)
    fast = KernelRidgeCV().fit(X, X[:, :2] ** 2)
    assert len(asked) == 1
    assert fast.kernel_ == slow.kernel_
    assert_allclose(fast.dual_coef_, slow.dual_coef_)
    with width.same_rows():
        for rows in (X, other, X):
            assert width.median_distance(rows) == plain(rows, "euclidean")
            assert width.median_distance(rows, "cityblock") == plain(rows, "cityblock")
        assert len(asked) == 5
    # Outside, rows may change from one call to the next.
    before = width.median_distance(other)
    other *= 2
    assert width.median_distance(other) == pytest.approx(2 * before)


# Folds that are left out ----------------------------------------------------------------------

WORDS = [f"{a}{b}{a * k}" for a in "abcd" for b in "xyz" for k in range(4)]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 10.0, [1e-3, 1e-1]])
@pytest.mark.parametrize(
    "kind", ["gaussian", "linear", "far", "doubled", "single", "words", "gram"]
)
def test_folds_left_out_are_those_of_as_many_fits(rng, kind, alpha, fit_intercept):
    X, kernel = rng.normal(size=(48, 3)), Gaussian(0.3)
    if kind == "linear":
        kernel = Linear()
    elif kind == "far":
        X, kernel = X + 1e4, Linear()
    elif kind == "doubled":
        X = np.repeat(X[:24], 2, axis=0)
    elif kind == "single":
        X = X.astype(np.float32)
    elif kind == "words":
        X, kernel = WORDS, Spectrum(2)
    elif kind == "gram":
        X, kernel = kernel(X), "precomputed"
    Y = rng.normal(size=(48, 2)) + np.arange(48)[:, None]
    model = KernelRidgeCV(kernel, alpha=alpha, fit_intercept=fit_intercept)
    for y in (Y, Y[:, 0]):
        same, fast = model.fit_left_out(X, y, 5)
        assert same is model
        assert model._system is None
        plain = clone(model).fit(X, y)
        size = np.abs(plain.dual_coef_).max()
        assert_allclose(model.dual_coef_, plain.dual_coef_, atol=1e-7 * size)
        # Far from the origin the fits lose the digits that the one factor keeps.
        near = X - 1e4 if kind == "far" and fit_intercept else X
        slow = left_out_predictions(plain, near, y, 5)
        assert fast.shape == y.shape
        tolerance = 1e-4 if kind == "single" else 1e-6
        assert_allclose(fast, slow, atol=tolerance * np.abs(slow).max())


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeCV(Gaussian(0.3), alpha=0.0),
        KernelRidgeCV(Gaussian(1e-9), alpha=1e-14),
        KernelRidgeCV(Gaussian(0.3), alpha=0.1, n_landmarks=20),
        KernelRidgeCV(Gaussian(0.3), alpha=0.1, solver="matrix-free"),
    ],
)
def test_folds_are_fitted_where_no_inverse_serves(rng, model):
    X = rng.normal(size=(60, 3))
    Y = X[:, :1] ** 2
    fitted, found = model.fit_left_out(X, Y, 4)
    assert_allclose(found, left_out_predictions(fitted, X, Y, 4))


def test_one_factor_takes_the_place_of_a_fit_for_each_fold(rng, monkeypatch):
    X, noise = rng.normal(size=(60, 3)), rng.normal(size=60)
    monkeypatch.setattr(estimator, "left_out_predictions", None)
    for kernel in (Linear(), Gaussian(0.3), lambda A, B: A @ B.T):
        found = KernelRidgeCV(kernel).fit_left_out(X, X[:, 0] ** 2 + noise, 5)[1]
        assert np.isfinite(found).all()


def test_a_fit_with_folds_that_does_not_end_leaves_the_former_one(pairs):
    X, Y = pairs
    model = KernelRidgeCV("gaussian").fit(X, Y)
    before = dict(vars(model))
    for bad in (np.where(Y > 0, np.nan, Y), Y[:-1]):
        with pytest.raises(ValueError):
            model.fit_left_out(X, bad, 5)
        assert vars(model) == before


def test_blocks_of_an_inverse(rng):
    A = rng.normal(size=(9, 9))
    A = A @ A.T + np.eye(9)
    parts = [np.array([7, 2, 4]), np.array([8]), np.arange(9), np.array([], dtype=int)]
    for part, block in zip(parts, PositiveFactor(A).inverse_blocks(parts), strict=True):
        assert_allclose(block, np.linalg.inv(A)[np.ix_(part, part)], atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        next(PositiveFactor(np.ones((3, 3))).inverse_blocks(parts))
