r"""Neural gas: centres that learn by their rank among all, in batches [Martinetz1993]_."""

import math

import numpy as np
from sklearn.cluster import KMeans

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.threads import openmp, rest_in_threads, threads_for
from isthmus.smoothers.kernel_rows import squared_distances
from isthmus.typing import Array

# The range of the neighbourhood falls from half of the centres to this; k-means takes over where a
# row draws its second centre by less than e^-10.
LAST_RANGE = 0.1
# Rows that a step draws for each centre, and the fewest: while the range is wide, centres that have
# more move no better, and the chance in fewer brings them out of poor places.
ROWS_PER_CENTRE, FEWEST_ROWS = 5, 500

# Centres whose numbers leave 40 bits of a distance to sort by; more are sorted without keys.
MOST_KEYS = 2**12
# Columns up to which distances are faster in a loop than by a product of matrices.
FEW_COLUMNS = 32
# Ranks up to which the least of all keys are looked for one by one.
FEW_RANKS = 4
# Keys of a block, which stay in the cache of a core between the passes over them.
BLOCK_KEYS = 2**15
# At most so many parts of blocks are shared by threads; each has sums of its own.
PARTS = 16
# By how many ranks a centre that is nearest to no row may fall behind in a step without a second
# pass over the rows.
MOTION = 2


def neural_gas(Y: Array, n_centres: int, rng: np.random.Generator, *, n_steps: int = 20) -> Array:
    r"""Centres (n, d) of the rows ``Y``, from a neighbourhood of ranks that shrinks.

    Each step moves a centre to the mean of rows, weighted by
    :math:`h_{ij}=\exp(-k_{ij}/\lambda)` with :math:`k_{ij}` its rank among the centres by the
    distance from row :math:`i`. The range :math:`\lambda` falls exponentially, so that all centres
    move together at first, and each by its own rows at last: the start hardly matters. A step sees
    a few rows for each centre, drawn anew. Its limit for a range of zero, k-means of all rows, ends
    the way. O(n² (d + log n)) per step, in blocks.
    """
    centre = Y.mean(axis=0)
    spread = float(np.sqrt(np.mean((Y - centre) ** 2))) or 1.0
    rows = np.ascontiguousarray((Y - centre) / spread, dtype=float)
    C = rows[rng.choice(len(rows), n_centres, replace=False)]
    first = max(n_centres / 2, 2 * LAST_RANGE)
    reaches = first * (LAST_RANGE / first) ** np.linspace(0.0, 1.0, n_steps)
    n_drawn, best = max(ROWS_PER_CENTRE * n_centres, FEWEST_ROWS), 0.0
    with threads_for(0):  # most of the time is spent on sorting, beside small products
        for reach, following in zip(reaches, [*reaches[1:], LAST_RANGE], strict=True):
            some = rows if n_drawn >= len(rows) else rows[rng.integers(0, len(rows), n_drawn)]
            weights, sums = gas_sums(some, C, reach, best)
            best = worst_rank(weights, reach)
            if best > 0:
                # With a shorter range the same ranks weigh less, by no more than this in ranks.
                best += (reach - following) * math.log(len(some)) + MOTION
            C = moved(C, weights, sums)
    with openmp():
        means = KMeans(n_centres, init=C, n_init=1).fit(rows).cluster_centers_
    return np.asarray(means * spread + centre)


def gas_step(Y: Array, C: Array, reach: float) -> Array:
    """Centres after one step with a neighbourhood of range ``reach``, in ranks."""
    return moved(C, *gas_sums(Y, C, reach))


def moved(C: Array, weights: Array, sums: Array) -> Array:
    """The means; a centre that is near to no row stays, once the others no longer draw it."""
    served = weights > np.finfo(float).tiny
    means = sums / np.where(served, weights, 1.0)[:, None]
    return np.asarray(np.where(served[:, None], means, C))


