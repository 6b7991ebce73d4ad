"""The Euclidean loss of two non-negative factors, for dense and sparse tables."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus.linalg.products import inner_products
from isthmus.sparse.factorization.drivers import Factors, root_mean_squares
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.sharing import product_with_rows, share_rows, sum_over_rows
from isthmus.typing import Array

# Multiplicative updates cannot leave zero, so they never get there.
FLOOR = 1e-16
# A sweep costs little beside the product with the data: a few of them use it better.
N_SWEEPS, SWEEP_SHARE = 4, 0.2
# Multiplications, for each entry of a factor, that an exact row takes as long as.
SOLVING = 1000


@dataclass(frozen=True)
class Quadratic:
    r"""½‖X − W V'‖² + penalties; one half is a least squares problem in its normal equations.

    ``solver`` is "hals" (coordinate descent), "anls" (exact), "multiplicative", "als" (least
    squares, negative entries cut) or "projected" (a gradient step, cut at zero).
    Products with the data are taken in its own precision unless ``in_double``, everything else in
    double precision.
    """

    X: Any
    solver: str
    penalties: tuple[Penalty, Penalty]
    squared_norm: float
    in_double: bool = False
    # The last normal equations of each side with the factor they belong to: where a descent asks
    # how far it is, half of the answer has just been computed.
    _latest: dict[int, tuple[Array, Array, Array]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    @classmethod
    def of(cls, X: Any, solver: str, penalties: tuple[Penalty, Penalty]) -> "Quadratic":
        values = X.data if issparse(X) else X
        flat = np.asarray(values).reshape(-1)
        return cls(X, solver, penalties, float(np.einsum("i,i->", flat, flat, dtype=np.float64)))

    def product(self, side: int, V: Array) -> Array:
        """X V for codes, X' W for components."""
        if self.in_double and self.X.dtype != np.float64:
            return self._double_product(side, V)
        V = V.astype(self.X.dtype, copy=False)
        if isinstance(self.X, np.ndarray):
            found = product_with_rows(self.X, V) if side == 0 else sum_over_rows(self.X, V)
        else:
            found = (self.X if side == 0 else self.X.T) @ V
        return np.ascontiguousarray(found, dtype=np.float64)

    def _double_product(self, side: int, V: Array) -> Array:
        """The same in double precision, without a copy of the whole table."""
        if issparse(self.X):
            data = self.X if side == 0 else self.X.T
            return np.ascontiguousarray(data.astype(np.float64) @ V)
        if side == 0:
            return np.concatenate([x @ V for x, _ in self._blocks(self.X)])
        total = np.zeros((self.X.shape[1], V.shape[1]))
        for x, w in self._blocks(V):
            total += x.T @ w
        return total

    def to_double(self) -> "Quadratic":
        """The same problem with products in double precision."""
        return replace(self, in_double=True)

    @property
    def is_single(self) -> bool:
        """Whether products lose digits that double precision would keep."""
        return self.X.dtype == np.float32 and not self.in_double

    def normal_equations(self, side: int, V: Array) -> tuple[Array, Array]:
        """G and B, such that the factor minimises ½ tr W G W' − tr W B' over W ≥ 0."""
        if side in self._latest and self._latest[side][0] is V:
            return self._latest[side][1:]
        penalty = self.penalties[side]
        G, B = inner_products(V), self.product(side, V)
        if penalty:
            G += penalty.squared_l1
            G.flat[:: len(G) + 1] += penalty.l2
            B -= penalty.l1
        self._latest[side] = V, G, B
        return G, B

    def improve(self, side: int, factors: Factors) -> tuple[Array, float | None]:
        """One half of an iteration by the solver."""
        V = factors[1 - side]
        G, B = self.normal_equations(side, V)
        W = self.improve_factor(factors[side], G, B, self.penalties[side].l1)
        # An iteration asks for the loss when both factors have moved.
        return W, self.value(W, G, B) + self.penalties[0].value(V) if side else None

    def value(self, W: Array, G: Array, B: Array) -> float:
        """The loss by the normal equations of a half, penalties of the other factor left out."""
        return float(0.5 * self.squared_norm - np.vdot(B, W) + 0.5 * np.vdot(G, W.T @ W))

    def improve_factor(self, W: Array, G: Array, B: Array, l1: float = 0.0) -> Array:
        """A better factor by its normal equations."""
        if self.solver == "multiplicative":
            return np.maximum(W * (B + l1) / np.maximum(W @ G + l1, FLOOR), FLOOR)
        if self.solver == "projected":
            step = 1.0 / max(float(np.linalg.norm(G, 2)), FLOOR)
            return np.maximum(W - step * (W @ G - B), 0.0)
        if self.solver == "als":
            return _clipped(np.linalg.lstsq(G, B.T, rcond=None)[0].T)
        W = W.copy()
        if self.solver == "anls":
            from isthmus.sparse.factorization.nnls_loops import solve_rows

            share_rows(lambda rows: solve_rows(W[rows], B[rows], G), W, SOLVING)
        else:
            from isthmus.linalg.lanes import LANES, aligned
            from isthmus.sparse.factorization.sweep_loops import sweep_rows

            def sweep(rows: slice) -> None:
                room = aligned(2 * len(G), LANES)
                sweep_rows(W[rows], B[rows], G, N_SWEEPS, SWEEP_SHARE, room)

            share_rows(sweep, W, N_SWEEPS * len(G))
        return W

    def solve(self, V: Array, W: Array | None = None) -> Array:
        """The codes that are best for components ``V``, exactly; ``W`` tells likely supports."""
        from isthmus.sparse.factorization.nnls_loops import solve_rows

        G, B = self.to_double().normal_equations(0, V)
        W = np.maximum(B, 0.0) if W is None else W.copy()
        share_rows(lambda rows: solve_rows(W[rows], B[rows], G), W, SOLVING)
        return W

    def loss(self, factors: Factors) -> float:
        """The objective; for dense data without the cancellation of squared norms."""
        penalty = sum(p.value(F) for p, F in zip(self.penalties, factors, strict=True))
        return 0.5 * self.squared_error(factors) + penalty

    def squared_error(self, factors: Factors) -> float:
        """‖X − W V'‖²."""
        W, V = factors
        if not issparse(self.X):
            return sum(_squared_distance(x, w @ V.T) for x, w in self._blocks(W))
        G, B = V.T @ V, self.product(0, V)
        squares = self.squared_norm - 2 * np.vdot(B, W) + np.vdot(G, W.T @ W)
        return max(float(squares), 0.0)

    def _blocks(self, W: Array) -> Any:
        rows = max(1, 2**20 // self.X.shape[1])
        for start in range(0, len(W), rows):
            part = slice(start, start + rows)
            yield self.X[part].astype(np.float64, copy=False), W[part]

    def gradient(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """The derivative by one factor, and the root mean square of X V in each column."""
        G, B = self.normal_equations(side, factors[1 - side])
        l1 = self.penalties[side].l1
        gradient = factors[side] @ G
        gradient -= B
        return gradient, root_mean_squares(B + l1 if l1 else B)


def _squared_distance(x: Array, fit: Array) -> float:
    """‖x − fit‖², in the memory of ``fit``."""
    fit -= x
    return float(np.vdot(fit, fit))


def _clipped(W: Array) -> Array:
    """Without negative entries; a component that nothing is left of starts again at the mean."""
    W = np.maximum(W, 0.0)
    dead = ~W.any(axis=0)
    if dead.any() and not dead.all():
        W[:, dead] = W[:, ~dead].mean(axis=1)[:, None]
    return W
