r"""First and second moments as a sum over blocks of rows.

What is a sum over rows is written as three functions: :func:`map_block` on a
block, :func:`merge` of two results, and a ``finish`` of the caller's. A list, a
stream, joblib and Dask all run the same three.
"""

from typing import NamedTuple

from isthmus.typing import Array


class Moments(NamedTuple):
    r"""Count, mean and scatter :math:`\sum_i (x_i-\bar x)(x_i-\bar x)^\top` of rows."""

    count: int
    mean: Array
    scatter: Array


def map_block(X: Array) -> Moments:
    """Moments of one block of rows."""
    mean = X.mean(axis=0)
    centred = X - mean
    return Moments(len(X), mean, centred.T @ centred)


def merge(a: Moments, b: Moments) -> Moments:
    """Moments of the union of two disjoint sets of rows [Chan1983]_.

    The scatters are about the sets' own means, so nothing cancels.

    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2) ** 2
    >>> both = merge(map_block(X[:2]), map_block(X[2:]))
    >>> bool(np.allclose(both.scatter, map_block(X).scatter))
    True
    """
    count = a.count + b.count
    shift = b.mean - a.mean
    mean = a.mean + shift * (b.count / count)
    scatter = a.scatter + b.scatter
    scatter += shift[:, None] * shift * (a.count * b.count / count)
    return Moments(count, mean, scatter)
