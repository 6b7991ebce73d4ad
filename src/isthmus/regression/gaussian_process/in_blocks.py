"""Gaussian processes through inducing objects where rows are read block by block."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks import moments
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.moments import Moments
from isthmus.blocks.rows import Rows
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.drawn import DrawnRows, checked_block
from isthmus.kernels.objects import take
from isthmus.regression.gaussian_process.training import (
    MOST_COARSE_ROWS,
    ProcessFit,
    TrainingRows,
    fit_through_inducing,
    level_sizes,
    search_coordinates,
    search_settings,
)
from isthmus.typing import Array, IntArray, Objects


class BlockState(NamedTuple):
    """What one block is mapped with, in pieces whose kernel values fit into little memory."""

    map_block: Callable[..., Any]
    merge: Callable[[Any, Any], Any]
    kernel: Kernel
    mean: Array
    state: Any


def map_pieces(X: Any, Y: Any, *, state: BlockState) -> Any:
    """``map_block`` of the pieces of a block, its outputs relative to their mean over all rows."""
    X, Y = vectors_in_double(state.kernel, X), as_columns(Y) - state.mean
    total = None
    for rows in block_slices(len(Y), 4 * len(state.state.L)):
        found = state.map_block(take(X, rows), Y[rows], state=state.state)
        total = found if total is None else state.merge(total, found)
    return total


class RowsInBlocks:
    """Rows whose sums are passes over blocks."""

    def __init__(self, rows: Rows, kernel: Kernel, output: Moments, *, center: bool):
        self.rows, self.kernel = rows, kernel
        self.n_rows, self.n_outputs = int(output.count), len(output.mean)
        self.mean = output.mean if center else np.zeros_like(output.mean)
        squares = np.diagonal(output.scatter) / output.count
        self.variances = squares + (output.mean - self.mean) ** 2

    def fold(
        self, map_block: Callable[..., Any], merge: Callable[[Any, Any], Any], state: Any
    ) -> Any:
        """Sum of ``map_block(X, Y, state=state)`` over blocks."""
        block = BlockState(map_block, merge, self.kernel, self.mean, state)
        return self.rows.fold(map_pieces, merge, state=block)

    def part(self, objects: Objects, Y: Any) -> TrainingRows:
        """Rows that were drawn."""
        X = vectors_in_double(self.kernel, objects)
        return TrainingRows(X, X, as_columns(Y) - self.mean, None)

    def take(self, numbers: IntArray) -> TrainingRows:
        """Rows of these numbers, by a pass."""
        return self.part(*take_rows(self.rows, numbers))


def vectors_in_double(kernel: Kernel, X: Any) -> Objects:
    """A block as the process compares it."""
    X = checked_block(kernel, X)
    # Covariances of smooth functions are too ill-conditioned for single precision.
    return np.asarray(X, dtype=np.float64) if kernel.vectors else X


def as_columns(Y: Any) -> Array:
    """Outputs in double precision, one column for each."""
    Y = np.asarray(Y, dtype=np.float64)
    return Y.reshape(len(Y), -1)


def output_moments(X: Any, Y: Any) -> Moments:
    """Mean and scatter of the outputs of one block."""
    return moments.map_block(as_columns(Y))


def fit_in_blocks(
    model: Any,
    kernel: Kernel,
    rows: Rows,
    *,
    approximation: Any,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> tuple[ProcessFit, Array]:
    """What ``fit_process`` gives where the same rows are in memory, and the mean of the outputs.

    Passes: the mean of the outputs, rows of the coarse search, candidates for inducing objects,
    and two for each evaluation of the bound.
    """
    rows.require_passes("the search for parameters evaluates a bound again and again")
    data = RowsInBlocks(
        rows, kernel, rows.fold(output_moments, moments.merge), center=bool(model.center)
    )
    n = data.n_rows
    order = rng.permutation(n)
    sizes = level_sizes(n, MOST_COARSE_ROWS)
    drawn = DrawnRows(rows, order[: sizes[-1]], kernel=kernel)
    resolved = drawn.resolve(kernel)
    levels = []
    for size in sizes:
        objects, (Y,) = drawn.part(np.sort(order[:size]) if size < n else np.arange(n))
        levels.append(data.part(objects, Y))
    check_sample(resolved, levels[-1].objects, model)
    at = search_coordinates(model, resolved, data.variances)
    starts, settings = search_settings(model, rng, report)
    fit = fit_through_inducing(data, levels, data.take, at, approximation, rng, starts, settings)
    return fit, data.mean
