"""What a fitted process knows: means and covariances at new objects."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.products import inner_products, product
from isthmus.regression.gaussian_process.formulas import FactoredPart, Noise, cholesky
from isthmus.typing import Array, Objects

# A variance this negative, as a share of the prior's, is more than a rounding error.
NEGATIVE = 1e-6


class Posterior(NamedTuple):
    r"""A process after it has seen outputs, in units of the amplitudes.

    The mean is :math:`k(x,Z)\,`\ ``dual``, and the prior variance shrinks by
    :math:`\|L^{-1}k(Z,x)\|^2`; with inducing objects :math:`Z` only by the part of that which the
    rows have settled, :math:`-\|L_B^{-1}L^{-1}k(Z,x)\|^2`.
    """

    objects: Objects
    dual: Array
    L: Array
    L_B: Array | None = None

    def as_part(self) -> FactoredPart:
        """The factor and coefficients as the likelihood takes them."""
        return FactoredPart(self.L, self.dual, 2 * float(np.log(np.diagonal(self.L)).sum()))

    def _explained(self, K: Array) -> tuple[Array, Array | None]:
        V = linalg.solve_triangular(self.L, K.T, lower=True, check_finite=False)
        if self.L_B is None:
            return V, None
        return V, linalg.solve_triangular(self.L_B, V, lower=True, check_finite=False)

    def variances(self, prior: Array, K: Array) -> Array:
        """Of the function at some objects, given ``K = k(objects, Z)``."""
        V, U = self._explained(K)
        result = prior - np.einsum("ij,ij->j", V, V)
        if U is not None:
            result += np.einsum("ij,ij->j", U, U)
        # Differences of nearly equal numbers where the data are dense.
        worst = float(np.min(result, initial=0.0))
        if worst < -NEGATIVE * float(np.max(prior, initial=0.0)):
            warn(
                f"A variance came out as {worst:.2g} and was set to 0: the covariance is nearly "
                "singular. Give the noise a value above 0.",
                RuntimeWarning,
            )
        return np.maximum(result, 0)

    def covariance(self, prior: Array, K: Array) -> Array:
        """Joint covariance of the function at some objects."""
        V, U = self._explained(K)
        C = prior - inner_products(V)
        return C if U is None else C + inner_products(U)


def covariance_factor(kernel: Kernel, X: Objects, alpha: Noise) -> Array:
    """Lower Cholesky factor of ``k(X, X) + diag(alpha)``."""
    K = np.array(kernel.gram(X, X), dtype=np.float64)
    K.flat[:: len(K) + 1] += alpha
    return cholesky(K)[0]


def extended_factor(
    kernel: Kernel, objects: Objects, L: Array, X: Objects, alpha: Noise
) -> tuple[Objects, Array]:
    """All objects and their factor, when ``X`` joins ``objects`` whose factor is ``L``."""
    n = len(L)
    cross = linalg.solve_triangular(L, kernel.gram(X, objects).T, lower=True, check_finite=False)
    corner = np.array(kernel.gram(X, X), dtype=np.float64)
    m = len(corner)
    corner.flat[:: m + 1] += alpha
    corner -= inner_products(cross)
    larger = np.zeros((n + m, n + m), order="F")
    larger[:n, :n], larger[n:, :n] = L, cross.T
    larger[n:, n:] = cholesky(corner)[0]
    if isinstance(objects, np.ndarray) and isinstance(X, np.ndarray):
        return np.concatenate([objects, X]), larger
    return [*objects, *X], larger


def block_moments(kernel: Kernel, members: Sequence[Posterior], X: Objects) -> tuple[Array, Array]:
    """Means (n, q) and unit variances (n,) at ``X``, in blocks of rows.

    Several members are combined one object at a time as a Bayesian committee [Tresp2000]_:
    precisions add up, less the prior that all but one have counted again.
    """
    n = n_objects(X)
    q = members[0].dual.shape[1]
    mean, variances = np.empty((n, q)), np.empty(n)
    width = sum(len(member.L) for member in members)
    for rows in block_slices(n, 2 * width):
        some = take(X, rows)
        prior = np.asarray(kernel.diag(some), dtype=np.float64)
        parts = []
        for member in members:
            K = kernel.gram(some, member.objects)
            parts.append((product(K, member.dual), member.variances(prior, K)))
        mean[rows], variances[rows] = committee(parts, prior)
    return mean, variances


def committee(parts: Sequence[tuple[Array, Array]], prior: Array) -> tuple[Array, Array]:
    """Mean and variance of independent experts on one function, for each object alone."""
    if len(parts) == 1:
        return parts[0]
    smallest = np.finfo(np.float64).eps * np.maximum(prior, np.finfo(np.float64).tiny)
    precisions = [1 / np.maximum(v, smallest) for _, v in parts]
    total = sum(precisions) - (len(parts) - 1) / np.maximum(prior, smallest)
    weighted = sum(m * p[:, None] for (m, _), p in zip(parts, precisions, strict=True))
    return np.asarray(weighted) / np.asarray(total)[:, None], 1 / np.asarray(total)


def joint_moments_at(
    kernel: Kernel, members: Sequence[Posterior], X: Objects
) -> tuple[Array, Array]:
    """Means (n, q) and the unit covariance (n, n) at ``X``."""
    prior = np.asarray(kernel.gram(X, X), dtype=np.float64)
    parts = []
    for member in members:
        K = kernel.gram(X, member.objects)
        parts.append((product(K, member.dual), member.covariance(prior, K)))
    if len(parts) == 1:
        return parts[0]
    # C⁻¹ = Σ Cᵢ⁻¹ - (M-1) K⁻¹, all with the same jitter: dense objects make them singular.
    jitter = 1e-8 * float(np.mean(np.diagonal(prior)))
    prior_inverse = _inverse(prior, jitter)
    precision = -(len(parts) - 1) * prior_inverse
    weighted: Any = 0.0
    for mean, C in parts:
        inverse = _inverse(C, jitter)
        precision += inverse
        weighted = weighted + inverse @ mean
    C = _inverse(precision, 0.0)
    return C @ weighted, C


def _inverse(A: Array, jitter: float) -> Array:
    A = A.copy()
    A.flat[:: len(A) + 1] += jitter
    L, _ = cholesky(A)
    inverse = linalg.cho_solve((L, True), np.eye(len(L)), check_finite=False)
    return (inverse + inverse.T) / 2


def draw_samples(mean: Array, C: Array, scales: Array, noises: Array, n: int, rng: Any) -> Array:
    """Samples of shape (n, n_objects, n_outputs) with covariances ``scales² C + noises² I``."""
    C = (C + C.T) / 2
    top = float(np.max(np.diagonal(C), initial=0.0))
    # After the data little variance may be left: rounding errors of it are no refusal.
    C.flat[:: len(C) + 1] += 1e-10 * top + np.finfo(np.float64).tiny
    try:
        root = cholesky(C.copy())[0]
    except (linalg.LinAlgError, ValueError):
        eigenvalues, U = linalg.eigh(C)
        root = U * np.sqrt(np.maximum(eigenvalues, 0))
    z = rng.standard_normal((n, *mean.shape))
    result = mean + scales * np.einsum("ij,njq->niq", root, z, optimize=True)
    if np.any(noises):
        result += noises * rng.standard_normal(result.shape)
    return result
