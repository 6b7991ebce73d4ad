"""Kullback-Leibler, Itakura-Saito and other beta divergences of two non-negative factors."""

from collections.abc import Iterator
from contextlib import contextmanager
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
# Rows of a block at least, since products of a few are slow, and sums over rows that are kept.
LEAST_ROWS, MAX_SUMS = 16, 8
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
        most = max(LEAST_ROWS, BLOCK_VALUES // d)
        # Of about equal length, since a block of few rows takes nearly the time of a longer one.
        step = -(-n // max(1, -(-n // most)))
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
        found = self._rows_of_parts(factors) if side == 0 else self._sums_of_parts(factors)
        return found[0], self._mass(side, V) if self.beta == 1 else found[1]

    def _rows_of_parts(self, factors: Factors) -> Array:
        """Both parts of the derivative by W."""
        found = np.empty((2, *factors.W.shape))
        fitted, compiled = _with_rows_of_v(factors), self._is_compiled(factors)

        def fill(rows: slice) -> None:
            with self._tables(fitted, rows, compiled) as tables:
                for part, table in zip(found, tables, strict=False):
                    np.matmul(table, factors.V, out=part[rows])

        rest_in_threads(fill, self._blocks())
        return found

    def _sums_of_parts(self, factors: Factors) -> Array:
        """Both parts of the derivative by V: sums over the rows of X."""
        blocks = self._blocks()
        # A sum for each run of blocks, and then of these: the same whatever threads there are.
        ends = np.linspace(0, len(blocks), min(len(blocks), MAX_SUMS) + 1).astype(int)
        sums = np.zeros((len(ends) - 1, 2, *factors.V.shape))
        fitted, compiled = _with_rows_of_v(factors), self._is_compiled(factors)

        def add(i: int) -> None:
            for rows in blocks[ends[i] : ends[i + 1]]:
                lent = self._tables(fitted, rows, compiled), scratch(*factors.V.shape)
                with lent[0] as tables, lent[1] as room:
                    for total, table in zip(sums[i], tables, strict=False):
                        total += np.matmul(table.T, factors.W[rows], out=room)

        rest_in_threads(add, range(len(sums)))
        return np.asarray(sums.sum(axis=0))

    def _is_compiled(self, factors: Factors) -> bool:
        """Whether roots and ratios come from the compiled pass: no fit is too large for it."""
        if self.beta != 1.5 or not self.X.flags.c_contiguous:
            return False
        from isthmus.sparse.factorization.root_loops import CEILING

        W, V = factors
        return bool(W.shape[1] * W.max(initial=0.0) * V.max(initial=0.0) < CEILING)

    @contextmanager
    def _tables(self, factors: Factors, rows: slice, compiled: bool) -> Iterator[list[Array]]:
        """Of some rows X ∘ X̂^(β-2), and X̂^(β-1) unless that is one, where entries count."""
        size = (rows.stop - rows.start, self.X.shape[1])
        with scratch(*size) as fit_room, scratch(*size) as power:
            if compiled:
                from isthmus.sparse.factorization.root_loops import roots_and_ratios

                ratio = np.matmul(factors.W[rows], factors.V.T, out=fit_room)
                roots_and_ratios(self.X[rows].reshape(-1), ratio.reshape(-1), power.reshape(-1))
            else:
                fit = self._fit(factors, rows, fit_room)
                power = self._power(fit, power) if self.beta != 1 else power
                ratio = self._ratio(rows, fit, power)
            if self.beta == 1:
                yield [ratio]
                return
            if self.mask is not None:
                power *= self.mask[rows]
            yield [ratio, power]

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


def _with_rows_of_v(factors: Factors) -> Factors:
    """The same with V' in rows, of which products of few columns are faster."""
    return Factors(factors.W, np.asfortranarray(factors.V))
