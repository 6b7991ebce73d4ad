r"""Kernel PCA as functions on arrays.

A basis of feature space is held as an :class:`PrincipalAxes` over reference objects
:math:`x_1,\dots,x_m`: basis vectors :math:`v_i=\sum_j B_{ji}\varphi(x_j)` and an origin
:math:`\bar\varphi=\sum_j w_j\varphi(x_j)`. Coordinates of an object are
:math:`c(x)=B^\top(k(x)-b)` with :math:`b_j=\langle\varphi(x_j),\bar\varphi\rangle`, and the point
with coordinates :math:`\beta` has the coefficients :math:`a=B\beta+w`. Exact, primal and
Nyström fits differ only in how they find :math:`B`, :math:`b` and :math:`w`.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.moments import Moments
from isthmus.blocks.slices import block_slices
from isthmus.linalg.centering import center_gram
from isthmus.linalg.products import inner_products, product
from isthmus.linalg.signs import fix_signs, signs_of
from isthmus.linalg.spectrum import (
    inverse_root,
    leading_eigenpairs,
    positive_part,
    takes_products,
)
from isthmus.typing import Array


class PrincipalAxes(NamedTuple):
    """An orthonormal basis of feature space over reference objects."""

    dual: Array  # B, (m, r)
    origin_inner: Array  # b, (m,)
    origin_weights: Array  # w, (m,)
    eigenvalues: Array  # (r,), largest first; sums of squares of the coordinates
    total_variance: float  # their sum over all components
    offset: Array | None = None  # of the coordinates, where it is known better than as -bᵀB


def exact_axes(
    K: Array,
    *,
    center: bool,
    n_pairs: int | None = None,
    share: float | None = None,
    counts: Array | None = None,
) -> PrincipalAxes:
    r"""Kernel PCA from the Gram matrix of all objects, which is overwritten, a large one emptied.

    :math:`HKH=U\Lambda U^\top`, :math:`B=U_r\Lambda_r^{-1/2}`; coordinates of the training
    objects are :math:`U_r\Lambda_r^{1/2}=B\Lambda_r`.

    Where object i counts :math:`w_i` times, the mean is weighted, and with
    :math:`D=\mathrm{diag}(\sqrt w)` it is :math:`DHKH^\top D=U\Lambda U^\top` and
    :math:`B=DU_r\Lambda_r^{-1/2}`.
    """
    n = len(K)
    shares = None if counts is None else (counts / counts.sum()).astype(K.dtype)
    mean = np.zeros(n, dtype=K.dtype)
    weights = np.zeros(n, dtype=K.dtype)
    later = False
    if center:
        rounding = 8 * n * float(np.finfo(K.dtype).eps) * float(np.abs(K.diagonal()).max())
        weights[:] = 1 / n if shares is None else shares
        if shares is None and share is None and takes_products(n, n_pairs):
            mean = K.mean(axis=0)
            total = float(np.trace(K)) - float(mean.sum())
            later = total > 1e4 * rounding  # products are centred, and nobody needs the matrix
        if not later:
            K, mean = center_gram(K, overwrite=True, shares=shares)
            if float(np.trace(K)) <= rounding:
                K[:] = 0  # equal objects: rounding errors have a spectrum of either sign
    if counts is not None:
        root = np.sqrt(counts).astype(K.dtype)
        K *= root
        K *= root[:, None]
    if not later:
        total = float(np.trace(K))
    eigenvalues, dual = leading_eigenpairs(K, n_pairs, share=share, center=later, overwrite=True)
    dual *= signs_of(dual)
    dual /= np.sqrt(eigenvalues)
    if counts is not None:
        dual *= root[:, None]
    if center:
        # H U = U but for rounding errors, which the division by √λ makes large.
        sums = dual.sum(axis=0)
        for rows in block_slices(n, 1, block_size=256):
            dual[rows] -= weights[rows, None] * sums
    return PrincipalAxes(dual, mean, weights, eigenvalues, total)


def primal_axes(
    F: Array,
    *,
    center: bool,
    n_pairs: int | None = None,
    share: float | None = None,
    counts: Array | None = None,
) -> PrincipalAxes:
    r"""The same from explicit features ``F`` with fewer columns than rows.

    The (d, d) scatter :math:`F_c^\top F_c=V\Lambda V^\top` has the spectrum of the Gram
    matrix, and :math:`U=F_cV\Lambda^{-1/2}`. Cost O(nd²), no n x n matrix.
    """
    n = len(F)
    shares = np.full(n, 1 / n, dtype=F.dtype)
    if counts is not None:
        shares = (counts / counts.sum()).astype(F.dtype)
    origin = np.zeros(F.shape[1], dtype=F.dtype)
    if center:
        origin = F.mean(axis=0) if counts is None else shares @ F
    centred = F - origin
    if counts is not None:
        root = np.sqrt(counts).astype(F.dtype)[:, None]
        centred *= root
    S = inner_products(centred)
    eigenvalues, V = positive_part(*linalg.eigh(S))
    r = _how_many(eigenvalues, n_pairs, share, float(np.trace(S)))
    eigenvalues, V = eigenvalues[:r], V[:, :r]
    dual = fix_signs(product(centred, V)) / eigenvalues
    if counts is not None:
        dual *= root
    if center:
        dual -= shares[:, None] * dual.sum(axis=0)
    weights = shares if center else np.zeros(n, dtype=F.dtype)
    # Far from the origin the inner products with it are large and lose the digits that count.
    offset = -(origin @ (F.T @ dual))
    return PrincipalAxes(dual, F @ origin, weights, eigenvalues, float(np.trace(S)), offset)


def wide_axes(
    F: Array,
    *,
    n_pairs: int | None = None,
    share: float | None = None,
    counts: Array | None = None,
) -> PrincipalAxes:
    """The same, centred, from explicit features with as many columns as rows or more.

    The Gram matrix is that of the centred features: centring it afterwards would take the
    difference of large numbers.
    """
    origin = F.mean(axis=0) if counts is None else counts @ F / counts.sum()
    centred = F - origin
    found = exact_axes(
        product(centred, centred.T), center=True, n_pairs=n_pairs, share=share, counts=counts
    )
    offset = -(origin @ (F.T @ found.dual))
    return found._replace(origin_inner=F @ origin, offset=offset)


def nystroem_axes(
    K_landmarks: Array,
    moments: Moments,
    *,
    diagonal: float,
    center: bool,
    n_pairs: int | None = None,
    share: float | None = None,
) -> PrincipalAxes:
    r"""Kernel PCA of all objects within the span of the landmarks.

    With :math:`RR^\top=K_{ll}^+` the features are :math:`R^\top k_l(x)`; their scatter comes
    from the ``moments`` of the rows :math:`k_l(x)`, which are sums over blocks. The basis is
    :math:`B=RW`, :math:`W` the leading eigenvectors, orthonormal since :math:`R^\top K_{ll}R=I`.
    ``diagonal`` is :math:`\sum_ik(x_i,x_i)` over all objects: it holds the variance outside the
    landmarks' span too.
    """
    R, _ = inverse_root(K_landmarks)
    scatter = moments.scatter
    mean = moments.mean
    if not center:
        scatter = scatter + moments.count * np.outer(mean, mean)
        mean = np.zeros_like(mean)
    S = product(product(R.T, scatter), R)
    eigenvalues, W = positive_part(*linalg.eigh((S + S.T) / 2))
    r = _how_many(eigenvalues, n_pairs, share, float(np.trace(S)))
    dual = fix_signs(product(R, W[:, :r]))
    # The mean's own projection on the landmarks' span: K⁺ times its inner products.
    weights = R @ (R.T @ mean)
    total = diagonal - moments.count * float(weights @ mean)
    return PrincipalAxes(dual, mean, weights, eigenvalues[:r], total)


def _how_many(
    eigenvalues: Array, n_pairs: int | None, share: float | None, total: float
) -> int | None:
    if share is None:
        return n_pairs
    return int(np.searchsorted(np.cumsum(eigenvalues), share * total * (1 - 1e-12))) + 1
