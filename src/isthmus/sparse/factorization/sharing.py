"""Work on the rows of a table, each by itself, shared among threads where it is long."""

from collections.abc import Callable

import numpy as np

from isthmus.linalg.products import product
from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array

# Multiplications of a part, a few tenths of a millisecond, and parts from which rows are shared.
# What a part is does not depend on the number of threads, so neither do the numbers.
PART, LEAST_PARTS = 2**23, 4


def share_rows(work: Callable[[slice], None], table: Array, cost: int) -> None:
    """Do the work on all rows of ``table``, whose entries take ``cost`` multiplications each.

    >>> seen = []
    >>> share_rows(seen.append, np.zeros((3, 2)), 1)
    >>> seen
    [slice(0, 3, None)]
    """
    rest_in_threads(work, _parts(table, cost))


def product_with_rows(X: Array, V: Array) -> Array:
    """``X @ V``.

    >>> product_with_rows(np.eye(2), np.array([[1.0], [2.0]])).tolist()
    [[1.0], [2.0]]
    """
    parts = _parts(X, V.shape[1])
    if len(parts) == 1:
        return product(X, V)
    found = np.empty((len(X), V.shape[1]), dtype=np.result_type(X, V))

    def work(rows: slice) -> None:
        product(X[rows], V, out=found[rows])

    rest_in_threads(work, parts)
    return found


def sum_over_rows(X: Array, W: Array) -> Array:
    """``X.T @ W``.

    >>> sum_over_rows(np.array([[1.0, 3.0]]), np.array([[2.0]])).tolist()
    [[2.0], [6.0]]
    """
    parts = _parts(X, W.shape[1])
    if len(parts) == 1:
        return product(X.T, W)
    found: list[Array] = [W[:0]] * len(parts)

    def work(i: int) -> None:
        found[i] = product(X[parts[i]].T, W[parts[i]])

    rest_in_threads(work, range(len(parts)))
    return np.asarray(sum(found[1:], found[0]))


def _parts(table: Array, cost: int) -> list[slice]:
    """Rows in parts that take long enough; all of them where there would be few."""
    n, width = table.shape
    size = max(1, PART // max(1, width * cost))
    if n < LEAST_PARTS * size:
        return [slice(0, n)]
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
