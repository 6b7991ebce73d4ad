"""Slow feature analysis: closed forms, invariances, streams, graphs, refusals."""

import pickle
import re

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from isthmus.features import SlowFeatureAnalysis
from isthmus.features.components.roots import (
    _sum_extended_by,
    extended_level,
    extended_root,
    map_level,
    root,
    whiten_level,
)
from isthmus.features.slow.formulas import discount, extended, finish, map_block, merge
from isthmus.features.slow.online import OnlineState
from isthmus.kernels import Delta

T = np.linspace(0, 2 * np.pi, 2000)
HIDDEN = np.column_stack([np.sin(T) + np.cos(11 * T) ** 2, np.cos(11 * T)])


def correlation(a, b):
    return abs(np.corrcoef(np.ravel(a), b)[0, 1])


@pytest.fixture
def signal(rng):
    return rng.normal(size=(600, 4)).cumsum(axis=0) + rng.normal(size=(600, 4))


def by_eigenvalues(X, lag=1):
    """The formula: generalised eigenvalues of the two covariances."""
    change = X[lag:] - X[:-lag]
    return linalg.eigh(change.T @ change / len(change), np.cov(X.T, bias=True))


def test_features_are_centred_white_and_ordered_by_slowness(signal):
    Y = SlowFeatureAnalysis().fit_transform(signal)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(Y.T @ Y / len(Y), np.eye(4), atol=1e-10)
    slowness = np.mean(np.diff(Y, axis=0) ** 2, axis=0)
    assert np.all(np.diff(slowness) > 0)


@pytest.mark.parametrize("lag", [1, 7])
def test_equal_to_the_generalised_eigenproblem(signal, lag):
    found = SlowFeatureAnalysis(lag=lag).fit(signal)
    values, axes = by_eigenvalues(signal, lag)
    np.testing.assert_allclose(found.slowness_, values, rtol=1e-9)
    products = np.abs(np.diag(found.components_ @ np.cov(signal.T, bias=True) @ axes))
    np.testing.assert_allclose(products, 1, rtol=1e-9)


def test_a_quadratic_function_finds_the_slow_sine():
    slowest = SlowFeatureAnalysis(1, expansion=2).fit_transform(HIDDEN)
    assert correlation(slowest, np.sin(T)) > 1 - 1e-12


def test_linear_features_do_not_change_under_affine_maps(signal, rng):
    M, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    one = SlowFeatureAnalysis().fit_transform(signal)
    other = SlowFeatureAnalysis().fit_transform(signal @ M + b)
    for a, c in zip(one.T, other.T, strict=True):
        assert correlation(a, c) > 1 - 1e-9


def test_sources_of_different_slowness_come_out_of_a_linear_mixture(rng):
    sources = np.column_stack([np.sin(3 * T), np.sign(np.sin(17 * T + 0.3))])
    Y = SlowFeatureAnalysis().fit_transform(sources @ rng.normal(size=(2, 2)))
    assert correlation(Y[:, 0], sources[:, 0]) > 0.999
    assert correlation(Y[:, 1], sources[:, 1]) > 0.999


def test_as_many_functions_as_rows_give_cosines_whatever_the_data_and_a_warning(rng):
    n = 60
    with pytest.warns(UserWarning, match="59 independent functions for 60 rows"):
        found = SlowFeatureAnalysis().fit(rng.normal(size=(n, 80)))
    j = np.arange(1, 6)
    np.testing.assert_allclose(
        found.slowness_[:5], 4 * np.sin(np.pi * j / (2 * n)) ** 2 * n / (n - 1), rtol=1e-9
    )


def test_slowness_of_white_noise_is_two_on_new_data(rng):
    found = SlowFeatureAnalysis().fit(rng.normal(size=(500, 3)))
    np.testing.assert_allclose(found.slowness(rng.normal(size=(20000, 3))), 2, atol=0.1)


