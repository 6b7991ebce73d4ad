"""Tables of supervised reduction: verdicts follow the numbers, folds are shared."""

import numpy as np
import pytest
from isthmus_experiments.experiments._reduction.positions import same_table
from isthmus_experiments.experiments._reduction.report import COMPONENTS, outcome
from isthmus_experiments.experiments._reduction.tables import (
    ALL,
    CROSSFITTED,
    MEAN,
    OTHERS,
    OURS,
    PROJECTION,
    PUBLISHED,
    STACKED_ALL,
    TRUE,
    errors_over_components,
    folds_of,
    ridge,
    stacked_name,
)
from sklearn.datasets import load_diabetes

TABLE = {name: tuple(1.0 + i for _ in COMPONENTS) for i, name in enumerate(PUBLISHED)}


def made_up(ours):
    """Errors of all methods on three folds; rivals have 2, references 1.5 and 10."""
    noise = np.array([-0.01, 0.0, 0.01])
    errors = {name: np.full((5, 1), 2.0) + noise for name in (*PUBLISHED, *OTHERS)}
    errors[OURS] = np.asarray(ours)[:, None] + noise * 2
    errors[ALL], errors[MEAN] = np.full((1, 3), 1.5), np.full((1, 3), 5.0)
    return errors


def finding(found, words):
    (row,) = [row for row in found.rows if words in row.quantity]
    return row


@pytest.mark.parametrize(
    ("ours", "best", "falls"), [([1.05] * 5, True, True), ([1.0, 1.1, 1.2, 1.3, 2.5], False, False)]
)
def test_verdicts_follow_the_numbers(ours, best, falls):
    found = outcome(made_up(ours), COMPONENTS, TABLE, [])
    assert finding(found, "against the best of").agrees is best
    assert finding(found, "never rises").agrees is falls
    assert finding(found, f"{OURS}, d = 3: RMSE").agrees
    assert bool(finding(found, f"{OURS}, d = 11: RMSE").agrees) is best
    assert "worse than the mean: SAVE, SCA, SIR" not in finding(found, "references").published
    assert "SAVE, SIR" in finding(found, "references").published


def test_values_on_fewer_rows_are_not_held_against_the_published_ones():
    found = outcome(made_up([3.0] * 5), COMPONENTS, TABLE, [], same_size=False)
    assert finding(found, f"{OURS}, d = 3: RMSE").agrees is None


def test_two_printed_tables_are_the_same():
    row = same_table()
    assert row.agrees is None
    assert "printed twice" in row.verdict


def test_errors_of_all_methods_on_shared_folds():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:90], y[:90]
    methods = (*PUBLISHED, *OTHERS, CROSSFITTED, TRUE, PROJECTION)
    errors = errors_over_components(
        X,
        y,
        folds_of(90, 2, 1, 0)[:1],
        (2, 3),
        regressor=ridge,
        methods=methods,
        seed=0,
        progress=lambda share, text="": None,
    )
    for name in methods:
        assert errors[name].shape == (2, 1)
        assert 0.5 * y.std() < errors[name].min() < 2 * y.std(), name
    assert errors[MEAN].shape == errors[ALL].shape == errors[STACKED_ALL].shape == (1, 1)
    assert errors[stacked_name("PLS")].shape == (1, 1)
    found = outcome(errors, (2, 3), {}, [])
    assert "all columns" in finding(found, "control").ours


def test_groups_stay_together():
    groups = np.repeat(np.arange(6), 5)
    for train, test in folds_of(30, 3, 1, 0, groups):
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize(("ours", "kept"), [(1.0, True), (2.0, False)])
def test_the_control_says_whether_the_reduction_itself_helps(ours, kept):
    errors = made_up([ours] * 5)
    errors[STACKED_ALL] = np.full((1, 3), 1.5)
    errors[stacked_name("PLS")] = np.full((1, 3), 1.2)
    assert finding(outcome(errors, COMPONENTS, TABLE, []), "control").agrees is kept
