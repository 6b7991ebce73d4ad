"""Inner products of one matrix with permutations of another."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from isthmus.blocks.slices import block_slices
from isthmus.dependence.gram_sums import GramSums, center_products
from isthmus.dependence.loops import add_permuted_products
from isthmus.dependence.sides import Side
from isthmus.dependence.threads import PARTS, map_in_threads
from isthmus.dependence.univariate import univariate_permuted_products
from isthmus.typing import Array, IntArray

# Indices held at a time, and values of a matrix that are held in strips.
MAX_INDICES, STRIP_VALUES = 2**24, 2**18


def random_permutations(n: int, count: int, random_state: Any) -> Iterator[IntArray]:
    """Yield the identity and then ``count`` random permutations, in blocks of rows.

    They depend on the seed alone, so every measure and any number of threads sees the same.
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    identity = np.arange(n, dtype=np.uint32)
    for block in block_slices(count + 1, n, block_size=max(1, MAX_INDICES // n)):
        rows = np.tile(identity, (block.stop - block.start, 1))
        skip = 1 if block.start == 0 else 0
        rng.permuted(rows[skip:], axis=1, out=rows[skip:])
        yield rows


def permuted_products(
    x: Side,
    y: Side,
    sums: GramSums,
    *,
    n_permutations: int,
    unbiased: bool,
    random_state: Any,
    n_jobs: int | None = None,
) -> Array:
    r"""Inner products :math:`\langle\tilde K,\tilde L_\pi\rangle`, the identity first.

    Centring and permuting commute, so one set of row sums serves all permutations.
    """
    plain = _plain_products(x, y)
    x_rows, y_rows = sums.rows
    if not unbiased:
        x_rows, y_rows = sums.rows + sums.diagonals
    values = []
    for permutations in random_permutations(x.n, n_permutations, random_state):
        products = plain(permutations, n_jobs)
        if not unbiased:
            products += sums.diagonals[1][permutations] @ sums.diagonals[0]
        values.append(
            center_products(
                products,
                y_rows[permutations] @ x_rows,
                x_rows.sum() * y_rows.sum(),
                x.n,
                unbiased=unbiased,
            )
        )
    return np.concatenate(values)


def _plain_products(x: Side, y: Side) -> Callable[[IntArray, int | None], Array]:
    """Function of permutations giving the sums over all pairs of different objects."""
    if x.features is not None and y.features is not None:
        A, B, a, b = x.features, y.features, x.diagonal, y.diagonal

        def of_features(permutations: IntArray) -> Array:
            squares = [np.square(A.T @ B[p]).sum() for p in permutations]
            return np.array(squares) - b[permutations] @ a

        return _split_over_threads(of_features)
    if x.column is not None and y.column is not None:
        left, right = x.column, y.column
        return _split_over_threads(lambda p: univariate_permuted_products(left, right, p))
    L = full_matrix(y)

    def of_matrices(permutations: IntArray, n_jobs: int | None) -> Array:
        total = np.zeros(len(permutations))
        for rows in block_slices(x.n, x.n, block_size=max(1, STRIP_VALUES // x.n)):
            K = shifted_values(x, rows, slice(rows.start, x.n))

            def add(p: IntArray, K: Array = K, start: int = rows.start) -> Array:
                out = np.zeros(len(p))
                add_permuted_products(K, start, L, p, out)
                return out

            total += _split_over_threads(add)(permutations, n_jobs)
        return total

    return of_matrices


def _split_over_threads(
    function: Callable[[IntArray], Array],
) -> Callable[[IntArray, int | None], Array]:
    def split(permutations: IntArray, n_jobs: int | None) -> Array:
        n_parts = PARTS if n_jobs is None else effective_n_jobs(n_jobs)
        parts = np.array_split(permutations, min(n_parts, len(permutations)))
        return np.concatenate(list(map_in_threads(function, parts, n_jobs, ours=True)))

    return split


def shifted_values(side: Side, rows: slice, columns: slice) -> Array:
    """A part of the matrix minus the offsets, in its own memory."""
    K = side.values(rows, columns) - side.offsets[rows, None]
    K -= side.offsets[columns]
    return K


def full_matrix(side: Side) -> Array:
    """The whole matrix minus the offsets."""
    K = np.empty((side.n, side.n))
    for rows in block_slices(side.n, side.n, block_size=max(1, STRIP_VALUES // side.n)):
        K[rows] = shifted_values(side, rows, slice(0, side.n))
    return K
