"""Neighbour graphs that hang together, distances along them, and two starts."""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from isthmus.linalg.krylov import ritz_pairs
from isthmus.linalg.products import symmetric_product
from isthmus.linalg.signs import fix_signs
from isthmus.manifold.embedding.loops import spanning_tree
from isthmus.manifold.ukr.starts import fewest_connecting_neighbors, neighbor_table
from isthmus.typing import Array

# Neighbours of a row, where their number is chosen: enough to connect the data, within these.
FEWEST, MOST = 4, 10
# Residual of eigenvectors that are found by iteration, relative to the largest eigenvalue.
PRECISION = 1e-12


def n_neighbors_for(Y: Array, n_neighbors: int | None) -> int:
    """The number that was asked for, or the smallest that connects the rows, from 4 to 10."""
    if n_neighbors is None:
        _, index = neighbor_table(Y, MOST)
        n_neighbors = max(FEWEST, fewest_connecting_neighbors(index) or MOST)
    return min(n_neighbors, len(Y) - 1)


def neighbor_pairs(Y: Array, n_neighbors: int) -> Array:
    """Pairs i < j of neighbours, (m, 2): nearest rows and a shortest tree through all.

    The tree connects what nearest neighbours alone would leave in pieces.
    """
    n = len(Y)
    _, index = neighbor_table(Y, n_neighbors)
    near = np.column_stack([np.repeat(np.arange(n), index.shape[1]), index.ravel()])
    pairs = np.vstack([near, spanning_tree(cdist(Y, Y))])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def path_lengths(Y: Array, pairs: Array) -> Array:
    """Lengths (n, n) of shortest paths along pairs."""
    length = np.linalg.norm(Y[pairs[:, 0]] - Y[pairs[:, 1]], axis=1)
    graph = sparse.csr_array((length, (pairs[:, 0], pairs[:, 1])), shape=(len(Y), len(Y)))
    return np.asarray(shortest_path(graph, directed=False))


def principal_places(Y: Array, q: int) -> Array:
    """Principal components (n, q), with columns of zeros where there are fewer."""
    centred = Y - Y.mean(axis=0)
    _, _, Vt = linalg.svd(centred, full_matrices=False)
    Z = centred @ fix_signs(Vt[:q].T)
    return np.pad(Z, ((0, 0), (0, q - Z.shape[1])))


def _largest_pairs(S: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, smallest first, and their vectors."""
    n = len(S)
    if 40 * k < n:  # few of many: by products with blocks of vectors
        width = k + 6
        found = ritz_pairs(
            lambda V: symmetric_product(S, V),
            n,
            k,
            width=width,
            n_basis=min(k + 12 * width, n),
            tol=PRECISION,
            max_products=40,
        )
        if found.residual <= PRECISION:
            return found.values, found.vectors
    values, V = linalg.eigh(S, subset_by_index=(n - k, n - 1))
    return values, V


def classical_scaling(D: Array, q: int) -> Array:
    """Places (n, q) whose inner products are nearest to those of distances, as in Isomap."""
    n = len(D)
    S = D**2
    S -= S.mean(axis=0)
    S -= S.mean(axis=1, keepdims=True)
    S *= -0.5
    k = min(q, n)
    values, V = _largest_pairs((S + S.T) / 2, k)
    Z = fix_signs(V[:, ::-1]) * np.sqrt(np.maximum(values[::-1], 0.0))
    return np.pad(Z, ((0, 0), (0, q - k)))
