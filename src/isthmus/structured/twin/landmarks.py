r"""A twin process on landmarks, by which both of its sides are represented.

:math:`G\approx\Phi\Phi^\top` with :math:`\Phi=G_{nZ}L^{-\top}`, :math:`G_{ZZ}=LL^\top`, likewise
:math:`K\approx\Psi\Psi^\top`, and everything is expressed by :math:`g=g(Z,y)` alone. A trial output
then costs nothing that grows with the number of training pairs, and fitting is a sum over their
rows.
"""

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.products import inner_products, product
from isthmus.linalg.spectrum import inverse_root
from isthmus.linalg.triangles import inverse_lower
from isthmus.structured.twin.bridge import (
    TriedOutputs,
    TwinQuery,
    TwinSides,
    joined,
    shared_inverse_kl,
    shared_kl,
)
from isthmus.structured.twin.formulas import (
    added_divergence,
    distance_from_mean,
    inverse_added_divergence,
)
from isthmus.structured.twin.inverse import LandmarkInverse, positive_inverse
from isthmus.structured.twin.levels import Levels
from isthmus.typing import Array, IntArray, Objects

# Share of a landmark's own kernel value that others may leave unexplained, to count as one of them.
EXPLAINED = 1e-10


class FeatureRoot(NamedTuple):
    r"""Matrix :math:`R` with :math:`R^\top k(Z,x)` features that reproduce the kernel on ``Z``."""

    matrix: Array  # triangular where there is an order
    order: IntArray | None  # landmarks that its rows belong to

    def features(self, k: Array) -> Array:
        """Rows of features, from rows of kernel values at the landmarks."""
        if self.order is None:
            return product(k, self.matrix)
        # Half of the products of a full matrix, where they lie.
        own = np.ascontiguousarray(k[:, self.order])
        turned = linalg.blas.dtrmm(1.0, self.matrix, own.T, trans_a=1, overwrite_b=1)
        return np.asarray(turned).T

    def full(self, n_landmarks: int) -> Array:
        """The matrix, with a row for every landmark."""
        if self.order is None:
            return self.matrix
        root = np.zeros((n_landmarks, len(self.order)))
        root[self.order] = self.matrix
        return root


@dataclass(frozen=True)
class LandmarkBridge:
    """Landmarks on both sides: O(nm²) once, O(m²) per trial output."""

    sides: TwinSides
    kind: str
    inputs: Objects  # landmarks
    outputs: Objects
    x_root: FeatureRoot  # ψ(x)
    y_root: FeatureRoot  # φ(y)
    A: Array  # linear term from ψ(x)
    Pi: Array  # (P + ν)⁻¹, with which η = k_xx - ψ'ψ + νψ'Piψ
    Q: Array
    M: Array | None  # of the inverse criterion
    image: Array  # from ψ(x) to where the input process puts the output, in landmark features
    ridge: Array | None  # start from ψ(x), less the mean output
    mean: Array | None  # of the outputs, where these are vectors
    tried: ClassVar[TriedOutputs | None] = None  # landmarks are few

    def __getstate__(self) -> dict[str, Any]:
        # What follows from the rest is no part of what was learned.
        return {name: value for name, value in vars(self).items() if name != "inverse"}

    @cached_property
    def inverse(self) -> LandmarkInverse:
        """What stands for the inverse of the outputs' Gram matrix in a search."""
        return LandmarkInverse(self.sides.y_kernel, self.outputs, self.sides.y_noise, self.Q)

    def query(self, X: Objects) -> TwinQuery:
        x_kernel, _, x_noise, y_noise = self.sides
        psi = self.x_root.features(x_kernel.gram(X, self.inputs))
        k_xx = x_kernel.diag(X) + x_noise
        weights = product(psi, self.Pi)
        explained = np.einsum("ij,ij->i", psi, psi - x_noise * weights)
        eta = np.maximum(k_xx - explained, x_noise)
        start = None
        if self.ridge is not None and self.mean is not None:
            start = self.mean + psi @ self.ridge
        linear = product(psi, self.A)

        def mismatch(g: Array, g_yy: Array) -> Array:
            mean = product(psi, self.image)
            squares = np.einsum("ij,ij->i", mean, mean)
            return distance_from_mean(self.y_root.features(g), g_yy, mean, squares)

        if self.kind == "inverse_kl":
            judges = shared_inverse_kl(
                self.Q, self.M, linear, k_xx, y_noise, joined(self.Q, self.M)
            )
            return TwinQuery(
                *judges, start, eta, partial(inverse_added_divergence, eta=eta), mismatch
            )

        def to_nats(values: Array) -> Array:
            # u'(ΦΦ' + νI)u, with u = Ψ Pi ψ(x)
            mean = product(psi, self.image)
            squares = np.einsum("ij,ij->i", weights, psi - x_noise * weights)
            uGu = np.einsum("ij,ij->i", mean, mean) + y_noise * squares
            return added_divergence(values, uGu, eta)

        judges = shared_kl(self.inverse.rows, linear, eta, y_noise)
        levels = Levels(linear, eta, y_noise, self.inverse)
        return TwinQuery(*judges, start, eta, to_nats, mismatch, levels)


