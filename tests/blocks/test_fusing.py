"""Graphs of folds on a cluster: few tasks, the same tree, one block at a time."""

import numpy as np
import pytest

from isthmus.blocks.cluster import Held, _run_merge, row_chunks
from isthmus.blocks.fusing import IN_ALL, SENT_ALONG, ChunkTasks
from isthmus.blocks.tree import FAN_IN, PORTIONS, TreeMerge, portions

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")


def both(a, b):
    return f"({a} {b})"


def first_entry(shared, index, before, block):
    return f"{shared.value}{int(block[0])}" if index != 3 else None  # one block has no rows


def graph(n, n_threads, *, state="x", leaf=first_entry, X=None):
    X = da.arange(n, chunks=1) if X is None else X
    chunks = ChunkTasks([(node,) for node in row_chunks(X, "test")[0]])
    numbers = [(index,) for index in range(n)]
    return chunks.reduction(
        leaf, _run_merge, numbers, shared=Held(state), merging=Held(both), n_threads=n_threads
    )


@pytest.mark.parametrize("n_threads", [None, 1, 2, 5])
@pytest.mark.parametrize("n", [1, 7, 9, 20, 64, 101])
def test_portions_do_not_change_the_tree(n, n_threads):
    tree = TreeMerge(both)
    for i in range(n):
        tree.push(f"x{i}" if i != 3 else None)
    assert graph(n, n_threads).compute(scheduler="synchronous") == tree.total()


def test_a_cluster_gets_fewer_tasks_and_small_ones_last():
    node = graph(400, 2)
    leaves = [key for key in node.dask if key[0].startswith("fold-") and "join" not in key[0]]
    assert len(leaves) == sum(map(len, portions(400, 2))) < 400 / 4
    (layer,) = node.dask.layers.values()
    priority = layer.annotations["priority"]
    ranked = sorted(leaves, key=priority, reverse=True)
    assert sorted(key[1] for key in ranked[:45]) == list(range(0, 45 * FAN_IN, FAN_IN))
    assert priority(node.key) > priority(ranked[0])  # merges do not wait


@pytest.mark.parametrize("n_threads", [1, 3])
def test_no_thread_gets_more_than_its_share_of_the_rest(n_threads):
    for parts in portions(100, n_threads):
        size = parts[0].stop - parts[0].start
        assert size == 1 or size * n_threads * PORTIONS <= 100 - parts[0].start


class Block:
    """What knows how many of its kind there are."""

    alive = most = 0

    def __init__(self):
        Block.alive += 1
        Block.most = max(Block.most, Block.alive)

    def __del__(self):
        Block.alive -= 1

    def __getitem__(self, index):
        return 1


def test_one_block_of_a_portion_is_held_at_a_time():
    import dask

    parts = [da.from_delayed(dask.delayed(Block)(), shape=(1,), dtype=object) for _ in range(40)]
    Block.alive = Block.most = 0
    graph(40, 1, X=da.concatenate(parts)).compute(scheduler="synchronous")
    assert Block.most == 1


def test_a_large_state_is_sent_once_and_a_small_one_with_each_task():
    def leaf(shared, index, before, block):
        return str(shared.value.size)

    for size, along in ((SENT_ALONG // 16, True), (SENT_ALONG, False)):
        node = graph(IN_ALL // SENT_ALONG, 1, state=np.zeros(size), leaf=leaf)
        assert any("state" in str(key) for key in node.dask) != along
        assert str(size) in node.compute(scheduler="synchronous")


def test_blocks_of_unlike_needs_stay_apart():
    X = da.arange(40, chunks=1)
    with_other_needs = da.concatenate([X[:20] + X[20:].sum(), X[20:]])
    node = graph(40, 1, X=with_other_needs)
    apart = graph(40, None, X=with_other_needs)
    assert node.compute(scheduler="synchronous") == apart.compute(scheduler="synchronous")
