"""Distances between numbers: sorting replaces the matrix."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isthmus.dependence.loops import concordances, permuted_concordances
from isthmus.dependence.threads import map_in_threads
from isthmus.typing import Array, IntArray


class SortedColumn(NamedTuple):
    """What one column of numbers contributes to every pair it is part of."""

    ascending: Array  # values in ascending order
    order: IntArray  # their objects
    values: Array  # values in the order of objects
    rank: IntArray  # their ranks
    row_sums: Array  # Σ_j |x_i - x_j|


def sorted_column(x: Array) -> SortedColumn:
    """Sort a column once, for all its pairs.

    >>> import numpy as np
    >>> sorted_column(np.array([3.0, 0.0, 1.0])).row_sums
    array([5., 4., 3.])
    """
    n = len(x)
    order = np.argsort(x)
    # Relative to the median, which is a value: a constant column becomes zero exactly.
    values = x - x[order[n // 2]]
    ascending = values[order]
    rank = np.empty(n, dtype=np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    before = np.cumsum(ascending) - ascending
    sums = ascending * (2 * np.arange(n) - n) + ascending.sum() - 2 * before
    return SortedColumn(ascending, order, values, rank, sums[rank])


def univariate_products(
    columns: Sequence[Any], *, n_jobs: int | None = None
) -> tuple[Array, Array]:
    r"""Sums :math:`\sum_{ij}|x_i-x_j||y_i-y_j|` of all pairs of columns, and row sums.

    Of two numbers ordered by x, the product is :math:`(x_j-x_i)(y_j-y_i)` up to a sign, so
    with the sum :math:`C` over concordant pairs alone

    .. math:: \sum_{ij}|x_i-x_j||y_i-y_j|=4C-2\Big(n\sum_ix_iy_i-\sum_ix_i\sum_iy_i\Big),

    and :math:`C` takes O(n log n).
    """
    pieces = [sorted_column(x) for x in columns]
    X = np.array([piece.values for piece in pieces])
    ranks = np.array([piece.rank for piece in pieces])
    products = np.empty((len(X), len(X)))

    def with_later(a: int) -> Array:
        return concordances(pieces[a].ascending, pieces[a].order, X[a + 1 :], ranks[a + 1 :])

    signed = signed_products(X, X)
    for a, concordant in enumerate(map_in_threads(with_later, range(len(X)), n_jobs, ours=True)):
        products[a, a] = 2 * signed[a, a]
        products[a, a + 1 :] = products[a + 1 :, a] = 4 * concordant - 2 * signed[a, a + 1 :]
    return products, np.array([piece.row_sums for piece in pieces])


def univariate_correlations(X: Array, y: Array) -> Array:
    """Unbiased squared distance correlation of every column of ``X`` with ``y``, sorted once.

    The same as ``distance_correlation(x, y, unbiased=True, squared=True)`` of each column x.

    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 101)
    >>> univariate_correlations(np.column_stack([x, 0 * x]), 3 * x).round(6)
    array([1., 0.])
    """
    from isthmus.dependence.gram_sums import center_products

    n, one = len(y), sorted_column(y)
    columns = [sorted_column(x) for x in X.T]
    values = np.array([column.values for column in columns])
    rows = np.array([column.row_sums for column in columns])
    concordant = concordances(
        one.ascending, one.order, values, np.array([column.rank for column in columns])
    )
    across = 4 * concordant - 2 * signed_products(values, one.values[None])[:, 0]
    own = 2 * _own_products(values)
    totals, total = rows.sum(axis=1), one.row_sums.sum()
    across = center_products(across, rows @ one.row_sums, totals * total, n, unbiased=True)
    own = center_products(own, np.einsum("ij,ij->i", rows, rows), totals**2, n, unbiased=True)
    square = center_products(
        2 * _own_products(one.values[None]), one.row_sums @ one.row_sums, total**2, n, unbiased=True
    )
    scale = np.sqrt(np.maximum(own, 0.0)) * np.sqrt(np.maximum(square, 0.0))
    return np.clip(np.divide(across, scale, out=np.zeros_like(scale), where=scale > 0), -1.0, 1.0)


def _own_products(X: Array) -> Array:
    return X.shape[1] * np.einsum("ij,ij->i", X, X) - X.sum(axis=1) ** 2


def signed_products(X: Array, Y: Array) -> Array:
    r""":math:`\sum_{i<j}(x_i-x_j)(y_i-y_j)` for all pairs of rows of ``X`` and ``Y``."""
    return X.shape[1] * (X @ Y.T) - X.sum(axis=1)[:, None] * Y.sum(axis=1)


def univariate_permuted_products(x: Array, y: Array, permutations: IntArray) -> Array:
    """The sums of one pair of columns, the second one permuted in turn."""
    left, right = sorted_column(x), sorted_column(y)
    concordant = permuted_concordances(
        left.ascending, left.order, right.values, right.rank, permutations
    )
    signed = signed_products(left.values[None], right.values[permutations])[0]
    return 4 * concordant - 2 * signed
