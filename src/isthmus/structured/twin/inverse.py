r"""The inverse of the outputs' Gram matrix: exact, and of low rank but for the noise.

With landmarks :math:`Z` among the outputs, :math:`\Phi=G_{nZ}L^{-\top}`, :math:`G_{ZZ}=LL^\top`,

.. math:: (G+\nu I)^{-1}\approx(\Phi\Phi^\top+D)^{-1}=D^{-1}-AA^\top,\quad
   A=D^{-1}\Phi M^{-\top},\ I+\Phi^\top D^{-1}\Phi=MM^\top,

where the diagonal :math:`D` holds the noise and what landmarks leave of the diagonal of :math:`G`.

Rows :math:`g=g(Y,y)` of trial outputs have :math:`\sum_i(v_i^\top g)^2/\lambda_i\le g_{yy}` in the
eigenvectors of :math:`G`, so that those with :math:`\lambda_i\ll\nu` enter :math:`g^\top(G+\nu
I)^{-1}g` with :math:`\lambda_i/\nu` and the difference of the two inverses with the square of it:
where the noise is not small, a few landmarks give several digits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg

from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import checked_gram
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg import unlocked
from isthmus.linalg.products import inner_products, mirror_lower, product, symmetric_product
from isthmus.linalg.triangles import MIRRORED, inverse_half
from isthmus.typing import Array, IntArray, Objects

# Outputs up to which the inverse is formed: products with it are faster than solving.
MOST_FORMED = 1000
# Numbers of landmarks that are tried, and how many outputs there must be for each of them.
RANKS, OUTPUTS_PER_LANDMARK = (32, 96, 288), 5
# Largest error of what a trial output leaves unexplained, s, as a share of it, and on how many
# outputs it is measured.
TRUSTED, N_PROBED = 0.1, 16
# Rounding errors of landmarks that repeat each other, as a share of the diagonal.
JITTER = 1e-8


class LowRankInverse(NamedTuple):
    r"""The matrix :math:`D^{-1}-AA^\top`."""

    A: Array
    diagonal: Array

    def rows(self, g: Array) -> Array:
        """Products of the rows with the matrix."""
        found = product(product(g, self.A), self.A.T)
        return np.subtract(g * self.diagonal, found, out=found)

    def in_single(self) -> "LowRankInverse":
        """The same in single precision."""
        return LowRankInverse(self.A.astype(np.float32), self.diagonal.astype(np.float32))


class SingleInverse(NamedTuple):
    """The inverse itself, not of low rank, in single precision."""

    matrix: Array

    def rows(self, g: Array) -> Array:
        """Products of the rows with the matrix."""
        return symmetric_product(self.matrix, g.T).T

    def in_single(self) -> "SingleInverse":
        """Itself."""
        return self


@dataclass(frozen=True)
class OutputInverse:
    """The inverse of the Gram matrix of the outputs with its noise, made when it is asked for."""

    kernel: Kernel
    outputs: Objects
    noise: float

    def __getstate__(self) -> dict[str, Any]:
        # What follows from the factor is no part of what was learned.
        kept = ("kernel", "outputs", "noise", "factor")
        return {name: value for name, value in vars(self).items() if name in kept}

    @cached_property
    def _gram(self) -> Array:
        # One half of it is read; both may differ by rounding errors.
        return checked_gram(self.kernel, self.outputs, self.outputs, "the outputs", exact=False)

    @cached_property
    def factor(self) -> Any:
        """Cholesky factor."""
        G = self._gram
        del vars(self)["_gram"]  # whose memory the factor takes
        G.flat[:: len(G) + 1] += self.noise
        return positive_factor(G, "outputs")

    @cached_property
    def matrix(self) -> Array:
        """The inverse itself."""
        return inverse_from(self.factor[0].copy(order="F"))

    @cached_property
    def single(self) -> SingleInverse | None:
        """The inverse in single precision, where it is formed at all."""
        if n_objects(self.outputs) > MOST_FORMED:
            return None
        return SingleInverse(inverse_from(self.factor[0].astype(np.float32, order="F")))

    def rows(self, g: Array) -> Array:
        """Products of the rows with the inverse."""
        if g.shape[1] <= MOST_FORMED:
            return symmetric_product(self.matrix, g.T).T
        return solve_factored(self.factor, g.T).T

    @cached_property
    def low_rank(self) -> LowRankInverse | None:
        """An inverse of low rank that can be trusted; None where the noise is too small."""
        return trusted(
            n_objects(self.outputs),
            lambda rank: low_rank_inverse(self.kernel, self.outputs, self.noise, rank),
            self.error_of,
        )

    def error_of(self, low: LowRankInverse) -> float:
        """Largest relative error of ``s`` on outputs that are spread over all."""
        probed, g = _probes(self.kernel, self.outputs)
        rough = low.rows(g)
        if "factor" in vars(self):
            change = np.einsum("ij,ij->i", g, self.rows(g) - rough)
        else:
            # To first order in the difference of the inverses, without either factor.
            rest = g - self.noise * rough - product(rough, self._gram)
            change = np.einsum("ij,ij->i", rough, rest)
        explained = np.einsum("ij,ij->i", g, rough) + change
        s = np.maximum(self.kernel.diag(probed) + self.noise - explained, self.noise)
        return float(np.max(np.abs(change) / s))


class SubsetInverse(NamedTuple):
    """A matrix that is zero but for the rows and columns of some landmarks."""

    chosen: IntArray
    core: Array

    def rows(self, g: Array) -> Array:
        """Products of the rows with the matrix."""
        found = np.zeros_like(g)
        found[:, self.chosen] = product(np.ascontiguousarray(g[:, self.chosen]), self.core)
        return found

    def in_single(self) -> "SubsetInverse":
        """The same in single precision."""
        return SubsetInverse(self.chosen, self.core.astype(np.float32))


@dataclass(frozen=True)
class LandmarkInverse:
    """What stands for the inverse where outputs are represented by landmarks."""

    kernel: Kernel
    outputs: Objects
    noise: float
    Q: Array
    single: ClassVar[None] = None  # products with the matrix of landmarks cost little

    def rows(self, g: Array) -> Array:
        """Products of the rows with the matrix."""
        return symmetric_product(self.Q, g.T).T

    @cached_property
    def low_rank(self) -> SubsetInverse | None:
        """A matrix on some of the landmarks that can be trusted; None where there is none."""
        return trusted(
            n_objects(self.outputs),
            lambda rank: subset_inverse(self.kernel, self.outputs, self.Q, rank),
            self.error_of,
        )

    def error_of(self, low: SubsetInverse) -> float:
        """Largest relative error of ``s`` on landmarks that are spread over all."""
        probed, g = _probes(self.kernel, self.outputs)
        explained = np.einsum("ij,ij->i", g, self.rows(g))
        change = explained - np.einsum("ij,ij->i", g, low.rows(g))
        s = np.maximum(self.kernel.diag(probed) + self.noise - explained, self.noise)
        return float(np.max(np.abs(change) / s))


def trusted(n: int, make: Callable[[int], Any], error_of: Callable[[Any], float]) -> Any:
    """What is made of the fewest landmarks and has a small error; None where nothing has."""
    for rank in RANKS:
        if rank * OUTPUTS_PER_LANDMARK > n:
            break
        low = make(rank)
        if low is None:
            break
        if error_of(low) <= TRUSTED:
            return low
    return None


def _probes(kernel: Kernel, outputs: Objects) -> tuple[Objects, Array]:
    """Outputs on which errors are measured, and their rows."""
    probed = take(outputs, spread(n_objects(outputs), N_PROBED, 0.3))
    return probed, kernel.gram(probed, outputs)


def subset_inverse(kernel: Kernel, outputs: Objects, Q: Array, rank: int) -> SubsetInverse | None:
    r"""The form :math:`g^\top Qg` by :math:`g\approx W^\top g_C`, interpolated from some outputs.

    :math:`W=G_{CC}^{-1}G_{CZ}`, so that the matrix is :math:`WQW^\top` on the chosen outputs C.
    """
    chosen = spread(n_objects(outputs), rank)
    C = kernel.gram(take(outputs, chosen), outputs)
    own = C[:, chosen].copy()
    own.flat[:: rank + 1] += JITTER * float(np.mean(own.diagonal()))
    try:
        W = linalg.cho_solve(linalg.cho_factor(own, lower=True), C, check_finite=False)
    except linalg.LinAlgError:
        return None
    core = product(product(np.ascontiguousarray(W), Q), W.T)
    return SubsetInverse(chosen, (core + core.T) / 2)


def low_rank_inverse(
    kernel: Kernel, outputs: Objects, noise: float, rank: int
) -> LowRankInverse | None:
    """The inverse by landmarks that are spread over the outputs; None where these fail."""
    Z = take(outputs, spread(n_objects(outputs), rank))
    W = kernel.gram(Z, Z)
    W.flat[:: rank + 1] += JITTER * float(np.mean(W.diagonal()))
    try:
        L = linalg.cholesky(W, lower=True, check_finite=False)
        C = kernel.gram(Z, outputs)
        features = linalg.solve_triangular(L, C, lower=True, check_finite=False)
        rest = kernel.diag(outputs) - np.einsum("ij,ij->j", features, features)
        diagonal = 1 / (noise + np.maximum(rest, 0))
        moments = inner_products(np.ascontiguousarray((features * np.sqrt(diagonal)).T))
        moments.flat[:: rank + 1] += 1
        M = linalg.cholesky(moments, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    found = linalg.solve_triangular(M, features, lower=True, check_finite=False)
    return LowRankInverse(np.ascontiguousarray((found * diagonal).T), diagonal)


def spread(n: int, count: int, place: float = 0.5) -> IntArray:
    """One of each of as many equal parts of n rows, at the same place of each."""
    return ((np.arange(count) + place) * n / count).astype(int)


def positive_factor(K: Array, whose: str) -> Any:
    """Cholesky factor, in place where it can be."""
    A = np.asfortranarray(K.T, dtype=np.promote_types(K.dtype, np.float32))
    try:
        unlocked.factor(A)  # folds are factored side by side
        return A, True
    except linalg.LinAlgError as error:
        raise ValueError(
            f"The Gram matrix of the {whose} is not positive definite. Raise their alpha, or use a "
            'kernel that is positive definite (Transformed with validity="clip").'
        ) from error


def solve_factored(factor: Any, B: Array) -> Array:
    """Solution for the columns of ``B``, by what :func:`positive_factor` returns."""
    L = factor[0]
    if L.dtype != B.dtype:
        return np.asarray(linalg.cho_solve(factor, B, check_finite=False))
    found = np.array(B, order="F")
    unlocked.solve_factored(L, found)
    return found


def positive_inverse(G: Array, noise: float) -> Array:
    """Inverse of ``G + noise I``, so that each later step is one product; ``G`` is used up."""
    G.flat[:: len(G) + 1] += noise
    return inverse_from(positive_factor(G, "outputs")[0])


def inverse_from(factor: Array) -> Array:
    """Inverse from a lower Cholesky factor in column order, which is used up."""
    inverse = inverse_half(factor)
    mirror_lower(inverse, step=MIRRORED)
    return inverse.T
