r"""Measures of an embedding that compare ranks of neighbours, in blocks of rows.

With :math:`\rho_{ij}` the rank of :math:`j` among the neighbours of :math:`i` in the data and
:math:`r_{ij}` that in the embedding, the co-ranking matrix counts pairs,
:math:`Q_{kl}=|\{(i,j):\rho_{ij}=k,\,r_{ij}=l\}|`, and all measures here are sums over it
[LeeVerleysen2009]_.
"""

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_array

from isthmus._checks import check_int, check_jobs
from isthmus._door import with_door
from isthmus._memory import require_memory
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.linalg.threads import rest_in_threads
from isthmus.manifold.measures.rank_loops import count_pairs, count_ranks
from isthmus.smoothers.kernel_rows import squared_distances
from isthmus.typing import Array, IntArray

Keys = NDArray[np.uint64]

# Keys of the rows that are compared at a time: two tables of them stay in the cache. Parts of the
# work, each of which counts for itself.
BLOCK_KEYS, MOST_PARTS = 2**17, 64


class NeighborhoodScores(NamedTuple):
    r"""How well an embedding keeps the neighbourhoods of the data; 1 is perfect everywhere.

    Attributes
    ----------
    trustworthiness : float
        1 minus a weighted share of points that are neighbours only in the embedding.
    continuity : float
        1 minus a weighted share of points that are neighbours only in the data.
    q_nx : ndarray of shape (n - 2,)
        Share of the K nearest neighbours that are so in both spaces, for K = 1, 2, ....
    r_nx : ndarray of shape (n - 2,)
        :math:`R_{NX}(K)`, the same with 0 for an embedding at random.
    area : float
        :math:`\sum_KR_{NX}(K)/K\,/\sum_K1/K`: over all sizes of neighbourhoods, on a logarithmic
        scale.
    """

    trustworthiness: float
    continuity: float
    q_nx: Array
    r_nx: Array
    area: float


NeighborhoodScores.__module__ = "isthmus.manifold"


