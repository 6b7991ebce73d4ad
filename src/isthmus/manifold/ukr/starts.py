"""Where training begins: spectral embeddings and one from the neighbour graph, and their scale."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_memory

from isthmus.blocks.sampling import sample_rows
from isthmus.linalg.nearest import FEW_OPERATIONS
from isthmus.linalg.products import inner_products
from isthmus.linalg.signs import fix_signs
from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array, IntArray

EMBEDDINGS = ("pca", "isomap", "lle", "laplacian", "neighbors")
MOST_NEIGHBORS = 30  # data whose graph needs more to hang together are clusters
SPECTRAL_ROWS = (
    1000  # spectral methods see at most this many rows; others go between their neighbours
)
# From here on compiled loops for the lengths of paths are worth their first call.
MANY_ROWS = 300
# Up to so many columns principal axes are those of the covariances of long tables.
MANY_COLUMNS = 500
N_SCALES = 14
SCALE_PATIENCE = 3  # scales in a row that are worse than the best before the search ends


def neighbor_table(Y: Array, k: int) -> tuple[Array, IntArray]:
    """Distances and numbers of the ``k`` nearest other rows, each of shape (n, k)."""
    k = min(k, len(Y) - 1)
    if Y.size * len(Y) <= FEW_OPERATIONS:  # without threads, which would spin beside those of BLAS
        distance = cdist(Y, Y)
        np.fill_diagonal(distance, np.inf)
        return _least(distance, k)
    distance, index = NearestNeighbors(n_neighbors=k).fit(Y).kneighbors()
    return distance, index


def _least(distance: Array, k: int) -> tuple[Array, IntArray]:
    """The ``k`` least distances of each row, in order, and their numbers; of equal ones the first.

    Sorts that keep the order of equal numbers take much longer: only rows with such get one.
    """
    most = min(k + 1, distance.shape[1])
    index = np.argpartition(distance, most - 1, axis=1)[:, :most]
    found = np.take_along_axis(distance, index, axis=1)
    order = np.argsort(found, axis=1)
    found = np.take_along_axis(found, order, axis=1)
    index = np.take_along_axis(index, order, axis=1)
    ties = np.flatnonzero((found[:, 1:] == found[:, :-1]).any(axis=1))
    if len(ties):
        index[ties] = np.argsort(distance[ties], axis=1, kind="stable")[:, :most]
    return found[:, :k], index[:, :k]


def fewest_connecting_neighbors(index: IntArray) -> int | None:
    """Smallest k for which the graph of k nearest neighbours is connected; None if none is.

    A spanning tree whose pairs are neighbours as early as possible has this k as its last rank.
    """
    n, most = index.shape
    ranks = np.tile(np.arange(1.0, most + 1), n)
    graph = csr_array((ranks, index.ravel(), np.arange(n + 1) * most), shape=(n, n))
    tree = minimum_spanning_tree(graph)
    return int(tree.data.max(initial=1.0)) if tree.nnz == n - 1 else None


def find_embeddings(
    Y: Array, q: int, names: tuple[str, ...], rng: np.random.Generator, n_neighborhoods: int
) -> Iterator[tuple[str, Array]]:
    """Embeddings (n, q) of the rows of ``Y`` with columns of unit variance, by name.

    Isomap, locally linear embedding and Laplacian eigenmaps are tried with several
    neighbourhoods, from the smallest that connects the data; where 30 neighbours do not, only
    principal components and the neighbour embedding are left.
    """
    if "pca" in names:
        yield "pca", _unit(principal_scores(Y, q, rng), rng)
    if "neighbors" in names:
        yield "neighbors", _unit(neighbor_embedding(Y, q, rng), rng)
    spectral = [name for name in names if name in ("isomap", "lle", "laplacian")]
    if not spectral:
        return
    chosen = sample_rows(len(Y), SPECTRAL_ROWS, rng)
    some = Y[chosen]
    _, index = neighbor_table(some, MOST_NEIGHBORS)
    fewest = fewest_connecting_neighbors(index)
    if fewest is None:
        return
    fewest = max(fewest, q + 1)
    for k in range(fewest, min(fewest + n_neighborhoods, index.shape[1] + 1)):
        for name in spectral:
            found = _spectral(name, some, index[:, :k], q, rng)
            if found is not None:
                yield f"{name}-{k}", _unit(_place_between_neighbors(found, chosen, Y), rng)


def kept_embeddings(
    Y: Array,
    q: int,
    names: tuple[str, ...],
    rng: np.random.Generator,
    n_neighborhoods: int,
    memory: Any,
) -> list[tuple[str, Array]]:
    """The embeddings as a list; where they were found before, as ``memory`` has them."""
    if memory is None:
        return list(find_embeddings(Y, q, names, rng, n_neighborhoods))
    look_up = check_memory(memory).cache(_embeddings_and_state)
    found, rng.bit_generator.state = look_up(Y, q, names, rng.bit_generator.state, n_neighborhoods)
    return list(found)


def _embeddings_and_state(
    Y: Array, q: int, names: tuple[str, ...], state: Mapping[str, Any], n_neighborhoods: int
) -> tuple[list[tuple[str, Array]], Mapping[str, Any]]:
    """The embeddings, and the state in which they leave the generator that began in ``state``."""
    rng = np.random.Generator(getattr(np.random, state["bit_generator"])())
    rng.bit_generator.state = state
    return list(find_embeddings(Y, q, names, rng, n_neighborhoods)), rng.bit_generator.state


def _spectral(
    name: str, Y: Array, index: IntArray, q: int, rng: np.random.Generator
) -> Array | None:
    """The embedding by a table (n, k) of neighbours; None where it is not defined."""
    seed, k = int(rng.integers(2**31)), index.shape[1]
    if name == "isomap" and len(Y) >= MANY_ROWS:
        from isthmus.manifold.embedding.graph import isomap_places

        return _if_spread(isomap_places(Y, index, q))
    method = {
        "isomap": lambda: Isomap(n_neighbors=k, n_components=q, eigen_solver="auto"),
        "lle": lambda: LocallyLinearEmbedding(n_neighbors=k, n_components=q, random_state=seed),
        "laplacian": lambda: SpectralEmbedding(  # which counts a row among its neighbours
            q, affinity="nearest_neighbors", n_neighbors=k + 1, random_state=seed
        ),
    }[name]()
    try:
        found = method.fit_transform(Y)
    except (ValueError, RuntimeError, np.linalg.LinAlgError):
        return None  # a singular eigenproblem: one candidate fewer
    return _if_spread(found)


def _if_spread(found: Array) -> Array | None:
    """The embedding where it is finite and no column is constant."""
    return found if np.all(np.isfinite(found)) and np.all(np.std(found, axis=0) > 0) else None


def _place_between_neighbors(found: Array, chosen: IntArray, Y: Array) -> Array:
    """Places of all rows, those not embedded between their nearest embedded rows."""
    if len(chosen) == len(Y):
        return found
    neighbors = NearestNeighbors(n_neighbors=5).fit(Y[chosen])
    distance, index = neighbors.kneighbors(Y)
    weight = 1.0 / (distance**2 + 1e-12 * np.mean(distance**2) + 1e-300)
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkq->nq", weight, found[index])


def _unit(Z: Array, rng: np.random.Generator) -> Array:
    """Centred columns of unit variance; a trace of noise separates places that coincide."""
    Z = Z - Z.mean(axis=0)
    spread = Z.std(axis=0)
    Z = Z / np.where(spread > 1e-12 * spread.max(initial=1e-300), spread, 1.0)
    return Z + 1e-6 * rng.normal(size=Z.shape)


def principal_scores(Y: Array, q: int, rng: np.random.Generator) -> Array:
    """Principal components; noise columns where the data have fewer than ``q``."""
    (n, d), seed = Y.shape, int(rng.integers(2**31))
    rank = min(q, n, d)
    if d <= MANY_COLUMNS and n >= 10 * d:
        centred = Y - Y.mean(axis=0)
        _, V = linalg.eigh(inner_products(centred), subset_by_index=(d - rank, d - 1))
        scores = centred @ fix_signs(V[:, ::-1])
    else:
        scores = PCA(rank, random_state=seed).fit_transform(Y)
    return np.hstack([scores, rng.normal(size=(len(Y), q - rank))])


def neighbor_embedding(
    Y: Array,
    q: int,
    rng: np.random.Generator,
    *,
    n_neighbors: int = 15,
    n_epochs: int = 200,
    n_negative: int = 5,
) -> Array:
    r"""An embedding of the neighbour graph, as in [McInnes2018]_, from principal components.

    Edge weights :math:`w_{ij}=\exp(-(\|y_i-y_j\|-\rho_i)/\sigma_i)` with
    :math:`\sum_jw_{ij}=\log_2k`, made symmetric by :math:`w+w^\top-w\circ w^\top`, attract;
    random pairs repel; Student's curve :math:`1/(1+\|z\|^2)` in latent space.
    """
    from isthmus.manifold.ukr.neighbors_loops import descend

    n = len(Y)
    distance, index = neighbor_table(Y, n_neighbors)
    W = _fuzzy_graph(distance, index)
    n_epochs = n_epochs if n <= 10_000 else max(50, n_epochs // 2)
    edges = W.tocoo()
    keep = edges.data >= edges.data.max() / n_epochs
    every = edges.data.max() / edges.data[keep]
    Z = principal_scores(Y, q, rng)
    Z = 10.0 * Z / np.abs(Z).max() + 1e-4 * rng.normal(size=Z.shape)
    head, tail = edges.coords[0][keep].astype(np.int64), edges.coords[1][keep].astype(np.int64)
    state = np.array([rng.integers(1, 2**31)], dtype=np.uint64)
    descend(Z, head, tail, every, every.copy(), n_epochs, n_negative, 1.0, state)
    return Z


def _fuzzy_graph(distance: Array, index: IntArray) -> csr_array:
    n, k = distance.shape
    excess = distance - distance[:, :1]
    low, high = np.full(n, 1e-12), np.full(n, 1e3 * (excess.mean() + 1e-12))
    for _ in range(48):  # bisection on log sigma for all rows at once
        sigma = np.sqrt(low * high)
        full = np.exp(-excess / sigma[:, None]).sum(axis=1) > np.log2(k + 1)
        high, low = np.where(full, sigma, high), np.where(full, low, sigma)
    weight = np.exp(-excess / np.sqrt(low * high)[:, None])
    W = csr_array((weight.ravel(), index.ravel(), np.arange(n + 1) * k), shape=(n, n))
    return (W + W.T - W.multiply(W.T)).tocsr()


def best_scale(value: Callable[[Array], float], Z: Array) -> tuple[float, Array]:
    r"""Lowest value over a grid of common scales :math:`sZ`, and the scaled points.

    ``value`` may look at some rows only; see :func:`refine_scale` for the descent that follows.
    """
    n, q = Z.shape
    lowest, best = np.inf, 1.0
    rises = 0
    # From the largest, where few points reach each other and a look is cheap.
    scales = np.geomspace(2.0 * n ** (1.0 / q) + 3.0, 0.3, N_SCALES)
    for scale in scales:
        found = value(Z * scale)
        rises = 0 if found < lowest else rises + 1
        if found < lowest:
            lowest, best = found, scale
        # Where no points reach each other the value is that of the mean, and polynomials through
        # few neighbours are worse at first: the largest scale does not count as a minimum.
        if rises >= SCALE_PATIENCE and np.isfinite(lowest) and best < scales[0]:
            break
    return lowest, Z * best


def refine_scale(
    objective: Callable[[Array], tuple[float, Array]], X: Array
) -> tuple[float, Array]:
    r"""Lowest objective over :math:`X\,\mathrm{diag}(s)` near :math:`s=1`, and the scaled points.

    Descent on :math:`\log s` of each column; by the chain rule its gradient is
    :math:`\sum_jx_{jm}\partial_{jm}` at the scaled points.
    """

    def by_log(log_s: Array) -> tuple[float, Array]:
        scaled = X * np.exp(log_s)
        value, slope = objective(scaled)
        return value, np.sum(scaled * slope, axis=0)

    found = minimize_lbfgs(
        by_log, np.zeros(X.shape[1]), bounds=[(-0.6, 0.6)] * X.shape[1], maxiter=6
    )
    return float(found.fun), X * np.exp(found.x)
