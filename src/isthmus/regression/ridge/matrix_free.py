"""Kernel ridge regression on rows whose Gram matrix is too large to hold."""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import name_of
from isthmus._memory import fits_memory, require_memory
from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.landmarks import draw_landmarks, is_single, landmark_features
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.operator import GramOperator
from isthmus.linalg.krylov import conjugate_gradients
from isthmus.linalg.products import inner_products, product
from isthmus.regression.kernel_weights import RidgeSystem
from isthmus.typing import Array, Objects

# Rows that span the preconditioner.
LANDMARKS = 1000
_TOL, _MAX_ITER = 1e-11, 500
# Products after which more of them are spanned, where there is room.
PATIENCE = 100


def matrix_free_system(
    kernel: Kernel, X: Objects, alpha: float, *, center: bool, counts: Array | None, owner: Any
) -> RidgeSystem:
    r"""The system of :func:`ridge_system`, solved by conjugate gradients.

    Every iteration computes the Gram matrix anew, tile by tile, for all right-hand sides at once.
    The residual ends below 1e-11 of the right-hand side, and with it the error of predictions at
    training rows, since :math:`\|K(K+\alpha I)^{-1}\|\le1`.
    """
    n = n_objects(X)
    m = min(LANDMARKS, max(1, n // 4))
    require_memory(
        owner,
        8.0 * n * (m + 64),
        what=f"a basis of {m} columns for {n} rows",
        avoid="Set n_landmarks, which needs no more than blocks of rows.",
    )
    X = X.astype(np.float64) if is_single(X) else X
    check_sample(kernel, X, owner)
    K = GramOperator(kernel, X, center=center, counts=counts)
    solve = GrowingSolver(K, alpha, m, owner)
    return RidgeSystem(solve, K.mean if center else None, center, counts)


class GrowingSolver:
    """Conjugate gradients whose preconditioner grows where they come forward slowly.

    It doubles, up to half of the rows or as far as memory goes, after :data:`PATIENCE` products;
    what has been found is kept.
    """

    def __init__(self, K: GramOperator, alpha: float, m: int, owner: Any):
        self._K, self._alpha, self._m, self._owner = K, alpha, m, owner
        self._near = Preconditioner(K, alpha, m)

    def __call__(self, B: Array) -> Array:
        """The solution of the system for the columns of ``B``."""
        B = np.asarray(B, dtype=np.float64)
        X, R = np.zeros_like(B), B
        sizes = np.linalg.norm(B, axis=0)
        while True:
            lengths = np.linalg.norm(R, axis=0)
            left = lengths > _TOL * sizes
            if not left.any():
                return X
            grows = self._room()
            found = conjugate_gradients(
                self._multiply,
                R[:, left],
                precondition=self._near,
                tol=float(_TOL * (sizes[left] / lengths[left]).min()),
                max_iter=min(PATIENCE, _MAX_ITER) if grows else _MAX_ITER,
            )
            X[:, left] += found.columns
            if found.residual * float((lengths[left] / sizes[left]).max()) <= _TOL:
                return X
            if not grows:
                self._warn(found.residual * float((lengths[left] / sizes[left]).max()))
                return X
            self._m = grows
            self._near = Preconditioner(self._K, self._alpha, grows)
            R = B - self._multiply(X)

    def _multiply(self, V: Array) -> Array:
        return self._K(V) + self._alpha * V

    def _room(self) -> int:
        """Number of directions to grow to, or 0."""
        n = len(self._K)
        wanted = min(2 * self._m, n // 2)
        return wanted if wanted > self._m and fits_memory(16.0 * n * wanted) else 0

    def _warn(self, residual: float) -> None:
        warn(
            f"{name_of(self._owner)}: predictions of training rows are right to {residual:.1g} of "
            f"the outputs after {_MAX_ITER} conjugate gradients. Raise alpha, or set n_landmarks.",
            ConvergenceWarning,
        )


class Preconditioner:
    r"""The inverse of :math:`\hat K+\alpha I` with a Nyström approximation [Frangella2023]_.

    With :math:`\hat K=U\Lambda U^\top` from the span of ``m`` rows, and :math:`\lambda` the least
    eigenvalue kept, :math:`P^{-1}=(\lambda+\alpha)U(\Lambda+\alpha)^{-1}U^\top+I-UU^\top`.
    """

    def __init__(self, K: GramOperator, alpha: float, m: int):
        rows = draw_landmarks(len(K), m, 0)
        features = landmark_features(K.kernel, K.objects, rows)
        U = np.empty((len(K), len(features)))
        for part in block_slices(len(K), len(features)):
            U[part] = features(take(K.objects, part))
        if K.center:
            U -= K.shares @ U
        if K.counts is not None:
            U *= np.sqrt(K.counts)[:, None]
        values, V = linalg.eigh(inner_products(U), check_finite=False)
        # Directions shorter than this are not orthogonal enough to be worth their rounding errors.
        kept = values > 1e-10 * max(float(values[-1]) if len(values) else 0.0, 1e-300)
        values, V = values[kept], V[:, kept] / np.sqrt(values[kept])
        for part in block_slices(len(K), len(features)):
            U[part, : len(values)] = product(U[part], V)
        self._U = U[:, : len(values)]
        least = float(values[0]) if len(values) else 0.0
        self._shrink = (least + alpha) / (values + alpha) - 1

    def __call__(self, R: Array) -> Array:
        """The product with columns."""
        return R + self._U @ (self._shrink[:, None] * (self._U.T @ R))
