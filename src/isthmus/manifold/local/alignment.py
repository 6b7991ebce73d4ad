r"""Common coordinates of several planes: rigid maps that agree where planes overlap.

Row i has coordinates :math:`z_{ik}` in plane k and belongs to it by a share :math:`r_{ik}`. Maps
:math:`A_k(z)=zQ_k+b_k`, with :math:`Q_k` orthogonal, are to make

.. math:: \sum_{i,k,l}r_{ik}r_{il}\|A_k(z_{ik})-A_l(z_{il})\|^2

small [Brand2003]_, [TehRoweis2003]_. A turn of one plane into another is known from their axes,
:math:`Q_k\approx V_kV_l^\top Q_l`: the leading eigenvectors of all these turns are the best
:math:`Q_k`. The shifts :math:`b_k` then solve linear equations. As the maps are rigid, planes
that overlap little are not pressed together, as they are where the maps may scale.
"""

import numpy as np
from scipy import linalg

from isthmus.linalg.products import inner_products
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array


def align(axes: Array, Z: Array, R: Array) -> Array:
    """Rigid maps (K, 1 + q, q) of local coordinates ``Z`` (n, K, q) to common ones.

    ``axes`` (K, q, d) are those of the planes. Row 0 of a map is the image of the plane's centre.
    The common coordinates are along their principal axes, about their mean.
    """
    K, q = Z.shape[1:]
    W = inner_products(R)
    Q = turns(axes, W)
    moved = np.einsum("nkq,kqr->nkr", Z, Q)
    # Σ_l w_kl (b_k - b_l) = Σ_il r_ik r_il (A_l - A_k without shifts)
    mean = np.einsum("nk,nkr->nr", R, moved)
    pull = np.einsum("nk,nr->kr", R, mean)
    pull -= np.einsum("nk,n,nkr->kr", R, R.sum(axis=1), moved, optimize=True)
    laplacian = np.diag(W.sum(axis=1)) - W
    shifts = linalg.lstsq(laplacian, pull)[0]
    places = mean + R @ shifts
    centre = places.mean(axis=0)
    _, V = linalg.eigh(inner_products(places - centre))
    V = fix_signs(V[:, ::-1])
    maps = np.concatenate([(shifts - centre)[:, None], Q], axis=1)
    return np.asarray(maps.reshape(-1, q) @ V).reshape(K, 1 + q, q)


def turns(axes: Array, W: Array) -> Array:
    """Orthogonal matrices (K, q, q) that turn the axes of all planes into common ones.

    ``W`` (K, K) says how much two planes have to do with each other.
    """
    K, q = axes.shape[:2]
    # A plane to which no row belongs has no say.
    degree = np.sqrt(np.maximum(W.sum(axis=1), 1e-12))
    S = np.empty((K, q, K, q))
    for k in range(K):
        for m in range(k + 1):
            turn = _nearest_turn(axes[k] @ axes[m].T) * W[k, m] / (degree[k] * degree[m])
            S[k, :, m], S[m, :, k] = turn, turn.T
    _, V = linalg.eigh(S.reshape(K * q, K * q), subset_by_index=(K * q - q, K * q - 1))
    return np.array([_nearest_turn(block) for block in V.reshape(K, q, q)])


def _nearest_turn(M: Array) -> Array:
    """The orthogonal matrix nearest to a square one."""
    U, _, Vt = linalg.svd(M)
    return np.asarray(U @ Vt)