def test_no_difference_is_taken_between_episodes(signal):
    jump = signal[300:] + 1e3
    both = SlowFeatureAnalysis().fit([signal[:300], jump])
    ids = SlowFeatureAnalysis().fit(np.vstack([signal[:300], jump]), episodes=[0] * 300 + [1] * 300)
    np.testing.assert_allclose(both.components_, ids.components_, rtol=1e-10)
    X = np.vstack([signal[:300], jump])
    steps = np.vstack([np.diff(signal[:300], axis=0), np.diff(jump, axis=0)])
    values = linalg.eigh(steps.T @ steps / len(steps), np.cov(X.T, bias=True), eigvals_only=True)
    np.testing.assert_allclose(both.slowness_, values, rtol=1e-8)
    Y = both.transform([signal[:300], jump])
    assert [len(y) for y in Y] == [300, 300]
    np.testing.assert_array_equal(Y[1], both.transform(jump))


def test_several_lags_minimise_the_mean_of_their_slowness(signal):
    found = SlowFeatureAnalysis(lag=(1, 4)).fit(signal)
    Y = found.transform(signal)
    means = [np.mean((Y[k:] - Y[:-k]) ** 2, axis=0) for k in (1, 4)]
    np.testing.assert_allclose(found.slowness_, np.mean(means, axis=0), rtol=1e-9)


@pytest.mark.parametrize("expansion", [1, 2])
@pytest.mark.parametrize("sizes", [(600,), (1, 2, 3, 594), (200, 200, 200)])
def test_a_stream_of_blocks_gives_what_the_whole_gives(signal, expansion, sizes):
    # A first block of one row has no variance yet, so it comes with the next.
    blocks = np.split(signal, np.cumsum(sizes)[:-1])
    if len(blocks[0]) == 1:
        blocks = [np.vstack(blocks[:3]), *blocks[3:]]
    stream = SlowFeatureAnalysis(3, expansion=expansion, lag=2, alpha=1e-12)
    for block in blocks:
        stream.partial_fit(block)
    whole = SlowFeatureAnalysis(3, expansion=expansion, lag=2, alpha=1e-12).fit(signal)
    np.testing.assert_allclose(stream.slowness_, whole.slowness_, rtol=1e-8)
    np.testing.assert_allclose(stream.transform(signal), whole.transform(signal), atol=1e-6)


@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-9, 0.0])
def test_roots_extended_by_products_are_those_of_a_decomposition(rng, smallest):
    scale = np.diag([1.0, 1.0, 1e3, smallest])
    Phi = (rng.normal(size=(300, 4)) + 5) @ scale @ rng.normal(size=(4, 4))
    past = map_block(Phi[:100], [1, 3])
    fast = extended(past, Phi[97:], [1, 3], overlap=3)
    slow = merge(past, map_block(Phi[97:], [1, 3], overlap=3))
    assert fast.counts == slow.counts
    assert_array_equal(fast.shift, slow.shift)
    rows = Phi - fast.shift
    by_qr = np.linalg.qr(np.column_stack([np.ones(300), rows]), mode="r")
    roots = [(fast.level, by_qr), *zip(fast.changes, slow.changes, strict=True)]
    for found, wanted in roots:
        assert_allclose(found.T @ found, wanted.T @ wanted, rtol=1e-11, atol=1e-11)
        s, t = (linalg.svdvals(R / np.linalg.norm(wanted, axis=0)) for R in (found, wanted))
        assert_allclose(s, t, rtol=1e-9, atol=1e-13)  # small ones too


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
@pytest.mark.parametrize("smallest", [1.0, 1e-4, 0.0])
def test_a_level_extended_by_products_is_that_of_all_rows(rng, offset, smallest):
    scale = np.diag([1.0, 1.0, 1e2, smallest])
    X = offset + rng.normal(size=(400, 4)) @ scale
    X[150:] += 3 * rng.normal(size=4) @ scale  # the mean moves, as in a signal
    fast = extended_level(extended_level(map_level(X[:150]), X[150:300]), X[300:])
    slow = map_level(X)
    assert_array_equal(fast.shift, slow.shift)
    assert abs(fast.root[0, 0]) == pytest.approx(20)
    for found, wanted in zip(whitened(fast), whitened(slow), strict=True):
        assert_allclose(found, wanted, rtol=1e-9)


