"""Model files on the command line; what is in them is tested in tests/files."""

import json
import os
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

import isthmus as library
from isthmus.cli.model import load_model
from isthmus.features import KernelPCA
from isthmus.files.contents import HEADER
from isthmus.regression import KernelRidgeCV


def only_line(result):
    """The one line of an error; everything else about it must be right too."""
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("isthmus: error: ")
    return lines[0]


def with_header(model, path, **changes):
    """A copy of a model file whose header says something else."""
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == HEADER:
                data = json.dumps({**json.loads(data), **changes})
            new.writestr(name, data)
    return path


def test_a_damaged_file_gives_one_line(model, table, isthmus, tmp_path):
    whole = model.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2]):
        path = tmp_path / "m.isthmus"
        path.write_bytes(content)
        assert "damaged or not a model file" in only_line(isthmus("predict", path, table))
    assert "no such file" in only_line(isthmus("score", tmp_path / "nowhere", table))


def test_a_file_that_names_a_foreign_function_is_refused(model, table, isthmus, tmp_path):
    path = tmp_path / "evil.isthmus"
    skops.io.dump(FunctionTransformer(os.system), path)
    with zipfile.ZipFile(model) as good, zipfile.ZipFile(path, "a") as evil:
        evil.writestr(HEADER, good.read(HEADER))
    line = only_line(isthmus("predict", path, table))
    assert "refused" in line
    assert "system" in line


def test_a_later_version_a_bad_one_and_a_missing_entry_are_one_line(
    model, table, isthmus, tmp_path
):
    path = tmp_path / "m"
    line = only_line(isthmus("predict", with_header(model, path, version="99.0"), table))
    assert "refused, it was written by isthmus 99.0, which is later than this one" in line
    line = only_line(isthmus("predict", with_header(model, path, version="\x1b[2Jnew"), table))
    assert "damaged, its version is" in line
    assert "\x1b" not in line
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, "{}")
    assert "it has no entry 'schema.json'" in only_line(isthmus("predict", path, table))


@pytest.mark.parametrize("name", ["name", "columns", "scores", "n_rows"])
@pytest.mark.parametrize("value", [None, 7, "x", [], {"inputs": 3}, {"other": []}], ids=repr)
def test_a_card_that_is_not_complete_is_one_line(model, table, isthmus, tmp_path, name, value):
    card = load_model(model).card
    changed = with_header(model, tmp_path / "m", card={**card, name: value})
    result = isthmus("predict", changed, table)
    if name in ("name", "n_rows") and result.exit_code == 0:
        return  # any text is a name, any number a count
    line = only_line(result)
    assert "damaged, its card is not complete" in line or "missing" in line


def test_a_model_that_python_saved_predicts_on_the_command_line(table, isthmus, tmp_path):
    frame = pd.read_csv(table)
    path = tmp_path / "m.isthmus"
    model = KernelRidgeCV().fit(frame[["a", "b"]], frame["u"])
    library.save(model, path)
    result = isthmus("predict", path, table)
    assert result.exit_code == 0, result.stderr
    head, *cells = result.stdout.split()
    assert head == "prediction"
    np.testing.assert_allclose(np.array(cells, float), model.predict(frame[["a", "b"]]))
    library.save(KernelPCA(2).fit(frame[["a", "b"]].to_numpy()), path)
    assert "fit it on a DataFrame" in only_line(isthmus("predict", path, table))


def test_python_loads_what_the_command_line_saved(model, table):
    estimator = library.load(model)
    frame = pd.read_csv(table)
    assert estimator.predict(frame[["a", "b", "kind"]]).shape == (90, 2)