def worst_rank(weights: Array, reach: float) -> float:
    """The rank in a single row that would weigh as much as the centre of least weight does."""
    least = float(weights.min())
    return max(0.0, -reach * math.log(least)) if least > 0 else math.inf


def gas_sums(Y: Array, C: Array, reach: float, best: float = 0.0) -> tuple[Array, Array]:
    """Weights (n,) of all rows for each centre, and the weighted sums (n, d) of rows.

    Ranks whose weights, of all rows together, are lost in rounding are left out. What that means
    depends on the centre: one that is nearest to no row lives on small weights. ``best`` is a guess
    at the best rank of the worst centre; where it turns out too low, more ranks are taken.
    """
    by_rank = np.exp(-np.arange(len(C)) / reach)
    by_rank = by_rank[by_rank > 0]
    eps = float(np.finfo(float).eps)
    while True:
        enough = best + reach * math.log(len(Y) / eps)
        count = len(by_rank) if enough >= len(by_rank) else math.ceil(enough)
        weights, sums = ranked_sums(Y, C, by_rank[:count])
        if count == len(by_rank) or len(Y) * by_rank[count] <= eps * weights.min():
            return weights, sums
        best = max(worst_rank(weights, reach), best + 1)


def ranked_sums(Y: Array, C: Array, by_rank: Array) -> tuple[Array, Array]:
    """The sums with weights of the first ranks alone; fast."""
    from isthmus.manifold.quantizers import gas_loops  # compiled on first use

    if len(C) > MOST_KEYS:
        return plain_sums(Y, C, by_rank)
    n = len(C)
    mask = (1 << (n - 1).bit_length()) - 1
    rows, columns = np.column_stack([Y, np.ones(len(Y))]), np.ascontiguousarray(C.T)
    dense = 4 * len(by_rank) > n
    size = max(1, BLOCK_KEYS // n)
    parts = list(block_slices(len(Y), n, block_size=max(size, -(-len(Y) // PARTS))))
    sums = np.zeros((len(parts), n, rows.shape[1]))

    def add(number: int) -> None:
        whole = parts[number]
        keys = np.empty((min(size, whole.stop - whole.start), n), dtype=np.int64)
        h = np.empty((len(keys), n) if dense else (0, n))
        for block in block_slices(whole.stop - whole.start, n, block_size=size):
            part = slice(whole.start + block.start, whole.start + block.stop)
            here = keys[: part.stop - part.start]
            if len(columns) <= FEW_COLUMNS:
                gas_loops.fill_keys(rows[part], columns, mask, here)
            else:
                here = squared_distances(Y[part], C).view(np.int64)
                here &= ~mask
                here |= np.arange(n)
            if len(by_rank) <= FEW_RANKS:
                gas_loops.choose_first(here, mask, len(by_rank))
            else:
                here.sort(axis=1)
            if dense:
                gas_loops.scatter_weights(here, mask, by_rank, h)
                sums[number] += product(h[: len(here)].T, rows[part])
            else:
                gas_loops.add_first(rows[part], here, mask, by_rank, sums[number])

    rest_in_threads(add, range(len(parts)))
    total = sums.sum(axis=0)
    return total[:, -1], total[:, :-1]


def plain_sums(Y: Array, C: Array, by_rank: Array) -> tuple[Array, Array]:
    """The same by sorting the numbers of all centres by distance, a table of weights a block."""
    weights, sums = np.zeros(len(C)), np.zeros(C.shape)
    all_ranks = np.concatenate([by_rank, np.zeros(len(C) - len(by_rank))])
    for rows in block_slices(len(Y), 4 * len(C)):
        order = np.argsort(squared_distances(Y[rows], C), axis=1)
        h = np.empty(order.shape)
        np.put_along_axis(h, order, all_ranks[None], axis=1)
        weights += h.sum(axis=0)
        sums += product(h.T, Y[rows])
    return weights, sums
