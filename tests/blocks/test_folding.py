"""Sums over rows: the same from an array, a memmap, a list, a stream, several threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.blocks import fold, map_block, merge, row_blocks, sample_rows


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(53, 3)) + 5
    X.flags.writeable = False
    return X


def moments(X, **options):
    return fold(X, map_block, merge, **options)


@pytest.mark.parametrize("block_size", [1, 7, 53, 100, None])
def test_any_blocks_give_the_moments_of_all_rows(rows, block_size):
    found = moments(rows, block_size=block_size)
    assert found.count == 53
    assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-13)
    assert_allclose(found.scatter, 52 * np.cov(rows.T), rtol=1e-12)


def test_whatever_holds_the_rows_the_same_blocks_give_the_same_bits(rows, tmp_path):
    expected = moments(rows, block_size=10)
    on_disk = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=rows.shape)
    on_disk[:] = rows
    stream = (rows[i : i + 10] for i in range(0, 53, 10))

    class Sliced:  # as zarr and h5py are
        shape = rows.shape

        def __len__(self):
            return len(rows)

        def __getitem__(self, where):
            return rows[where]

    for X in (on_disk, Sliced()):
        assert_array_equal(moments(X, block_size=10).scatter, expected.scatter)
    assert_array_equal(moments(stream).scatter, expected.scatter)
    assert_array_equal(moments(rows, block_size=10, n_jobs=2).scatter, expected.scatter)


def test_finish_makes_what_is_wanted_of_the_sum(rows):
    mean = fold(rows, map_block, merge, lambda total: total.mean, block_size=9)
    assert_allclose(mean, rows.mean(axis=0))


def test_objects_come_in_lists():
    words = ["a", "bb", "ccc", "dddd"]
    assert fold(words, lambda block: sum(map(len, block)), lambda a, b: a + b, block_size=2) == 10
    assert [len(b) for b in row_blocks(words, block_size=3)] == [3, 1]


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="at least one block"):
        fold(iter(()), map_block, merge)


def test_a_sample_is_drawn_without_repetition_and_in_order(rng):
    drawn = sample_rows(100, 20, rng)
    assert len(set(drawn)) == 20
    assert_array_equal(drawn, np.sort(drawn))
    assert_array_equal(sample_rows(100, 20), sample_rows(100, 20))
    shuffled = sample_rows(100, 20, 0, sort=False)
    assert_array_equal(np.sort(shuffled), sample_rows(100, 20))


def test_few_rows_are_all_taken_and_nothing_is_drawn():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert_array_equal(sample_rows(4, 4, rng), np.arange(4))
    assert_array_equal(sample_rows(4, None, rng), np.arange(4))
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_centred_in_place_have_the_same_moments(rows, weighted):
    weights = np.arange(1.0, 54.0) if weighted else None
    expected = map_block(rows, weights)  # rows cannot be written to
    found = map_block(rows.copy(), weights, overwrite_x=True)
    for a, b in zip(found, expected, strict=True):
        assert_array_equal(a, b)
