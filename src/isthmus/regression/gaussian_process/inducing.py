r"""Gaussian processes through few inducing objects, as functions on arrays.

With :math:`K_{mm}=LL^\top`, :math:`V=L^{-1}K_{mn}` and :math:`Q=V^\top V` the outputs have the
covariance :math:`s^2A`, :math:`A=Q+\alpha I`. All that is needed of :math:`n` rows are the sums
:math:`VV^\top`, :math:`VY`, :math:`\sum y^2` and :math:`\sum k(x,x)`: blocks of rows add up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import take
from isthmus.linalg.products import inner_products, mirror_lower, product
from isthmus.linalg.triangles import MIRRORED, inverse_half, solve_lower
from isthmus.regression.gaussian_process.formulas import LOG_2_PI, cholesky
from isthmus.regression.gaussian_process.search import Evaluation, ProcessParameters
from isthmus.typing import Array, IntArray, Objects

# Relative to the mean diagonal; always there, so that the bound is smooth in the parameters. It is
# off by n JITTER / 2α, which with the noise of good data (α = 1e-4) must not be seen.
JITTER = 1e-12
# Numbers of a block of rows that stay in the cache from one pass over them to the next, and rows
# that products need to be fast.
CACHED, LEAST_BLOCK = 2**18, 1024


class InducingSums(NamedTuple):
    """What is known of the rows: sums of them, and how many there were."""

    P: Array  # VV'
    r: Array  # VY
    squares: Array  # Σ y²
    trace: float  # Σ k(x, x)
    n_rows: int


def add_sums(a: InducingSums, b: InducingSums) -> InducingSums:
    """The sums over the rows of both."""
    return InducingSums(
        a.P + b.P, a.r + b.r, a.squares + b.squares, a.trace + b.trace, a.n_rows + b.n_rows
    )


class InducingFit(NamedTuple):
    """The posterior of the inducing values."""

    L_B: Array  # lower factor of B = I + VV'/α
    u: Array  # B⁻¹VY/α = VA⁻¹Y
    fits: Array  # y'A⁻¹y
    log_det: float  # of A


def inducing_factor(kernel: Kernel, Z: Objects, gram: Array | None = None) -> Array:
    """Lower Cholesky factor of the inducing objects' Gram matrix."""
    K = np.array(kernel.gram(Z, Z) if gram is None else gram, dtype=np.float64)
    K.flat[:: len(K) + 1] += JITTER * np.mean(np.diagonal(K))
    return cholesky(K)[0]


