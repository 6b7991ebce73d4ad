"""Inner products of centred matrices, however the objects are held and the kernel is computed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.containers import in_blocks
from isthmus.dependence.approximation import as_low_rank
from isthmus.dependence.block_pairs import DistanceValues, KernelValues, block_pair_sums
from isthmus.dependence.gram_sums import GramSums, finish, gram_sums
from isthmus.dependence.low_rank import low_rank_products
from isthmus.dependence.sides import Side, check_count, check_pair, kernel_side
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array


class SideNoise(NamedTuple):
    """What rounding may leave of the centred norm of a constant matrix, squared."""

    noise: float


class CenteredProducts(NamedTuple):
    """Inner products (g, g) of the centred matrices of g sides."""

    matrix: Array
    n: int
    sides: Sequence[Any]  # each with its ``noise``


def kernel_products(
    tables: Sequence[Any],
    kernels: Sequence[Any],
    *,
    owner: str,
    unbiased: bool,
    approximation: Any = None,
    n_jobs: int | None = None,
) -> CenteredProducts:
    """Of Gram matrices: exact in memory, exact by block pairs, or of low rank."""
    low_rank = as_low_rank(approximation, owner)
    if low_rank is not None:
        checked = [as_kernel(kernel) for kernel in kernels]
        refuse_pairwise(checked, owner)
        found = low_rank_products(tables, checked, low_rank, owner=owner)
        check_count(found.n, owner=owner, unbiased=unbiased)
        noises = [SideNoise(1e-20 * float(t) ** 2) for t in found.traces]
        return CenteredProducts(found.centered(unbiased=unbiased), found.n, noises)
    if held_in_blocks(tables):
        checked = [as_kernel(kernel) for kernel in kernels]
        refuse_pairwise(checked, owner)
        values = [KernelValues(kernel) for kernel in checked]
        return _of_sums(block_pair_sums(tables, values, owner=owner), owner, unbiased)
    sides = [
        kernel_side(X, kernel, name=name)
        for X, kernel, name in zip(tables, kernels, "XYZ", strict=False)
    ]
    return _of_sides(sides, owner, unbiased, n_jobs)


def distance_products(
    tables: Sequence[Any],
    sides: Any,
    exponent: float,
    *,
    owner: str,
    unbiased: bool,
    n_jobs: int | None = None,
) -> CenteredProducts:
    """Of matrices of distances; ``sides()`` makes them of tables in memory."""
    if held_in_blocks(tables):
        values = [DistanceValues(exponent) for _ in tables]
        return _of_sums(block_pair_sums(tables, values, owner=owner), owner, unbiased)
    return _of_sides(sides(), owner, unbiased, n_jobs)


def held_in_blocks(tables: Sequence[Any]) -> bool:
    """Whether some are read block by block."""
    return any(in_blocks(X) and not isinstance(X, np.memmap) for X in tables)


def refuse_pairwise(kernels: Sequence[Any], owner: str) -> None:
    """Refuse Gram matrices where objects are needed."""
    if any(kernel.pairwise for kernel in kernels):
        raise ValueError(
            f"{owner} needs objects where it takes an approximation or blocks of rows: give "
            "Precomputed(matrix) as kernel, and indices into it."
        )


def _of_sides(
    sides: Sequence[Side], owner: str, unbiased: bool, n_jobs: int | None
) -> CenteredProducts:
    n = check_pair(*sides, owner=owner, unbiased=unbiased)
    return CenteredProducts(finish(gram_sums(sides, n_jobs=n_jobs), unbiased=unbiased), n, sides)


def _of_sums(sums: GramSums, owner: str, unbiased: bool) -> CenteredProducts:
    n = sums.rows.shape[1]
    check_count(n, owner=owner, unbiased=unbiased)
    scale = np.abs(sums.diagonals).max(axis=1) + np.abs(sums.rows).max(axis=1) / n
    noises = [SideNoise(float((1e-13 * n * peak) ** 2)) for peak in scale]
    return CenteredProducts(finish(sums, unbiased=unbiased), n, noises)
