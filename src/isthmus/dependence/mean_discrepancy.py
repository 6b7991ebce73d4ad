"""Maximum mean discrepancy of two samples."""

from typing import Any, NamedTuple

import numpy as np

from isthmus._door import with_door
from isthmus.blocks.slices import block_slices
from isthmus.dependence.measures import signed_root
from isthmus.dependence.sides import Side, as_table, distance_side, kernel_side
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, BoolArray, Objects


@with_door
def mmd(
    X: Objects,
    Z: Objects,
    *,
    kernel: Any = "gaussian",
    unbiased: bool = False,
    squared: bool = False,
) -> float:
    r"""Maximum mean discrepancy of two samples of objects.

    The distance between the means of the two samples in feature space [Gretton2012]_,

    .. math:: \mathrm{MMD}^2=\overline{k(x,x')}+\overline{k(z,z')}-2\,\overline{k(x,z)},

    with means over all pairs (V-statistic), or over pairs of different objects (U-statistic). For
    characteristic kernels the population value is zero only for equal distributions.

    Parameters
    ----------
    X : collection of m objects
    Z : collection of n objects
        Another sample; nothing is paired.
    kernel : kernel, name or function, default="gaussian"
        A median width is taken from both samples together. A matrix made elsewhere is
        ``Precomputed(matrix)`` with indices as objects.
    unbiased : bool, default=False
        Leave out the pairs of an object with itself: the square is then right on average, and may
        be negative. Needs two objects on each side.
    squared : bool, default=False
        Return the square. The root of a negative U-statistic has a minus sign.

    Returns
    -------
    float

    Notes
    -----
    O((m+n)²) time in blocks, O(m+n) memory. With the kernel :math:`-\|x-z\|` the square is
    the energy distance.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import mmd
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0], [5.0]])
    >>> mmd(X, Z, kernel="linear")  # distance of the means
    3.0
    """
    pooled = pooled_kernel_side(X, Z, kernel, owner="mmd", unbiased=unbiased)
    value = float(discrepancies(pooled, pooled.first[None], unbiased=unbiased)[0])
    value = value if unbiased else max(value, 0.0)
    return value if squared else float(signed_root(np.asarray(value)))


class Pooled(NamedTuple):
    """Two samples in one matrix."""

    side: Side
    first: BoolArray  # True for the objects of the first sample


def pooled_kernel_side(
    X: Objects, Z: Objects, kernel: Any, *, owner: str, unbiased: bool
) -> Pooled:
    """The Gram matrix of both samples together."""
    kernel = as_kernel(kernel)
    if kernel.pairwise:
        raise ValueError(
            f"{owner} needs the kernel between the samples too: give Precomputed(matrix) of all "
            "objects as kernel, and indices into it as samples."
        )
    if kernel.vectors:
        objects: Objects = _stack(X, Z, owner=owner)
    else:
        objects = [*kernel.check(X), *kernel.check(Z)]
    first = _first(len(X), len(Z), owner=owner, unbiased=unbiased)
    return Pooled(kernel_side(objects, kernel, name="X and Z"), first)


def pooled_distance_side(
    X: Objects, Z: Objects, exponent: float, *, owner: str, unbiased: bool
) -> Pooled:
    """Distances of both samples together, negated so that close objects are similar."""
    side = distance_side(_stack(X, Z, owner=owner), exponent, name="X and Z", owner=owner)
    first = _first(len(X), len(Z), owner=owner, unbiased=unbiased)
    if side.features is not None:
        return Pooled(side, first)
    return Pooled(Side(side.n, lambda i, j: -side.values(i, j), side.diagonal), first)


def _stack(X: Objects, Z: Objects, *, owner: str) -> Array:
    X, Z = as_table(X, name="X"), as_table(Z, name="Z")
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"{owner} compares samples of one space. Got {X.shape[1]} and {Z.shape[1]} columns."
        )
    return np.concatenate([X, Z])


def _first(m: int, n: int, *, owner: str, unbiased: bool) -> BoolArray:
    needed = 2 if unbiased else 1
    if min(m, n) < needed:
        kind = "The unbiased estimator of " if unbiased else ""
        raise ValueError(
            f"{kind}{owner} needs at least {needed} objects in each sample. Got {m} and {n}."
        )
    return np.arange(m + n) < m


def discrepancies(pooled: Pooled, first: BoolArray, *, unbiased: bool) -> Array:
    r"""Squared discrepancy for each row of ``first``, a way to divide the objects into two samples.

    With indicators :math:`a` of the first sample, the three sums of a row are
    :math:`a^\top Ka`, :math:`a^\top K1` and :math:`1^\top K1`: one matrix product for all rows.
    """
    side = pooled.side
    a = first.astype(np.float64).T  # (N, B)
    within, across, total = np.zeros(a.shape[1]), np.zeros(a.shape[1]), 0.0
    u = side.offsets
    for rows in block_slices(side.n, side.n):
        K = side.values(rows, slice(0, side.n)) - u[rows, None] - u
        within += np.einsum("ib,ib->b", a[rows], K @ a)
        row_sums = K.sum(axis=1)
        across += row_sums @ a[rows]
        total += row_sums.sum()
    m = a.sum(axis=0)
    n = side.n - m
    between = across - within
    rest = total - 2 * across + within
    if not unbiased:
        return within / m**2 + rest / n**2 - 2 * between / (m * n)
    diagonal = side.diagonal - 2 * u
    own = diagonal @ a
    return (
        (within - own) / (m * (m - 1))
        + (rest - (diagonal.sum() - own)) / (n * (n - 1))
        - 2 * between / (m * n)
    )
