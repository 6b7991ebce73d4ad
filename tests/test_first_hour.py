"""From the README to a first result, for four people, with the code as it stands on the pages."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[1]
if not (ROOT / "docs").is_dir():
    pytest.skip("an installed package has no pages", allow_module_level=True)
README = (ROOT / "README.md").read_text()


def blocks(path, language="python"):
    found = re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), flags=re.M | re.S)
    return [block for block in found if not block.startswith("# not run")]


def run(path, names=None):
    """Run the code of a page from its top, as a reader who copies it would."""
    names = {"__name__": "__page__"} if names is None else names
    for block in blocks(path):
        exec(compile(block, str(path), "exec"), names)
    return names


def linked(row_begins):
    """The pages to which a row of the table 'You have, you want, take' leads."""
    row = next(line for line in README.splitlines() if line.startswith(f"| {row_begins}"))
    pages = [ROOT / target for target in re.findall(r"\]\((docs/[\w/]+\.md)", row)]
    assert pages
    return pages


def coming_from(name):
    target = re.search(rf"\[{name}\]\((docs/coming_from/\w+\.md)\)", README)
    return ROOT / target[1]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


def test_the_readme_opens_with_what_it_is_for_a_picture_and_a_table():
    text = README.splitlines()
    picture = next(i for i, line in enumerate(text) if line.startswith("!["))
    table = next(i for i, line in enumerate(text) if line.startswith("| you have"))
    assert picture < table < 20
    rows = [line for line in text[table + 2 :] if line.startswith("|")]
    assert len([row for row in rows[:12] if "](docs/" in row]) >= 10
    assert (ROOT / re.search(r"\]\((docs/\S+\.png)\)", README)[1]).exists()


def test_a_chemist_replaces_pls(capsys):
    assert linked("spectra")
    names = run(coming_from("PLS"))
    X, Y = names["X"], names["Y"]
    theirs, ours = names["theirs"], names["linear"]
    assert ours.score(X[60:], Y[60:]) > 0.9 * theirs.score(X[60:], Y[60:])
    assert ours.predict(X[60:]).shape == Y[60:].shape
    assert capsys.readouterr().out


def test_a_person_with_pictures_gets_a_plane_and_the_way_back():
    assert linked("pictures")[0].name == "manifolds.md"
    names = run(coming_from("UMAP"))
    model, X = names["model"], names["X"]
    assert names["Z"].shape == (10, 2)
    assert names["rows"].shape == (10, 64)
    new = X[300:340]
    back = model.inverse_transform(model.transform(new))
    assert np.mean((back - new) ** 2) < np.mean((X[:300].mean(axis=0) - new) ** 2)


def test_a_person_with_time_series_gets_distances_and_a_mean():
    assert linked("time series")[0].name == "series.md"
    names = run(coming_from("tslearn or aeon"))
    D = names["D"]
    np.testing.assert_allclose(D, D.T)
    assert not D.diagonal().any()
    assert len(names["mean"]) > 30


def test_a_person_with_a_robot_gets_joints_for_a_pose():
    assert linked("a robot arm")[0].name == "bodies.md"
    names = run(coming_from("roboticstoolbox"))
    np.testing.assert_allclose(names["arm"].forward(names["found"].q), names["pose"], atol=1e-4)


def test_the_ten_lines_of_the_readme_predict_halves_of_digits(capsys):
    names = run(ROOT / "README.md")
    assert names["model"].predict(names["X"][500:503]).shape == (3, 32)
    shown = capsys.readouterr().out
    assert "(3, 32)" in shown
    assert float(shown.splitlines()[1]) > 0.3


def test_the_commands_of_the_readme_work_on_a_table(isthmus, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    c = rng.normal(size=60)
    frame = pandas.DataFrame({"c": c, "d": rng.normal(size=60), "a": np.sin(c), "b": c**2})
    frame.to_csv("table.csv", index=False)
    frame[["c", "d"]].to_csv("new.csv", index=False)
    commands = [line for block in blocks(ROOT / "README.md", "bash") for line in block.splitlines()]
    ours = [line.split() for line in commands if line.startswith("isthmus ")]
    assert [words[1] for words in ours] == ["fit", "predict"]
    for words in ours:
        result = isthmus(*words[1:])
        assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == "a,b"
    assert len(result.stdout.splitlines()) == 61


def test_every_make_target_of_the_readme_exists():
    targets = set(re.findall(r"^make (\w+)", README, flags=re.M)) | set(
        re.findall(r"`make (\w+)`", README)
    )
    makefile = (ROOT / "Makefile").read_text()
    assert targets >= {"demo", "test"}
    assert all(f"\n{target}:" in makefile for target in targets)


class TestObviousMistakes:
    """What a newcomer does wrong is answered by what to do instead."""

    X = np.random.default_rng(0).normal(size=(12, 3))

    def message(self, call):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        return str(caught.value)

    def test_a_gap_is_placed_and_the_way_out_is_named(self):
        from isthmus.regression import ReducedRankRegression

        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame(self.X, columns=["a", "b", "c"])
        table.loc[4, "b"] = np.nan
        said = self.message(lambda: ReducedRankRegression().fit(table, self.X[:, 0]))
        assert said.startswith(
            "Input X contains NaN, first in row 4, column 'b'. ReducedRankRegression takes no "
            "missing values: leave such rows out or fill them in first"
        )

    def test_text_and_dates_in_a_table_are_named_by_column(self):
        from isthmus.structured import DependencyEstimator

        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame(self.X, columns=["a", "b", "c"])
        with_text = table.astype(object)
        with_text.loc[2, "c"] = "n/a"
        said = self.message(lambda: DependencyEstimator().fit(with_text, self.X))
        assert "DependencyEstimator expected an array of numbers. Got: 'n/a' in row 2 of" in said
        with_dates = table.assign(day=pandas.date_range("2020-01-01", periods=12))
        said = self.message(lambda: DependencyEstimator().fit(with_dates, self.X))
        assert "Got: column 'day', which holds dates or times. Turn them into numbers" in said

    def test_a_stack_of_pictures_is_told_to_become_rows(self):
        from isthmus.manifold import UnsupervisedKernelRegression

        said = self.message(lambda: UnsupervisedKernelRegression(2).fit(np.zeros((9, 8, 8))))
        assert "X.reshape(len(X), -1) turns pictures into rows" in said

    @pytest.mark.parametrize(
        ("given", "hint"),
        [
            ("RBF", "Did you mean 'rbf'?"),
            ("gausian", "Did you mean 'gaussian'?"),
            ("spectrum", "The kernel Spectrum has no name: pass Spectrum(...) itself."),
        ],
    )
    def test_an_unknown_kernel_is_answered_by_the_one_that_was_meant(self, given, hint):
        from isthmus.regression import KernelRidgeCV

        assert self.message(lambda: KernelRidgeCV(given).fit(self.X, self.X)).endswith(hint)

    def test_an_unknown_loss_is_answered_by_all_names(self):
        from isthmus.structured import DependencyEstimator

        said = self.message(lambda: DependencyEstimator(loss="hammming").fit(self.X, self.X))
        assert said.startswith("The 'loss' parameter of DependencyEstimator cannot be used.")
        assert "'edit', 'epsilon', 'f1'" in said
        assert said.endswith("Did you mean 'hamming'?")
