"""Kernel PCA of objects whose Gram matrix is too large to hold."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import name_of
from isthmus._memory import require_memory
from isthmus._warnings import warn
from isthmus.features.kernel_pca.decomposition import PrincipalAxes
from isthmus.kernels.operator import GramOperator
from isthmus.linalg.krylov import RitzPairs, ritz_pairs
from isthmus.linalg.signs import fix_signs
from isthmus.linalg.spectrum import positive_part, refuse_negative

# A product computes the Gram matrix anew, so it is worth as many columns as cost the same time.
_NARROW, _WIDE = 24, 64
_TOL = 1e-10
_MAX_PRODUCTS = 200


def basis_size(n_pairs: int) -> tuple[int, int]:
    """Columns of a product, and vectors held, to find so many pairs."""
    width = int(np.clip(n_pairs + 16, _NARROW, _WIDE))
    return width, 2 * n_pairs + 8 * width


def matrix_free_axes(
    K: GramOperator, *, n_pairs: int | None, share: float | None, owner: Any
) -> PrincipalAxes:
    r"""The axes of :func:`exact_axes`, from products with the (centred, weighted) Gram matrix.

    A block Krylov iteration whose residual is checked; memory is O(nr) for r axes. Where a share
    of the variance is wanted, the number of pairs is doubled until they hold it.
    """
    n, dtype, total = len(K), K.diagonal.dtype, K.trace
    rounding = 8 * n * float(np.finfo(dtype).eps) * float(np.abs(K.diagonal).max())
    mean = K.mean if K.center else np.zeros(n, dtype=dtype)
    weights = K.shares if K.center else np.zeros(n, dtype=dtype)
    if total <= rounding:  # equal objects
        return PrincipalAxes(np.zeros((n, 0), dtype), mean, weights, np.zeros(0, dtype), 1.0)
    wanted = 64 if n_pairs is None else n_pairs
    while True:
        eigenvalues, U = _pairs(K, wanted, owner)
        held = np.cumsum(eigenvalues)
        if n_pairs is not None or share is None:
            break
        if held[-1] >= share * total * (1 - 1e-12) or len(held) < wanted:
            r = int(np.searchsorted(held, share * total * (1 - 1e-12))) + 1
            eigenvalues, U = eigenvalues[:r], U[:, :r]
            break
        wanted *= 2
    dual = fix_signs(U) / np.sqrt(eigenvalues)
    if K.counts is not None:
        dual *= np.sqrt(K.counts)[:, None]
    if K.center:
        # H U = U but for rounding errors, which the division by √λ makes large.
        dual -= weights[:, None] * dual.sum(axis=0)
    return PrincipalAxes(dual, mean, weights, eigenvalues, total)


def _pairs(K: GramOperator, n_pairs: int, owner: Any) -> tuple[Any, Any]:
    n = len(K)
    width, n_basis = basis_size(n_pairs)
    require_memory(
        owner,
        8.0 * n * (n_basis + 2 * n_pairs + 4 * width),
        what=f"{n_basis} vectors of {n} numbers, to find {n_pairs} axes",
        avoid="Set n_landmarks, or fewer n_components.",
    )
    if n_basis > n:
        raise MemoryError(
            f"{name_of(owner)} needs {n_pairs} or more axes of {n} objects, for which their Gram "
            "matrix is needed. Set n_landmarks, or fewer n_components."
        )
    found: RitzPairs = ritz_pairs(
        K,
        n,
        n_pairs,
        width=width,
        n_basis=n_basis,
        tol=_TOL,
        max_products=_MAX_PRODUCTS,
        dtype=K.diagonal.dtype,
    )
    refuse_negative(np.append(found.values, found.lowest), owner)
    if found.residual > 100 * max(_TOL, 20 * float(np.finfo(K.diagonal.dtype).eps)):
        warn(
            f"{name_of(owner)}: {n_pairs} axes are right to {found.residual:.1g} of the largest "
            f"eigenvalue after {_MAX_PRODUCTS} products with the Gram matrix.",
            ConvergenceWarning,
        )
    return positive_part(found.values, found.vectors)
