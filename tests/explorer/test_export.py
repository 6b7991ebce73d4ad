"""The page in one file: complete, bounded, and safe whatever the table says."""

import json
import re

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

import isthmus
from isthmus.explorer.answers import answers_of
from isthmus.explorer.exploration import exploration_of
from isthmus.explorer.export.asked import answers_text
from isthmus.explorer.export.grid import make_grid
from isthmus.explorer.export.walked import page_text
from isthmus.explorer.rows import make_rows
from isthmus.structured import ConformalSets

TAG = "</script><script>window.stolen = 1</script>"


def content_of(text):
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def test_the_file_holds_all_it_needs(plane, digits, tmp_path):
    path = tmp_path / "page.html"
    assert isthmus.explore(plane, *digits, export=path, title="Digits & more") is None
    text = path.read_text()
    assert len(text) < 2_500_000
    assert "<title>Digits &amp; more</title>" in text
    assert "BokehJS" in text
    own = text[text.index('id="content"') :] + text[: text.index("<script>")]
    assert not re.findall(r'(?:src|href)="(?!data:)', own)
    content = content_of(text)
    n = len(content["grid"]["x"])
    assert len(content["grid"]["support"]) == n * n
    assert content["objects"]["sheet"].startswith("data:image/png")
    assert [c["name"] for c in content["colors"]] == ["label", "error", "density"]
    assert "The third coordinate stays in the middle" in text


def test_objects_of_the_grid_are_those_of_the_model(circle):
    model, rows = circle
    e = exploration_of(model, make_rows(rows), kind="numbers")
    grid = make_grid(e)
    assert len(grid.pictures.bodies) == len(grid.x)
    i = len(grid.x) // 2
    assert f"{np.cos(grid.x[i]):.4g}" in grid.pictures.bodies[i]


def test_a_header_that_is_a_tag_stays_text(circle):
    model, rows = circle
    e = exploration_of(model, make_rows(rows, np.array([TAG] * len(rows)), names=[TAG, "b"]))
    text = page_text(e, TAG)
    assert TAG not in text
    assert "window.stolen = 1\\u003c" in text
    assert content_of(text)["colors"][0]["labels"][0][2] == TAG[:60]


def test_pictures_are_fewer_where_they_are_large():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 9, 900)
    X = np.array([np.sin(t + p) + q * t for p, q in rng.uniform(0, 1, size=(40, 2))])
    model = isthmus.features.KernelPCA(2, kernel="linear").fit(X)
    text = page_text(exploration_of(model, make_rows(X)), "curves")
    assert len(text) < 3_200_000
    assert content_of(text)["objects"]["bodies"][0].count("<path") == 2


def test_answers_for_rows_are_exported(tmp_path):
    X = np.linspace(0, 1, 40)[:, None]
    Y = np.c_[np.sin(6 * X), np.cos(6 * X)]
    model = isthmus.structured.DependencyEstimator().fit(X, Y)
    path = tmp_path / "page.html"
    isthmus.explore(model, X, Y, names=["angle"], title=TAG, export=path)
    text = path.read_text()
    assert TAG not in text
    found = content_of(text)
    assert [one["row"] for one in found] == list(range(40))
    assert f"{model.predict(X[7:8])[0, 1]:.4g}" in found[7]["pictures"]
    assert "row 7, weight" in found[7]["pairs"]
    assert not re.findall(r'(?:src|href)="(?!data:)', text)


def test_exported_answers_have_intervals_sets_and_words():
    X = np.linspace(0, 1, 30)[:, None]
    sets = ConformalSets(Ridge(), coverage=0.8).fit(X, X[:, 0])
    one = content_of(answers_text(answers_of(sets, make_rows(X), X[:, 0]), "t"))[0]
    assert "at least 0.8" in one["certain"]
    frame = pd.DataFrame({"a": [1.0, 2.0], TAG: ["x", TAG]})

    class ByKind:
        def predict(self, X):
            return np.c_[X["a"].to_numpy() + 10 * (X[TAG] == "x")]

    text = answers_text(answers_of(ByKind(), make_rows(frame), None, frame=frame), "t")
    assert TAG not in text
    assert "&lt;script&gt;" in content_of(text)[1]["certain"]


def test_exported_answers_are_bounded(monkeypatch):
    X = np.linspace(0, 1, 60)[:, None]
    answers = answers_of(Ridge().fit(X, X[:, 0]), make_rows(X), X[:, 0])
    monkeypatch.setattr("isthmus.explorer.export.asked._BUDGET", 5000)
    found = content_of(answers_text(answers, "t"))
    assert found[0]["row"] == 0
    assert 2 <= len(found) < 30