def whitened(level):
    """The mean, and the deviations along the principal axes, small ones too."""
    found = whiten_level(level, rcond=1e-12, standardize=True)
    return found.mean, found.s


def test_a_parameter_that_is_set_during_a_stream_is_looked_at(signal):
    stream = SlowFeatureAnalysis(2).partial_fit(signal).partial_fit(signal)
    with pytest.raises(ValueError, match="'forgetting' parameter of SlowFeatureAnalysis"):
        stream.set_params(forgetting=2.0).partial_fit(signal)
    stream.set_params(forgetting=1.0).partial_fit(signal)
    stream.lag = [1, 0]
    with pytest.raises(ValueError, match="'lag' parameter of SlowFeatureAnalysis"):
        stream.partial_fit(signal)


def test_new_rows_that_are_unlike_the_old_ones_are_decomposed(rng):
    R = root(rng.normal(size=(50, 3)) * [1.0, 1.0, 1e-12])
    rows = rng.normal(size=(50, 3))
    assert_allclose(
        linalg.svdvals(extended_root(R, rows)), linalg.svdvals(np.vstack([R, rows])), rtol=1e-12
    )


@pytest.mark.parametrize("smallest", [1.0, 1e-2, 1e-5])
def test_sums_of_products_extend_a_root_only_where_squares_cost_no_digits(rng, smallest):
    Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = rng.normal(size=(300, 5)) * [1.0, 1.0, 1.0, 1.0, smallest] @ Q * [1e-3, 1.0, 1.0, 1.0, 1e3]
    R = root(X[:100].copy())
    found = _sum_extended_by(R, X[100:])
    assert (found is None) == (smallest < 1e-3)
    if found is not None:
        assert_allclose(linalg.svdvals(found), linalg.svdvals(X), rtol=1e-9)
        assert_allclose(found.T @ found, X.T @ X, rtol=1e-12, atol=1e-12)
    # New rows may be so unlike the old ones that all of them together are dependent.
    assert _sum_extended_by(R, 1e6 * X[:100, :1] + X[100:200]) is None


def test_rows_that_wait_are_in_every_answer(signal):
    blocks = np.split(signal, 12)
    stream, whole = SlowFeatureAnalysis(2), SlowFeatureAnalysis(2).fit(signal)
    for block in blocks:
        given = block.copy()
        stream.partial_fit(given)
        given[:] = np.nan  # a caller may use the memory again
    again = pickle.loads(pickle.dumps(stream))
    assert_allclose(again.slowness_, whole.slowness_, rtol=1e-9)
    assert_allclose(stream.transform(signal), whole.transform(signal), atol=1e-9)
    stream.partial_fit(signal).fit(signal)  # forgets what waits
    assert_array_equal(stream.components_, whole.components_)


def test_a_new_episode_in_a_stream_has_no_predecessor(signal):
    stream = SlowFeatureAnalysis().fit(signal[:300])
    stream.partial_fit(signal[300:] + 1e3, new_episode=True)
    whole = SlowFeatureAnalysis().fit([signal[:300], signal[300:] + 1e3])
    np.testing.assert_allclose(stream.slowness_, whole.slowness_, rtol=1e-9)


def test_merging_is_associative_and_blind_to_the_order_of_episodes(signal):
    a, b, c = (map_block(part, [1]) for part in np.split(signal, 3))
    left, right = merge(merge(a, b), c), merge(c, merge(b, a))
    one, two = (finish(r, rcond=1e-10, alpha=0.0, standardize=True) for r in (left, right))
    np.testing.assert_allclose(one.slowness, two.slowness, rtol=1e-9)
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-9)


def test_forgetting_follows_a_change_of_the_slow_source(rng):
    slow, noise = np.sin(T), rng.normal(size=2000)
    early, late = np.column_stack([slow, noise]), np.column_stack([noise, slow])
    keeps = SlowFeatureAnalysis(1).fit(early).partial_fit(late)
    forgets = SlowFeatureAnalysis(1, forgetting=0.995).fit(early).partial_fit(late)
    assert correlation(forgets.transform(late), slow) > 0.99
    assert correlation(keeps.transform(late), slow) < 0.9
    halved = discount(map_block(early, [1]), 0.5)
    assert halved.counts == (999.5,)


