"""Local polynomial regression: limits, exactness, gradients, bandwidths, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn.model_selection import KFold

from isthmus.linalg.scratch import scratch
from isthmus.regression import LocalPolynomialRegression, Selection
from isthmus.regression.local import bandwidth
from isthmus.regression.local import left_out as left_out_module
from isthmus.regression.local.left_out import (
    LeftOut,
    left_out_error,
    left_out_parts,
    left_out_values,
)
from isthmus.regression.local.lines import are_products
from isthmus.regression.selection import as_selection
from isthmus.smoothers import density_kernel
from isthmus.smoothers.density_kernels import DENSITY_KERNELS
from isthmus.smoothers.local_polynomial import LocalSmoother, smooth
from isthmus.typing import provides

DEGREES = [(0, True), (1, True), (2, False), (2, True)]
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(60, 2))
Y = np.c_[np.sin(3 * X[:, 0]) + X[:, 1] ** 2, X[:, 0] * X[:, 1]] + 0.05 * RNG.normal(size=(60, 2))
QUERIES = RNG.uniform(-0.7, 0.7, size=(9, 2))
for array in (X, Y, QUERIES):
    array.flags.writeable = False


def fit_of(kernel, degree, cross, ridge=0.0):
    return LocalSmoother(density_kernel(kernel), degree, cross, ridge, adaptive=True)


def brute_force(kernel, degree, cross, X, Y, query):
    """The constant term of a weighted least-squares fit by NumPy."""
    dx = X - query
    columns = [np.ones(len(X))]
    if degree >= 1:
        columns += list(dx.T)
    if degree == 2:
        columns += list((dx**2).T)
        if cross:
            columns += [dx[:, a] * dx[:, b] for a in range(2) for b in range(a + 1, 2)]
    root = np.sqrt(density_kernel(kernel).profile((dx**2).sum(axis=1)))[:, None]
    return np.linalg.lstsq(root * np.array(columns).T, root * Y, rcond=None)[0][0]


@pytest.mark.parametrize("kernel", DENSITY_KERNELS)
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_value_is_the_constant_of_a_weighted_least_squares_fit(kernel, degree, cross):
    values = smooth(fit_of(kernel, degree, cross), QUERIES, X, Y).values
    expected = [brute_force(kernel, degree, cross, X, Y, query) for query in QUERIES]
    assert_allclose(values, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_leave_one_out_is_refitting_without_the_row(kernel, degree, cross):
    fit = fit_of(kernel, degree, cross)
    which = np.array([3, 17, 50])
    values = left_out_values(fit, X, Y, LeftOut(which))
    refits = [
        smooth(fit, X[j : j + 1], np.delete(X, j, 0), np.delete(Y, j, 0)).values[0] for j in which
    ]
    assert_allclose(values, refits, rtol=1e-10, atol=1e-12)
    error = left_out_error(fit, X, Y, [LeftOut(which)])[0]
    assert_allclose(error, np.mean(np.sum((values - Y[which]) ** 2, axis=1)), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["loo", 5, Selection(max_rows=40)])
@pytest.mark.parametrize("width", [0.005, 0.08, 0.15, 0.5, 2.0, 100.0])
@pytest.mark.parametrize(("q", "d"), [(1, 1), (2, 2), (6, 3)])
def test_lines_by_products_are_those_of_the_loops(rng, monkeypatch, q, d, width, criterion):
    X = 1000.0 + rng.uniform(-1, 1, size=(300, q))
    X[:3] += 6 * min(width, 1.0)  # their lines rest on few rows
    Y = X @ rng.normal(size=(q, d)) + rng.normal(size=(300, d))
    fit, Y = fit_of("gaussian", 1, True, ridge=1e-8), Y - Y.mean(axis=0)
    parts = left_out_parts(as_selection(criterion, None), len(X))
    asked = [are_products(fit, part.centres(X / width)) for part in parts]
    assert all(asked) == (width > 0.005)
    fast = left_out_error(fit, X / width, Y, parts, gradient=True)
    values = left_out_error(fit, X / width, Y, parts)[0]
    monkeypatch.setattr(left_out_module, "are_products", lambda *_: False)
    slow = left_out_error(fit, X / width, Y, parts, gradient=True)
    assert_allclose(fast[0], slow[0], rtol=1e-8)
    assert_allclose(values, slow[0], rtol=1e-8)
    assert_allclose(fast[1], slow[1], rtol=1e-6, atol=1e-6 * np.abs(slow[1]).max())


@pytest.mark.parametrize("n", [40, 700])
def test_lines_do_not_depend_on_what_is_in_lent_memory(rng, n):
    X, Y = rng.uniform(-1, 1, size=(n, 4)), rng.normal(size=(n, 2))
    fit, parts = fit_of("gaussian", 1, True, ridge=1e-8), [LeftOut(np.arange(n))]
    found = []
    for content in (np.nan, 1e300):
        with scratch(2, 2**19) as first, scratch(2, 2**19) as second:
            first[:], second[:] = content, content
        error, slope = left_out_error(fit, X / 0.6, Y, parts, gradient=True)
        found.append([error, *slope, left_out_error(fit, X / 0.6, Y, parts)[0]])
    assert np.isfinite(found[0]).all()
    assert_array_equal(*found)


def test_products_serve_wide_gaussian_lines_alone():
    wide = X / 0.5
    assert are_products(fit_of("gaussian", 1, True), wide)
    assert not are_products(fit_of("gaussian", 2, True), wide)
    assert not are_products(fit_of("gaussian", 0, True), wide)
    assert not are_products(fit_of("quartic", 1, True), wide)
    assert not are_products(fit_of("gaussian", 1, True), X / 1e-3)
    assert not are_products(LocalSmoother(density_kernel("gaussian"), 1), wide)


# Not folds of compact kernels: there a step changes the degree of some query.
@pytest.mark.parametrize(
    ("kernel", "criterion"),
    [("gaussian", "loo"), ("triweight", "loo"), ("student", "loo"), ("gaussian", 5)],
)
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_gradient_by_the_bandwidths_is_that_of_finite_differences(kernel, degree, cross, criterion):
    fit = fit_of(kernel, degree, cross)
    log_h, step = np.log([0.9, 0.8]), 1e-5
    parts = left_out_parts(Selection(criterion), len(X))
    slope = left_out_error(fit, X / np.exp(log_h), Y, parts, gradient=True)[1]

    def error(shift):
        return left_out_error(fit, X / np.exp(log_h + shift), Y, parts)[0]

    numeric = [(error(e) - error(-e)) / (2 * step) for e in step * np.eye(2)]
    assert_allclose(slope, numeric, rtol=2e-5, atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "quartic", "student"])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_jacobian_is_that_of_finite_differences(kernel, degree, cross):
    model = LocalPolynomialRegression(
        degree, cross_terms=cross, density_kernel=kernel, bandwidth=[0.8, 0.9]
    ).fit(X, Y)
    step = 1e-5
    numeric = np.stack(
        [(model.predict(QUERIES + e) - model.predict(QUERIES - e)) / (2 * step)
         for e in step * np.eye(2)], axis=2,
    )  # fmt: skip
    assert_allclose(model.jacobian(QUERIES), numeric, atol=2e-6)


@pytest.mark.parametrize(("degree", "cross"), DEGREES[1:])
def test_polynomials_of_its_degree_are_reproduced(degree, cross):
    P = X @ RNG.normal(size=(2, 3)) + 1.0
    if degree == 2:
        P += X**2 @ RNG.normal(size=(2, 3))
        P += 2.0 * cross * (X[:, :1] * X[:, 1:])
    model = LocalPolynomialRegression(degree, cross_terms=cross, bandwidth=0.6, ridge=0.0)
    assert_allclose(model.fit(X, P).predict(X), P, atol=1e-8)
    assert model.loo_error_ < 1e-16


@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_constants_are_reproduced_whatever_the_ridge(degree, cross):
    ones = np.ones((len(X), 1))
    values = smooth(fit_of("gaussian", degree, cross, ridge=0.1), QUERIES, X, ones).values
    assert_allclose(values, 1.0, rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_rotation_and_shift_of_the_inputs_change_nothing(degree):
    turn = np.linalg.qr(RNG.normal(size=(2, 2)))[0]
    shift = np.array([5.0, -7.0])
    model = LocalPolynomialRegression(degree, bandwidth=0.7)
    plain = model.fit(X, Y).predict(QUERIES)
    moved = model.fit(X @ turn + shift, Y).predict(QUERIES @ turn + shift)
    assert_allclose(moved, plain, atol=1e-7)


def test_a_wide_bandwidth_gives_the_mean_or_the_global_polynomial():
    wide = LocalPolynomialRegression(0, bandwidth=1e6).fit(X, Y)
    assert_allclose(wide.predict(QUERIES), np.tile(Y.mean(axis=0), (9, 1)), atol=1e-9)
    design = np.c_[np.ones(len(X)), X]
    line = np.linalg.lstsq(design, Y, rcond=None)[0]
    wide = LocalPolynomialRegression(1, bandwidth=100.0, ridge=0.0).fit(X, Y)
    assert_allclose(wide.predict(QUERIES), np.c_[np.ones(9), QUERIES] @ line, atol=1e-3)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_a_narrow_bandwidth_gives_the_nearest_neighbour(degree):
    model = LocalPolynomialRegression(degree, bandwidth=1e-4).fit(X, Y)
    nearest = ((QUERIES[:, None] - X[None]) ** 2).sum(axis=2).argmin(axis=1)
    # A ridge of 1e-8 makes a plane through one point level, up to so much.
    assert_allclose(model.predict(QUERIES), Y[nearest], atol=1e-6)


def test_the_degree_falls_where_neighbours_cannot_bear_it():
    x = np.linspace(0, 1, 30)[:, None]
    model = LocalPolynomialRegression(2, bandwidth=0.05, ridge=0.0).fit(x, x[:, 0] ** 2)
    assert model.degree_used([[0.5]])[0] == 2
    assert model.degree_used([[1.15]])[0] < 2
    assert model.degree_used([[9.0]])[0] == 0
    assert_allclose(model.predict([[9.0]]), 1.0)


@pytest.mark.parametrize("kernel", DENSITY_KERNELS)
def test_far_queries_are_finite(kernel):
    model = LocalPolynomialRegression(2, bandwidth=0.5, density_kernel=kernel).fit(X, Y)
    far = np.array([[200.0, 100.0]])
    if density_kernel(kernel).compact:
        with pytest.warns(UserWarning, match="1 of 1 queries have no training row"):
            value = model.predict(far)
    else:
        value = model.predict(far)
    assert np.all(np.isfinite(value))
    if kernel not in ("student",):
        assert_allclose(value[0], Y[((X - far) ** 2).sum(axis=1).argmin()], atol=1e-10)


def test_inputs_on_a_line_do_not_break_a_plane():
    line = np.repeat(np.linspace(0, 1, 50)[:, None], 2, axis=1)
    model = LocalPolynomialRegression(2, bandwidth=0.3).fit(line, line[:, 0])
    assert_allclose(model.predict(line), line[:, 0], atol=1e-5)


def test_the_chosen_bandwidth_beats_its_neighbours():
    x = np.sort(RNG.uniform(0, 1, size=(80, 1)), axis=0)
    y = np.sin(12 * x[:, 0]) + 0.2 * RNG.normal(size=80)
    chosen = LocalPolynomialRegression(1).fit(x, y)
    for factor in (0.3, 0.6, 1.7, 3.0):
        other = LocalPolynomialRegression(1, bandwidth=factor * chosen.bandwidth_).fit(x, y)
        assert other.loo_error_ > chosen.loo_error_
    assert 0.5 < chosen.loo_score_ < 1.0


def test_an_input_of_no_use_is_switched_off():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(150, 2))
    y = np.sin(4 * x[:, 0]) + 0.1 * rng.normal(size=150)
    common = LocalPolynomialRegression(0).fit(x, y)
    separate = LocalPolynomialRegression(0, bandwidth="loo-ard").fit(x, y)
    assert separate.bandwidth_[1] > 10 * separate.bandwidth_[0]
    assert separate.loo_error_ < 0.8 * common.loo_error_


def test_bandwidth_follows_the_units_of_the_inputs():
    units = np.array([1000.0, 0.01])
    plain = LocalPolynomialRegression(1).fit(X, Y)
    scaled = LocalPolynomialRegression(1).fit(X * units, Y)
    assert_allclose(scaled.bandwidth_, plain.bandwidth_ * units, rtol=1e-3)
    assert_allclose(scaled.predict(QUERIES * units), plain.predict(QUERIES), atol=1e-4)


def test_choosing_on_some_rows_uses_all_rows_to_predict_them():
    some = LocalPolynomialRegression(1, bandwidth=0.5, cv=Selection(max_rows=20)).fit(X, Y)
    whole = LocalPolynomialRegression(1, bandwidth=0.5).fit(X, Y)
    assert some.loo_error_ != whole.loo_error_
    assert_allclose(some.predict(QUERIES), whole.predict(QUERIES))


def test_blocks_do_not_change_the_result(monkeypatch):
    model = LocalPolynomialRegression(2, bandwidth=0.6).fit(X, Y)
    whole = model.predict(QUERIES), model.jacobian(QUERIES)
    monkeypatch.setattr("isthmus.blocks.slices.BLOCK_BYTES", 8 * 60 * 2)
    assert_allclose(model.predict(QUERIES), whole[0], rtol=1e-13)
    assert_allclose(model.jacobian(QUERIES), whole[1], rtol=1e-12)


def test_one_output_keeps_one_dimension():
    model = LocalPolynomialRegression(1, bandwidth=0.5).fit(X, Y[:, 0])
    assert model.predict(QUERIES).shape == (9,)
    assert model.jacobian(QUERIES).shape == (9, 2)
    several = LocalPolynomialRegression(1, bandwidth=0.5).fit(X, Y)
    assert several.jacobian(QUERIES).shape == (9, 2, 2)
    assert_allclose(several.predict(QUERIES)[:, 0], model.predict(QUERIES), atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": 3}, r"'degree' parameter of LocalPolynomialRegression .*\[0, 2\]. Got 3"),
        ({"bandwidth": -1.0}, "'bandwidth' parameter .* Got -1.0 instead"),
        ({"bandwidth": [1.0, 2.0, 3.0]}, "or 2 of them"),
        ({"bandwidth": "silverman"}, "one of 'loo', 'loo-ard'"),
        ({"density_kernel": "box"}, "one of 'gaussian'"),
        ({"ridge": -1e-3}, "'ridge' parameter"),
        ({"cv": "bootstrap"}, "'cv' parameter of LocalPolynomialRegression"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_fitted(parameters, message):
    model = LocalPolynomialRegression(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "bandwidth_")


@pytest.mark.filterwarnings("ignore:After 0.17 or January 2028")
@pytest.mark.parametrize(("degree", "kind"), [(0, "lc"), (1, "ll")])
def test_statsmodels_gives_the_same_values(degree, kind):
    nonparametric = pytest.importorskip("statsmodels.nonparametric.kernel_regression")
    h = np.array([0.5, 0.6])
    peer = nonparametric.KernelReg(Y[:, 0], X, var_type="cc", reg_type=kind, bw=h)
    ours = LocalPolynomialRegression(degree, bandwidth=h, ridge=0.0).fit(X, Y[:, 0])
    assert_allclose(ours.predict(QUERIES), peer.fit(QUERIES)[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.filterwarnings("ignore:.*no training row within the bandwidth")
def test_predictions_are_weights_times_outputs(kernel, degree, cross):
    model = LocalPolynomialRegression(
        degree, cross_terms=cross, density_kernel=kernel, bandwidth=0.3
    ).fit(X, Y)
    queries = np.vstack([QUERIES, [[9.0, 9.0]]])
    W = model.weights(queries)
    assert W.shape == (10, 60)
    assert issparse(W) == density_kernel(kernel).compact
    assert_allclose(W @ Y, model.predict(queries), atol=1e-7)
    assert_allclose(W.sum(axis=1), 1.0, atol=1e-6)
    assert model.sums_to_one
    G = RNG.normal(size=(60, 3))
    assert_allclose(model.smooth(queries, G), W @ G, atol=1e-7)
    assert_allclose(model.smooth(queries, G[:, 0]), W @ G[:, 0], atol=1e-7)
    with pytest.raises(ValueError, match="as many rows of G as training rows"):
        model.smooth(queries, G[:5])
    assert "weights" in provides(LocalPolynomialRegression())


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_near_pairs_alone_give_what_all_pairs_do(degree, monkeypatch):
    monkeypatch.setattr("isthmus.smoothers.pairs.FEW", 0)
    model = LocalPolynomialRegression(degree, density_kernel="triweight", bandwidth=0.4).fit(X, Y)
    found = []
    for crowded in (2.0, 0.0):
        monkeypatch.setattr("isthmus.smoothers.pairs.CROWDED", crowded)
        found.append((model.predict(QUERIES), model.jacobian(QUERIES), model.fit(X, Y).loo_error_))
    for near, everything in zip(*found, strict=True):
        assert_allclose(near, everything, rtol=1e-9, atol=1e-11)


def test_a_settled_copy_has_the_bandwidths_that_were_chosen():
    chosen = LocalPolynomialRegression(1).fit(X, Y)
    again = chosen.settled()
    assert not hasattr(again, "bandwidth_")
    assert_allclose(again.fit(X, Y).predict(QUERIES), chosen.predict(QUERIES))


def test_a_regression_and_a_manifold_use_one_smoother():
    """They differ in the ridge, a share or a number, and in nothing else where both are small."""
    for degree in (0, 1, 2):
        values = [
            smooth(LocalSmoother(density_kernel("gaussian"), degree, ridge=r, adaptive=a),
                   QUERIES, X, Y, jacobian=True)
            for r, a in ((0.0, True), (0.0, False))
        ]  # fmt: skip
        assert_allclose(values[0].values, values[1].values, rtol=1e-8, atol=1e-10)
        assert_allclose(values[0].jacobian, values[1].jacobian, rtol=1e-6, atol=1e-8)


def test_rows_equal_but_for_rounding_do_not_choose_the_bandwidth(rng):
    places = rng.normal(size=(4, 2))
    which = rng.integers(4, size=60)
    X = places[which] * (1 + 1e-16 * rng.integers(-2, 3, size=(60, 2)))
    y = places[which, 0] + 0.3 * rng.normal(size=60)
    model = LocalPolynomialRegression(0).fit(X, y)
    assert model.bandwidth_.min() > 1e-9
    means = np.array([y[which == i].mean() for i in range(4)])
    assert_allclose(model.predict(places), means, atol=0.15)


def test_folds_are_predicted_by_the_others():
    model = LocalPolynomialRegression(1, bandwidth=0.5, cv=4).fit(X, Y)
    squares = []
    for train, test in KFold(4).split(X):
        part = LocalPolynomialRegression(1, bandwidth=0.5).fit(X[train], Y[train])
        squares.append(np.sum((part.predict(X[test]) - Y[test]) ** 2, axis=1))
    assert_allclose(model.loo_error_, np.concatenate(squares).mean(), rtol=1e-9)
    time = np.linspace(0, 1, 90)[:, None]
    walk = np.cumsum(np.random.default_rng(3).normal(size=90))
    alone, blocks = (LocalPolynomialRegression(0, cv=cv).fit(time, walk) for cv in ("loo", 5))
    assert blocks.bandwidth_[0] > alone.bandwidth_[0]


def test_more_terms_than_rows_lower_the_degree_and_say_what_to_do():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 200)), rng.normal(size=40)
    with pytest.warns(UserWarning, match=r"201 terms, which 40 rows .* degree 0 .* KernelRidgeCV"):
        model = LocalPolynomialRegression().fit(X, y)
    assert model.degree_ == 0
    flat = LocalPolynomialRegression(0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), flat.predict(X))


def test_a_long_fit_is_announced():
    model = LocalPolynomialRegression()
    with pytest.warns(UserWarning, match=r"minutes: .* cv=Selection"):
        model._affordable_degree(2000, 300, 2000)
    model._affordable_degree(2000, 5, 2000)


def test_bandwidths_of_columns_do_not_depend_on_the_units_of_the_outputs():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y = np.sin(5 * X[:, 0]) + 0.05 * rng.normal(size=60)
    narrow, wide = (
        LocalPolynomialRegression(bandwidth="loo-ard").fit(X, c * y).bandwidth_ for c in (1e-8, 1e8)
    )
    assert_allclose(narrow, wide, rtol=1e-6)


@pytest.mark.parametrize("cv", ["loo", 5])
def test_bandwidths_that_some_rows_judge_first_are_those_that_all_judge(monkeypatch, rng, cv):
    X = rng.normal(size=(450, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=450)
    some = LocalPolynomialRegression(cv=cv).fit(X, y)
    monkeypatch.setattr(bandwidth, "N_JUDGES", len(X))
    every = LocalPolynomialRegression(cv=cv).fit(X, y)
    assert np.array_equal(some.bandwidth_, every.bandwidth_)
    assert some.loo_error_ == every.loo_error_


def test_of_equally_good_bandwidths_the_narrowest_is_taken():
    # All rows are equally far from each other, so what is left out is the mean of the others.
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(15, 15)))[0]
    y = rng.normal(size=15)
    widths = LocalPolynomialRegression(0).fit(rotation, y).bandwidth_ / rotation.std(axis=0)
    assert widths.max() < 4  # half of the distance of two rows; the widest that is tried is 116
