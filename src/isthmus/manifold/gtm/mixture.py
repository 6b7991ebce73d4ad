r"""A mixture of equal Gaussians at the images of latent nodes, and its sums over blocks of rows.

.. math:: p(y)=\frac1K\sum_k\mathcal N(y;f_k,\beta^{-1}I)

All is done in logarithms, and a component of a row that is not known (NaN) has no part in it.
"""

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.threads import rest_in_threads
from isthmus.manifold.gtm.loops import HUGE, TINY, TOGETHER, add_moments, take_powers
from isthmus.typing import Array, BoolArray

# Entries of the table of a block, rows times nodes: one megabyte stays in a core's cache.
BLOCK = 2**17
# Columns up to which one loop over rows is faster than products with a table between them.
FEW_COLUMNS = 20
# Rows of a part of these that one thread takes, and parts at most: the same on any number of
# threads, so that all bits are.
PART_ROWS, MOST_PARTS = 128, 16
# Numbers in the widest vector registers.
LANES = 8
TO_BASE_TWO = 1.0 / np.log(2.0)


class Mixture(NamedTuple):
    """Centres (K, d) of equal Gaussians, and the inverse of the variance they share."""

    centres: Array
    precision: float


class Sums(NamedTuple):
    """What an M-step needs of rows: sums over them, which blocks add up to.

    ``weights`` (K, 1), or (K, d) where entries are missing, has the responsibilities of every node
    for the entries of each column; ``moments`` (K, d) those times the entries.
    """

    log_likelihood: float
    n_rows: int
    n_known: int
    squares: float
    weights: Array
    moments: Array


