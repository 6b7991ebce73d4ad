"""K-SVD: no atom step raises the error, planted atoms are found, streams agree with batches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.sparse import (
    KSVD,
    AtomUpdate,
    SparseCoder,
    SparseDictionary,
    SparseNet,
    orthogonal_matching_pursuit,
)
from isthmus.sparse.dictionary.ksvd.formulas import (
    approximate_sweep,
    exact_sweep,
    initial_atoms,
    leading_direction,
    poor_atoms,
    pursue_codes,
    replace_atoms,
    users,
)
from isthmus.sparse.dictionary.ksvd.loops import refit
from isthmus.sparse.dictionary.ksvd.stream import atoms_from_sums, map_block, merge
from isthmus.sparse.pursuit.matching import as_dense
from isthmus.typing import provides


def planted(rng, n=1500, n_atoms=50, n_features=20, n_nonzero=3, noise=0.1):
    """Signals of a known dictionary; noise 0.1 is 20 dB."""
    D = rng.normal(size=(n_atoms, n_features))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    C = np.zeros((n, n_atoms))
    for row in C:
        row[rng.choice(n_atoms, n_nonzero, replace=False)] = rng.normal(size=n_nonzero)
    X = C @ D
    X += noise * np.sqrt(np.mean(X**2)) * rng.normal(size=X.shape)
    X.flags.writeable = False
    return X, D


def n_found(planted_atoms, D):
    return int(np.sum(1 - np.abs(planted_atoms @ D.T).max(axis=1) < 0.01))


def start(rng, n_atoms=30):
    X, _ = planted(rng, n=300, n_atoms=n_atoms, n_features=12)
    D = initial_atoms(X, n_atoms, np.random.RandomState(0))
    return X, D, pursue_codes(X, D, 3, np.zeros(len(X)))


def sweeps():
    return {
        "exact": lambda D, codes, order: exact_sweep(D, codes, order),
        "one power step": lambda D, codes, order: approximate_sweep(D, codes, order, 1),
        "three power steps": lambda D, codes, order: approximate_sweep(D, codes, order, 3),
    }


@pytest.mark.parametrize("kind", sweeps())
def test_no_atom_step_raises_the_error_or_changes_a_support(rng, kind):
    X, D, codes = start(rng)
    support = codes.support.copy()
    last = codes.errors.sum()
    for j in range(len(D)):
        sweeps()[kind](D, codes, np.array([j]))
        assert codes.errors.sum() <= last + 1e-12
        last = codes.errors.sum()
    assert_array_equal(codes.support, support)
    assert_allclose(np.linalg.norm(D, axis=1), 1)
    whole = as_dense(codes.support, codes.coef, len(D))
    assert_allclose(codes.residual, X - whole @ D, atol=1e-12)


def test_users_of_an_atom_are_its_places_in_order(rng):
    support = rng.permuted(np.tile(np.arange(12), (40, 1)), axis=1)[:, :5]
    support[np.arange(5) >= rng.integers(0, 6, size=(40, 1))] = -1
    starts, places = users(support, 13)
    assert starts[-1] == len(places) == np.count_nonzero(support >= 0)
    for j in range(13):
        found = np.flatnonzero(support.ravel() == j)
        assert_array_equal(places[starts[j] : starts[j + 1]], found)


def test_exact_step_is_the_first_singular_pair(rng):
    _, D, codes = start(rng)
    j = int(codes.support[0, 0])
    starts, places = users(codes.support, len(D))
    mine = places[starts[j] : starts[j + 1]]
    rows = mine // 3
    E = codes.residual[rows] + codes.coef.reshape(-1)[mine, None] * D[j]
    U, s, Vt = np.linalg.svd(E)
    exact_sweep(D, codes, np.array([j]))
    assert_allclose(np.abs(D[j] @ Vt[0]), 1)
    assert_allclose(np.abs(codes.coef.reshape(-1)[mine]), s[0] * np.abs(U[:, 0]), atol=1e-9)


def test_many_power_steps_become_the_exact_step(rng):
    _, D, codes = start(rng)
    other, same = D.copy(), codes._replace(coef=codes.coef.copy(), residual=codes.residual.copy())
    exact_sweep(D, codes, np.array([4]))
    approximate_sweep(other, same, np.array([4]), 2000)
    assert_allclose(other[4] * np.sign(other[4] @ D[4]), D[4], atol=1e-6)


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (1, 3)])
def test_leading_direction_of_tall_and_wide_matrices(rng, shape):
    E = rng.normal(size=shape)
    assert_allclose(np.abs(leading_direction(E) @ np.linalg.svd(E)[2][0]), 1)


def test_refit_is_least_squares(rng):
    X, D, codes = start(rng)
    coef = np.zeros_like(codes.coef)
    s = coef.shape[1]
    room = np.empty((s + 1, s)), np.empty((2, s), dtype=np.int64)
    refit(X, D, D @ D.T, codes.support, coef, *room)
    for x, support, a in zip(X[:20], codes.support, coef, strict=False):
        assert_allclose(a, np.linalg.lstsq(D[support].T, x)[0], atol=1e-9)


@pytest.mark.parametrize("update", ["power", "exact"])
def test_safeguarded_error_never_rises(rng, update):
    X, _ = planted(rng, n=400)
    alone = AtomUpdate(method=update, min_usage=0, max_coherence=1)
    model = KSVD(40, n_nonzero=3, update=alone, monotone=True, random_state=0).fit(X)
    assert (np.diff(model.objective_) <= 1e-12).all()
    assert model.objective_[-1] < 0.7 * model.objective_[0]


def test_planted_atoms_are_found():
    counts = []
    for seed in range(3):
        X, atoms = planted(np.random.default_rng(seed))
        model = KSVD(50, n_nonzero=3, max_iter=80, random_state=seed).fit(X)
        counts.append(n_found(atoms, model.components_))
    assert np.mean(counts) >= 45


def test_one_nonzero_with_coefficient_one_would_be_kmeans(rng):
    # Three tight bundles of directions: gain-shape quantisation finds the centres of k-means.
    centres = np.eye(3)
    labels = rng.integers(3, size=300)
    X = centres[labels] + 0.01 * rng.normal(size=(300, 3))
    atoms = KSVD(3, n_nonzero=1, random_state=0).fit(X).components_
    means = KMeans(3, n_init=10, random_state=0).fit(X).cluster_centers_
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    assert_allclose(np.sort(np.abs(atoms @ means.T).max(axis=1)), 1, atol=1e-4)


def test_rare_and_twin_atoms_are_named(rng):
    D = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    D[4] = D[3] + 0.01 * D[0]
    D[4] /= np.linalg.norm(D[4])
    used = np.array([[0, 1], [0, 1], [3, 1], [3, 4], [0, -1]])
    poor = poor_atoms(D, used, min_usage=1, max_coherence=0.99)
    assert_array_equal(poor, [False, False, True, False, True])


def test_replacement_takes_the_worst_signals_and_keeps_residuals_true(rng):
    X, D, codes = start(rng)
    worst = np.argsort(-codes.errors)[:2]
    poor = np.zeros(len(D), dtype=bool)
    poor[[2, 5]] = True
    assert_array_equal(replace_atoms(D, codes, poor, X), [2, 5])
    assert_allclose(D[[2, 5]], X[worst] / np.linalg.norm(X[worst], axis=1, keepdims=True))
    whole = as_dense(codes.support, codes.coef, len(D))
    assert (whole[:, [2, 5]] == 0).all()
    assert_allclose(codes.residual, X - whole @ D, atol=1e-12)


def test_twins_at_the_start_are_parted(rng):
    X, atoms = planted(rng, noise=0.0)
    init = np.tile(X[:10], (5, 1))
    model = KSVD(50, n_nonzero=3, max_iter=40, init=init, random_state=0).fit(X)
    likeness = np.abs(model.components_ @ model.components_.T) - np.eye(50)
    assert likeness.max() < 0.99
    assert n_found(atoms, model.components_) > 35


def test_sums_of_a_stream_do_not_depend_on_its_cuts(rng):
    X, D, codes = start(rng)
    whole = map_block(X, codes, len(D))
    first, second = (type(codes)(*(part[rows] for part in codes)) for rows in halves())
    parts = merge(map_block(X[:100], first, len(D)), map_block(X[100:], second, len(D)))
    for a, b in zip(whole, parts, strict=True):
        assert_allclose(a, b, atol=1e-10)


def test_sums_of_codes_are_products_of_matrices(rng):
    X, D, codes = start(rng)
    codes.support[3, 1:], codes.coef[3, 1:] = -1, 0.0  # a code that needs one atom only
    C = as_dense(codes.support, codes.coef, len(D))
    sums = map_block(X, codes, len(D))
    assert_array_equal(sums.usage, (C != 0).sum(axis=0))
    assert_allclose(sums.codes, C.T @ C, atol=1e-12)
    assert_allclose(sums.cross, C.T @ X, atol=1e-12)


def test_atoms_from_sums_follow_each_other(rng):
    X, D, codes = start(rng)
    sums, order, expected = map_block(X, codes, len(D)), rng.permutation(len(D)), D.copy()
    for j in order:
        d = sums.cross[j] - sums.codes[j] @ expected + sums.codes[j, j] * expected[j]
        expected[j] = d / np.linalg.norm(d) if sums.codes[j, j] > 0 else expected[j]
    atoms_from_sums(D, sums, order, 1)
    assert_allclose(D, expected, atol=1e-10)


@pytest.mark.parametrize("n_power", [1, 2, 3])
def test_a_sweep_is_power_steps_on_what_other_atoms_leave(rng, n_power):
    X, D, codes = start(rng)
    C, expected = as_dense(codes.support, codes.coef, len(D)), D.copy()
    for j in range(len(D)):
        mine = C[:, j] != 0
        if mine.any():
            E = X[mine] - C[mine] @ expected + np.outer(C[mine, j], expected[j])
            for _ in range(n_power):
                expected[j] = C[mine, j] @ E / np.linalg.norm(C[mine, j] @ E)
                C[mine, j] = E @ expected[j]
    approximate_sweep(D, codes, np.arange(len(D)), n_power)
    assert_allclose(D, expected, atol=1e-9)
    assert_allclose(as_dense(codes.support, codes.coef, len(D)), C, atol=1e-9)
    assert_allclose(codes.residual, X - C @ expected, atol=1e-9)


def halves():
    return slice(0, 100), slice(100, None)


def test_an_atom_from_sums_is_one_power_step(rng):
    X, D, codes = start(rng)
    streamed = D.copy()
    atoms_from_sums(streamed, map_block(X, codes, len(D)), np.array([7]), 1)
    approximate_sweep(D, codes, np.array([7]), 1)
    assert_allclose(streamed, D, atol=1e-10)


def test_one_pass_over_a_stream_finds_most_atoms():
    X, atoms = planted(np.random.default_rng(1), n=12_000)
    stream = KSVD(50, n_nonzero=3, random_state=0)
    for block in np.split(X, 48):
        stream.partial_fit(block)
    assert stream.n_seen_ == 12_000
    assert len(stream.objective_) == stream.n_iter_ == 48
    assert n_found(atoms, stream.components_) >= 35
    # Blocks are judged before anything is learned from them, so this is a test error.
    assert stream.objective_[-5:].mean() < 0.3 * stream.objective_[0]


def test_mini_batches_learn_like_sweeps(rng):
    X, atoms = planted(rng, n=4000)
    model = KSVD(50, n_nonzero=3, batch_size=250, max_iter=6, random_state=0).fit(X)
    assert len(model.objective_) == 6 * 16
    assert n_found(atoms, model.components_) >= 40


def test_stream_goes_on_after_fit(rng):
    X, _ = planted(rng, n=900)
    model = KSVD(50, n_nonzero=3, random_state=0).fit(X[:600])
    before = model.components_.copy()
    model.partial_fit(X[600:])
    assert model.n_seen_ == 900
    # One small block moves the atoms a little and does not overthrow them.
    turn = np.abs(np.sum(before * model.components_, axis=1))
    assert np.median(turn) > 0.9


def test_codes_are_those_of_the_pursuit_and_keep_the_limits(rng):
    X, _ = planted(rng, n=400)
    model = KSVD(40, n_nonzero=3, rule="correlation", max_iter=3, random_state=0).fit(X)
    codes = model.transform(X)
    pursued = orthogonal_matching_pursuit(X, model.components_, n_nonzero=3)
    assert_allclose(codes, pursued, atol=1e-12)
    assert_array_equal(model.inverse_transform(codes), codes @ model.components_)
    goal = KSVD(40, tol=0.8, max_iter=3, random_state=0).fit(X)
    left = np.linalg.norm(X - goal.inverse_transform(goal.transform(X)), axis=1)
    assert left.max() <= 0.8


def test_threads_change_no_bit(rng):
    X, _ = planted(rng)
    one, two = (KSVD(40, max_iter=2, n_jobs=n, random_state=0).fit(X) for n in (None, 2))
    assert_array_equal(one.components_, two.components_)


def test_parameters_are_untouched_and_signs_fixed(rng):
    X, _ = planted(rng, n=200)
    model = KSVD(30, max_iter=2, init=X[:30], random_state=0)
    before = repr(clone(model))
    model.fit(X)
    assert repr(clone(model)) == before
    largest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(30), largest] > 0).all()


def test_fits_into_a_pipeline(rng):
    X, _ = planted(rng, n=200)
    codes = make_pipeline(StandardScaler(), KSVD(30, max_iter=2, random_state=0)).fit_transform(X)
    assert codes.shape == (200, 30)


def test_constant_and_zero_data_do_no_harm():
    for X in (np.zeros((10, 4)), np.ones((10, 4))):
        model = KSVD(3, n_nonzero=1, random_state=0).fit(X)
        assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_atoms": 0}, ValueError, r"'n_atoms' parameter of KSVD must be None or an int in \[1"),
        ({"n_nonzero": 1.5}, TypeError, r"'n_nonzero' parameter of KSVD"),
        ({"tol": -1.0}, ValueError, r"'tol' parameter of KSVD must be None or a float in \[0"),
        ({"update": "svd"}, ValueError, r"one of 'power', 'exact' or .* Got 'svd'"),
        ({"rule": "best"}, ValueError, r"one of 'residual', 'correlation'. Got 'best'"),
        ({"update": 3}, TypeError, r"'update' parameter of KSVD"),
        (
            {"update": AtomUpdate(max_coherence=2.0)},
            ValueError,
            r"'max_coherence' parameter of AtomUpdate",
        ),
        ({"init": np.ones((2, 12))}, ValueError, r"must have the shape \(5, 12\).*Got \(2, 12\)"),
        ({"init": np.zeros((5, 12))}, ValueError, "an atom of length zero"),
        ({"batch_size": 0}, ValueError, r"'batch_size' parameter of KSVD"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_fitted(rng, parameters, error, message):
    model = KSVD(**({"n_atoms": 5} | parameters))
    with pytest.raises(error, match=message):
        model.fit(rng.normal(size=(20, 12)))
    assert not hasattr(model, "components_")


def test_wrong_number_of_codes_is_named(rng):
    model = KSVD(5, max_iter=1, random_state=0).fit(rng.normal(size=(20, 12)))
    with pytest.raises(ValueError, match=r"KSVD has 5 atoms, so codes must have as many columns"):
        model.inverse_transform(np.ones((2, 4)))


def test_pieces_of_an_update_can_be_searched(rng):
    X = rng.normal(size=(60, 6))
    short = KSVD(8, update="exact", max_iter=3, random_state=0).fit(X)
    model = KSVD(8, update=AtomUpdate(), max_iter=3, random_state=0)
    long = clone(model).set_params(update__method="exact").fit(X)
    assert_array_equal(long.components_, short.components_)
    assert model.update.method == "power"


def test_declares_what_it_can_do():
    for part in (KSVD(), SparseCoder(), SparseDictionary(), SparseNet()):
        assert provides(part) == {"transform", "inverse", "vectors"}