@with_door
def neighborhood_scores(
    X: Any,
    Z: Any,
    *,
    n_neighbors: int = 5,
    max_rows: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NeighborhoodScores:
    r"""Compare the neighbours of every row in the data and in an embedding of it.

    Trustworthiness and continuity [Venna2001]_ at one size of neighbourhood, and the curve
    :math:`R_{NX}` of all sizes with the area under it [Lee2015]_. Neighbours at the same distance
    (to 10 digits) are ordered by their numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Z : array-like of shape (n_samples, n_components)
        Their places in the embedding.
    n_neighbors : int, default=5
        Of trustworthiness and continuity; less than half of the rows.
    max_rows : int or None, default=None
        Number of rows whose neighbours (among all) are compared, drawn at random; None takes all.
    random_state : int, Generator or RandomState, default=0
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS has.

    Returns
    -------
    NeighborhoodScores

    Notes
    -----
    O(n² log n) time, memory for a block of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import neighborhood_scores
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> scores = neighborhood_scores(X, 2 * X[:, ::-1])  # nothing is lost
    >>> scores.trustworthiness, scores.continuity, round(scores.area, 6)
    (1.0, 1.0, 1.0)
    """
    X, Z = _check_pair("neighborhood_scores", X, Z, least=4)
    n = len(X)
    K = check_int(
        n_neighbors, "n_neighbors", "neighborhood_scores", low=1, high=(n - 1) // 2,
        why="less than half of the rows",
    )  # fmt: skip
    if max_rows is not None:
        check_int(max_rows, "max_rows", "neighborhood_scores", low=1)
    check_jobs(n_jobs, "n_jobs", "neighborhood_scores")
    chosen = sample_rows(n, max_rows, random_state)
    counts, intruders, losers = _sums(X, Z, chosen, K, n_jobs)
    m = len(chosen)
    sizes = np.arange(1, n - 1)
    q_nx = np.cumsum(counts)[:-1] / (m * sizes)
    r_nx = ((n - 1) * q_nx - sizes) / (n - 1 - sizes)
    worst = m * K * (2 * n - 3 * K - 1) / 2
    return NeighborhoodScores(
        float(1 - intruders / worst),
        float(1 - losers / worst),
        q_nx,
        r_nx,
        float(np.sum(r_nx / sizes) / np.sum(1 / sizes)),
    )


@with_door
def trustworthiness(X: Any, Z: Any, *, n_neighbors: int = 5, **options: Any) -> float:
    r"""Return how far neighbours in the embedding can be trusted to be neighbours in the data.

    .. math:: T(K)=1-\frac2{nK(2n-3K-1)}\sum_i\sum_{j\in U_K(i)}(\rho_{ij}-K)

    where :math:`U_K(i)` are those of the K neighbours of :math:`i` in the embedding that are not
    among its K neighbours in the data [Venna2001]_.

    Parameters
    ----------
    X, Z, n_neighbors, **options :
        See :func:`neighborhood_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import trustworthiness
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> trustworthiness(X, X[:, :1]) < 0.9
    True
    """
    return neighborhood_scores(X, Z, n_neighbors=n_neighbors, **options).trustworthiness


@with_door
def continuity(X: Any, Z: Any, *, n_neighbors: int = 5, **options: Any) -> float:
    """Return how well neighbours in the data stay neighbours in the embedding.

    :func:`trustworthiness` with data and embedding exchanged: low where a sheet was torn.

    Parameters
    ----------
    X, Z, n_neighbors, **options :
        See :func:`neighborhood_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import continuity
    >>> t = np.linspace(0, 6, 60)
    >>> circle = np.c_[np.cos(t), np.sin(t)]
    >>> continuity(circle, t[:, None]) < 1  # its ends are neighbours
    True
    """
    return neighborhood_scores(X, Z, n_neighbors=n_neighbors, **options).continuity


@with_door
def coranking_matrix(X: Any, Z: Any) -> IntArray:
    r"""Return how often rank k in the data meets rank l in the embedding, (n - 1, n - 1).

    Rows and columns sum to n; entries below the diagonal count pairs that have come nearer in the
    embedding, entries above it pairs that have moved apart.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    Z : array-like of shape (n_samples, n_components)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import coranking_matrix
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> coranking_matrix(X, -X)
    array([[4, 0, 0],
           [0, 4, 0],
           [0, 0, 4]])
    """
    X, Z = _check_pair("coranking_matrix", X, Z, least=2)
    n = len(X)
    require_memory(
        "coranking_matrix",
        8 * n**2,
        what=f"the co-ranking matrix of {n} rows",
        avoid="neighborhood_scores needs none.",
    )
    table = np.zeros((n - 1, n - 1), dtype=np.int64)
    for rows in block_slices(n, 4 * n):
        here = np.arange(n)[rows]
        count_pairs(_sorted_keys(X, here), _sorted_keys(Z, here), _mask(n), table)
    return table


def _sums(
    X: Array, Z: Array, chosen: IntArray, K: int, n_jobs: int | None
) -> tuple[IntArray, int, int]:
    """The sums of all chosen rows, on the threads of BLAS where no number of them is given."""
    size = max(8, BLOCK_KEYS // len(X), -(-len(chosen) // MOST_PARTS))
    parts = [chosen[rows] for rows in block_slices(len(chosen), len(X), block_size=size)]
    found: list[tuple[IntArray, int, int]] = []
    if n_jobs is None:
        rest_in_threads(lambda rows: found.append(_counts(X, Z, rows, K)), parts)
    else:
        work = (delayed(_counts)(X, Z, rows, K) for rows in parts)
        found = Parallel(n_jobs=n_jobs, prefer="threads")(work)
    counts, intruders, losers = zip(*found, strict=True)
    return np.sum(counts, axis=0), sum(intruders), sum(losers)


def _counts(X: Array, Z: Array, rows: IntArray, K: int) -> tuple[IntArray, int, int]:
    """The sums of some rows: pairs by their larger rank, intruders and losers."""
    counts = np.zeros(len(X) - 1, dtype=np.int64)
    intruders, losers = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for some in block_slices(len(rows), len(X), block_size=max(8, BLOCK_KEYS // len(X))):
        keys = _sorted_keys(X, rows[some]), _sorted_keys(Z, rows[some])
        count_ranks(*keys, _mask(len(X)), np.array([K]), counts, intruders, losers)
    return counts, int(intruders[0]), int(losers[0])


def _sorted_keys(X: Array, rows: IntArray) -> Keys:
    """Neighbours of some rows in their order, as keys that hold distance and number at once.

    The bits of a non-negative double are ordered as it is. The lowest ones give way to the number
    of the neighbour, so that one sort of integers does for distances and numbers together, twice
    as fast as an argsort, and ties are broken by the number.
    """
    squared = squared_distances(X[rows], X)
    squared[np.arange(len(rows)), rows] = 0.0
    mask = _mask(len(X))
    keys = squared.view(np.uint64)
    keys &= ~mask
    # A duplicate is at distance zero too: the row itself comes before it.
    keys += mask + np.uint64(1)
    keys[np.arange(len(rows)), rows] = 0
    keys |= np.arange(len(X), dtype=np.uint64)
    keys.sort(axis=1)
    return keys


def _mask(n: int) -> Any:
    """The bits that hold numbers below ``n``."""
    return np.uint64(2 ** max(1, (n - 1).bit_length()) - 1)


def _check_pair(owner: str, X: Any, Z: Any, *, least: int) -> tuple[Array, Array]:
    """Data and embedding, centred and in units of their spread, in double precision."""
    X = check_array(X, dtype=np.float64, input_name="X", ensure_min_samples=least)
    Z = check_array(Z, dtype=np.float64, input_name="Z", ensure_min_samples=least)
    if len(X) != len(Z):
        raise ValueError(
            f"{owner} needs as many rows in Z as in X: expected {len(X)}, got {len(Z)}."
        )
    return _scaled(X), _scaled(Z)


def _scaled(X: Array) -> Array:
    """Centred rows, in which products lose least."""
    X = X - X.mean(axis=0)
    return np.asarray(X / (np.sqrt(np.mean(X**2)) or 1.0))
