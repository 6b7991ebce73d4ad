"""``isthmus fit`` of a folder and of a pattern: all files are learned from, block by block."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from rich.console import Console

from isthmus.cli import learn, parts
from isthmus.cli.errors import UserError
from isthmus.cli.model import load_model


@pytest.fixture
def files(tmp_path, rng):
    X = rng.normal(size=(900, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["price"] = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=900)
    for i, part in enumerate(np.array_split(np.arange(900), 3)):
        table.iloc[part].to_parquet(tmp_path / f"part-{i}.parquet", index=False)
        table.iloc[part].to_csv(tmp_path / f"part-{i}.csv", index=False)
    return tmp_path, table


@pytest.fixture(autouse=True)
def ridge_wins(monkeypatch):
    monkeypatch.setattr(parts, "DRAWN_ROWS", 200)
    by_name = lambda results: next(r for r in results if r.candidate.name == "ridge")  # noqa: E731
    monkeypatch.setattr(learn, "best_of", by_name)


def fit(path, folder, **options):
    return learn.fit(
        path,
        outputs=["price"],
        inputs=None,
        model_file=folder / "model.isthmus",
        options=learn.FitOptions(quick=True, **options),
        console=Console(quiet=True),
    )


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_all_files_are_learned_from(files, suffix):
    folder, table = files
    model = fit(folder / f"part-*.{suffix}", folder)
    assert model.name == "ridge"
    assert model.n_rows == 900
    again = load_model(folder / "model.isthmus").estimator
    shown = again.predict(table[["a", "b", "c"]])
    X = np.c_[np.ones(900), table[["a", "b", "c"]]]
    expected = X @ np.linalg.lstsq(X, table["price"], rcond=None)[0]
    assert_allclose(np.ravel(shown), expected, atol=1e-2)


def test_the_workers_of_a_scheduler_read_the_files(files):
    distributed = pytest.importorskip("distributed")
    folder, _ = files
    here = fit(folder / "part-*.parquet", folder).estimator[-1].coef_
    options = {
        "processes": False,
        "protocol": "tcp",
        "dashboard_address": None,
        "host": "127.0.0.1",
    }
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, silence_logs=50, **options
    ) as local:
        there = fit(folder / "part-*.parquet", folder, scheduler=local.scheduler_address)
    assert there.n_rows == 900
    assert_allclose(there.estimator[-1].coef_, here, rtol=1e-9)


def test_what_is_not_there_is_named(files):
    folder, table = files
    with pytest.raises(UserError, match=r"nothing-\*.csv: there is no file"):
        fit(folder / "nothing-*.csv", folder)
    table.drop(columns="c").to_parquet(folder / "part-9.parquet")
    with pytest.raises(UserError, match=r"part-9.parquet: has other columns than .*part-0.parquet"):
        fit(folder / "part-*.parquet", folder)
    with pytest.raises(UserError, match="cannot be reached"), parts.connected("tcp://127.0.0.1:1"):
        pass