class PairMoments(NamedTuple):
    """Sums over training pairs of products of their landmark features."""

    inputs: Array  # P
    outputs: Array  # S
    cross: Array  # C
    targets: Array | None  # input features with the outputs less their mean, where vectors


def _add_moments(a: PairMoments, b: PairMoments) -> PairMoments:
    targets = None if a.targets is None or b.targets is None else a.targets + b.targets
    return PairMoments(a.inputs + b.inputs, a.outputs + b.outputs, a.cross + b.cross, targets)


def landmark_bridge(
    kind: str, sides: TwinSides, X: Objects, Y: Objects, landmarks: IntArray
) -> LandmarkBridge:
    r"""Sum the moments of landmark features over blocks of training pairs.

    With :math:`S=\Phi^\top\Phi`, :math:`P=\Psi^\top\Psi`, :math:`C=\Psi^\top\Phi` and the noise
    :math:`\nu`, push-through gives :math:`\Phi^\top(\Phi\Phi^\top+\nu I)^{-1}\Phi
    =I-\nu(S+\nu I)^{-1}` and :math:`\Phi^\top u=C^\top(P+\nu_xI)^{-1}\psi(x)`.
    """
    x_kernel, y_kernel, x_noise, y_noise = sides
    Zx, Zy = x_kernel.reference(X, landmarks), y_kernel.reference(Y, landmarks)
    x_root, y_root = feature_root(x_kernel, Zx), feature_root(y_kernel, Zy)
    mean = np.mean(Y, axis=0) if y_kernel.vectors else None

    def map_block(rows: slice) -> PairMoments:
        outputs = take(Y, rows)
        psi = x_root.features(x_kernel.gram(take(X, rows), Zx))
        phi = y_root.features(y_kernel.gram(outputs, Zy))
        targets = None if mean is None else psi.T @ (outputs - mean)
        return PairMoments(inner_products(psi), inner_products(phi), product(psi.T, phi), targets)

    blocks = block_slices(n_objects(X), len(landmarks))
    P, S, C, T = reduce(_add_moments, map(map_block, blocks))
    Pi, Si = positive_inverse(P, x_noise), positive_inverse(S.copy(), y_noise)
    R = y_root.full(n_objects(Zy))
    Q = product(product(R, np.eye(len(Si)) - y_noise * Si), R.T)
    ridge = None if T is None else Pi @ T
    image = product(Pi, C)
    M: Array | None = None
    if kind == "inverse_kl":
        # G⁻¹g = Φ(S+ν)⁻¹φ(y)
        A: Array = C @ Si @ R.T
        M = R @ Si @ (C.T @ C + x_noise * S) @ Si @ R.T
    else:
        A = product(image, R.T)  # u = Ψ(P+ν)⁻¹ψ(x)
    return LandmarkBridge(sides, kind, Zx, Zy, x_root, y_root, A, Pi, Q, M, image, ridge, mean)


def feature_root(kernel: Kernel, Z: Objects) -> FeatureRoot:
    """The root by a Cholesky factorisation that leaves out what others explain.

    It takes a sixth of the time of a spectrum, which remains for kernels that may have negative
    eigenvalues.
    """
    K = kernel.gram(Z, Z)
    if not getattr(kernel, "certain", False) or K.dtype != np.float64:
        return FeatureRoot(inverse_root(K)[0], None)
    largest = float(K.diagonal().max())
    L, order, rank, _ = linalg.lapack.dpstrf(K.T, tol=EXPLAINED * largest, lower=1)
    inverse = inverse_lower(L[:rank, :rank])
    return FeatureRoot(np.asfortranarray(inverse.T), order[:rank] - 1)
