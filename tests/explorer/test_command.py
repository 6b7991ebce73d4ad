"""``isthmus explore``: every error is one line, an export needs no window."""

import socket

import numpy as np
import pandas as pd
import pytest

from isthmus import save
from isthmus.features import KernelPCA

TAG = "<img src=x onerror=alert(1)>"


@pytest.fixture
def files(tmp_path, digits):
    X, y = digits
    names = [TAG, *(f"p{i}" for i in range(1, 64))]
    frame = pd.DataFrame(X, columns=names)
    save(KernelPCA(2, kernel="linear").fit(frame), tmp_path / "m.isthmus")
    frame.assign(kind=[f"d{c}" for c in y]).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def one_line(result):
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_an_export_is_written(isthmus, files):
    page = files / "page.html"
    told = ["--label", "kind", "--as", "image:8x8", "--export", page]
    result = isthmus("explore", files / "m.isthmus", files / "t.csv", *told)
    assert result.exit_code == 0, result.stderr
    text = page.read_text()
    assert '"d7"' in text
    assert TAG not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--as", "image:9x9"], "does not fit rows of 64 numbers"),
        (["--as", "photo"], "kind 'photo' is unknown"),
        (["--label", "nothing"], "label column 'nothing' is missing"),
    ],
)
def test_what_does_not_fit_is_one_line(arguments, message, isthmus, files):
    told = [*arguments, "--export", files / "p.html"]
    assert message in one_line(isthmus("explore", files / "m.isthmus", files / "t.csv", *told))
    assert not (files / "p.html").exists()


def test_a_table_of_another_model_is_one_line(isthmus, files):
    pd.DataFrame({"u": [1.0, 2.0]}).to_csv(files / "other.csv", index=False)
    told = one_line(isthmus("explore", files / "m.isthmus", files / "other.csv"))
    assert "is missing" in told


def test_a_port_that_is_taken_is_one_line(isthmus, files):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        options = ["--no-browser", "--port", port]
        told = one_line(isthmus("explore", files / "m.isthmus", files / "t.csv", *options))
    assert f"port {port} is taken" in told


def test_a_file_that_would_run_code_is_refused(isthmus, tmp_path):
    (tmp_path / "m.isthmus").write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    assert "m.isthmus" in one_line(isthmus("explore", tmp_path / "m.isthmus"))


def test_a_model_without_a_way_back_is_one_line(isthmus, tmp_path):
    save(KernelPCA(2, kernel="precomputed").fit(np.eye(5)), tmp_path / "m.isthmus")
    told = one_line(isthmus("explore", tmp_path / "m.isthmus", "--no-browser"))
    assert "has no way back from coordinates to objects" in told
