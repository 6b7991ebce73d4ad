import io

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import r2_score

from isthmus.cli import candidates as _candidates
from isthmus.cli import compare as _compare
from isthmus.cli.compare import predictions
from isthmus.cli.model import load_model
from isthmus.cli.tables.read import read_table
from tests.cli.conftest import read_exactly

TRUTH = ["u", "v"]


def test_fit_shows_every_estimator_with_error_and_time(table, isthmus, tmp_path):
    model = tmp_path / "m.isthmus"
    result = isthmus("fit", table, "--outputs", "u,v", "--model", model, "--quick")
    assert result.exit_code == 0
    for word in (
        "mean",
        "ridge",
        "nearest",
        "kernel ridge",
        "learned",
        "RMSE u",
        "RMSE v",
        "R²",
        "s / ",
    ):
        assert word in result.stdout
    assert f"Saved {load_model(model).name} to" in result.stdout


def test_predictions_from_the_file_equal_those_in_process(model, table, isthmus):
    result = isthmus("predict", model, table)
    assert result.exit_code == 0
    printed = read_exactly(io.StringIO(result.stdout))
    assert list(printed.columns) == TRUTH
    loaded = load_model(model)
    X = loaded.columns.X(read_table(table)).X
    assert_array_equal(printed.to_numpy(), predictions(loaded.estimator, X))


def test_a_fitted_estimator_predicts_the_same_after_saving(table, tmp_path, isthmus, monkeypatch):
    kept = {}

    def fit_candidate(*args, **kwargs):
        kept["model"], n_rows = _compare.fit_candidate(*args, **kwargs)
        return kept["model"], n_rows

    monkeypatch.setattr("isthmus.cli.learn.fit_candidate", fit_candidate)
    path = tmp_path / "m.isthmus"
    assert isthmus("fit", table, "--outputs", "v", "--model", path, "--quick").exit_code == 0
    loaded = load_model(path)
    X = loaded.columns.X(read_table(table)).X
    assert loaded.columns.inputs == ["a", "b", "kind", "u"]
    assert_array_equal(loaded.estimator.predict(X), kept["model"].predict(X))


def test_the_model_learnt_something_and_score_says_so(model, table, isthmus):
    loaded = load_model(model)
    read = read_table(table)
    X, Y = loaded.columns.X(read).X, loaded.columns.Y(read)[0]
    r2 = r2_score(Y, predictions(loaded.estimator, X))
    assert r2 > 0.9
    assert loaded.scores.quality > 0.8
    result = isthmus("score", model, table)
    assert result.exit_code == 0
    assert f"{r2:.3f}" in result.stdout


@pytest.mark.parametrize("name", ["p.csv", "p.npz"])
def test_predictions_go_to_a_file(model, table, isthmus, tmp_path, name):
    path = tmp_path / name
    result = isthmus("predict", model, table, "--output", path)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert read_table(path).frame.shape == (90, 2)


def test_columns_may_come_in_any_order_with_others_among_them(model, table, isthmus, tmp_path):
    shuffled = tmp_path / "t.csv"
    frame = read_exactly(table)[["kind", "b", "a"]]
    frame.assign(note="n").to_csv(shuffled, index=False)
    assert isthmus("predict", model, shuffled).stdout == isthmus("predict", model, table).stdout


def test_words_are_learnt_as_labels(table, isthmus, tmp_path):
    path = tmp_path / "m.isthmus"
    result = isthmus("fit", table, "--outputs", "kind", "--model", path, "--quick")
    assert result.exit_code == 0, result.stderr
    assert "error rate" in result.stdout
    printed = isthmus("predict", path, table).stdout.split()
    truth = pd.read_csv(table)["kind"]
    assert printed[0] == "kind"
    assert np.mean(truth == printed[1:]) > 0.9
    assert "error rate" in isthmus("score", path, table).stdout


def test_every_estimator_for_labels_and_numbers_survives_the_file(table, isthmus, tmp_path):
    from isthmus.cli.model import Model, save_model
    from isthmus.cli.scores import Scores
    from isthmus.cli.task import find_task

    read = read_table(table)
    for outputs in (["u", "v"], ["kind"]):
        columns, _ = find_task(read, ["a", "b"], outputs)
        X, Y = columns.X(read).X, columns.Y(read)[0]
        for candidate in _candidates.candidates(columns, len(X)):
            estimator, n_rows = _compare.fit_candidate(
                candidate, X, Y, task=columns.task, random_state=0
            )
            path = tmp_path / "m.isthmus"
            save_model(Model(estimator, candidate.name, columns, Scores([], [], 0.0), n_rows), path)
            again = load_model(path).estimator
            assert_array_equal(again.predict(X), estimator.predict(X), err_msg=candidate.name)


def test_large_tables_are_subsampled_and_it_is_said(table, isthmus, tmp_path, monkeypatch):
    monkeypatch.setattr("isthmus.cli.learn.QUICK_ROWS", 60)
    monkeypatch.setattr("isthmus.cli.candidates.KERNEL_ROWS", 70)
    path = tmp_path / "m.isthmus"
    result = isthmus("fit", table, "--outputs", "u,v", "--model", path, "--quick")
    assert "comparing on 60 of 90 rows" in result.stderr
    assert "learns from 70 of 90 rows" in result.stderr
    assert load_model(path).n_rows == 70


def test_folds_are_of_equal_size_and_a_label_that_occurs_twice_is_in_two():
    Y = np.array(["a"] * 17 + ["b"] * 2 + ["c"], dtype=object)
    fold = _compare.fold_numbers(Y, 5, random_state=0)
    assert_array_equal(np.bincount(fold), [4, 4, 4, 4, 4])
    assert len(set(fold[Y == "b"])) == 2
    assert (_compare.fold_numbers(Y, 5, random_state=1) != fold).any()


def test_a_rare_label_does_not_stop_the_comparison(table, isthmus, tmp_path):
    rare = tmp_path / "t.csv"
    frame = pd.read_csv(table)
    frame.loc[0, "kind"] = "gold"
    frame.to_csv(rare, index=False)
    result = isthmus("fit", rare, "--outputs", "kind", "--model", tmp_path / "m", "--quick")
    assert result.exit_code == 0, result.stderr
    frame.assign(kind=["gold"] + ["iron"] * 89).to_csv(rare, index=False)
    result = isthmus("fit", rare, "--outputs", "kind", "--model", tmp_path / "m", "--quick")
    assert "at least two labels that occur more than once" in result.stderr


def test_the_seed_fixes_the_result(table, isthmus, tmp_path):
    quality = []
    for _ in range(2):
        path = tmp_path / "m.isthmus"
        isthmus("fit", table, "--outputs", "u", "--model", path, "--quick", "--seed", 3)
        quality.append(load_model(path).scores.quality)
    assert quality[0] == quality[1]


def test_out_of_fold_scores_are_those_of_the_formula(table):
    from isthmus.cli.scores import scores

    rng = np.random.default_rng(0)
    Y, P = rng.normal(size=(2, 20, 3))
    got = scores(Y, P)
    assert_allclose(got.rmse, np.sqrt(np.mean((Y - P) ** 2, axis=0)))
    assert_allclose(got.quality, r2_score(Y, P))
    constant = scores(np.c_[Y[:, 0], np.ones(20)], P[:, :2])
    assert_allclose(constant.quality, r2_score(Y[:, 0], P[:, 0]))
