r"""Ridge regression of many rows in the span of a few landmarks, every penalty at once.

With features :math:`\psi(x)\in\mathbb R^m` (see :mod:`isthmus.kernels.landmarks`) kernel ridge
regression within the span of the landmarks is ridge regression on :math:`\psi`, for which a few
sums over rows are enough: with the centred :math:`\Psi^\top\Psi=VMV^\top`,

.. math:: f(x)=\bar y+(\psi(x)-\bar\psi)^\top V(M+\alpha)^{-1}V^\top\Psi^\top Y,\qquad
          e_i=\frac{y_i-f(x_i)}{1-h_i},\quad h_i=\frac1n+\sum_j\frac{p_{ij}^2}{M_j+\alpha},

where :math:`p_i=V^\top(\psi(x_i)-\bar\psi)` and :math:`e_i` is the error of row i left out. No
n × n matrix is formed. A row of weight w counts as w rows, of which one is left out.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import blas

from isthmus.blocks.slices import block_slices
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.landmarks import LandmarkFeatures
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.products import inner_products, mirror_lower, product
from isthmus.regression.ridge.left_out import POWERS
from isthmus.typing import Array, Objects

# Kernel values in a block: 1.2 MB. Memory for larger ones goes back to the system each time, and
# getting it again costs more than computing with it.
BLOCK_VALUES = 150_000


class RidgeSums(NamedTuple):
    """What ridge regression asks of rows; sums about their own means, so nothing cancels."""

    count: float  # type: ignore[assignment]  # shadows tuple.count, which nobody needs
    mean: Array  # (m,) of the features
    y_mean: Array  # (q,)
    scatter: Array  # (m, m)
    across: Array  # (m, q)


def map_block(P: Array, Y: Any, weights: Array | None = None) -> RidgeSums:
    """Sums over a block of rows with features ``P``, which are overwritten, and outputs ``Y``."""
    w = np.ones(len(P)) if weights is None else weights
    if sparse.issparse(Y) and w.sum() > 0:
        return _map_sparse(P, Y, w)
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=np.float64)
    count = float(w.sum())
    if not count > 0:
        m, q = P.shape[1], Y.shape[1]
        return RidgeSums(0.0, np.zeros(m), np.zeros(q), np.zeros((m, m)), np.zeros((m, q)))
    mean, y_mean = w @ P / count, w @ Y / count
    P -= mean
    Y = Y - y_mean
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        P *= root
        Y = Y * root
    return RidgeSums(count, mean, y_mean, inner_products(P), product(P.T, Y))


def _map_sparse(P: Array, Y: Any, w: Array) -> RidgeSums:
    """The same for sparse outputs, which stay so: of centred features their mean is not needed."""
    count = float(w.sum())
    mean = w @ P / count
    P = P - mean
    across = np.asarray((Y.T @ (w[:, None] * P)).T, dtype=np.float64)
    return RidgeSums(
        count,
        mean,
        np.asarray(Y.T @ w).ravel() / count,
        inner_products(np.sqrt(w)[:, None] * P),
        across,
    )


def merge(a: RidgeSums, b: RidgeSums) -> RidgeSums:
    """Sums over the rows of both [Chan1983]_."""
    if not b.count:
        return a
    count = a.count + b.count
    shift, y_shift = b.mean - a.mean, b.y_mean - a.y_mean
    share = a.count * b.count / count
    scatter = a.scatter + b.scatter
    scatter += (share * shift)[:, None] * shift
    across = a.across + b.across
    across += (share * shift)[:, None] * y_shift
    mean, y_mean = a.mean + shift * (b.count / count), a.y_mean + y_shift * (b.count / count)
    return RidgeSums(count, mean, y_mean, scatter, across)


def landmark_sums(
    features: LandmarkFeatures, X: Objects, Y: Any, weights: Array | None = None
) -> RidgeSums:
    """The sums over rows in memory, block by block."""
    if sparse.issparse(Y) or not len(features):

        def sums(rows: slice) -> RidgeSums:
            w = None if weights is None else weights[rows]
            return map_block(features(take(X, rows)), Y[rows], w)

        return reduce(merge, map(sums, row_slices(X, features)))
    total = _RunningSums(len(features), Y.shape[1])
    for rows in row_slices(X, features):
        y = np.asarray(Y[rows], dtype=np.float64)
        total.add(features(take(X, rows)), y, None if weights is None else weights[rows])
    return total.finish()


class _RunningSums:
    """Sums to which blocks are added in place.

    They are about the mean of the first block, which is near that of all, so that
    what is put right in the end is small.
    """

    def __init__(self, m: int, q: int):
        self._count, self._shift, self._y_shift = 0.0, np.zeros(m), np.zeros(q)
        self._total, self._y_total = np.zeros(m), np.zeros(q)
        self._scatter, self._across = np.zeros((m, m), order="F"), np.zeros((m, q))

    def add(self, P: Array, Y: Array, weights: Array | None) -> None:
        """Take in features ``P``, which are overwritten, and outputs ``Y``."""
        if not self._shift.any():
            self._shift, self._y_shift = P.mean(axis=0), Y.mean(axis=0)
        P -= self._shift
        Y = Y - self._y_shift
        w = np.ones(len(P)) if weights is None else weights
        self._count += float(w.sum())
        self._total += w @ P
        self._y_total += w @ Y
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            P *= root
            Y *= root
        F = P.T if P.flags.c_contiguous else np.asfortranarray(P.T)
        self._scatter = blas.dsyrk(1.0, F, beta=1.0, c=self._scatter, lower=1, overwrite_c=1)
        self._across += product(P.T, Y)

    def finish(self) -> RidgeSums:
        """The sums about the means."""
        if not self._count > 0:
            return RidgeSums(
                0.0, self._total, self._y_total, np.zeros_like(self._scatter), self._across
            )
        mirror_lower(self._scatter)
        off, y_off = self._total / self._count, self._y_total / self._count
        scatter = np.asarray(self._scatter.T) - self._count * off[:, None] * off
        across = self._across - self._count * off[:, None] * y_off
        return RidgeSums(self._count, self._shift + off, self._y_shift + y_off, scatter, across)


def row_slices(X: Objects, features: LandmarkFeatures) -> Iterator[slice]:
    """Blocks of rows whose kernel values and features are kept by the allocator and the cache."""
    m = max(len(features), 1)
    return block_slices(n_objects(X), m, block_size=max(512, BLOCK_VALUES // m))


class LandmarkSystem:
    """The ridge problem in the span of landmarks, decomposed: any penalty is a division.

    Parameters
    ----------
    features : LandmarkFeatures
    sums : RidgeSums
    center : bool
        Whether a constant that is not penalised is fitted.
    """

    def __init__(self, features: LandmarkFeatures, sums: RidgeSums, *, center: bool):
        self.features, self.count, self.center = features, sums.count, center
        scatter, across = sums.scatter, sums.across
        self.mean, self.y_mean = sums.mean, sums.y_mean
        if not center:
            scatter = scatter + sums.count * np.outer(sums.mean, sums.mean)
            across = across + sums.count * np.outer(sums.mean, sums.y_mean)
            self.mean, self.y_mean = np.zeros_like(sums.mean), np.zeros_like(sums.y_mean)
        if len(features):
            mu, self.V = linalg.eigh(scatter, check_finite=False)
        else:
            mu, self.V = np.zeros(0), np.zeros((0, 0))
        self.mu = np.maximum(mu, 0.0)
        self.across = product(self.V.T, across)

    @property
    def smallest_penalty(self) -> float:
        """Penalty below which rounding errors decide the coefficients."""
        return float(np.finfo(np.float64).eps) * float(np.max(self.mu, initial=0.0))

    def penalties(self) -> list[float]:
        """Penalties in units of the mean squared length of the (centred) features."""
        unit = float(self.mu.sum()) / self.count
        floor = float(np.finfo(np.float64).eps) * (unit + float(self.mean @ self.mean))
        unit = unit if unit > floor else (floor or 1.0)
        return [float(unit * 10.0**power) for power in POWERS]

    def function(
        self, alpha: float, across: Array | None = None, y_mean: Array | None = None
    ) -> tuple[Array, Array]:
        """Weights over the landmarks and constants of the functions of one penalty.

        ``across`` and ``y_mean`` are those of other outputs, see :meth:`across_of`.
        """
        across = self.across if across is None else across
        B = product(self.V, across * self.shrinkage(alpha)[:, None])
        C = self.features.expand(B)
        constant = (self.y_mean if y_mean is None else y_mean) - self.mean @ B
        if self.features.origin is not None:
            # ⟨z, x - o⟩ = ⟨z, x⟩ - ⟨z, o⟩: new rows come as they are.
            constant = constant - (C.T @ self.features.objects) @ self.features.origin
        return C, constant

    def shrinkage(self, alpha: float) -> Array:
        r"""The numbers :math:`1/(M_j+\alpha)`, penalties below rounding errors lifted to them."""
        floor = max(self.smallest_penalty, float(np.finfo(np.float64).tiny))
        return 1 / (self.mu + max(alpha, floor))

    def axes(self, X: Objects) -> Array:
        r"""Rows :math:`p_i=V^\top(\psi(x_i)-\bar\psi)`."""
        return product(self.features(X) - self.mean, self.V)

    def across_of(self, X: Objects, G: Any, weights: Array | None = None) -> tuple[Array, Array]:
        """``across`` and ``y_mean`` of other outputs ``G`` of the training rows ``X``."""
        n = n_objects(X)
        w = np.ones(n) if weights is None else weights
        mean = np.asarray(G.T @ w).ravel() / self.count * self.center
        total = np.zeros((len(self.mu), G.shape[1]))
        for rows in row_slices(X, self.features):
            g = G[rows].toarray() if sparse.issparse(G) else G[rows]
            total += product(self.axes(take(X, rows)).T, w[rows, None] * (g - mean))
        return total, mean

    def leverage(self, P: Array, alpha: float) -> Array:
        """How much each row, counted once, decides of its own prediction."""
        constant = 1 / self.count if self.center else 0.0
        return constant + product(P**2, self.shrinkage(alpha))

    def left_out(
        self,
        P: Array,
        Y: Array,
        alpha: float,
        weights: Array | None = None,
        leverage: Array | None = None,
    ) -> Array:
        """Predictions of training rows with coordinates ``P``, each left out by itself."""
        fitted = self.y_mean + product(P, self.shrinkage(alpha)[:, None] * self.across)
        once = 1.0 if weights is None else np.minimum(weights, 1.0)
        leverage = self.leverage(P, alpha) if leverage is None else leverage
        h = np.minimum(once * leverage, 1 - 1e-10)[:, None]
        return (fitted - h * Y) / (1 - h)

    def left_out_errors(
        self,
        X: Objects,
        Y: Array,
        alphas: Sequence[float] | None,
        *,
        weights: Array | None = None,
        rounding: float = 0.0,
    ) -> Iterator[tuple[float, float]]:
        """Yield the mean squared error of rows left out, and the penalty."""
        alphas = self.penalties() if alphas is None else alphas
        allowed = [a for a in alphas if a >= self.smallest_penalty] or [max(alphas)]
        totals = np.zeros(len(allowed))
        shrinkages = np.array([self.shrinkage(alpha) for alpha in allowed]).T
        constant = 1 / self.count if self.center else 0.0
        for rows in row_slices(X, self.features):
            P, y = self.axes(take(X, rows)), np.asarray(Y[rows], dtype=np.float64)
            w = None if weights is None else weights[rows]
            leverages = constant + product(np.square(P), shrinkages).T
            for i, alpha in enumerate(allowed):
                squares = np.square(y - self.left_out(P, y, alpha, w, leverages[i]))
                totals[i] += np.sum(squares if w is None else w[:, None] * squares)
        n = n_objects(X) if weights is None else float(weights.sum())
        for alpha, total in zip(allowed, totals, strict=True):
            yield float(total) / (n * Y.shape[1]) + self.noise(alpha, rounding), alpha

    def noise(self, alpha: float, rounding: float) -> float:
        """What kernel values with errors of this relative size add to the squared error."""
        if not rounding:
            return 0.0
        C, _ = self.function(alpha)
        return rounding**2 * self.features.mean_square * float(np.sum(C**2)) / C.shape[1]


class LandmarkSmoother:
    """The system with its penalty and the training rows, to be solved for other outputs.

    Parameters
    ----------
    system : LandmarkSystem
    alpha : float
    X : the training objects
    weights : ndarray of shape (n,) or None
        How often each row counts.
    """

    def __init__(self, system: LandmarkSystem, alpha: float, X: Objects, weights: Any = None):
        self.system, self.alpha, self.X, self.row_weights = system, alpha, X, weights

    @classmethod
    def of_expansion(
        cls,
        expansion: Expansion,
        alpha: float,
        X: Objects,
        weights: Any = None,
        *,
        center: bool,
        origin: Array | None,
    ) -> "LandmarkSmoother":
        """Of a function over landmarks that was fitted on the rows ``X`` with this penalty."""
        kernel, objects = expansion.kernel, expansion.objects
        rows = X[objects.indices] if kernel.pairwise else objects
        features = LandmarkFeatures(kernel, rows, objects)
        features.origin = origin  # the objects of the expansion are relative to it already
        sums = landmark_sums(features, X, np.zeros((n_objects(X), 0)), weights)
        return cls(LandmarkSystem(features, sums, center=center), alpha, X, weights)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return n_objects(self.X)

    def dual(self, G: Any) -> tuple[Array, Array]:
        """Weights over the landmarks and constants of the functions with outputs ``G``."""
        return self.system.function(self.alpha, *self.system.across_of(self.X, G, self.row_weights))

    def weights_of(self, X: Objects) -> Array:
        """Weights (n, n_train) of the training outputs in the predictions at ``X``."""
        system = self.system
        P = system.axes(X) * system.shrinkage(self.alpha)
        W = np.empty((len(P), self.n_rows))
        for rows in row_slices(self.X, system.features):
            W[:, rows] = product(P, system.axes(take(self.X, rows)).T)
        W += 1 / system.count if system.center else 0.0
        return W if self.row_weights is None else W * self.row_weights
