import os
import zipfile

import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

from isthmus.cli import model as _model
from isthmus.cli.model import load_model, save_model


def only_line(result):
    """The one line of an error; everything else about it must be right too."""
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("isthmus: error: ")
    return lines[0]


def test_a_damaged_or_truncated_or_foreign_file_gives_one_line(model, table, isthmus, tmp_path):
    whole = model.read_bytes()
    middle = len(whole) // 2
    flipped = bytes(b ^ 0xFF for b in whole[middle : middle + 200])
    cases = {
        "truncated": whole[:middle],
        "flipped": whole[:middle] + flipped + whole[middle + 200 :],
        "empty": b"",
        "text": b"this is no model",
    }
    for name, content in cases.items():
        path = tmp_path / f"{name}.isthmus"
        path.write_bytes(content)
        assert "damaged or not a model file" in only_line(isthmus("predict", path, table)), name


def test_an_archive_of_something_else_gives_one_line(table, isthmus, tmp_path):
    path = tmp_path / "other.isthmus"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "not a model file" in only_line(isthmus("score", path, table))
    skops.io.dump({"weights": [1.0, 2.0]}, path)
    assert "not written by isthmus fit" in only_line(isthmus("score", path, table))
    assert "no such file" in only_line(isthmus("score", tmp_path / "nowhere", table))


def test_a_file_that_names_a_foreign_function_is_refused(model, table, isthmus, tmp_path):
    path = tmp_path / "evil.isthmus"
    skops.io.dump({"format": "isthmus model 1", "estimator": FunctionTransformer(os.system)}, path)
    line = only_line(isthmus("predict", path, table))
    assert "refused" in line
    assert "system" in line


@pytest.mark.parametrize(
    ("name", "trusted"),
    [
        ("isthmus.structured.DependencyEstimator", True),
        ("isthmus.kernels.Gaussian", True),
        ("isthmus.structured.dependency.clone", False),
        ("isthmus.structured.DependencyEstimator.fit", False),
        ("isthmus.cli.errors.UserError", False),
        ("isthmus.kernels._no_such.Kernel", False),
        ("isthmusx.kernels.Kernel", False),
        ("os.system", False),
    ],
)
def test_only_classes_of_estimator_families_are_trusted(name, trusted):
    assert _model._is_ours(name) is trusted


def test_a_model_of_a_newer_version_works_with_one_warning(model, table, isthmus, tmp_path):
    loaded = load_model(model)
    path = tmp_path / "newer.isthmus"
    save_model(_model.Model(**{**vars(loaded), "version": "99.0"}), path)
    result = isthmus("predict", path, table)
    assert result.exit_code == 0
    assert len(result.stderr.splitlines()) == 1
    assert "written by isthmus 99.0" in result.stderr
    assert result.stdout == isthmus("predict", model, table).stdout


def test_a_failed_save_keeps_the_old_file_and_leaves_no_litter(model, tmp_path, monkeypatch):
    path = tmp_path / "kept.isthmus"
    save_model(load_model(model), path)
    before = path.read_bytes()

    def full_disk(content, file, **_):
        file.write_bytes(b"half a mod")
        raise OSError("No space left on device")

    monkeypatch.setattr(skops.io, "dump", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_model(load_model(model), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["kept.isthmus"]
