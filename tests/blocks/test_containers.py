"""Rows from whatever holds them: recognised, aligned, checked, and refused by name."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.blocks import (
    draw_rows,
    each,
    each_pair,
    fold,
    in_blocks,
    iterate,
    map_block,
    merge,
    open_rows,
    reservoir,
    row_blocks,
    sample_rows,
)
from isthmus.blocks.tree import TreeMerge, depth, levels
from isthmus.kernels import Gaussian
from isthmus.regression import BayesianLinearRegression

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.usefixtures("threads")


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(100, 3)) + 5
    X.flags.writeable = False
    return X


def cross(X, y):
    return X.T @ y


def every_container(X, tmp_path):
    """The rows of X in blocks of 13, in every kind of container."""
    import dask.dataframe as dd
    import h5py
    import pandas as pd
    import zarr

    table = pd.DataFrame(X, columns=["a", "b", "c"])
    on_disk = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=X.shape)
    on_disk[:] = X
    file = h5py.File(tmp_path / "rows.h5", "w")
    starts = range(0, len(X), 13)
    return {
        "memmap": on_disk,
        "zarr": zarr.array(X, chunks=(13, 3)),
        "h5py": file.create_dataset("X", data=X, chunks=(13, 3)),
        "iterator": iter([X[i : i + 13] for i in starts]),
        "function": lambda: (X[i : i + 13] for i in starts),
        "tables": iter([table.iloc[i : i + 13] for i in starts]),
        "dask array": da.from_array(X, chunks=(13, 2)),
        "dask dataframe": dd.from_delayed(
            [_delayed(table.iloc[i : i + 13]) for i in starts], meta=table.iloc[:0]
        ),
    }


def _delayed(block):
    import dask

    return dask.delayed(block)


CONTAINERS = [
    "memmap",
    "zarr",
    "h5py",
    "iterator",
    "function",
    "tables",
    "dask array",
    "dask dataframe",
]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_the_same_blocks_give_the_same_bits_whatever_holds_them(rows, kind, tmp_path):
    X = every_container(rows, tmp_path)[kind]
    assert in_blocks(X)
    expected = fold(rows, map_block, merge, block_size=13)
    found = fold(X, map_block, merge, block_size=13)
    assert found.count == 100
    assert_array_equal(found.scatter, expected.scatter)


def test_arrays_lists_and_tables_in_memory_are_not_in_blocks(rows):
    import pandas as pd

    for X in (rows, rows.tolist(), ["a", "b"], pd.DataFrame(rows), pd.Series([1.0]), {1, 2}, None):
        assert not in_blocks(X)


def test_a_pyarrow_data_set_is_read_batch_by_batch(rows, tmp_path):
    import pyarrow as pa
    import pyarrow.dataset
    import pyarrow.parquet

    for i, part in enumerate(np.array_split(rows, 3)):
        pa.parquet.write_table(
            pa.table({name: part[:, j] for j, name in enumerate("abc")}),
            tmp_path / f"part-{i}.parquet",
        )
    source = pa.dataset.dataset(tmp_path, format="parquet")
    y = source.scanner(columns=["c"])
    model = BayesianLinearRegression().fit(source.scanner(columns=["a", "b"]), y)
    expected = BayesianLinearRegression().fit(rows[:, :2], rows[:, 2:])
    assert_allclose(model.coef_, expected.coef_, rtol=1e-10)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_columns_of_one_folder_of_small_files_go_together(rows, tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    table = pd.DataFrame(np.c_[rows, rows @ [1.0, 2.0, 3.0]], columns=["a", "b", "c", "y"])
    for i in range(4):  # Dask reads several small files as one partition
        table.iloc[25 * i : 25 * (i + 1)].to_parquet(tmp_path / f"part-{i}.parquet")
    read = dd.read_parquet(tmp_path / "part-*.parquet")
    model = BayesianLinearRegression(noise=0.1).fit(read[["a", "b", "c"]], read["y"])
    expected = BayesianLinearRegression(noise=0.1).fit(rows, table["y"].to_numpy())
    assert_allclose(model.coef_, expected.coef_, rtol=1e-10)


def test_the_tree_of_a_stream_is_the_tree_of_known_leaves():
    for n in (1, 2, 7, 8, 9, 64, 65, 100, 513):
        names = [str(i) for i in range(n)]
        tree = TreeMerge(lambda a, b: f"({a} {b})")
        for name in names:
            tree.push(name)

        def node(group):
            total = group[0]
            for other in group[1:]:
                total = f"({total} {other})"
            return total

        assert tree.total() == levels(names, node)
    assert [depth(n) for n in (1, 8, 9, 64, 65)] == [0, 1, 2, 2, 3]


def test_pairs_are_aligned_however_they_are_cut(rows, rng):
    import dask.dataframe as dd
    import pandas as pd

    y = rng.normal(size=100)
    X = da.from_array(rows, chunks=(13, 3))
    table = dd.from_pandas(pd.DataFrame(rows), npartitions=4)
    outputs = da.from_array(y, chunks=20)
    for pair in [
        (X, y),
        (X, outputs),
        (table, outputs),
        (iter(np.array_split(rows, 7)), iter(np.array_split(y, 3))),
        (iter(np.array_split(rows, 7)), y),
        (rows, iter(np.array_split(y, 3))),
        iter([(rows[:30], y[:30]), (rows[30:], y[30:])]),
    ]:
        assert_allclose(fold(pair, cross, np.add), rows.T @ y, rtol=1e-12)
    some = rows[:, 0] > 5  # chunks of unknown length on both sides
    found = fold((X[X[:, 0] > 5], da.from_array(y, chunks=13)[some]), cross, np.add)
    assert_allclose(found, rows[some].T @ y[some], rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: (da.from_array(X, chunks=13), y[:-1]), "100 rows and 99"),
        (lambda X, y: (X, y[:-1]), "100 in X, 99 in y"),
        (lambda X, y: (iter([X]), y[:-1]), "100 rows in X and fewer in y"),
        (lambda X, y: (iter([X[:50]]), y), "50 rows in X and more in y"),
        (
            lambda X, y: (_above(da.from_array(X, chunks=13)), da.from_array(y, chunks=13)),
            r"row by row. Got rows in chunk \d+: \d+ in X, \d+ in y",
        ),
        (lambda X, y: (da.from_array(X, chunks=13), iter([y])), "side by side"),
    ],
)
def test_pairs_that_do_not_go_together_are_refused(rows, make, message):
    with pytest.raises(ValueError, match=message):
        fold(make(rows, np.ones(100)), cross, np.add)


def _above(X):
    return X[X[:, 0] > 5]


def _with(X, row, value):
    X = X.copy()
    X[row, 1] = value
    return X


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda X: da.from_array(_with(X, 40, np.nan), chunks=13),
            ValueError,
            "X contains NaN in chunk 3, row 1 of it, column 1",
        ),
        (
            lambda X: iter([X, _with(X, 7, np.inf)]),
            ValueError,
            "contains infinity in chunk 1, row 7",
        ),
        (lambda X: iter([X, 1e80 * X]), ValueError, "in chunk 1; rescale"),
        (lambda X: iter([X, X[:, :2]]), ValueError, "expected 3 columns .* Got 2 in chunk 1"),
        (lambda X: iter([X, X.astype(np.float32)]), ValueError, "Got float32 in chunk 1"),
        (lambda X: iter([X, X.ravel()]), ValueError, "2 dimensions in X. Got 1 in chunk 1"),
        (lambda X: da.from_array(X.astype(object), chunks=13), TypeError, "Got object"),
        (lambda X: iter([]), ValueError, "at least one block of rows. Got none"),
        (lambda X: da.zeros((0, 3)), ValueError, "at least one block of rows. Got none"),
        (lambda X: itertools.repeat(X), ValueError, "come to an end"),
        (lambda X: itertools.cycle([X]), ValueError, "come to an end"),
    ],
)
def test_blocks_that_cannot_be_used_are_named(rows, make, error, message):
    model = BayesianLinearRegression().fit(rows, rows[:, 0])
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        model.fit(make(rows), make(rows))
    assert all(vars(model)[name] is value for name, value in before.items())  # the former fit stays


def test_columns_of_text_are_named(rows):
    import dask.dataframe as dd
    import pandas as pd

    table = pd.DataFrame({"x": rows[:, 0], "city": ["a"] * 100})
    with pytest.raises(TypeError, match="'city'"):
        BayesianLinearRegression().fit(dd.from_pandas(table, npartitions=2), rows[:, 0])


def test_empty_chunks_are_skipped(rows):
    X = da.from_array(rows, chunks=((20, 0, 80), (3,)))
    assert X.numblocks[0] == 3
    found = fold(X, map_block, merge)
    assert_allclose(found.scatter, fold(rows, map_block, merge).scatter, rtol=1e-12)
    assert each(X, lambda block: block + 1).compute().shape == (100, 3)


def test_an_iterator_is_read_once_and_says_so(rows):
    opened = open_rows("me", iter([rows]))
    opened.fold(map_block, merge)
    with pytest.raises(ValueError, match="me reads the rows several times, but got an iterator"):
        opened.fold(map_block, merge)
    with pytest.raises(ValueError, match="can be read once"):
        iterate(iter([rows]), 0, map_block, merge, lambda total, state: (0, False), max_iter=2)


def test_lags_reach_over_the_ends_of_blocks(rows):
    def squares(block, overlap):
        later = np.arange(max(overlap, 2), len(block))
        return np.sum((block[later] - block[later - 2]) ** 2)

    expected = np.sum((rows[2:] - rows[:-2]) ** 2)
    X = da.from_array(rows, chunks=13)
    for source in (
        rows,
        X,
        X[X[:, 0] > -99],
        da.from_array(rows, chunks=1),
        iter(np.split(rows, 50)),
    ):
        assert_allclose(fold(source, squares, np.add, overlap=2), expected, rtol=1e-12)


def test_joblib_gives_the_same_bits(rows):
    import joblib

    expected = fold(rows, map_block, merge, block_size=9)
    with joblib.parallel_config(n_jobs=2, backend="threading"):
        assert_array_equal(fold(rows, map_block, merge, block_size=9).scatter, expected.scatter)


def test_a_reservoir_depends_on_neither_chunks_nor_scheduler(rows):
    expected = reservoir(rows, 7, 3)[0]
    for X in (iter(np.split(rows, 10)), da.from_array(rows, chunks=(13, 3)), lambda: iter([rows])):
        assert_array_equal(reservoir(X, 7, 3)[0], expected)
    assert len({tuple(row) for row in expected}) == 7
    assert_array_equal(reservoir(rows, 200, 3)[0], rows)


def test_a_reservoir_draws_all_rows_alike():
    X = np.arange(20.0)[:, None]
    drawn = np.concatenate([reservoir(X, 5, seed)[0].ravel() for seed in range(2000)])
    counts = np.bincount(drawn.astype(int), minlength=20)
    # 2000 draws of 5 of 20: each is drawn 500 times, with a deviation of 19.
    assert np.abs(counts - 500).max() < 5 * 19.4


def test_drawn_rows_are_those_of_an_array(rows):
    wanted = rows[sample_rows(100, 9, 4)]
    X = da.from_array(rows, chunks=13)
    for source in (rows, X, X[X[:, 0] > -99], lambda: iter(np.split(rows, 4))):
        assert_array_equal(draw_rows(source, 9, 4)[0], wanted)
    backwards = draw_rows((rows, np.arange(100)), 9, 4, sort=False)
    assert_array_equal(rows[backwards[1].astype(int)], backwards[0])


def test_each_keeps_chunks_and_is_lazy(rows):
    calls = []

    def total(block):
        calls.append(len(block))
        return block.sum(axis=1)

    found = each(da.from_array(rows, chunks=(13, 3)), total)
    assert calls == [1]  # the example
    assert found.chunks[0] == (13,) * 7 + (9,)
    assert_allclose(found.compute(), rows.sum(axis=1))
    first, second = each(da.from_array(rows, chunks=50), lambda X: (X, X.sum(axis=1)))
    assert first.shape == (100, 3)
    assert second.shape == (100,)
    again = each(rows, total, block_size=30)
    assert [len(block) for block in again] == [len(block) for block in again] == [30, 30, 30, 10]


def test_each_takes_bags_of_objects():
    import dask.bag

    bag = dask.bag.from_sequence(["a", "bb", "ccc"], npartitions=2)
    assert each(bag, lambda words: [w.upper() for w in words]).compute(scheduler="sync") == [
        "A",
        "BB",
        "CCC",
    ]
    assert each(bag, lambda words: np.array([len(w) for w in words])).compute().tolist() == [
        1,
        2,
        3,
    ]
    assert fold(bag, lambda words: sum(map(len, words)), lambda a, b: a + b) == 6


def test_a_function_that_loses_rows_is_refused(rows):
    found = each(da.from_array(rows, chunks=50), lambda X: X[:1])
    with pytest.raises(ValueError, match=r"expected 50 rows for chunk \d. Got 1"):
        found.compute()


def test_a_gram_matrix_of_dask_arrays_is_lazy(rows):
    X = da.from_array(rows, chunks=13)
    kernel = Gaussian(0.1)
    K = each_pair(X, X, kernel)
    assert K.chunks == ((13,) * 7 + (9,),) * 2
    assert_allclose(K.compute(), kernel(rows), rtol=1e-12)
    assert_allclose(each_pair(X, rows[:5], kernel).compute(), kernel(rows, rows[:5]), rtol=1e-12)


def test_row_blocks_reads_chunks_one_by_one(rows):
    assert [len(b) for b in row_blocks(da.from_array(rows, chunks=40))] == [40, 40, 20]


def _n_tasks(X):
    """How many tasks a fold gives to the scheduler."""
    import dask
    from dask.callbacks import Callback

    seen = []
    with dask.config.set(scheduler="sync"), Callback(pretask=lambda key, *_: seen.append(key)):
        fold(X, cross, np.add)
    return len(seen)


def test_reading_and_mapping_a_chunk_is_one_task(rows):
    X = da.from_array(rows, chunks=(25, 3))
    read = each(X + 1, lambda block: (block[:, :2], block[:, 2]))  # both outputs of one reading
    n_merges = 1
    assert _n_tasks(read) == 4 + n_merges
    # What can be computed side by side is not put into one task.
    wide = (da.from_array(rows, chunks=(5, 3)) + 1).rechunk((100, 3))
    assert _n_tasks((wide, np.ones(100))) > 20
