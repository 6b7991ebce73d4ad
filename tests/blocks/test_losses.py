"""Regression of limited rank under any loss, by passes over rows in blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.blocks import open_rows
from isthmus.blocks.medians import fold_medians
from isthmus.losses import Epsilon, Huber
from isthmus.losses.spread import weighted_median
from isthmus.regression import StiefelRegression

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.usefixtures("threads")

NAMES = ("coef_", "intercept_", "V_", "s_", "W_", "objective_", "alpha_", "rank_")


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5)) + 3
    F = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 5))
    Y = X @ F.T + 0.3 * rng.normal(size=(900, 4))
    Y[rng.random(Y.shape) < 0.03] += 30  # a few wild ones
    return X, Y


def cut(*arrays):
    return [da.from_array(A, chunks=(200 + 30 * i, *A.shape[1:])) for i, A in enumerate(arrays)]


def assert_same(found, expected, rtol=1e-6):
    for name in NAMES:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert_allclose(a, b, rtol=rtol, atol=rtol * max(np.abs(b).max(), 1e-300), err_msg=name)
    assert found.optimality_ <= found.tol


def with_holes(Y):
    Y = Y.copy()
    Y[np.random.default_rng(1).random(Y.shape) < 0.1] = np.nan
    Y[[3, 500]] = np.nan  # nothing known of these rows
    return Y


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "huber"},
        {"loss": "absolute", "rank": 2},
        {"loss": Epsilon(0.2, power=2, shape="ball"), "rank": 2, "alpha": 1.0},
        {"loss": Huber(shape="ball"), "rank": 2, "fit_intercept": False},
        {"loss": "quantile", "rank": 1, "init": "ridge"},
        {"loss": "squared", "rank": 2, "solver": "riemannian"},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_loss_is_minimised_as_in_memory(pair, settings, weighted):
    X, Y = pair
    weights = np.random.default_rng(1).uniform(0, 2, size=len(X)) if weighted else None
    settings = {"tol": 1e-7} | settings
    expected = StiefelRegression(**settings).fit(X, Y, weights)
    found = StiefelRegression(**settings).fit(*cut(X, Y), weights)
    assert_same(found, expected)
    assert_allclose(found.predict(cut(X)[0]).compute(), expected.predict(X), rtol=1e-5)


@pytest.mark.parametrize("settings", [{"loss": "huber", "rank": 2}, {"rank": 2}, {}], ids=str)
def test_missing_outputs_are_left_out_as_in_memory(pair, settings):
    X, Y = pair[0], with_holes(pair[1])
    settings = {"tol": 1e-7} | settings
    expected = StiefelRegression(**settings).fit(X, Y)
    assert_same(StiefelRegression(**settings).fit(*cut(X, Y)), expected)
    with pytest.raises(ValueError, match="outputs that are missing take an iteration"):
        StiefelRegression(2, alpha=0.0).fit(iter(np.array_split(X, 3)), Y)


def test_yes_and_no_of_a_stream(pair):
    X, Y = pair
    labels = (np.median(Y, axis=0) < Y).astype(float)
    blocks = [(X[i : i + 250], labels[i : i + 250]) for i in range(0, 900, 250)]
    settings = {"rank": 2, "loss": "logistic", "alpha": 0.1, "tol": 1e-7}
    found = StiefelRegression(**settings).fit(lambda: iter(blocks), None)
    expected = StiefelRegression(**settings).fit(X, labels)
    assert_same(found, expected)
    assert_allclose(found.predict(X), expected.predict(X), atol=1e-6)
    with pytest.raises(ValueError, match=r"outputs in \[0, 1\]"):
        StiefelRegression(**settings).fit(*cut(X, Y))
    with pytest.raises(ValueError, match="every step of the descent is a pass"):
        StiefelRegression(**settings).fit(iter(blocks), None)


def test_widths_of_rows_go_with_their_rows(pair):
    X, Y = pair
    widths = np.random.default_rng(0).uniform(0, 1, size=len(X))
    settings = {"rank": 2, "loss": Epsilon(widths, power=2), "tol": 1e-7}
    expected = StiefelRegression(**settings).fit(X, Y)
    assert_same(StiefelRegression(**settings).fit(*cut(X, Y)), expected)


def test_one_output_and_few_rows(pair):
    X, Y = pair
    found = StiefelRegression(1, loss="huber", tol=1e-7).fit(*cut(X, Y[:, 0]))
    assert found.predict(X).shape == (900,)
    assert_same(found, StiefelRegression(1, loss="huber", tol=1e-7).fit(X, Y[:, 0]))
    few = StiefelRegression(1, loss="huber").fit(
        da.from_array(X[:4].repeat(2, axis=1), chunks=2), Y[:4]
    )
    assert_same(few, StiefelRegression(1, loss="huber").fit(X[:4].repeat(2, axis=1), Y[:4]))


def test_what_needs_all_rows_says_so(pair):
    X, Y = cut(*pair)
    model = StiefelRegression(2, loss="huber").fit(X, Y)
    before = model.coef_
    for settings in ({"solver": "published"}, {"init": "pls"}):
        with pytest.raises(TypeError, match=r'needs all rows at once. solver="riemannian" can'):
            model.set_params(solver="auto", init="auto").set_params(**settings).fit(X, Y)
    assert model.coef_ is before
    hidden = da.from_array(np.where(np.arange(4) == 2, np.nan, pair[1]), chunks=300)
    with pytest.raises(ValueError, match="Output 2 is missing in all rows"):
        StiefelRegression(2, loss="huber").fit(X, hidden)


def columns(X, weights=None, *, start, state):
    return (X, weights) if state == "weighted" else (X, None)


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 20_001])
def test_medians_by_counting_are_exact(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4))
    X[:, 1] = rng.integers(0, 2, size=n)  # many are equal
    X[:, 2] *= 10.0 ** rng.integers(-30, 30, size=n)
    X[:, 3] = 0.0
    for weights in (rng.uniform(0.1, 2, size=n), rng.integers(1, 4, size=n).astype(float)):
        rows = open_rows("me", da.from_array(X, chunks=(max(n // 5, 1), 4)), weights)
        assert_array_equal(fold_medians(rows, columns, 4), np.median(X, axis=0))
        found = fold_medians(rows, columns, 4, state="weighted")
        assert_array_equal(found, weighted_median(X, weights))


def test_medians_leave_out_what_is_missing():
    X = np.array([[1.0, np.nan], [np.nan, np.nan], [4.0, np.nan], [2.0, np.nan]])
    assert_array_equal(fold_medians(open_rows("me", X, missing=True), columns, 2), [2.0, np.nan])
