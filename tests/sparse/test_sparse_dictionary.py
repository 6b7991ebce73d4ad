"""Dictionaries by the Lagrange dual, and their learning in sweeps, batches and streams."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from isthmus.sparse import SparseDictionary, feature_sign_search
from isthmus.sparse.dictionary import moments as moments_file
from isthmus.sparse.dictionary.lagrange_dual import (
    dual_dictionary,
    dual_value,
    fit_error,
    map_codes,
    merge_codes,
)
from isthmus.sparse.dictionary.moments import (
    DictionaryState,
    dual_atoms,
    enough_signals,
    replace_unused,
    swept_atoms,
)
from isthmus.sparse.dictionary.positive_atoms import positive_dictionary


def pursue_codes(rng, n=80, d=6, k=9):
    return rng.normal(size=(n, d)), rng.normal(size=(n, k)) * (rng.random((n, k)) < 0.4)


def planted(rng, n=800, d=12, k=16, active=3):
    D = rng.normal(size=(k, d))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    ranks = np.argsort(rng.random((n, k)), axis=1)
    codes = np.where(ranks < active, rng.normal(size=(n, k)), 0.0)
    return codes @ D, D


def found_atoms(model, D):
    atoms = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    return int(np.sum(np.abs(atoms @ D.T).max(axis=0) > 0.99))


def test_gradient_of_the_dual_is_that_of_finite_differences(rng, assert_gradient):
    moments = map_codes(*pursue_codes(rng))
    multipliers = rng.uniform(0.5, 2.0, size=9)
    assert_gradient(
        lambda lam: dual_value(moments, lam)[0],
        lambda lam: dual_value(moments, lam)[1],
        multipliers,
        rng,
    )


def test_hessian_of_the_dual_is_the_derivative_of_its_gradient(rng):
    moments = map_codes(*pursue_codes(rng))
    lam, step = rng.uniform(0.5, 2.0, size=9), 1e-5
    slopes = [
        (dual_value(moments, lam + step * e)[1] - dual_value(moments, lam - step * e)[1]) / 2 / step
        for e in np.eye(9)
    ]
    hessian = dual_value(moments, lam)[2]
    assert_allclose(hessian, slopes, atol=1e-6)
    assert np.linalg.eigvalsh(hessian).max() < 0


def test_dual_is_below_every_feasible_dictionary_and_meets_the_best(rng):
    X, codes = pursue_codes(rng)
    moments = map_codes(X, codes)
    step = dual_dictionary(moments, tol=1e-12)
    primal = fit_error(moments, step.dictionary)
    assert_allclose(primal, 0.5 * np.sum((X - codes @ step.dictionary) ** 2))
    assert 0 <= step.gap <= 1e-11 * moments.squares
    any_atoms = rng.normal(size=(9, 6))
    any_atoms /= np.linalg.norm(any_atoms, axis=1, keepdims=True)
    assert primal < fit_error(moments, any_atoms)
    lengths = np.linalg.norm(step.dictionary, axis=1)
    assert lengths.max() <= 1 + 1e-12
    # Complementarity: a multiplier is zero where the atom is shorter than one.
    assert np.all((step.multipliers < 1e-6) | (lengths > 1 - 1e-5))


def test_atoms_are_those_of_a_general_solver(rng):
    X, codes = pursue_codes(rng, n=30, d=3, k=4)
    moments = map_codes(X, 0.3 * codes)
    ours = dual_dictionary(moments).dictionary
    peer = minimize(
        lambda v: fit_error(moments, v.reshape(4, 3)),
        ours.ravel() * 0.5,
        constraints=[
            {"type": "ineq", "fun": lambda v, j=j: 1 - np.sum(v.reshape(4, 3)[j] ** 2)}
            for j in range(4)
        ],
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert_allclose(fit_error(moments, ours), peer.fun, rtol=1e-6)


def test_unbound_atoms_are_least_squares(rng):
    X, codes = pursue_codes(rng)
    moments = map_codes(0.01 * X, codes)
    step = dual_dictionary(moments, tol=1e-14)
    assert_allclose(step.dictionary, np.linalg.lstsq(codes, 0.01 * X)[0], atol=1e-7)
    assert step.multipliers.max() < 1e-6


def test_dual_copes_with_dependent_codes(rng):
    X, codes = pursue_codes(rng, n=5)  # fewer signals than atoms
    step = dual_dictionary(map_codes(X, codes + 0.1))
    assert np.isfinite(step.dictionary).all()
    assert step.gap <= 1e-8 * np.sum(X**2)


def test_sums_of_blocks_are_sums_of_all(rng):
    X, codes = pursue_codes(rng)
    parts = merge_codes(map_codes(X[:30], codes[:30]), map_codes(X[30:], codes[30:]))
    for part, whole in zip(parts, map_codes(X, codes), strict=True):
        assert_allclose(part, whole)


@pytest.mark.parametrize("positive", [False, True])
def test_objective_never_rises_and_is_that_of_the_codes(rng, positive):
    X, _ = planted(rng)
    model = SparseDictionary(20, alpha=0.1, positive=positive, random_state=0, max_iter=15, tol=0)
    model.fit(X)
    assert np.all(np.diff(model.objective_) <= 1e-12)
    codes = model.transform(X)
    cost = 0.5 * np.sum((X - codes @ model.components_) ** 2) + 0.1 * np.abs(codes).sum()
    # Codes are found anew for the last atoms.
    assert cost / len(X) <= model.objective_[-1] + 1e-12
    assert np.linalg.norm(model.components_, axis=1).max() <= 1 + 1e-12


def test_planted_atoms_are_found_by_sweeps_batches_and_streams(rng):
    X, D = planted(rng, n=2000)
    settings = {"alpha": 0.1, "random_state": 0}
    assert found_atoms(SparseDictionary(16, max_iter=100, tol=0, **settings).fit(X), D) >= 15
    batches = SparseDictionary(16, batch_size=200, max_iter=20, **settings).fit(X)
    assert found_atoms(batches, D) >= 15
    stream = SparseDictionary(16, **settings)
    for turn in range(100):
        stream.partial_fit(X[200 * (turn % 10) :][:200])
    assert found_atoms(stream, D) >= 15
    assert stream.n_iter_ == 100
    assert stream.n_seen_ == 20_000
    assert len(stream.objective_) == 100


def test_one_block_of_a_stream_is_one_sweep(rng):
    X, D = planted(rng, n=100)
    sweep = SparseDictionary(alpha=0.1, init=D, max_iter=1).fit(X)
    block = SparseDictionary(alpha=0.1, init=D).partial_fit(X)
    assert_allclose(block.moments_.gram, sweep.moments_.gram)
    assert_allclose(block.components_, sweep.components_, atol=1e-3)


def test_old_sums_are_kept_until_atoms_are_used_as_often_as_they_have_entries(rng):
    X, D = planted(rng, n=400)
    stream, kept = SparseDictionary(alpha=0.1, init=D, forgetting_power=50.0), 0.0
    for start in range(0, 400, 20):
        block = X[start : start + 20]
        enough = enough_signals(
            feature_sign_search(block, stream.components_ if start else D, alpha=0.1), X.shape[1]
        )
        stream.partial_fit(block)
        share = start / (start + 20)
        kept = max(share**50 * kept + 20, min(share * kept + 20, enough))
        assert_allclose(stream.moments_.count, kept)
    assert 20 < kept < 210


@pytest.mark.parametrize(("power", "count"), [(0.0, 100.0), (0.5, None), (1.0, 60.0), (20.0, 60.0)])
def test_sums_that_do_not_suffice_count_in_proportion_to_their_place(
    rng, monkeypatch, power, count
):
    """The first codes are the worst, however many are wanted; a power below one keeps more."""
    monkeypatch.setattr(moments_file, "enough_signals", lambda *_: 1e6)
    X, D = planted(rng, n=100)
    stream = SparseDictionary(alpha=0.1, init=D, forgetting_power=power)
    for start in range(0, 100, 20):
        stream.partial_fit(X[start : start + 20])
    if count is None:
        count = 20 * np.sum((np.arange(1, 6) / 5) ** power)
    assert_allclose(stream.moments_.count, count)


@pytest.mark.parametrize("n", [320, 640])
def test_few_batches_keep_more_than_the_power_says_and_end_lower(rng, monkeypatch, n):
    """Forgetting as much as a long stream may would leave sums that determine no atom."""
    X, _ = planted(rng, n=2000, d=32, k=64)

    def cost():
        model = SparseDictionary(64, alpha=0.1, batch_size=64, max_iter=1, random_state=0)
        codes = model.fit(X[:n]).transform(X)
        return 0.5 * np.sum((X - codes @ model.components_) ** 2) + 0.1 * np.abs(codes).sum()

    ours = cost()
    monkeypatch.setattr(moments_file, "enough_signals", lambda *_: 0.0)
    assert ours < cost()


def test_sweeps_over_atoms_are_the_formula_and_end_where_the_dual_does(rng):
    X, D = planted(rng, n=300)
    codes = feature_sign_search(X, D, alpha=0.1)
    codes[:, 3] = 0.0
    moments = map_codes(X, codes)
    start = np.ascontiguousarray(D[::-1])
    state = DictionaryState(start, None, moments, len(X))
    plain = start.copy()
    for j in range(len(D)):
        if j != 3:
            atom = plain[j] + (moments.cross[j] - moments.gram[j] @ plain) / moments.gram[j, j]
            plain[j] = atom / max(1.0, np.linalg.norm(atom))
    assert_allclose(swept_atoms(state, 1).D, plain, atol=1e-12)
    exact, swept = dual_atoms(state, tol=1e-12), swept_atoms(state, 3000)
    assert_allclose(swept.D, exact.D, atol=1e-4)
    assert_allclose(swept.multipliers, exact.multipliers, atol=1e-3 * exact.multipliers.max())


def test_codes_are_exact(rng):
    X, _ = planted(rng, n=100)
    model = SparseDictionary(10, random_state=0, max_iter=2).fit(X)
    exact = feature_sign_search(X, model.components_, alpha=model.alpha_)
    assert_array_equal(model.transform(X), exact)


def test_atom_without_use_is_replaced_by_what_is_left_of_the_worst_signal():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 4.0]])
    codes = np.array([[1.0, 0.0], [0.0, 0.0]])
    state = DictionaryState(np.eye(2, 3), None, map_codes(X, codes), 2)
    assert_allclose(replace_unused(state, X, codes).D, [[1, 0, 0], [0, 0.6, 0.8]])


def test_result_does_not_depend_on_threads_and_is_repeated_by_the_seed(rng):
    X, _ = planted(rng, n=1200)
    runs = [
        SparseDictionary(12, batch_size=600, max_iter=2, random_state=3, n_jobs=n).fit(X)
        for n in (None, None, 2)
    ]
    for run in runs[1:]:
        assert_array_equal(run.components_, runs[0].components_)


def test_nothing_depends_on_the_unit_of_the_signals(rng):
    X, _ = planted(rng, n=200)
    one, other = (
        SparseDictionary(12, max_iter=5, random_state=0).fit(scale * X) for scale in (1.0, 100.0)
    )
    assert_allclose(one.components_, other.components_, atol=1e-6)
    assert_allclose(other.alpha_, 100 * one.alpha_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"n_atoms": 0},
            r"'n_atoms' parameter of SparseDictionary must be None or an int in \[1, inf\)",
        ),
        (
            {"alpha": 0.0},
            r"'alpha' parameter of SparseDictionary must be None or a float in \(0, inf\)",
        ),
        ({"batch_size": 0}, "'batch_size' parameter of SparseDictionary"),
        ({"forgetting_power": -1.0}, "'forgetting_power' parameter of SparseDictionary"),
        ({"n_atoms": 3, "init": np.ones((2, 12))}, r"shape \(3, 12\).* Got \(2, 12\)"),
    ],
)
def test_refused_settings_leave_nothing_fitted(rng, settings, message):
    X, _ = planted(rng, n=50)
    model = SparseDictionary(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not hasattr(model, "components_")


def test_stream_refuses_another_width_and_keeps_what_it_learned(rng):
    X, _ = planted(rng, n=100)
    model = SparseDictionary(12, random_state=0).partial_fit(X)
    before = model.components_.copy()
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :5])
    assert_array_equal(model.components_, before)


def test_positive_atoms_are_the_constrained_optimum(rng):
    X, codes = pursue_codes(rng, n=40, d=3, k=4)
    moments = map_codes(X, codes)
    D = positive_dictionary(moments, np.full((4, 3), 0.5))
    assert D.min() >= 0
    assert np.linalg.norm(D, axis=1).max() <= 1 + 1e-12
    found = minimize(
        lambda d: fit_error(moments, d.reshape(4, 3)),
        np.full(12, 0.3),
        bounds=[(0, None)] * 12,
        constraints=[
            {"type": "ineq", "fun": lambda d, j=j: 1 - (d.reshape(4, 3)[j] ** 2).sum()}
            for j in range(4)
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert_allclose(fit_error(moments, D), found.fun, rtol=1e-6)


@pytest.mark.parametrize("batch_size", [None, 100])
def test_positive_atoms_are_learned(batch_size, rng):
    planted_atoms = np.eye(8)[:5] + np.eye(8)[1:6]
    codes = rng.normal(size=(400, 5)) * (rng.random((400, 5)) < 0.4)
    model = SparseDictionary(
        5, alpha=0.1, positive_atoms=True, batch_size=batch_size, max_iter=30, random_state=1
    ).fit(codes @ planted_atoms)
    assert model.components_.min() >= 0
    if batch_size is None:
        assert np.diff(model.objective_).max() <= 1e-9 * model.objective_[0]
    free = SparseDictionary(5, alpha=0.1, max_iter=30, random_state=1).fit(codes @ planted_atoms)
    assert free.objective_[-1] <= model.objective_[-1] * 1.05