class ProcessRows(Protocol):
    """Rows that are summed over, with outputs relative to their mean."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_outputs(self) -> int:
        """Number of output columns."""

    def fold(
        self, map_block: Callable[..., Any], merge: Callable[[Any, Any], Any], state: Any
    ) -> Any:
        """Sum of ``map_block(X, Y, state=state)`` over blocks."""


@dataclass(frozen=True)
class RowsInMemory:
    """Rows in memory, which blocks of kernel values with ``width`` objects are made of."""

    X: Objects
    Y: Array

    @property
    def n_rows(self) -> int:
        return len(self.Y)

    @property
    def n_outputs(self) -> int:
        return int(self.Y.shape[1])

    def fold(
        self, map_block: Callable[..., Any], merge: Callable[[Any, Any], Any], state: Any
    ) -> Any:
        found = (
            map_block(take(self.X, rows), self.Y[rows], state=state)
            for rows in self._blocks(len(state.L))
        )
        return reduce(merge, found)

    def in_one_block(self, m: int) -> bool:
        """Whether kernel values of all rows with ``m`` objects may be kept."""
        return len(list(block_slices(len(self.Y), 4 * m))) == 1

    def _blocks(self, m: int) -> list[slice]:
        size = max(LEAST_BLOCK, CACHED // m, len(self.Y) if self.in_one_block(m) else 1)
        return list(block_slices(len(self.Y), m, block_size=size))


class BlockValues(NamedTuple):
    """Kernel values of a block of rows."""

    K: Array  # K_nm
    V: Array  # L⁻¹K_mn


class Inducers(NamedTuple):
    """Inducing objects, and the factor of their Gram matrix."""

    kernel: Kernel
    Z: Objects
    L: Array
    values: BlockValues | None = None  # of the only block, where they are known

    def of(self, X: Objects) -> BlockValues:
        """Kernel values of a block of rows."""
        if self.values is not None:
            return self.values
        K = self.kernel.gram(X, self.Z)
        return BlockValues(K, solve_lower(self.L, K.T))


def block_sums(X: Objects, Y: Array, *, state: Inducers) -> InducingSums:
    """The sums over one block of rows."""
    trace = float(np.sum(state.kernel.diag(X)))
    squares = np.einsum("ij,ij->j", Y, Y)
    if state.values is not None:
        V = state.values.V
        return InducingSums(inner_products(V.T), product(V, Y), squares, trace, len(Y))
    V = solve_lower(state.L, state.kernel.gram(X, state.Z).T)
    return InducingSums(inner_products(V.T), product(V, Y), squares, trace, len(Y))


def inducing_sums(kernel: Kernel, X: Objects, Z: Objects, Y: Array, L: Array) -> InducingSums:
    """The sums over rows in memory, block by block."""
    found: InducingSums = RowsInMemory(X, Y).fold(block_sums, add_sums, Inducers(kernel, Z, L))
    return found


def inducing_fit(sums: InducingSums, alpha: float) -> InducingFit:
    """Condition the inducing values on the rows."""
    B = sums.P / alpha
    B.flat[:: len(B) + 1] += 1
    L_B, _ = cholesky(B)
    u = linalg.cho_solve((L_B, True), sums.r, check_finite=False) / alpha
    fits = (sums.squares - np.einsum("ij,ij->j", sums.r, u)) / alpha
    log_det = 2 * float(np.log(np.diagonal(L_B)).sum()) + sums.n_rows * float(np.log(alpha))
    return InducingFit(L_B, u, np.maximum(fits, np.finfo(np.float64).tiny), log_det)


def inducing_value(
    sums: InducingSums, fit: InducingFit, alpha: float, variances: Array, bound: bool
) -> float:
    r"""Lower bound of the log marginal likelihood [Titsias2009]_, or that of the DTC model.

    .. math:: \sum_j\log N(y_j;0,s_j^2A)-\frac q{2\alpha}\operatorname{tr}(K-Q),

    without the last term for DTC.
    """
    n, q = sums.n_rows, len(variances)
    value = -0.5 * float(np.sum(fit.fits / variances + n * np.log(variances)))
    value -= 0.5 * q * (fit.log_det + n * LOG_2_PI)
    return value - 0.5 * q / alpha * _missing(sums) if bound else value


def _missing(sums: InducingSums) -> float:
    return max(sums.trace - float(np.trace(sums.P)), 0.0)


class Slopes(NamedTuple):
    """What the derivatives of one block are computed with."""

    inducers: Inducers
    u: Array
    Ta: Array
    right: Array
    alpha: float
    s2: Array
    bound: bool

    @property
    def L(self) -> Array:
        """The factor of the inducing objects."""
        return self.inducers.L


def block_slopes(X: Objects, Y: Array, *, state: Slopes) -> tuple[Array, Array]:
    """Derivatives by the kernel, and sums of squared dual coefficients, over one block of rows."""
    kernel, alpha, q = state.inducers.kernel, state.alpha, Y.shape[1]
    by_kernel = np.zeros(len(kernel.log_parameters()))
    K, V = state.inducers.of(X)
    a = (Y - product(V.T, state.u)) / alpha
    if len(by_kernel):
        G = product(a / state.s2, state.Ta.T)
        G += (q / alpha) * product(V.T, state.right.T)
        by_kernel += kernel.parameter_gradient(X, state.inducers.Z, G, K)
        if state.bound:
            ones = np.full(len(a), -0.5 * q / alpha)
            by_kernel += kernel.diag_parameter_gradient(X, ones)
    return by_kernel, np.einsum("ij,ij->j", a, a)


def add_slopes(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    """Of the rows of both."""
    return a[0] + b[0], a[1] + b[1]


def inducing_score(
    found: ProcessParameters, data: ProcessRows, Z: Objects, *, bound: bool
) -> Evaluation:
    r"""The value and its derivatives, in two passes over blocks of rows.

    With :math:`W=\frac12\sum_ja_ja_j^\top/s_j^2-\frac q2A^{-1}+\frac q{2\alpha}I`, the derivative
    by :math:`Q`, and :math:`T=K_{mm}^{-1}K_{mn}`, those by :math:`K_{nm}` and :math:`K_{mm}` are
    :math:`2WT^\top` and :math:`-TWT^\top`, and neither needs an n × n matrix.
    """
    kernel, alpha = found.kernel, found.alpha
    K_mm = kernel.gram(Z, Z)
    L = inducing_factor(kernel, Z, K_mm)
    inducers = Inducers(kernel, Z, L)
    if isinstance(data, RowsInMemory) and data.in_one_block(len(L)):
        inducers = inducers._replace(values=inducers.of(data.X))
    sums: InducingSums = data.fold(block_sums, add_sums, inducers)
    fit = inducing_fit(sums, alpha)
    n, q, m = data.n_rows, data.n_outputs, len(L)
    s2 = fit.fits / n if found.variances is None else found.variances
    value = inducing_value(sums, fit, alpha, s2, bound)

    B_inverse = inverse_half(fit.L_B.copy(order="F"))
    mirror_lower(B_inverse, step=MIRRORED)
    # V'(I - B⁻¹)L⁻¹, or -V'B⁻¹L⁻¹ without the bound's trace
    middle = (np.eye(m) if bound else 0.0) - B_inverse
    right = linalg.solve_triangular(L, middle, lower=True, trans=1, check_finite=False)
    Ta = linalg.solve_triangular(L, fit.u, lower=True, trans=1, check_finite=False)
    state = Slopes(inducers, fit.u, Ta, right, alpha, s2, bound)
    by_kernel, a_squares = data.fold(block_slopes, add_slopes, state)
    if len(by_kernel):
        inner = linalg.solve_triangular(
            L, product(sums.P, middle).T, lower=True, trans=1, check_finite=False
        )
        inner = linalg.solve_triangular(L, inner.T, lower=True, trans=1, check_finite=False)
        G_mm = -0.5 * (product(Ta / s2, Ta.T) + (q / alpha) * (inner + inner.T) / 2)
        by_kernel += kernel.parameter_gradient(Z, Z, G_mm, K_mm)
        jitter = np.full(m, JITTER * float(np.trace(G_mm)) / m)
        by_kernel += kernel.diag_parameter_gradient(Z, jitter)
    trace_inverse = (n - m + float(np.trace(B_inverse))) / alpha
    by_noise = 0.5 * alpha * (float(np.sum(a_squares / s2)) - q * trace_inverse)
    if bound:
        by_noise += 0.5 * q / alpha * _missing(sums)
    by_amplitude = 0.0
    if found.variances is not None:
        by_amplitude = 0.5 * float(np.sum(fit.fits / s2 - n))
    return Evaluation(value, by_kernel, by_noise, by_amplitude)


def spread_pivots(gram: Array, n_points: int) -> IntArray:
    """Objects of largest remaining variance, greedily: the first pivots of a Cholesky factor.

    >>> import numpy as np
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])[:, None]
    >>> sorted(spread_pivots(np.exp(-((x - x.T) ** 2)), 2).tolist())
    [0, 2]
    """
    _, pivots, rank, _ = lapack.dpstrf(np.asfortranarray(gram), lower=1)
    return np.asarray(pivots[: min(n_points, max(int(rank), 1))]) - 1


def candidate_rows(n_rows: int, n_points: int, rng: np.random.Generator) -> IntArray:
    """Rows among which inducing objects are chosen."""
    return sample_rows(n_rows, max(4 * n_points, 1000), rng)
