"""The Euclidean loss over observed entries only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.typing import Array

N_SWEEPS = 2


@dataclass(frozen=True)
class Observed:
    r"""½ Σ over observed entries of (x − w'v)² + penalties.

    ``rows`` holds the observed entries of the table and ``columns`` those of its transpose, both
    as compressed rows, in which a stored zero is an observed zero.
    """

    rows: csr_array
    columns: csr_array
    penalties: tuple[Penalty, Penalty]

    @classmethod
    def of(cls, rows: csr_array, penalties: tuple[Penalty, Penalty]) -> "Observed":
        return cls(rows, csr_array(rows.T.tocsr()), penalties)

    def _parts(self, side: int) -> tuple[Any, Any, Any]:
        table = self.rows if side == 0 else self.columns
        return table.indptr, table.indices, table.data

    def improve(self, side: int, factors: Factors) -> tuple[Array, float | None]:
        """Sweeps of coordinate descent over the rows of one factor."""
        from isthmus.sparse.factorization.loops import observed_sweep

        W, V = factors[side].copy(), factors[1 - side]
        p = self.penalties[side]
        indptr, indices, data = self._parts(side)
        loss = observed_sweep(W, V, indptr, indices, data, p.l1, p.l2, p.squared_l1, N_SWEEPS)
        return W, loss + self.penalties[1 - side].value(V)

    def solve(self, V: Array, W: Array | None = None) -> Array:
        """The codes that are best for components ``V``, exactly; ``W`` tells likely supports."""
        from isthmus.sparse.factorization.nnls_loops import solve_observed_rows

        W = np.zeros((self.rows.shape[0], V.shape[1])) if W is None else W.copy()
        p = self.penalties[0]
        indptr, indices, data = self._parts(0)
        solve_observed_rows(W, V, indptr, indices, data, p.l1, p.l2, p.squared_l1)
        return W

    def loss(self, factors: Factors) -> float:
        """The objective."""
        penalty = sum(p.value(F) for p, F in zip(self.penalties, factors, strict=True))
        return 0.5 * self.squared_error(factors) + penalty

    def squared_error(self, factors: Factors) -> float:
        """Sum of squared residuals of observed entries."""
        from isthmus.sparse.factorization.loops import observed_sweep

        W, V = factors
        indptr, indices, data = self._parts(0)
        return 2 * float(observed_sweep(W, V, indptr, indices, data, 0.0, 0.0, 0.0, 0))

    def gradient(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """The derivative by one factor, and the root mean square of X V in each column."""
        from isthmus.sparse.factorization.loops import observed_gradient

        W, V = factors[side], factors[1 - side]
        indptr, indices, data = self._parts(side)
        out, terms = np.empty_like(W), np.empty(W.shape[1])
        observed_gradient(W, V, indptr, indices, data, out, terms)
        return out + self.penalties[side].slope(W), terms
