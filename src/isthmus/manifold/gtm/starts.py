"""Where EM begins: on the principal plane, or at an embedding of some rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.linalg.products import product
from isthmus.linalg.signs import fix_signs
from isthmus.manifold.gtm.basis import Basis
from isthmus.manifold.gtm.em import FIRST_ALPHA, LEAST_NOISE, State
from isthmus.manifold.ukr.starts import find_embeddings
from isthmus.typing import Array

# Weight of the prior in the regression on an embedding, in rows.
RIDGE = 1e-2


class ColumnSums(NamedTuple):
    """Number, sums and squares of the known entries of each column about some origin, (d,)."""

    n_rows: int
    counts: Array
    sums: Array
    squares: Array


def block_columns(Y: Array, state: Array) -> ColumnSums:
    """The sums of one block about the origin ``state`` (d,)."""
    known = ~np.isnan(Y)
    filled = np.where(known, Y - state, 0.0)
    return ColumnSums(len(Y), known.sum(axis=0), filled.sum(axis=0), (filled**2).sum(axis=0))


def merge_columns(a: ColumnSums, b: ColumnSums) -> ColumnSums:
    """The sums of two disjoint sets of rows about the same origin."""
    return ColumnSums(
        a.n_rows + b.n_rows, a.counts + b.counts, a.sums + b.sums, a.squares + b.squares
    )


def mean_and_spread(total: ColumnSums) -> tuple[Array, float]:
    """Means of the columns about the origin, and the root of their mean variance."""
    counts = np.maximum(total.counts, 1)
    mean = total.sums / counts
    variance = np.maximum(total.squares / counts - mean**2, 0.0)
    return mean, float(np.sqrt(variance.mean()))


def plane_start(Y: Array, nodes: Array, basis: Basis, alpha: float | None) -> State:
    r"""Nodes on the principal plane of centred rows; what is not known is zero.

    They spread as the rows do. The noise is the largest variance off the plane, or the square of
    half the distance of neighbouring nodes where that is larger [Bishop1998]_.
    """
    q, d = nodes.shape[1], Y.shape[1]
    values, vectors = _principal_axes(np.where(np.isnan(Y), 0.0, Y), q + 1)
    held = min(q, len(values))
    axes = np.zeros((q, d))  # latent axes that the data lack have no extent
    axes[:held] = (np.sqrt(values[:held]) / nodes.std(axis=0)[:held])[:, None] * vectors.T[:held]
    if basis.linear:
        W = np.zeros((basis.size, d))
        W[-q:] = axes
    else:
        W = linalg.lstsq(basis(nodes), nodes @ axes)[0]
    apart = max(_steps(nodes[:, j]) * float(np.linalg.norm(axes[j])) for j in range(q))
    noise = max(float(values[q]) if len(values) > q else 0.0, (apart / 2) ** 2, LEAST_NOISE)
    return State(W, FIRST_ALPHA if alpha is None else alpha, 1.0 / noise)


def _principal_axes(Y: Array, n_axes: int) -> tuple[Array, Array]:
    """Largest variances of the rows and their directions (d, .), of those that there are."""
    Y = Y - Y.mean(axis=0)
    wide = Y.shape[1] > len(Y)
    values, vectors = linalg.eigh(product(Y, Y.T) if wide else product(Y.T, Y))
    values, vectors = np.maximum(values[::-1], 0.0)[:n_axes], vectors[:, ::-1][:, :n_axes]
    kept = values > 1e-12 * max(float(values[0]), np.finfo(float).tiny)
    values, vectors = values[kept], vectors[:, kept]
    if wide:
        vectors = Y.T @ vectors / np.sqrt(values)
    return values / len(Y), fix_signs(vectors)


def _steps(places: Array) -> float:
    """Distance of neighbouring nodes on an axis."""
    distinct = np.unique(places)
    return float(np.diff(distinct).min()) if len(distinct) > 1 else 0.0


def embedding_start(Y: Array, Z: Array, basis: Basis, alpha: float | None) -> State:
    """The map that regresses centred rows on latent points of theirs in the box."""
    filled = np.where(np.isnan(Y), 0.0, Y)
    B = basis(Z)
    A = B.T @ B
    A.flat[:: len(A) + 1] += 1e-9 * np.trace(A) / len(A)
    m = basis.size - basis.free
    A.flat[: m * (len(A) + 1) : len(A) + 1] += RIDGE
    W = linalg.solve(A, B.T @ filled, assume_a="pos")
    noise = max(float(np.mean((filled - B @ W) ** 2)), LEAST_NOISE)
    return State(W, FIRST_ALPHA if alpha is None else alpha, 1.0 / noise)


def embeddings_in_box(Y: Array, q: int, rng: np.random.Generator) -> Iterator[Array]:
    """Latent points of rows by Isomap, over the fewest neighbours that connect them."""
    filled = np.where(np.isnan(Y), 0.0, Y)
    for _, Z in find_embeddings(filled, q, ("isomap",), rng, 1):
        yield into_box(Z)


def into_box(Z: Array) -> Array:
    """Latent points moved and scaled so that they just fill [-1, 1]^q."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    return np.clip(2 * (Z - low) / extent - 1, -1.0, 1.0)
