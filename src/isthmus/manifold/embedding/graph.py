"""Neighbour graphs that hang together, distances along them, and two starts."""

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import cdist

from isthmus.linalg.krylov import ritz_pairs
from isthmus.linalg.products import symmetric_product
from isthmus.linalg.signs import fix_signs
from isthmus.manifold.embedding.loops import spanning_tree
from isthmus.manifold.embedding.paths import shortest_paths
from isthmus.manifold.ukr.starts import fewest_connecting_neighbors, neighbor_table
from isthmus.typing import Array, IntArray

# Neighbours of a row, where their number is chosen: enough to connect the data, within these.
FEWEST, MOST = 4, 10
# From so many rows on, the few eigenvectors that are asked for are found by iteration.
MANY_ROWS = 400
# Residual of eigenvectors that are found by iteration, relative to the largest eigenvalue.
PRECISION = 1e-12
# Columns shorter than this share of the longest are made by rounding errors: the root of a share of
# the largest eigenvalue.
ROUNDING = 1e-6


def neighbor_pairs(Y: Array, n_neighbors: int | None, straight: Array | None = None) -> IntArray:
    """Pairs i < j of neighbours, (m, 2): nearest rows and a shortest tree through all.

    The tree connects what nearest neighbours alone would leave in pieces. Without a number of
    neighbours it is the smallest that connects the rows, from 4 to 10. ``straight`` are the
    distances (n, n) of the rows, where they are known.
    """
    n = len(Y)
    _, index = neighbor_table(Y, n_neighbors or MOST)
    if n_neighbors is None:
        index = index[:, : max(FEWEST, fewest_connecting_neighbors(index) or MOST)]
    tree = spanning_tree(cdist(Y, Y) if straight is None else straight)
    return _distinct(np.vstack([_listed(index), tree]), n)


def _listed(index: IntArray) -> IntArray:
    """Pairs (m, 2) of a row and a neighbour, of a table (n, k) of neighbours."""
    n, k = index.shape
    return np.column_stack([np.repeat(np.arange(n), k), index.ravel()])


def _distinct(pairs: IntArray, n: int) -> IntArray:
    """Pairs i < j, each once."""
    i, j = np.sort(pairs, axis=1).T
    return np.column_stack(np.divmod(np.unique(i * n + j), n))


def path_lengths(Y: Array, pairs: IntArray) -> Array:
    """Lengths (n, n) of shortest paths along pairs."""
    i, j = pairs.T
    length = np.linalg.norm(Y[i] - Y[j], axis=1)
    both = np.concatenate([i, j]), np.concatenate([j, i])
    graph = sparse.csr_array((np.tile(length, 2), both), shape=(len(Y), len(Y)))
    return shortest_paths(graph)


def principal_places(Y: Array, q: int) -> Array:
    """Principal components (n, q), with columns of zeros where there are fewer."""
    centred = Y - Y.mean(axis=0)
    _, _, Vt = linalg.svd(centred, full_matrices=False)
    Z = centred @ fix_signs(Vt[:q].T)
    return np.pad(Z, ((0, 0), (0, q - Z.shape[1])))


def classical_scaling(D: Array, q: int) -> Array:
    """Places (n, q) whose inner products are nearest to those of distances, as in Isomap."""
    n = len(D)
    k = min(q, n)
    values, V = _largest_pairs(D**2, k)
    Z = fix_signs(V[:, ::-1]) * np.sqrt(np.maximum(values[::-1], 0.0))
    return np.pad(Z, ((0, 0), (0, q - k)))


def isomap_places(Y: Array, index: IntArray, q: int) -> Array:
    """Isomap: places (n, q) by the lengths of paths along a table (n, k) of neighbours.

    Columns that are nothing but rounding errors are zero.
    """
    Z = classical_scaling(path_lengths(Y, _distinct(_listed(index), len(Y))), q)
    size = np.linalg.norm(Z, axis=0)
    Z[:, size <= ROUNDING * size.max(initial=0.0)] = 0.0
    return Z


def _largest_pairs(squared: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of the inner products of squared distances, and their vectors.

    Smallest first. The inner products are -J S J / 2, where J takes the mean away.
    """
    n = len(squared)
    if n >= max(MANY_ROWS, 40 * k):  # by products with blocks of vectors
        width = k + 6
        found = ritz_pairs(
            lambda V: _centred(-0.5 * symmetric_product(squared, _centred(V))),
            n,
            k,
            width=width,
            n_basis=min(k + 12 * width, n),
            tol=PRECISION,
            max_products=40,
        )
        if found.residual <= PRECISION:
            return found.values, found.vectors
    S = _centred(-0.5 * _centred(squared).T)
    values, V = linalg.eigh((S + S.T) / 2, subset_by_index=(n - k, n - 1))
    return values, V


def _centred(A: Array) -> Array:
    return np.asarray(A - A.mean(axis=0))
