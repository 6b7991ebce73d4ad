import os
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

from isthmus.cli import model as _model
from isthmus.cli.model import load_model, save_model
from isthmus.coreset import CoreVectorRegressor
from isthmus.features import DistanceCorrelationReduction, KernelPCA, SlowFeatureAnalysis
from isthmus.losses import Huber
from isthmus.manifold import SmoothPSOM, UnsupervisedKernelRegression
from isthmus.preimage import LearnedPreimage
from isthmus.regression import (
    GaussianProcess,
    KernelRidgeCV,
    LocalPolynomialRegression,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.sparse import KSVD
from isthmus.structured import (
    DependencyEstimator,
    DistanceCorrelationRegressor,
    TwinGaussianProcess,
)


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


@pytest.mark.filterwarnings("ignore")  # the table is small, and settling is not the point
@pytest.mark.parametrize(
    "estimator",
    [
        KernelPCA(3, n_landmarks=20, random_state=0),
        KernelRidgeCV(),
        GaussianProcess(n_init=1),
        GaussianProcess(approximation="inducing", n_init=1),
        LocalPolynomialRegression(1),
        StiefelRegression(loss="huber"),
        ReducedRankRegression(),
        CoreVectorRegressor(random_state=0),
        UnsupervisedKernelRegression(1, loss=Huber(), random_state=0),
        UnsupervisedKernelRegression(1, data_kernel="gaussian", random_state=0),
        SmoothPSOM((5,), random_state=0),
        SlowFeatureAnalysis(expansion="gaussian", n_landmarks=20, random_state=0),
        DistanceCorrelationReduction(2),
        DependencyEstimator(y_features="gaussian"),
        DependencyEstimator(x_features=KernelPCA(5), preimage=LearnedPreimage()),
        DistanceCorrelationRegressor(2),
        TwinGaussianProcess(tune=None),
        KSVD(4, n_nonzero=2, max_iter=2, random_state=0),
    ],
    ids=lambda e: " ".join(repr(e).split())[:60],
)
def test_every_part_of_an_estimator_may_be_in_a_file(estimator, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 1.0, size=(40, 3))
    Y = np.column_stack([X[:, 0] * X[:, 1], np.sin(3 * X[:, 2])])
    single = isinstance(estimator, CoreVectorRegressor)
    model = estimator.fit(X, Y[:, 0] if single else Y)
    path = tmp_path / "model"
    skops.io.dump(model, path)
    unknown = skops.io.get_untrusted_types(file=path)
    assert [name for name in unknown if not _model._is_ours(name)] == []
    again = skops.io.load(path, trusted=unknown)
    answer = model.predict if hasattr(model, "predict") else model.transform
    repeat = again.predict if hasattr(again, "predict") else again.transform
    np.testing.assert_allclose(repeat(X), answer(X), rtol=1e-12, atol=1e-12)
