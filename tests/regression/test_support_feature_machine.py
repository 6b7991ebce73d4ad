"""Support feature machine: linear programs, few features, found where they are planted."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from isthmus.regression import SupportFeatureMachine
from isthmus.regression.support_features.formulas import (
    NotSeparable,
    frank_wolfe_programs,
    linear_step,
    priced_step,
    rescaled_programs,
)
from isthmus.regression.support_features.refit import squared_hinge_plane

PLAIN = {"standardize": False, "fit_intercept": False, "refit": False}
PROGRAM = {"formulation": "mean", "costs": None, "fit_intercept": False}


def planted(m, n, s, seed=0):
    X = np.random.default_rng(seed).normal(size=(m, n))
    return X, np.sign(X[:, :s].sum(axis=1))


@pytest.mark.parametrize(
    ("size", "formulation", "counts", "pure"),
    [
        ((60, 500, 4), "margin", (4, 6, 6, 12, 16), 1),
        ((60, 500, 4), "mean", (5, 5, 6, 7, 8), 0),
        ((60, 2000, 3), "mean", (3, 3, 3, 3, 3), 5),
    ],
)
def test_numbers_of_features_in_five_draws(size, formulation, counts, pure):
    machines = [
        SupportFeatureMachine(formulation, **PLAIN).fit(*planted(*size, seed)) for seed in range(5)
    ]
    assert tuple(len(m.support_) for m in machines) == counts
    assert sum(bool(np.all(m.support_ < size[2])) for m in machines) == pure


@pytest.mark.parametrize("formulation", ["mean", "margin"])
def test_first_program_is_the_l1_machine(formulation):
    X, y = planted(30, 60, 3)
    w, _, _ = linear_step(
        X, y, np.ones(60), formulation=formulation, costs=None, fit_intercept=False
    )
    Z = y[:, None] * X
    d = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    kind = {"A_eq": [np.r_[d, -d]], "b_eq": [1.0]} if formulation == "mean" else {}
    bound = -np.ones(30) if formulation == "margin" else np.zeros(30)
    direct = linprog(np.ones(120), np.hstack([-Z, Z]), bound, **kind)
    assert_allclose(np.abs(w).sum(), direct.fun, rtol=1e-9)
    assert np.count_nonzero(w) <= 31  # a vertex


@pytest.mark.parametrize("formulation", ["mean", "margin"])
def test_constraints_hold_and_features_never_come_back(formulation):
    X, y = planted(40, 200, 3)
    program = {**PROGRAM, "formulation": formulation}
    found = rescaled_programs(X, y, start=np.ones(200), max_iter=30, **program)
    margins = y * (X @ found.w)
    if formulation == "mean":
        d = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
        assert_allclose(found.w @ d, 1)
    assert margins.min() > (1 if formulation == "margin" else 0) - 1e-7
    assert found.converged
    assert np.all(np.diff(found.history) <= 0)


def test_supports_are_nested_when_weights_are_multiplied():
    X, y = planted(40, 200, 3)
    supports = [
        set(np.flatnonzero(rescaled_programs(X, y, start=np.ones(200), max_iter=k, **PROGRAM).w))
        for k in (1, 2, 3, 10)
    ]
    assert all(late <= early for early, late in pairwise(supports))


def test_frank_wolfe_falls_at_every_epsilon_and_finds_as_few():
    X, y = planted(40, 200, 3)
    whole = frank_wolfe_programs(X, y, start=np.ones(200), max_iter=30, **PROGRAM)
    fast = rescaled_programs(X, y, start=np.ones(200), max_iter=30, **PROGRAM)
    assert np.count_nonzero(whole.w) <= np.count_nonzero(fast.w) + 1
    assert np.all(y * (X @ whole.w) > -1e-7)
    assert np.all(np.diff(whole.history) < 1e-6)


def fewest(X, y):
    """Exhaustive search for the least number of features that separate."""
    for k in range(1, X.shape[1] + 1):
        for chosen in combinations(range(X.shape[1]), k):
            try:
                linear_step(
                    X[:, chosen], y, np.ones(k), formulation="margin", costs=None,
                    fit_intercept=False,
                )  # fmt: skip
            except NotSeparable:
                continue
            return k
    raise AssertionError("not separable")


@pytest.mark.parametrize("seed", range(4))
def test_between_exhaustive_search_and_the_l1_machine(seed):
    X, y = planted(12, 9, 3, seed)
    least = fewest(X, y)
    machine = SupportFeatureMachine("margin", n_init=5, random_state=0, **PLAIN).fit(X, y)
    w, _, _ = linear_step(X, y, np.ones(9), formulation="margin", costs=None, fit_intercept=False)
    assert least <= len(machine.support_) <= np.count_nonzero(w)


def test_more_starts_never_need_more_features():
    X, y = planted(60, 300, 4, 3)
    one, many = (SupportFeatureMachine(n_init=n, random_state=0, **PLAIN).fit(X, y) for n in (1, 5))
    assert len(many.support_) <= len(one.support_)


def test_order_of_features_does_not_matter():
    X, y = planted(60, 300, 3)
    order = np.random.default_rng(1).permutation(300)
    first = SupportFeatureMachine().fit(X, y)
    second = SupportFeatureMachine().fit(X[:, order], y)
    assert set(order[second.support_]) == set(first.support_)


def test_scale_and_place_of_features_do_not_matter_when_standardized():
    X, y = planted(60, 300, 3)
    rng = np.random.default_rng(1)
    scale, shift = np.exp(rng.normal(size=300) * 3), rng.normal(size=300)
    first = SupportFeatureMachine().fit(X, y)
    second = SupportFeatureMachine().fit(X * scale + shift, y)
    assert np.array_equal(first.support_, second.support_)
    assert np.array_equal(first.predict(X), second.predict(X * scale + shift))


@pytest.mark.parametrize("formulation", ["mean", "margin"])
def test_separable_classes_are_separated(formulation):
    X, y = planted(50, 400, 3, 2)
    machine = SupportFeatureMachine(formulation, C=np.inf, refit=False).fit(X + 5, y)
    # The form with means may leave points on the boundary itself.
    margins = y * machine.decision_function(X + 5)
    assert margins.min() > (0.1 if formulation == "margin" else -1e-8)


def test_overlapping_classes_need_slack():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, "yes", "no")
    with pytest.raises(ValueError, match=r"no hyperplane separates class 'yes'.*C=1\.0"):
        SupportFeatureMachine(C=np.inf).fit(X, y)
    assert SupportFeatureMachine().fit(X, y).score(X, y) > 0.6
    few, many = (SupportFeatureMachine("margin", C=C, refit=False).fit(X, y) for C in (0.02, 10.0))
    assert len(few.support_) <= len(many.support_)


def test_no_feature_is_worth_its_price():
    X, y = planted(30, 5, 2)
    machine = SupportFeatureMachine("margin", C=1e-6).fit(X, y)
    assert len(machine.support_) == 0
    assert machine.predict(X).shape == (30,)


def test_fewer_features_than_the_l1_machine_and_more_of_them_true():
    X, y = planted(100, 1000, 5, 4)
    ours = SupportFeatureMachine().fit(X, y)
    l1 = LinearSVC(penalty="l1", dual=False, C=0.5, max_iter=5000, random_state=0).fit(X, y)
    assert len(ours.support_) < np.count_nonzero(l1.coef_) / 3
    assert np.sum(ours.support_ < 5) == 5


def test_three_classes_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(150, 20))
    machine = SupportFeatureMachine().fit(np.c_[X, noise], y)
    assert machine.coef_.shape == (3, 24)
    assert machine.decision_function(np.c_[X, noise]).shape == (150, 3)
    assert np.array_equal(machine.n_support_, np.count_nonzero(machine.coef_, axis=1))
    assert np.array_equal(machine.get_support(indices=True), machine.support_)
    assert machine.score(np.c_[X, noise], y) > 0.9


def test_works_as_a_step_and_under_a_search():
    X, y = planted(60, 200, 3)
    pipe = make_pipeline(StandardScaler(), SupportFeatureMachine(), LinearSVC())
    assert pipe.fit(X, y).score(X, y) > 0.95
    search = GridSearchCV(
        SupportFeatureMachine(), {"C": [0.1, 1.0], "formulation": ["mean", "margin"]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.8


def test_constant_features_are_never_chosen():
    X, y = planted(40, 50, 2)
    X[:, 7] = 3.0
    machine = SupportFeatureMachine().fit(X, y)
    assert 7 not in machine.support_
    with pytest.raises(ValueError, match="a feature that varies"):
        SupportFeatureMachine().fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_costs_of_classes_move_the_boundary():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-1, 1, size=(90, 1)), rng.normal(1, 1, size=(10, 1))]
    y = np.repeat([0, 1], [90, 10])
    found = [
        SupportFeatureMachine(class_weight=w, C=1.0).fit(X, y).predict(X).sum()
        for w in (None, "balanced", {0: 1.0, 1: 50.0})
    ]
    assert found[0] < found[1] < found[2]


def test_a_failed_fit_leaves_nothing_behind_and_parameters_stay():
    X, y = planted(30, 20, 2)
    machine = SupportFeatureMachine(C=-1.0)
    with pytest.raises(ValueError, match=r"'C' parameter of SupportFeatureMachine.*Got -1\.0"):
        machine.fit(X, y)
    assert not hasattr(machine, "coef_")
    machine = SupportFeatureMachine(C=None)
    before = machine.get_params()
    machine.fit(X, y)
    assert machine.get_params() == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"formulation": "median"}, "one of 'mean', 'margin'. Got 'median'"),
        ({"solver": "simplex"}, "one of 'rescaled', 'frank-wolfe'. Got 'simplex'"),
        ({"n_init": 0}, r"'n_init' parameter of SupportFeatureMachine must be an int in \[1"),
    ],
)
def test_refusals_say_what_was_expected(parameters, message):
    X, y = planted(20, 10, 2)
    with pytest.raises(ValueError, match=message):
        SupportFeatureMachine(**parameters).fit(X, y)


def test_equal_means_are_named_with_the_way_out():
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    with pytest.raises(ValueError, match=r"means of the classes coincide.*formulation='margin'"):
        SupportFeatureMachine().fit(X, [0, 0, 1, 1])


def test_too_few_programs_are_reported():
    X, y = planted(60, 300, 4)
    with pytest.warns(ConvergenceWarning, match="1 linear programs were not enough"):
        SupportFeatureMachine(max_iter=1).fit(X, y)


@pytest.mark.parametrize("shift", [10.0, 300.0, -1e4])
def test_the_origin_does_not_matter(shift):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(80, 30)), rng.normal(size=(200, 30))
    y = X[:, :3].sum(axis=1) > 0
    here = SupportFeatureMachine().fit(X, y)
    there = SupportFeatureMachine().fit(X + shift, y)
    np.testing.assert_array_equal(there.support_, here.support_)
    assert np.mean(there.predict(new + shift) == here.predict(new)) > 0.99


@pytest.mark.parametrize("seed", range(8))
def test_features_that_separate_are_refitted_without_errors(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 40))
    y = X[:, :4] @ rng.normal(size=4) > 0.3
    machine = SupportFeatureMachine().fit(X, y)
    hard = SVC(C=1e8, kernel="linear").fit(machine.transform(X), y)
    assert hard.score(machine.transform(X), y) == 1
    assert machine.score(X, y) == 1


@pytest.mark.parametrize("formulation", ["mean", "margin"])
@pytest.mark.parametrize("slack", [False, True])
def test_few_features_at_a_time_end_where_all_of_them_do(formulation, slack):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 300))
    y = np.where(X[:, :3].sum(axis=1) + (rng.normal(size=25) if slack else 0) > 0, 1.0, -1.0)
    program = {
        "formulation": formulation,
        "costs": np.ones(25) if slack else None,
        "fit_intercept": True,
    }
    scale = rng.uniform(0.5, 1.5, size=300)
    w, b, xi = priced_step(X, y, scale, **program)
    whole, _, other = linear_step(X, y, scale, **program)
    assert_allclose(w, whole, atol=1e-8)
    assert_allclose(xi.sum(), other.sum(), atol=1e-8)
    least = (1.0 if formulation == "margin" else 0.0) - (xi if slack else 0.0)
    assert (y * (X @ w + b) >= least - 1e-8).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_refit_is_the_linear_machine_of_scikit_learn(intercept, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 0.5
    y = np.sign(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=60))
    weight = rng.uniform(0.5, 2, size=60)
    theirs = LinearSVC(
        C=C, dual=False, fit_intercept=intercept, intercept_scaling=100.0, tol=1e-12, max_iter=10**6
    ).fit(X, y, sample_weight=weight)
    w, b, v = squared_hinge_plane(X, y, C * weight, fit_intercept=intercept)
    assert_allclose(w, theirs.coef_[0], rtol=1e-5, atol=1e-7)
    assert_allclose(b, np.ravel(theirs.intercept_)[0], rtol=1e-5, atol=1e-6)
    again, _, _ = squared_hinge_plane(X, y, C * weight, fit_intercept=intercept, start=v + 1.0)
    assert_allclose(again, w, rtol=1e-6, atol=1e-9)


def test_one_class_is_named(rng):
    with pytest.raises(ValueError, match=r"Got one class: 0\.0\.$"):
        SupportFeatureMachine().fit(rng.normal(size=(9, 2)), np.zeros(9))