def test_the_online_solver_comes_near_the_exact_one():
    found = SlowFeatureAnalysis(2, expansion=2, solver="online", max_iter=20, random_state=0).fit(
        HIDDEN
    )
    assert correlation(found.transform(HIDDEN)[:, 0], np.sin(T)) > 0.999
    np.testing.assert_allclose(found.transform(HIDDEN).var(axis=0), 1, atol=0.1)


def test_online_principal_directions_carry_their_variances(rng):
    variances = np.array([5, 3, 1.5, 0.7, 0.2])
    state = OnlineState.new(5, 5, 3, np.random.RandomState(0))
    X = rng.normal(size=(100_000, 5)) * np.sqrt(variances)
    state.update(X, np.ones(len(X), dtype=bool), rate=0.01, rcond=1e-7)
    lengths = np.linalg.norm(state.V, axis=1)
    np.testing.assert_allclose(lengths, variances, rtol=0.05)
    assert np.all(np.abs(np.diag(state.V)) / lengths > 0.999)


def test_online_minor_directions_do_not_collapse_onto_the_first(rng):
    found = SlowFeatureAnalysis(3, solver="online", max_iter=30, random_state=1)
    rates = np.array([0.02, 0.3, 1.0])
    X = np.column_stack([np.sin(r * np.arange(4000)) for r in rates]) @ rng.normal(size=(3, 3))
    Y = found.fit_transform(X)
    assert np.linalg.matrix_rank(found.components_, tol=1e-3) == 3
    assert correlation(Y[:, 0], np.sin(rates[0] * np.arange(4000))) > 0.99


def test_an_online_stream_goes_on_where_it_ended():
    whole = SlowFeatureAnalysis(2, solver="online", max_iter=1, random_state=0).fit(HIDDEN)
    stream = SlowFeatureAnalysis(2, solver="online", random_state=0)
    for block in np.array_split(HIDDEN, 7):
        stream.partial_fit(block)
    np.testing.assert_array_equal(stream.components_, whole.components_)


def test_the_graph_of_classes_spans_the_discriminants(rng):
    y = np.repeat(["a", "b", "c"], [40, 30, 50])
    means = rng.normal(size=(3, 6))
    X = means[np.repeat([0, 1, 2], [40, 30, 50])] + rng.normal(size=(120, 6))
    found = SlowFeatureAnalysis(graph="classes").fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    angles = linalg.subspace_angles(found.components_[:2].T, lda.scalings_[:, :2])
    assert angles.max() < 1e-6
    np.testing.assert_allclose(found.slowness_[2:], 2, rtol=1e-9)


def test_the_graph_of_a_target_without_ties_is_time_in_its_order(signal, rng):
    y = rng.permutation(600)
    by_target = SlowFeatureAnalysis(graph="target").fit(signal, y)
    sorted_rows = SlowFeatureAnalysis().fit(signal[np.argsort(y)])
    np.testing.assert_allclose(by_target.slowness_, sorted_rows.slowness_, rtol=1e-9)


def test_the_graph_of_a_target_joins_all_pairs_of_neighbouring_groups(rng):
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 4, size=40)
    found = SlowFeatureAnalysis(graph="target").fit(X, y)
    f = found.transform(X)[:, 0]
    pairs = [np.mean((f[y == g][:, None] - f[y == g + 1]) ** 2) for g in range(3)]
    assert found.slowness_[0] == pytest.approx(np.mean(pairs))


def test_a_kernel_finds_the_slow_sine_on_rows_left_out():
    found = SlowFeatureAnalysis(1, expansion="gaussian", random_state=0).fit(HIDDEN[::2])
    assert correlation(found.transform(HIDDEN[1::2]), np.sin(T)[1::2]) > 0.999


