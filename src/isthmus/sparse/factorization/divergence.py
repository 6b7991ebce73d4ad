"""Kullback-Leibler, Itakura-Saito and other beta divergences of two non-negative factors."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import kl_div

from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import rest_in_threads
from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.typing import Array

FLOOR = 1e-16
MAX_ROW_SWEEPS = 2000
CHUNK, MAX_CHUNKS = 50, 200
# Entries of rows that are worked on together: what is made of them stays in the cache.
BLOCK_VALUES = 2**15
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
    # What stays: the sum of powers of X.
    _kept: dict[str, float] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(
        cls, X: Any, beta: float, penalties: tuple[Penalty, Penalty], mask: Any = None
    ) -> "Divergence":
        if issparse(X):
            return cls(X, beta, penalties, mask, csr_array(X.T.tocsr()))
        return cls(X.astype(np.float64, copy=False), beta, penalties, mask)

    def _blocks(self) -> list[slice]:
        n, d = self.X.shape
        step = max(1, BLOCK_VALUES // d)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _fit(self, factors: Factors, rows: slice, out: Array) -> Array:
        """W V' of some rows."""
        fit = np.matmul(factors.W[rows], factors.V.T, out=out)
        # To look for small numbers takes a tenth of the time of replacing them.
        return np.maximum(fit, FLOOR, out=fit) if fit.min() < FLOOR else fit

    def _power(self, fit: Array, out: Array) -> Array:
        """Powers β - 1 of the fit."""
        if self.beta == 1.5:
            return np.sqrt(fit, out=out)
        if self.beta == 0:
            return np.reciprocal(fit, out=out)
        return np.power(fit, self.beta - 1, out=out)

    def _ratio(self, rows: slice, fit: Array, power: Array) -> Array:
        """X ∘ X̂^(β-2), in the memory of the fit."""
        if self.beta == 1:
            return np.divide(self.X[rows], fit, out=fit)
        if self.beta == 1.5:
            return np.divide(self.X[rows], power, out=fit)
        ratio = np.divide(power, fit, out=fit)
        ratio *= self.X[rows]
        return ratio

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
        blocks, shape = self._blocks(), factors[side].shape
        # Rows of the one factor, or sums over rows for the other, in the order of the blocks.
        parts = [shape if side == 1 else (rows.stop - rows.start, shape[1]) for rows in blocks]
        down, up = ([np.empty(part) for part in parts] for _ in range(2))

        def add(i: int) -> None:
            rows = blocks[i]
            size = (rows.stop - rows.start, self.X.shape[1])
            others = V if side == 0 else V[rows]
            with scratch(*size) as fit_room, scratch(*size) as power_room:
                fit = self._fit(factors, rows, fit_room)
                power = self._power(fit, power_room) if self.beta != 1 else power_room
                ratio = self._ratio(rows, fit, power)
                np.matmul(ratio if side == 0 else ratio.T, others, out=down[i])
                if self.beta == 1:
                    return
                if self.mask is not None:
                    power *= self.mask[rows]
                np.matmul(power if side == 0 else power.T, others, out=up[i])

        rest_in_threads(add, range(len(blocks)))
        numerator, denominator = (
            np.concatenate(found) if side == 0 else np.asarray(sum(found[1:], found[0]))
            for found in (down, up)
        )
        return numerator, self._mass(side, V) if self.beta == 1 else denominator

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
        if self.beta not in (0, 1) and "sum" not in self._kept:
            self._kept["sum"] = float(np.sum((self.X[self._observed(slice(None))]) ** self.beta))
        blocks = self._blocks()
        losses = np.zeros(len(blocks))

        def add(i: int) -> None:
            size = (blocks[i].stop - blocks[i].start, self.X.shape[1])
            with scratch(*size) as fit, scratch(*size) as power:
                losses[i] = self._loss_of_rows(blocks[i], self._fit(factors, blocks[i], fit), power)

        rest_in_threads(add, range(len(blocks)))
        if self.beta in (0, 1):
            return float(losses.sum())
        return float((self._kept["sum"] + losses.sum()) / (self.beta * (self.beta - 1)))

    def _observed(self, rows: slice) -> Any:
        return slice(None) if self.mask is None else self.mask[rows] > 0

    def _loss_of_rows(self, rows: slice, fit: Array, room: Array) -> float:
        """Σ d(x, w'v) of some rows; for most divergences the part that changes, not divided yet."""
        observed = self._observed(rows)
        x, y = self.X[rows][observed], fit[observed]
        if self.beta == 0:
            ratio = x / y
            return float(np.sum(ratio - np.log(ratio) - 1))
        if self.beta == 1:
            return float(kl_div(x, y).sum())
        # One power for each entry, a root where beta is 1.5: that of x does not change.
        power = self._power(fit, room)[observed]
        return float((self.beta - 1) * np.vdot(y, power) - self.beta * np.vdot(x, power))

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
