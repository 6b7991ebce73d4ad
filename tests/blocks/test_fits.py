"""What is learned from blocks is what is learned from all rows at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.features import SlowFeatureAnalysis
from isthmus.manifold import SmoothPSOM, UnsupervisedKernelRegression
from isthmus.preimage import FixedPointPreimage
from isthmus.regression import (
    BayesianLinearRegression,
    LocalPolynomialRegression,
    ReducedRankRegression,
    Selection,
    StiefelRegression,
)
from isthmus.robotics import ImitationModel
from isthmus.series import TimeWindows
from isthmus.sparse import KSVD, NonnegativeFactorization, SparseDictionary, SparseNet

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.usefixtures("threads")


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6)) + 3
    F = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 6))
    return X, X @ F.T + rng.normal(size=(3000, 5))


def cut(*arrays):
    return [da.from_array(A, chunks=(400 + 70 * i, *A.shape[1:])) for i, A in enumerate(arrays)]


def assert_same(found, expected, names, rtol=1e-10):
    for name in names:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert_allclose(a, b, rtol=rtol, atol=rtol * max(np.abs(b).max(), 1e-300), err_msg=name)


RANK = ("coef_", "intercept_", "s_", "rank_", "alpha_")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fit_intercept": False},
        {"rank": 2, "alpha": 0.1},
        {"rank": 2},
        {"cv": 5},
        {"cv": 5, "alpha": [0.1, 10.0]},
        {"cv": Selection("loo", max_rows=500), "alpha": [0.1, 10.0, 1e5]},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_reduced_rank_chooses_and_finds_the_same(pair, settings, weighted):
    X, Y = pair
    weights = np.random.default_rng(1).uniform(0, 2, size=len(X)) if weighted else None
    expected = ReducedRankRegression(**settings).fit(X, Y, weights)
    found = ReducedRankRegression(**settings).fit(*cut(X, Y), weights)
    assert_same(found, expected, (*RANK, "rank_path_", "total_weight_"))
    # Of numbers up to 30, some cancel to nearly nothing.
    assert_allclose(found.predict(cut(X)[0]).compute(), expected.predict(X), rtol=1e-9, atol=1e-12)


def test_reduced_rank_of_an_iterator_is_chosen_on_other_rows(pair):
    X, Y = pair
    stream = zip(np.array_split(X, 9), np.array_split(Y, 9), strict=True)
    found = ReducedRankRegression(2, alpha=0.1).fit(stream, None)
    assert_same(found, ReducedRankRegression(2, alpha=0.1).fit(X, Y), RANK)
    chosen = ReducedRankRegression().fit(iter(np.array_split(X, 9)), Y)
    assert chosen.rank_ == ReducedRankRegression().fit(X, Y).rank_


def test_few_rows_of_many_columns_are_solved_in_their_span():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 50)), rng.normal(size=(30, 3))
    found = ReducedRankRegression(2).fit(da.from_array(X, chunks=7), Y)
    assert_same(found, ReducedRankRegression(2).fit(X, Y), RANK)


def test_all_rows_left_out_one_by_one_need_memory(pair, tmp_path):
    X, Y = pair
    with pytest.raises(TypeError, match="number of folds or a Selection with max_rows can"):
        ReducedRankRegression(cv="loo").fit(*cut(X, Y))
    on_disk = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    on_disk[:] = X  # is an array as well
    found = ReducedRankRegression(cv="loo").fit(on_disk, Y)
    assert_same(found, ReducedRankRegression(cv="loo").fit(X, Y), RANK)


def test_stiefel_regression_has_a_closed_form_in_blocks(pair):
    X, Y = pair
    found = StiefelRegression().fit(*cut(X, Y))
    assert_same(found, StiefelRegression().fit(X, Y), (*RANK, "V_", "W_", "objective_"))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(("noise", "rtol"), [(0.5, 1e-10), (None, 1e-6)])  # None is searched for
def test_bayesian_linear_regression_is_the_same(pair, flat, noise, rtol):
    X, Y = pair
    Y = Y[:, 0] if flat else Y
    expected = BayesianLinearRegression(noise=noise).fit(X, Y)
    found = BayesianLinearRegression(noise=noise).fit(*cut(X, Y))
    names = ("coef_", "intercept_", "noise_", "log_marginal_likelihood_")
    assert_same(found, expected, names, rtol=rtol)
    _, std = found.predict(cut(X)[0], return_std=True)
    assert_allclose(std.compute(), expected.predict(X, return_std=True)[1], rtol=rtol)
    assert_same(found.partial_fit(X, Y), expected.partial_fit(X, Y), names, rtol=rtol)


@pytest.fixture
def signal():
    t = 0.01 * np.arange(4000)
    noise = 0.1 * np.random.default_rng(0).normal(size=4000)
    return np.c_[np.sin(t) + 0.3 * np.sin(11 * t) ** 2, np.sin(11 * t) + noise, np.cos(5 * t)]


@pytest.mark.parametrize("settings", [{}, {"expansion": 2}, {"lag": [1, 3]}], ids=str)
@pytest.mark.parametrize("in_episodes", [False, True])
def test_slow_features_are_the_same(signal, settings, in_episodes):
    ids = np.arange(4000) // 1300 if in_episodes else None
    expected = SlowFeatureAnalysis(**settings).fit(signal, episodes=ids)
    found = SlowFeatureAnalysis(**settings).fit(cut(signal)[0], episodes=ids)
    assert_same(found, expected, ("slowness_", "components_", "mean_"), rtol=1e-9)
    shown = found.transform(cut(signal)[0])
    assert_allclose(shown.compute(), expected.transform(signal), atol=1e-9)
    assert_same(found.partial_fit(signal), expected.partial_fit(signal), ("slowness_",), rtol=1e-9)


def test_slow_features_of_short_blocks(signal):
    found = SlowFeatureAnalysis(lag=3).fit(signal[i : i + 2] for i in range(0, 4000, 2))
    assert_same(found, SlowFeatureAnalysis(lag=3).fit(signal), ("slowness_",), rtol=1e-9)
    few, ids = signal[:200], np.arange(200) // 47
    expected = SlowFeatureAnalysis(lag=[1, 5]).fit(few, episodes=ids)
    for size in (1, 3, 20):  # blocks within an episode, and with its end
        found = SlowFeatureAnalysis(lag=[1, 5]).fit(da.from_array(few, chunks=size), episodes=ids)
        assert_same(found, expected, ("slowness_", "mean_"), rtol=1e-9)
    with pytest.raises(ValueError, match=r"at least 4 rows\. Got n_samples = 3 in the longest"):
        SlowFeatureAnalysis(lag=3).fit(iter([signal[:2], signal[:1]]))
    with pytest.raises(TypeError, match='graph="time" with solver="exact" can'):
        SlowFeatureAnalysis(solver="online").fit(cut(signal)[0])


@pytest.mark.parametrize(
    "settings",
    [{}, {"smoothness": 0.1}, {"smoothness": "noise", "noise": 0.1}, {"bounds": (-1, 1)}],
    ids=str,
)
def test_smooth_grid_maps_are_the_same(settings):
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, size=(3000, 2))
    X = np.c_[Z, np.sin(3 * Z[:, 0]) * Z[:, 1]] + 0.1 * rng.normal(size=(3000, 3))
    expected = SmoothPSOM(**settings).fit(X, latent=Z)
    blocks, latent = cut(X, Z)
    found = SmoothPSOM(**settings).fit(blocks, latent=latent)
    assert_same(found, expected, ("weights_", "smoothness_"), rtol=1e-9)
    with pytest.raises(TypeError, match="latent points of the rows"):
        SmoothPSOM().fit(blocks)


@pytest.fixture
def signals():
    rng = np.random.default_rng(0)
    planted = rng.normal(size=(10, 6))
    codes = np.where(rng.random((2000, 10)) < 0.2, rng.normal(size=(2000, 10)), 0)
    return codes @ planted + 0.01 * rng.normal(size=(2000, 6))


@pytest.mark.parametrize("settings", [{}, {"n_atoms": 30, "alpha": 0.5, "max_iter": 6}], ids=str)
def test_sparse_dictionaries_are_the_same_after_every_sweep(signals, settings):
    expected = SparseDictionary(random_state=0, **settings).fit(signals)
    found = SparseDictionary(random_state=0, **settings).fit(cut(signals)[0])
    assert found.n_iter_ == expected.n_iter_
    assert_same(found, expected, ("components_", "objective_", "alpha_"), rtol=1e-6)


def test_ksvd_in_blocks_errs_like_that_in_memory(signals):
    settings = {"n_nonzero": 2, "random_state": 0}

    def error(model):
        return np.mean((signals - model.inverse_transform(model.transform(signals))) ** 2)

    found = KSVD(10, **settings).fit(cut(signals)[0])
    assert error(found) < 1.15 * error(KSVD(10, **settings).fit(signals))
    again = KSVD(10, **settings).fit(da.from_array(signals, chunks=900))
    assert_same(again, found, ("components_",), rtol=1e-9)
    assert KSVD(10, batch_size=300, max_iter=2, random_state=0).fit(cut(signals)[0]).n_seen_ == 4000
    with pytest.raises(TypeError, match='update="power" with monotone=False can'):
        KSVD(10, update="exact").fit(cut(signals)[0])


def test_factorizations_in_blocks_reach_the_minimum_of_those_in_memory():
    rng = np.random.default_rng(0)
    H = rng.exponential(size=(4, 15)) * (rng.random((4, 15)) < 0.5)
    W = rng.exponential(size=(7000, 4)) * (rng.random((7000, 4)) < 0.6)
    X = np.maximum(W @ H + 0.1 * rng.normal(size=(7000, 15)), 0)
    settings = {"tol": 1e-6, "random_state": 0}
    expected = NonnegativeFactorization(4, **settings).fit(X)
    found = NonnegativeFactorization(4, **settings).fit(da.from_array(X, chunks=(1500, 15)))
    assert_allclose(found.objective_, expected.objective_, rtol=1e-6)
    gaps = np.abs(found.components_[:, None] - expected.components_).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-3
    assert (np.diff(found.objective_path_) <= 0).all()
    assert found.optimality_ <= 1e-6
    with pytest.raises(TypeError, match='divergence="euclidean" alone can'):
        NonnegativeFactorization(4, sparsity=0.5).fit(da.from_array(X, chunks=(1500, 15)))


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (LocalPolynomialRegression(), "ReducedRankRegression"),
        (UnsupervisedKernelRegression(), "SmoothPSOM"),
        (SparseNet(), "SparseDictionary"),
        (FixedPointPreimage(), "DependencyEstimator with landmarks"),
        (ImitationModel(), "DependencyEstimator with landmarks"),
        (TimeWindows(3), "isthmus.blocks.fold with an overlap"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_who_needs_all_rows_names_who_does_not(pair, model, names):
    X, Y = cut(*pair)
    with pytest.raises(TypeError, match=f"cannot be fitted to rows in blocks .* {names}"):
        model.fit(X, Y)
    with pytest.raises(TypeError, match="cannot be fitted to rows in blocks"):
        model.fit(iter([pair[0]]), pair[1])


def test_single_precision_stays(pair):
    X, Y = (A.astype(np.float32) for A in pair)
    found = ReducedRankRegression(2).fit(*cut(X, Y))
    expected = ReducedRankRegression(2).fit(X, Y)
    assert found.coef_.dtype == np.float32
    assert_allclose(found.coef_, expected.coef_, rtol=1e-5)


def test_answers_to_files_are_computed_in_blocks(pair):
    import zarr

    X, Y = pair
    model = ReducedRankRegression(2).fit(X, Y)
    assert_allclose(model.predict(zarr.array(X, chunks=(500, 6))), model.predict(X), rtol=1e-12)
    parts = list(model.predict(iter(np.array_split(X, 3))))
    assert_allclose(np.concatenate(parts), model.predict(X), rtol=1e-12)


def test_pipelines_of_scikit_learn_pass_blocks_on(pair):
    from sklearn.pipeline import make_pipeline

    X, Y = pair
    make = lambda: make_pipeline(SlowFeatureAnalysis(3), ReducedRankRegression(2, alpha=0.1))  # noqa: E731
    found = make().fit(*cut(X, Y))
    assert_allclose(found.predict(cut(X)[0]).compute(), make().fit(X, Y).predict(X), rtol=1e-8)


def test_the_same_chunks_give_the_same_bits(pair):
    X, Y = cut(*pair)
    first = ReducedRankRegression().fit(X, Y)
    assert_array_equal(ReducedRankRegression().fit(X, Y).coef_, first.coef_)