def block_rows(n_nodes: int) -> int:
    """Rows that a block should have."""
    return max(64, BLOCK // n_nodes)


def posterior(Y: Array, mixture: Mixture, weights: Array | None = None) -> tuple[Array, Array]:
    """Responsibilities (n, K), and log densities (n,) of what is known of the rows.

    ``weights`` (n, d) say how much each entry counts; densities make no sense with them.
    """
    known = ~np.isnan(Y)
    whole = weights is None and bool(known.all())
    rows, n_known = _row_factor(Y, None if whole else known, weights)
    table, sums, shift = _exponentials(rows, _node_factor(mixture, whole))
    table /= sums[:, None]
    return table, np.log(sums) + shift + _log_constant(mixture, n_known)


def responsibilities(Y: Array, mixture: Mixture, weights: Array | None = None) -> Array:
    """Probabilities of the nodes given each row, (n, K)."""
    return posterior(Y, mixture, weights)[0]


def block_sums(Y: Array, mixture: Mixture) -> Sums:
    """The sums of one block of rows: its E-step, in parts that fit in the cache."""
    return make_sums(Y)(mixture)


def make_sums(Y: Array) -> Callable[[Mixture], Sums]:
    """The E-step of rows as a function of a mixture; what depends on rows alone is done once."""
    known = ~np.isnan(Y)
    whole = bool(known.all())
    if whole and Y.shape[1] <= FEW_COLUMNS:
        return _sums_of_few_columns(Y)

    def sums(mixture: Mixture) -> Sums:
        size = block_rows(len(mixture.centres))
        columns = _node_factor(mixture, whole)
        work = np.empty((min(size, len(Y)), columns.shape[1]))
        parts = [
            _part_sums(Y[rows], None if whole else known[rows], mixture, columns, work)
            for rows in block_slices(len(Y), 1, block_size=size)
        ]
        return reduce(merge_sums, parts)

    return sums


def _sums_of_few_columns(Y: Array) -> Callable[[Mixture], Sums]:
    """The E-step of rows of which all is known, without a table of rows and nodes."""
    n, d = Y.shape
    rows = np.zeros((n, d + -d % 4))  # as wide as the loop asks
    rows[:, :d] = Y
    squares = np.einsum("nd,nd->n", Y, Y)
    total = float(squares.sum())
    parts = list(block_slices(n, 1, block_size=max(PART_ROWS, -(-n // MOST_PARTS))))

    def sums(mixture: Mixture) -> Sums:
        F, beta = mixture.centres, TO_BASE_TWO * mixture.precision
        factor = _aligned(rows.shape[1] + 1, len(F))
        columns, heights = factor[:-1], factor[-1]
        np.multiply(beta, F.T, out=columns[:d])
        np.multiply(-0.5 * beta, np.einsum("kd,kd->k", F, F), out=heights)
        offsets = -0.5 * beta * squares
        work = [_aligned(TOGETHER + d + 1, len(F)) for _ in parts]
        log_powers = np.empty(len(parts))

        def add(i: int) -> None:
            some, table, moments = parts[i], work[i][:TOGETHER], work[i][TOGETHER:]
            log_powers[i] = add_moments(rows[some], offsets[some], columns, heights, table, moments)

        rest_in_threads(add, range(len(parts)))
        moments = np.sum([part[TOGETHER:] for part in work], axis=0)
        log_likelihood = log_powers.sum() / TO_BASE_TWO + n * float(_log_constant(mixture, d))
        return Sums(log_likelihood, n, n * d, total, moments[d:].T, moments[:d].T)

    return sums


def _aligned(n_rows: int, n_columns: int) -> Array:
    """Zeros that begin where the widest registers read them at once."""
    found = np.zeros(n_rows * n_columns + LANES)
    first = -(found.ctypes.data // found.itemsize) % LANES
    return found[first : first + n_rows * n_columns].reshape(n_rows, n_columns)


def _part_sums(
    Y: Array, known: BoolArray | None, mixture: Mixture, columns: Array, work: Array
) -> Sums:
    rows, n_known = _row_factor(Y, known)
    table, sums, shift = _exponentials(rows, columns, work[: len(Y)])
    d = Y.shape[1]
    log_density = np.log(sums) + shift + _log_constant(mixture, n_known)
    # The first columns of the factor are the rows, their gaps filled with zeros, then the marks of
    # what is known: their means under the responsibilities are all that an M-step needs.
    rows[:, :-1] /= sums[:, None]
    moments = product(table.T, rows[:, :-1])
    return Sums(
        float(log_density.sum()),
        len(Y),
        Y.size if known is None else int(known.sum()),
        float(rows[:, -1].sum()),
        moments[:, d:],
        moments[:, :d],
    )


def _row_factor(
    Y: Array, known: BoolArray | None, weights: Array | None = None
) -> tuple[Array, Array | int]:
    r"""The rows' factor of :math:`-\tfrac\beta2\|y_i-f_k\|^2`, and numbers of known entries.

    It is (n, d + 2), or (n, 2d + 1) where not all entries count the same.
    """
    if known is None:
        squares = np.einsum("nd,nd->n", Y, Y)[:, None]
        return np.hstack([Y, np.ones((len(Y), 1)), squares]), Y.shape[1]
    P = known.astype(float) if weights is None else known * weights
    filled = np.where(known, Y, 0.0)
    squares = np.einsum("nd,nd->n", P, filled**2)[:, None]
    return np.hstack([P * filled, P, squares]), known.sum(axis=1)


def _node_factor(mixture: Mixture, whole: bool) -> Array:
    """The nodes' factor, to which that of rows belongs, for exponents of two."""
    F, beta = mixture.centres, TO_BASE_TWO * mixture.precision
    squares = np.einsum("kd,kd->k", F, F)[None] if whole else (F**2).T
    half = -0.5 * beta
    return np.vstack([beta * F.T, half * squares, np.full((1, len(F)), half)])


def _exponentials(
    rows: Array, columns: Array, work: Array | None = None
) -> tuple[Array, Array, Array]:
    """Powers of two (n, K) of a product, their sums and the logarithms that were split off.

    The exponents are negative, so that nothing overflows, and what underflows is no part of a sum
    unless all of a row does: only then the largest is split off.
    """
    table = product(rows, columns, out=work)
    sums, shift = np.empty(len(rows)), np.zeros(len(rows))
    take_powers(table, sums)
    far = np.flatnonzero((sums < TINY) | (sums > HUGE))
    if len(far):
        again = rows[far] @ columns
        top = again.max(axis=1)
        shift[far] = top / TO_BASE_TWO
        again -= top[:, None]
        anew = np.empty(len(far))
        take_powers(again, anew)
        table[far], sums[far] = again, anew
    return table, sums, shift


def _log_constant(mixture: Mixture, n_known: Array | int) -> Array:
    size = 0.5 * np.log(mixture.precision / (2 * np.pi))
    return np.asarray(size * n_known - np.log(len(mixture.centres)))


def merge_sums(a: Sums, b: Sums) -> Sums:
    """The sums of two disjoint sets of rows."""
    return Sums(
        a.log_likelihood + b.log_likelihood,
        a.n_rows + b.n_rows,
        a.n_known + b.n_known,
        a.squares + b.squares,
        a.weights + b.weights,
        a.moments + b.moments,
    )


def misfit(sums: Sums, centres: Array) -> float:
    r"""Expected squared distance :math:`\sum_{ik}R_{ik}\|y_i-f_k\|^2` over the known entries."""
    cross = float(np.vdot(sums.moments, centres))
    return max(0.0, sums.squares - 2 * cross + float(np.sum(sums.weights * centres**2)))
