"""Kullback-Leibler, Itakura-Saito and other beta divergences of two non-negative factors."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import kl_div

from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.typing import Array

FLOOR = 1e-16
MAX_ROW_SWEEPS = 2000
CHUNK, MAX_CHUNKS = 50, 200
# Multiplicative updates alone get no further in reasonable time.
SLOW_TOL = 1e-3


@dataclass(frozen=True)
class Divergence:
    r"""Σ d(x, w'v) + penalties, by multiplicative updates.

    With :math:`\hat X=WV^\top` and the slope of the penalties, the updates are [Fevotte2011]_

    .. math::
        W\leftarrow W\circ\biggl(\frac{(X\circ\hat X^{\beta-2})V}{\hat X^{\beta-1}V+
        \text{slope}}\biggr)^{\gamma},\qquad
        \gamma=\begin{cases}1/(2-\beta)&\beta<1\\1&1\le\beta\le2\\1/(\beta-1)&\beta>2\end{cases}

    where the power makes them descend; :math:`\beta=1` is Kullback-Leibler, 0 Itakura-Saito.
    ``X`` is dense with zeros at missing entries, or, for Kullback-Leibler, compressed rows with
    those of the transpose in ``columns``; ``mask`` is 1 at observed entries, None where all are.
    """

    X: Any
    beta: float
    penalties: tuple[Penalty, Penalty]
    mask: Any = None
    columns: Any = None
    # What stays: the sum of powers of X, and memory of its shape, which is slow while it is new.
    _kept: dict[str, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(
        cls, X: Any, beta: float, penalties: tuple[Penalty, Penalty], mask: Any = None
    ) -> "Divergence":
        if issparse(X):
            return cls(X, beta, penalties, mask, csr_array(X.T.tocsr()))
        return cls(X.astype(np.float64, copy=False), beta, penalties, mask)

    def _memory(self, name: str) -> Array:
        if name not in self._kept:
            self._kept[name] = np.empty(self.X.shape)
        kept: Array = self._kept[name]
        return kept

    def _fit(self, factors: Factors) -> Array:
        """W V', in memory that the next call overwrites."""
        fit = np.matmul(factors.W, factors.V.T, out=self._memory("fit"))
        return np.maximum(fit, FLOOR, out=fit)

    def _power(self, fit: Array) -> Array:
        """Powers β - 1 of the fit, in memory that the next call overwrites."""
        power = self._memory("power")
        if self.beta == 1.5:
            return np.sqrt(fit, out=power)
        return (
            np.reciprocal(fit, out=power)
            if self.beta == 0
            else np.power(fit, self.beta - 1, out=power)
        )

    def _mass(self, side: int, V: Array) -> Array:
        """Sums of components over the entries that count, (rows, k) or (1, k)."""
        if self.mask is None:
            return V.sum(axis=0, keepdims=True)
        mask = self.mask if side == 0 else self.mask.T
        return np.asarray(mask @ V)

    def derivative_parts(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """Negative and positive parts of the derivative by one factor, penalties left out."""
        V = factors[1 - side]
        if issparse(self.X):
            from isthmus.sparse.factorization.loops import stored_ratios

            table = self.X if side == 0 else self.columns
            out = np.empty_like(factors[side])
            stored_ratios(factors[side], V, table.indptr, table.indices, table.data, out)
            return out, self._mass(side, V)
        fit = self._fit(factors)
        if self.beta == 1:
            np.divide(self.X, fit, out=fit)
            return (fit if side == 0 else fit.T) @ V, self._mass(side, V)
        power = self._power(fit)
        if self.mask is not None:
            power *= self.mask
        ratio = np.divide(power, fit, out=fit)
        ratio *= self.X
        if side == 1:
            ratio, power = ratio.T, power.T
        return ratio @ V, power @ V

    def improve(self, side: int, factors: Factors) -> tuple[Array, float | None]:
        """One multiplicative update."""
        W = factors[side]
        down, up = self.derivative_parts(side, factors)
        factor = down / np.maximum(up + self.penalties[side].slope(W), FLOOR)
        if self.beta < 1:
            factor **= 1 / (2 - self.beta)
        elif self.beta > 2:
            factor **= 1 / (self.beta - 1)
        return np.maximum(W * factor, FLOOR), None

    def gradient(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """The derivative by one factor, and the root mean square of its positive part."""
        down, up = self.derivative_parts(side, factors)
        slope = up + self.penalties[side].slope(factors[side])
        return slope - down, np.sqrt(np.mean(slope * slope, axis=0))

    def loss(self, factors: Factors) -> float:
        """The objective."""
        penalty = sum(p.value(F) for p, F in zip(self.penalties, factors, strict=True))
        return self.divergence(factors) + penalty

    def divergence(self, factors: Factors) -> float:
        """Σ d(x, w'v) over the entries that count."""
        W, V = factors
        if issparse(self.X):
            from isthmus.sparse.factorization.loops import stored_ratios

            X, out = self.X, np.empty_like(W)
            logs = stored_ratios(W, V, X.indptr, X.indices, X.data, out)
            return float(logs - X.data.sum() + np.vdot(self._mass(0, V), self._codes_of_mass(W)))
        fit = self._fit(factors)
        observed = slice(None) if self.mask is None else self.mask > 0
        x, y = self.X[observed], fit[observed]
        beta = self.beta
        if beta == 0:
            ratio = x / y
            return float(np.sum(ratio - np.log(ratio) - 1))
        if beta == 1:
            return float(kl_div(x, y).sum())
        # One power for each entry, a root where beta is 1.5: that of x does not change.
        if "sum" not in self._kept:
            self._kept["sum"] = float(np.sum(x**beta))
        power = self._power(fit)[observed]
        fitted = (beta - 1) * np.vdot(y, power) - beta * np.vdot(x, power)
        return float((self._kept["sum"] + fitted) / (beta * (beta - 1)))

    def _codes_of_mass(self, W: Array) -> Array:
        return W.sum(axis=0, keepdims=True) if self.mask is None else W

    def solve(self, V: Array, W: Array | None = None, *, tol: float = 1e-7) -> tuple[Array, int]:
        """The best codes for components ``V``, row by row, and how many rows did not get there."""
        if W is None:
            sums = np.asarray(self.X.sum(axis=1)).reshape(-1, 1) / max(float(V.sum()), FLOOR)
            W = np.maximum(np.repeat(sums, V.shape[1], axis=1), FLOOR)
        if self.beta != 1:
            return self._frozen_rows(V, W, max(tol, SLOW_TOL))
        from isthmus.sparse.factorization.loops import newton_rows

        rows = self.X if issparse(self.X) else csr_array(self.X)
        mass = np.ascontiguousarray(np.broadcast_to(self._mass(0, V), W.shape))
        W, p = W.copy(), self.penalties[0]
        parts = (rows.indptr, rows.indices, rows.data)
        return W, int(newton_rows(W, V, *parts, mass, p.l1, p.l2, tol, MAX_ROW_SWEEPS))

    def accelerate(self, W: Array, V: Array) -> Array:
        """Multiplicative updates of W, entries that grow extrapolated by Nesterov's sequence.

        The schedule does not depend on the rows, so that each is treated as if it were alone.
        """
        before = W
        for step in range(CHUNK):
            ahead = W + step / (step + 3) * np.maximum(W - before, 0.0)
            before, W = W, self.improve(0, Factors(ahead, V))[0]
        return W

    def _frozen_rows(self, V: Array, W: Array, tol: float) -> tuple[Array, int]:
        """Multiplicative updates, each row until it is stationary itself."""
        W, rows = W.copy(), np.arange(len(W))
        for _ in range(MAX_CHUNKS):
            mask = None if self.mask is None else self.mask[rows]
            part = Divergence(self.X[rows], self.beta, self.penalties, mask)
            W[rows] = part.accelerate(W[rows], V)
            gradient, _ = part.gradient(0, Factors(W[rows], V))
            up = part.derivative_parts(0, Factors(W[rows], V))[1]
            share = W[rows] / np.maximum(W[rows].mean(axis=1, keepdims=True), FLOOR)
            rest = np.minimum(gradient, up * share) / np.maximum(up, FLOOR)
            rows = rows[np.abs(rest).max(axis=1) > tol]
            if not len(rows):
                break
        return W, len(rows)