def test_the_penalty_shrinks_the_function_and_not_the_constraint(signal):
    # With the penalty in the constraint, directions of vanishing variance would look slow:
    # there w'Cw + κ|w|² = 1 is met by κ|w|² alone.
    thin = np.column_stack([signal, 1e-6 * np.random.default_rng(0).normal(size=600)])
    found = SlowFeatureAnalysis(1, alpha=1e-2).fit(thin)
    assert found.transform(thin).var() == pytest.approx(1)
    assert abs(found.components_[0, -1]) * 1e-6 < 0.1 * found.transform(thin).std()


def test_objects_go_through_their_kernel():
    words = ["a", "a", "b", "b", "b", "c", "c", "a"] * 10
    Y = SlowFeatureAnalysis(2, expansion=Delta()).fit_transform(words)
    assert Y.shape == (80, 2)
    np.testing.assert_allclose(Y[0], Y[1])


def test_rank_deficient_and_constant_columns_are_left_out(signal):
    wide = np.column_stack([signal, signal[:, 0] - signal[:, 1], np.full(600, 3.7)])
    found = SlowFeatureAnalysis().fit(wide)
    assert found.rank_ == 4
    np.testing.assert_allclose(found.slowness_, SlowFeatureAnalysis().fit(signal).slowness_)


def test_the_way_back_of_all_linear_features_is_exact(signal):
    found = SlowFeatureAnalysis().fit(signal)
    np.testing.assert_allclose(found.inverse_transform(found.transform(signal)), signal)
    two = SlowFeatureAnalysis(2).fit(signal)
    back = two.inverse_transform(two.transform(signal))
    regressed = np.linalg.lstsq(two.transform(signal), signal - signal.mean(0), rcond=None)[0]
    np.testing.assert_allclose(back, two.transform(signal) @ regressed + signal.mean(0))
    assert not hasattr(SlowFeatureAnalysis(expansion=2), "inverse_transform")


def test_stacks_in_a_pipeline_with_episodes(signal):
    stack = make_pipeline(SlowFeatureAnalysis(3), SlowFeatureAnalysis(2, expansion=2))
    Y = stack.fit_transform([signal[:300], signal[300:]])
    assert [y.shape for y in Y] == [(300, 2), (300, 2)]
    direct = PolynomialFeatures(2, include_bias=False).fit_transform(
        np.vstack(stack[0].transform([signal[:300], signal[300:]]))
    )
    steps = np.vstack([np.diff(direct[:300], axis=0), np.diff(direct[300:], axis=0)])
    values = linalg.eigh(
        steps.T @ steps / len(steps), np.cov(direct.T, bias=True), eigvals_only=True
    )
    np.testing.assert_allclose(stack[1].slowness_, values[:2], rtol=1e-7)


def test_the_score_chooses_a_penalty_on_left_out_rows(signal):
    search = GridSearchCV(SlowFeatureAnalysis(1), {"alpha": [0.0, 1.0]}, cv=TimeSeriesSplit(3)).fit(
        signal
    )
    assert np.isfinite(search.best_score_)
    assert search.best_score_ == pytest.approx(max(search.cv_results_["mean_test_score"]))


def test_comes_back_from_disk(signal, tmp_path):
    found = SlowFeatureAnalysis(2, expansion=2).fit(signal)
    joblib.dump(found, tmp_path / "model")
    again = joblib.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(signal), found.transform(signal))
    again.partial_fit(signal)  # the stream goes on


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lag": 0}, "'lag' parameter of SlowFeatureAnalysis must be an int in [1, inf)"),
        ({"lag": []}, "a list, not empty, with each entry an int in [1, inf). Got [] instead"),
        ({"graph": "space"}, "must be one of 'time', 'classes', 'target'. Got 'space'"),
        ({"solver": "online", "lag": 2}, "expected lag=1 and graph='time'. Got lag=2"),
        ({"n_components": 9}, "an int in [1, 4] (rank of the expanded signal). Got 9"),
        ({"forgetting": 0.0}, "'forgetting' parameter of SlowFeatureAnalysis must be a float"),
        ({"graph": "classes"}, "requires y to be passed"),
        ({"lag": 700}, "expected an episode of at least 701 rows. Got n_samples = 600"),
    ],
)
def test_refuses_parameters_by_name(signal, parameters, message):
    estimator = SlowFeatureAnalysis(**parameters)
    with pytest.raises(ValueError, match=re.escape(message)):
        estimator.fit(signal)
    assert not hasattr(estimator, "components_")


