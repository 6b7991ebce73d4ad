"""Maximum mean discrepancy of two samples."""

from typing import Any, NamedTuple

import numpy as np

from isthmus._door import with_door
from isthmus.blocks.slices import block_slices
from isthmus.dependence.approximation import as_low_rank
from isthmus.dependence.block_discrepancy import block_discrepancies
from isthmus.dependence.discrepancy_in_blocks import (
    exact_discrepancy,
    low_rank_discrepancy,
    open_samples,
)
from isthmus.dependence.low_rank import low_rank_side
from isthmus.dependence.measures import signed_root
from isthmus.dependence.products import held_in_blocks
from isthmus.dependence.sides import (
    Side,
    distance_side,
    kernel_side,
    refuse_gram_matrix,
    stack,
)
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
    approximation: Any = None,
    block_size: int | None = None,
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
    approximation : None, "nystroem", "fourier", Nystroem or RandomFourier, default=None
        A kernel of low rank r in place of the exact one: O((m+n) r²) time.
    block_size : int or None, default=None
        Average the unbiased square over blocks of this many successive objects of each sample:
        O((m+n) ``block_size``) time, with a larger variance. With 2 it is the linear-time
        statistic. Objects must be in no particular order; as many of each sample are used as the
        smaller one has. The exact kernel alone.

    Returns
    -------
    float

    Notes
    -----
    O((m+n)²) time in blocks, O(m+n) memory, where neither of the last two parameters is given. With
    the kernel :math:`-\|x-z\|` the square is the energy distance. ``X`` and ``Z`` may also come in
    blocks (Dask, zarr, h5py, functions that return iterators): exactly by pairs of blocks, or in
    three passes with an approximation.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import mmd
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0], [5.0]])
    >>> mmd(X, Z, kernel="linear")  # distance of the means
    3.0
    """
    if block_size is not None and approximation is not None:
        raise ValueError("mmd takes an approximation or a block_size, not both.")
    if block_size is None and held_in_blocks((X, Z)):
        value = _in_blocks(X, Z, kernel, unbiased=unbiased, approximation=approximation)
        return value if squared else float(signed_root(np.asarray(value)))
    if block_size is not None:
        value = float(block_discrepancies(X, Z, kernel, block_size, owner="mmd").mean())
        return value if squared else float(signed_root(np.asarray(value)))
    pooled = pooled_kernel_side(
        X, Z, kernel, owner="mmd", unbiased=unbiased, approximation=approximation
    )
    value = float(discrepancies(pooled, pooled.first[None], unbiased=unbiased)[0])
    value = value if unbiased else max(value, 0.0)
    return value if squared else float(signed_root(np.asarray(value)))


def _in_blocks(X: Any, Z: Any, kernel: Any, *, unbiased: bool, approximation: Any) -> float:
    """The square, from samples of which one at least is read block by block."""
    kernel = as_kernel(kernel)
    refuse_gram_matrix(kernel, "mmd")
    low_rank = as_low_rank(approximation, "mmd")
    source = open_samples(X, Z, kernel, "mmd")
    _require_objects(*source.sizes, owner="mmd", unbiased=unbiased)
    if low_rank is not None:
        value = low_rank_discrepancy(source, low_rank, owner="mmd", unbiased=unbiased)
    else:
        value = exact_discrepancy(source, unbiased=unbiased)
    return value if unbiased else max(value, 0.0)


class Pooled(NamedTuple):
    """Two samples in one matrix."""

    side: Side
    first: BoolArray  # True for the objects of the first sample


def pooled_kernel_side(
    X: Objects, Z: Objects, kernel: Any, *, owner: str, unbiased: bool, approximation: Any = None
) -> Pooled:
    """The Gram matrix of both samples together."""
    kernel = as_kernel(kernel)
    refuse_gram_matrix(kernel, owner)
    if kernel.vectors:
        objects: Objects = stack(X, Z, owner=owner)
    else:
        objects = [*kernel.check(X), *kernel.check(Z)]
    first = _first(len(X), len(Z), owner=owner, unbiased=unbiased)
    low_rank = as_low_rank(approximation, owner)
    if low_rank is not None:
        return Pooled(low_rank_side(objects, kernel, low_rank, owner=owner), first)
    return Pooled(kernel_side(objects, kernel, name="X and Z"), first)


def pooled_distance_side(
    X: Objects, Z: Objects, exponent: float, *, owner: str, unbiased: bool
) -> Pooled:
    """Distances of both samples together, negated so that close objects are similar."""
    side = distance_side(stack(X, Z, owner=owner), exponent, name="X and Z", owner=owner)
    first = _first(len(X), len(Z), owner=owner, unbiased=unbiased)
    if side.features is not None:
        return Pooled(side, first)
    return Pooled(Side(side.n, lambda i, j: -side.values(i, j), side.diagonal), first)


def _first(m: int, n: int, *, owner: str, unbiased: bool) -> BoolArray:
    _require_objects(m, n, owner=owner, unbiased=unbiased)
    return np.arange(m + n) < m


def _require_objects(m: int, n: int, *, owner: str, unbiased: bool) -> None:
    needed = 2 if unbiased else 1
    if min(m, n) < needed:
        kind = "The unbiased estimator of " if unbiased else ""
        raise ValueError(
            f"{kind}{owner} needs at least {needed} objects in each sample. Got {m} and {n}."
        )


def discrepancies(pooled: Pooled, first: BoolArray, *, unbiased: bool) -> Array:
    r"""Squared discrepancy for each row of ``first``, a way to divide the objects into two samples.

    With indicators :math:`a` of the first sample, the three sums of a row are
    :math:`a^\top Ka`, :math:`a^\top K1` and :math:`1^\top K1`: one matrix product for all rows.
    """
    side = pooled.side
    a = first.astype(np.float64).T  # (N, B)
    if side.features is not None:
        return _feature_discrepancies(side, a, unbiased=unbiased)
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


def _feature_discrepancies(side: Side, a: Array, *, unbiased: bool) -> Array:
    r"""The same from centred features: :math:`a^\top Ka=\|A^\top a\|^2`, and rows sum to 0."""
    assert side.features is not None
    within = np.square(side.features.T @ a).sum(axis=0)
    m = a.sum(axis=0)
    n = side.n - m
    # a'K1 = 0, so that the sums over the second sample and between both follow.
    if not unbiased:
        return within * (1 / m + 1 / n) ** 2
    own = side.diagonal @ a
    others = side.diagonal.sum() - own
    return (within - own) / (m * (m - 1)) + (within - others) / (n * (n - 1)) + 2 * within / (m * n)
