"""Shortest paths from many sources at a time are those of Dijkstra's algorithm, to the last bit."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from isthmus.manifold.embedding import paths
from isthmus.manifold.embedding.graph import neighbor_pairs, path_lengths
from isthmus.manifold.embedding.paths import shortest_paths


def graph_of(ends, lengths, n):
    i, j = np.asarray(ends).reshape(-1, 2).T
    both = np.concatenate([i, j]), np.concatenate([j, i])
    return sparse.csr_array((np.tile(lengths, 2), both), shape=(n, n))


def drawn(name, n=150):
    rng = np.random.default_rng(0)
    rows = rng.permutation(n)
    spokes = np.column_stack([np.zeros(n - 1, dtype=int), np.arange(1, n)])
    ring = np.column_stack([rows[rows > 0], np.roll(rows[rows > 0], 1)])
    if name == "chain":
        return graph_of(np.column_stack([rows[:-1], rows[1:]]), rng.uniform(size=n - 1), n)
    if name == "star":
        return graph_of(spokes, rng.uniform(size=n - 1), n)
    if name == "wheel":  # paths along the ring leave every order by length from the hub
        lengths = np.repeat([1.0, 6.0 / n], n - 1)
        return graph_of(np.vstack([spokes, ring]), lengths, n)
    pairs = np.unique(np.sort(rng.integers(n, size=(3 * n, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    if name == "pieces":
        pairs = pairs[(pairs < n // 3).all(axis=1) | (pairs > n // 2).all(axis=1)]
    lengths = rng.exponential(size=len(pairs))
    if name == "ties":
        lengths = rng.integers(0, 3, size=len(pairs)).astype(float)
    return graph_of(pairs, lengths * {"large": 1e300, "small": 1e-300}.get(name, 1.0), n)


NAMES = ("chain", "star", "wheel", "pieces", "ties", "large", "small", "random")


@pytest.mark.parametrize("name", NAMES)
def test_paths_are_those_of_dijkstra(name):
    graph = drawn(name)
    assert np.array_equal(shortest_paths(graph), dijkstra(graph))


@pytest.mark.parametrize("name", ["wheel", "pieces"])
def test_groups_that_take_too_long_are_left_to_dijkstra(name, monkeypatch):
    monkeypatch.setattr(paths, "MOST_LOOKS", 1)
    graph = drawn(name)
    assert np.array_equal(shortest_paths(graph), dijkstra(graph))


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33])
def test_few_nodes(n):
    graph = drawn("chain", n)
    assert np.array_equal(shortest_paths(graph), dijkstra(graph))


def test_lengths_in_single_precision_are_added_in_double():
    graph = drawn("random").astype(np.float32)
    assert np.array_equal(shortest_paths(graph), dijkstra(graph.astype(np.float64)))


def test_paths_along_neighbours():
    Y = np.random.default_rng(1).normal(size=(300, 3))
    pairs = neighbor_pairs(Y, 5)
    graph = graph_of(pairs, np.linalg.norm(Y[pairs[:, 0]] - Y[pairs[:, 1]], axis=1), len(Y))
    assert np.array_equal(path_lengths(Y, pairs), dijkstra(graph))
