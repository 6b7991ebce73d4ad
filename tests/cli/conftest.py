import io
import warnings

import numpy as np
import pandas as pd
import pytest


def read_exactly(source):
    """Return a csv table with every digit of its numbers, under old and new releases of pandas."""
    with warnings.catch_warnings():
        # Deprecated from pandas 3.1 on, where it is the default.
        warnings.filterwarnings("ignore", message="The 'float_precision' argument is deprecated")
        return pd.read_csv(source, float_precision="round_trip")


def smooth_table(n_rows=90, seed=0):
    """Three inputs, one of them text, and two outputs that bend with them."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-2, 2, size=(2, n_rows))
    kind = rng.choice(["iron", "wood"], size=n_rows)
    shift = np.where(kind == "iron", 1.0, -1.0)
    return pd.DataFrame(
        {"a": a, "b": b, "kind": kind, "u": np.sin(a) + shift, "v": np.cos(a) * b + shift}
    )


def predicted(result):
    assert result.exit_code == 0, result.stderr
    return read_exactly(io.StringIO(result.stdout))


def error(result, message):
    assert result.exit_code == 2, result.stdout
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("isthmus: error: ")
    assert message in lines[-1]
    assert len(lines[-1]) < 1000
    return lines[-1]


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    smooth_table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory, table, isthmus):
    path = tmp_path_factory.mktemp("model") / "best.isthmus"
    result = isthmus("fit", table, "--outputs", "u,v", "--model", path, "--quick")
    assert result.exit_code == 0, result.stderr
    return path


@pytest.fixture
def fit(isthmus, tmp_path):
    """Fit on a frame; return the result of the command and the path of the model."""

    def run(frame, outputs, *options, **writing):
        path = tmp_path / "train.csv"
        if frame is not None:
            frame.to_csv(path, index=False, **writing)
        model = tmp_path / "m.isthmus"
        named = [] if outputs is None else ["--outputs", outputs]
        return isthmus("fit", path, *named, "--model", model, "--quick", *options), model

    return run