def test_refuses_what_is_wrong_in_an_episode_by_its_position(signal):
    bad = signal[:50].copy()
    bad[17, 2] = np.nan
    with pytest.raises(ValueError, match="Episode 1 has nan in row 17, column 2"):
        SlowFeatureAnalysis().fit([signal, bad])
    with pytest.raises(ValueError, match="Episode 1: X has 3 features"):
        SlowFeatureAnalysis().fit([signal, signal[:, :3]])
    with pytest.raises(ValueError, match="found no variance"):
        SlowFeatureAnalysis().fit(np.ones((20, 3)))
    with pytest.raises(ValueError, match="as many ids of episodes as rows: expected 600, got 3"):
        SlowFeatureAnalysis().fit(signal, episodes=[0, 0, 1])


def test_a_block_that_is_refused_leaves_the_stream_as_it_was(signal):
    stream = SlowFeatureAnalysis(solver="exact").fit(signal)
    before = stream.components_.copy()
    with pytest.raises(ValueError, match="NaN"):
        stream.partial_fit(np.full((3, 4), np.nan))
    np.testing.assert_array_equal(stream.components_, before)
    stream.partial_fit(signal)


def test_float32_stays_float32(signal):
    found = SlowFeatureAnalysis(2).fit(signal)
    assert found.transform(signal.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("solver", ["exact", "online"])
def test_neither_units_nor_the_origin_matter(solver):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.sin(np.arange(300) / 30), rng.normal(size=300)])
    expansion = 2 if solver == "exact" else 1

    def features(Z):
        model = SlowFeatureAnalysis(expansion=expansion, solver=solver, random_state=0)
        return np.abs(model.fit_transform(Z))

    assert_allclose(features(1e8 * X), features(X), rtol=1e-6, atol=1e-6)
    assert_allclose(features(X + 1e7), features(X), rtol=1e-4, atol=1e-4)


def test_a_stream_finds_its_axes_when_they_are_asked_for(signal):
    eager, late = SlowFeatureAnalysis(2), SlowFeatureAnalysis(2)
    for block in np.array_split(signal, 8):
        assert eager.partial_fit(block).components_.shape == (2, signal.shape[1])
        late.partial_fit(block)
    assert "components_" not in vars(late)
    whole = SlowFeatureAnalysis(2).fit(signal)
    for name in ("mean_", "components_", "slowness_", "patterns_"):
        assert_allclose(getattr(late, name), getattr(eager, name), rtol=1e-12)
        assert_allclose(getattr(late, name), getattr(whole, name), rtol=1e-6, atol=1e-9)
    assert late.n_components_ == 2
    assert late.rank_ == whole.rank_
    assert not hasattr(SlowFeatureAnalysis(2), "components_")


def test_axes_are_those_of_the_parameters_at_the_last_step_and_survive_a_pickle(signal):
    stream = SlowFeatureAnalysis(2).fit(signal).partial_fit(signal)
    again = pickle.loads(pickle.dumps(stream))
    other = SlowFeatureAnalysis(2).fit(signal).partial_fit(signal).set_params(n_components=1)
    assert other.components_.shape[0] == 2
    assert_array_equal(other.components_, again.components_)


def test_a_step_that_fails_leaves_the_sums_of_the_stream(signal):
    stream = SlowFeatureAnalysis(2).fit(signal).partial_fit(signal)
    with pytest.raises(ValueError, match="NaN"):
        stream.partial_fit(np.full((3, signal.shape[1]), np.nan))
    twice = SlowFeatureAnalysis(2).fit(signal).partial_fit(signal)
    assert_array_equal(stream.components_, twice.components_)
