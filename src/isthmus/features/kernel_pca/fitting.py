"""Axes of objects: from all of them, or from landmarks and sums over the rest."""

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from isthmus._memory import fits_memory, require_memory
from isthmus.blocks import moments
from isthmus.blocks.moments import Moments
from isthmus.blocks.slices import block_slices
from isthmus.features.kernel_pca.decomposition import (
    PrincipalAxes,
    exact_axes,
    primal_axes,
    wide_axes,
)
from isthmus.features.kernel_pca.matrix_free import basis_size, matrix_free_axes
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample, checked_gram
from isthmus.kernels.drawn import checked_block
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.operator import GramOperator
from isthmus.linalg.spectrum import takes_products
from isthmus.typing import Array, Objects


class LandmarkMoments(NamedTuple):
    """What is known of all objects: moments of their kernel values with the landmarks."""

    moments: Moments
    diagonal: float  # Σ k(x, x)


class Landmarks(NamedTuple):
    """What the moments of a block are computed with."""

    kernel: Kernel
    objects: Objects


def block_moments(X: Any, counts: Any = None, *, state: Landmarks) -> LandmarkMoments:
    """Moments of a block of objects, in pieces whose kernel values fit into little memory."""
    kernel, landmarks = state
    X = checked_block(kernel, X)

    def piece(rows: slice) -> LandmarkMoments:
        some, w = take(X, rows), None if counts is None else np.asarray(counts[rows])
        diagonal = np.asarray(kernel.diag(some))
        total = float(diagonal.sum() if w is None else w @ diagonal)
        return LandmarkMoments(moments.map_block(kernel.gram(some, landmarks), w), total)

    return reduce(merge, map(piece, block_slices(n_objects(X), n_objects(landmarks))))


def merge(a: LandmarkMoments, b: LandmarkMoments) -> LandmarkMoments:
    """Of the objects of both."""
    if not a.moments.count:
        return b
    return LandmarkMoments(moments.merge(a.moments, b.moments), a.diagonal + b.diagonal)


def axes_of_all(
    kernel: Kernel,
    X: Any,
    objects: Objects,
    *,
    center: bool,
    n_pairs: int | None,
    share: float | None,
    counts: Array | None,
    solver: str,
    owner: Any,
) -> PrincipalAxes:
    """The axes of all objects, in explicit features where these are few."""
    wanted: dict[str, Any] = {"n_pairs": n_pairs, "share": share, "counts": counts}
    # Centring would make sparse features dense.
    F = None if issparse(X) else kernel.explicit_features(X)
    if F is not None and F.shape[1] < len(F):
        return primal_axes(F, center=center, **wanted)
    n = n_objects(X)
    # The matrix and a copy that is asked whether it is definite; of all pairs, half of the matrix
    # and their vectors.
    every = F is None and share is None and (n_pairs is None or n_pairs > n // 3)
    needed = (1.6 if every else 2) * 8.0 * n**2
    few = n_pairs if share is None else 64
    possible = few is not None and basis_size(few)[1] < n and F is None and not kernel.pairwise
    if possible and (solver == "matrix-free" or (solver == "auto" and not fits_memory(needed))):
        check_sample(kernel, X, owner)
        K = GramOperator(kernel, X, center=center, counts=counts)
        return matrix_free_axes(K, n_pairs=n_pairs, share=share, owner=owner)
    require_memory(
        owner,
        needed,
        what=f"the Gram matrix of {n} objects and its eigenvectors",
        avoid="Set n_landmarks, which needs n_landmarks² numbers and blocks, or few n_components "
        'and solver="auto".',
    )
    if F is not None and center:
        return wide_axes(F, **wanted)
    # A matrix of the caller's has been checked, and centring would overwrite it.
    if kernel.pairwise:
        G = kernel.gram(X, objects).copy()
    else:
        # Few axes come from products, which rounding errors of the symmetry do not spoil.
        exact = share is not None or not takes_products(n, n_pairs)
        G = checked_gram(kernel, X, objects, owner, exact=exact)
    return exact_axes(G, center=center, **wanted)
