r"""First and second moments as a sum over blocks of rows.

What is a sum over rows is written as three functions: :func:`map_block` on a
block, :func:`merge` of two results, and a ``finish`` of the caller's. A list, a
stream, joblib and Dask all run the same three.
"""

from typing import NamedTuple

import numpy as np

from isthmus.typing import Array


class Moments(NamedTuple):
    r"""Count, mean and scatter :math:`\sum_i (x_i-\bar x)(x_i-\bar x)^\top` of rows."""

    count: float  # type: ignore[assignment]  # shadows tuple.count, which nobody needs
    mean: Array
    scatter: Array


Moments.__module__ = "isthmus.blocks"


def map_block(X: Array, weights: Array | None = None, *, overwrite_x: bool = False) -> Moments:
    """Moments of one block of rows; a row of weight two counts like two rows.

    With ``overwrite_x`` the rows are centred in place, which spares memory of their size.

    >>> import numpy as np
    >>> X = np.array([[0.0], [3.0]])
    >>> map_block(X, weights=np.array([2.0, 1.0])).mean
    array([1.])
    """
    out = X if overwrite_x else None
    if weights is None:
        mean = X.mean(axis=0)
        centred = np.subtract(X, mean, out=out)
        return Moments(len(X), mean, centred.T @ centred)
    count = float(weights.sum())
    mean = weights @ X / count if count > 0 else np.zeros(X.shape[1], dtype=X.dtype)
    centred = np.subtract(X, mean, out=out)
    centred *= np.sqrt(weights)[:, None]
    return Moments(count, mean, centred.T @ centred)


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
    if not b.count:
        return a
    shift = b.mean - a.mean
    mean = a.mean + shift * (b.count / count)
    scatter = a.scatter + b.scatter
    scatter += shift[:, None] * shift * (a.count * b.count / count)
    return Moments(count, mean, scatter)
