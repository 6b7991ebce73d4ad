import hashlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import Bunch

from isthmus.datasets import (
    ChecksumMismatch,
    DataNotAvailable,
    data_home,
    is_available,
    real,
    store,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with one set, the banana of the IDA benchmark, made small."""
    (tmp_path / "ida").mkdir()
    path = tmp_path / "ida" / "banana.npz"
    np.savez(path, X=np.arange(6.0).reshape(3, 2), y=np.array([1, -1, 1]))
    write_sums(tmp_path)
    monkeypatch.setenv("ISTHMUS_DATA", str(tmp_path))
    return tmp_path


def write_sums(folder):
    digest = hashlib.sha256((folder / "ida" / "banana.npz").read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  ida/banana.npz\n")


def test_a_verified_set_is_a_bunch_of_its_arrays(folder):
    banana = real.load_ida("banana")
    assert_array_equal(banana.X, np.arange(6.0).reshape(3, 2))
    assert_array_equal(banana.y, [1, -1, 1])
    assert is_available("ida")
    assert is_available("ida/banana.npz")
    assert not is_available("ida/german.npz")


def test_without_the_variable_the_message_names_it(monkeypatch):
    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    with pytest.raises(DataNotAvailable, match=r"ISTHMUS_DATA is not set. Set it to the folder"):
        data_home()
    with pytest.raises(FileNotFoundError, match="ISTHMUS_DATA"):
        real.load_usps()
    assert not is_available("usps")


def test_a_variable_that_names_no_folder_is_shown(monkeypatch, tmp_path):
    monkeypatch.setenv("ISTHMUS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataNotAvailable, match=r"nowhere'.*not a folder"):
        data_home()


def test_a_missing_file_is_named(folder):
    with pytest.raises(DataNotAvailable, match=r"'ida/german.npz' is missing"):
        real.load_ida("german")


def test_a_changed_file_is_refused_with_both_digests(folder):
    expected = (folder / "SHA256SUMS").read_text().split()[0]
    np.savez(folder / "ida" / "banana.npz", X=np.zeros(1))
    got = hashlib.sha256((folder / "ida" / "banana.npz").read_bytes()).hexdigest()
    with pytest.raises(ChecksumMismatch, match=f"'ida/banana.npz'.*{expected}.*{got}"):
        real.load_ida("banana")


def test_a_file_without_a_published_sum_is_refused(folder):
    (folder / "SHA256SUMS").write_text("")
    with pytest.raises(ChecksumMismatch, match="no line for it"):
        real.load_ida("banana")
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(DataNotAvailable, match="SHA256SUMS is missing"):
        real.load_ida("banana")


def test_a_file_is_hashed_once(folder):
    store._digest.cache_clear()
    real.load_ida("banana")
    real.load_ida("banana")
    assert store._digest.cache_info().misses == 1


def test_pickled_objects_are_refused_even_with_a_right_sum(folder):
    np.savez(folder / "ida" / "banana.npz", X=np.array([{"a": 1}], dtype=object))
    write_sums(folder)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        real.load_ida("banana")


def test_an_unknown_ida_set_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"one of banana, .*waveform. Got 'apple'"):
        real.load_ida("apple")


def test_olivetti_without_folder_and_network_says_so_in_one_message(monkeypatch):
    def no_network(**_):
        raise OSError("network is unreachable")

    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_olivetti_faces", no_network)
    with pytest.raises(DataNotAvailable, match=r"download failed \(network is unreachable\)"):
        real.load_olivetti()


def test_olivetti_without_folder_comes_from_scikit_learn(monkeypatch):
    def fetched(**options):
        assert options == {"n_retries": 1}
        return Bunch(data=np.full((4, 4096), 0.5), target=np.arange(4))

    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_olivetti_faces", fetched)
    faces = real.load_olivetti()
    assert faces.images.shape == (4, 64, 64)
    assert_array_equal(faces.subject, range(4))
