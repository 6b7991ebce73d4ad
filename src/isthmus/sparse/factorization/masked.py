"""The Euclidean loss over the known entries of an array with gaps, by products with its mask."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from isthmus.linalg.lanes import LANES
from isthmus.linalg.products import product
from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.typing import Array, IntArray

# A sweep costs nothing beside the normal equations of all rows: enough for nearly exact halves.
N_SWEEPS, SWEEP_SHARE = 8, 1e-3
# Share of known entries, for each component, from which products with the whole mask take less time
# than loops over known entries: BLAS takes gaps along, but pairs of components.
LEAST_KNOWN = 1 / 40
# Entries of a table below which NumPy's product, on one thread as all fits have it, is called more
# cheaply, and as fast.
LARGE = 2**16
# Entries of rows that are judged together.
JUDGED_VALUES = 2**18


def is_full_enough(shape: tuple[int, int], n_known: float, k: int) -> bool:
    """Whether :class:`Masked` is faster than a loop over known entries, in as much memory."""
    (n, d), pairs = shape, k * (k + 1) // 2
    return n_known >= LEAST_KNOWN * k * n * d and pairs * (n + d) <= 2 * n * d


@dataclass(frozen=True)
class Masked:
    r"""½ Σ mᵢⱼ (xᵢⱼ − wᵢ'vⱼ)² + penalties, with a mask of ones at known entries.

    The normal equations of row i are :math:`G_i = \sum_j m_{ij}v_jv_j'`: those of all rows are
    one product of the mask with the pairs of columns of V. ``values`` (zero in gaps) and ``mask``
    end with rows and columns of zeros, up to whole registers of ``shape``.
    """

    values: Array
    mask: Array
    shape: tuple[int, int]
    penalties: tuple[Penalty, Penalty]
    squared_norm: float
    # As in Quadratic: the last normal equations of each side with the factor they belong to.
    _latest: dict[int, tuple[Array, Array, Array]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    @classmethod
    def of(cls, values: Array, mask: Array, penalties: tuple[Penalty, Penalty]) -> "Masked":
        squared_norm = float(np.vdot(values, values))
        return cls(_padded(values), _padded(mask), values.shape, penalties, squared_norm)

    def normal_equations(self, side: int, V: Array) -> tuple[Array, Array]:
        """G (pairs of components, rows) and B (components, rows), rows up to whole registers."""
        if side in self._latest and self._latest[side][0] is V:
            return self._latest[side][1:]
        first, second = _pairs(V.shape[1])
        columns = np.zeros((V.shape[1], self.mask.shape[1 - side]))
        columns[:, : len(V)] = V.T
        pairs = columns[first] * columns[second]
        times = product if self.mask.size >= LARGE else np.matmul
        G = times(pairs, self.mask.T if side == 0 else self.mask)
        B = times(columns, self.values.T if side == 0 else self.values)
        penalty = self.penalties[side]
        if penalty.squared_l1:
            G += penalty.squared_l1
        if penalty.l2:
            G[_squares(V.shape[1])] += penalty.l2
        if penalty.l1:
            B -= penalty.l1
        self._latest[side] = V, G, B
        return G, B

    def improve(self, side: int, factors: Factors) -> tuple[Array, float | None]:
        """Sweeps of coordinate descent over the rows of one factor."""
        return self.sweep(side, factors, N_SWEEPS, SWEEP_SHARE)

    def sweep(
        self, side: int, factors: Factors, n_sweeps: int, share: float
    ) -> tuple[Array, float]:
        """So many sweeps, fewer for rows where one gains no more than a share of the first."""
        from isthmus.sparse.factorization.masked_loops import sweep_columns

        W, V = factors[side], factors[1 - side]
        G, B = self.normal_equations(side, V)
        columns = self._columns(side, factors)
        gain = sweep_columns(columns, B, G, n_sweeps, share)
        loss = 0.5 * self.squared_norm + gain + self.penalties[1 - side].value(V)
        return np.ascontiguousarray(columns[:, : len(W)].T), loss

    def solve(self, V: Array, W: Array | None = None) -> Array:
        """The codes that are best for components ``V``, exactly; ``W`` tells likely supports."""
        from isthmus.sparse.factorization.nnls_loops import solve_rows_apart

        G, B = self.normal_equations(0, V)
        W = np.zeros((self.shape[0], V.shape[1])) if W is None else W.copy()
        solve_rows_apart(W, B, G)
        return W

    def loss(self, factors: Factors) -> float:
        """The objective, without the cancellation of squared norms."""
        penalty = sum(p.value(F) for p, F in zip(self.penalties, factors, strict=True))
        return 0.5 * self.squared_error(factors) + penalty

    def squared_error(self, factors: Factors) -> float:
        """Sum of squared residuals of known entries."""
        n, d = self.shape
        W, V = factors
        step, total = max(1, 2**18 // d), 0.0
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            rest = product(W[part], V.T)
            rest -= self.values[part, :d]
            rest *= self.mask[part, :d]
            total += float(np.vdot(rest, rest))
        return total

    def left_out_error(self, factors: Factors) -> float:
        r"""Sum of squared residuals of known entries, each as if it had not been known.

        To first order an entry that is left out moves its residual by
        :math:`1/((1-a_{ij})(1-b_{ij}))`, with its leverages
        :math:`a_{ij}=v_j'G_i^{-1}v_j` on the row's codes, and alike on the column's components.
        """
        from isthmus.sparse.factorization.masked_loops import leverages, squared_errors_left_out

        n, d = self.shape
        codes, components = (self._columns(side, factors) for side in (0, 1))
        G = [self.normal_equations(side, factors[1 - side])[0] for side in (0, 1)]
        step, total = max(LANES, JUDGED_VALUES // d // LANES * LANES), 0.0
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            size = part.stop - start
            by_row = np.empty((d, size + -size % LANES))
            leverages(codes, G[0], factors.V, start, start + by_row.shape[1], by_row)
            by_column = np.empty((size, components.shape[1]))
            W = np.ascontiguousarray(factors.W[part])
            leverages(components, G[1], W, 0, components.shape[1], by_column)
            total += squared_errors_left_out(
                product(W, factors.V.T), self.values[part], self.mask[part], by_row, by_column
            )
        return total

    def _columns(self, side: int, factors: Factors) -> Array:
        """A factor with a component in each row, up to whole registers."""
        W = factors[side]
        columns = np.zeros((W.shape[1], self.mask.shape[side]))
        columns[:, : len(W)] = W.T
        return columns

    def gradient(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """The derivative by one factor, and the root mean square of X V in each column."""
        from isthmus.sparse.factorization.masked_loops import slopes_of_columns

        W, V = factors[side], factors[1 - side]
        G, B = self.normal_equations(side, V)
        slopes = slopes_of_columns(self._columns(side, factors), B, G)
        sums = B[:, : len(W)] + self.penalties[side].l1
        return slopes[:, : len(W)].T, np.sqrt(np.mean(sums * sums, axis=1))


@cache
def _pairs(k: int) -> tuple[IntArray, IntArray]:
    """Rows and columns of the entries of a triangle, row after row."""
    return np.tril_indices(k)


@cache
def _squares(k: int) -> IntArray:
    """Where the diagonal is among the entries of a triangle."""
    count = np.arange(k)
    return np.asarray(count * (count + 3) // 2)


def _padded(table: Array) -> Array:
    """The table with zeros behind it, up to whole registers."""
    n, d = table.shape
    out = np.zeros((n + -n % LANES, d + -d % LANES))
    out[:n, :d] = table
    return out
