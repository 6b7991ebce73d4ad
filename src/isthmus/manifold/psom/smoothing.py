r"""Smooth maps through noisy nodes, missing nodes, and data off the grid.

All minimise :math:`\sum_ip_i\|y_i-f(x_i)\|^2+\lambda\operatorname{tr}(W^\top MW)` over the images W
of the nodes, with M of ``roughness_matrix``; data on the grid have their nodes as :math:`x_i`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import linalg, sparse

from isthmus.manifold.psom.cg import (
    conjugate_gradients,
    sample_adjoint,
    sample_values,
    spectral_preconditioner,
)
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.roughness import roughness_matrix, roughness_product
from isthmus.typing import Array, IntArray

EIGEN_LIMIT = 1200  # nodes up to which all smoothnesses come from one eigendecomposition
DENSE_LIMIT = 5000  # nodes up to which matrices are factorised
N_PROBES = 8  # random signs that estimate a trace
CG_TOL, CG_STEPS = 1e-8, 2000


@dataclass(frozen=True)
class NodeFit:
    """A fit at one smoothness: weights (size, d), residuals (n, d), degrees of freedom."""

    weights: Array
    residual: Array
    dof: float
    leverage: Array | None


class NodeSmoother(Protocol):
    """Fits the same data with any smoothness."""

    def at(self, lam: float) -> NodeFit: ...

    def scale(self) -> float: ...


@dataclass(frozen=True)
class Samples:
    """Data of a map: values (n, d) at points (n, q), with weights p (n,).

    ``nodes`` numbers the nodes that the points are, where they are nodes; ``basis_rows`` is the
    basis at the points where it is known already.
    """

    points: Array
    values: Array
    weights: Array
    nodes: IntArray | None = None
    basis_rows: Array | None = None

    def basis(self, grid: NodeGrid) -> Any:
        """Matrix from images of nodes to values, shape (n, size); sparse for nodes."""
        if self.basis_rows is not None:
            return self.basis_rows
        if self.nodes is None:
            return grid.basis_matrix(self.points)
        n = len(self.nodes)
        return sparse.csr_array((np.ones(n), (np.arange(n), self.nodes)), shape=(n, grid.size))


def make_smoother(grid: NodeGrid, data: Samples, *, with_leverage: bool = False) -> NodeSmoother:
    """The cheapest way: exact for small grids, by conjugate gradients for large ones."""
    if grid.size <= EIGEN_LIMIT:
        return EigenSmoother(grid, data)
    # On nodes a few steps of conjugate gradients are enough, but they give no leverage.
    exact = data.nodes is None or with_leverage
    if exact and grid.size <= DENSE_LIMIT:
        return CholeskySmoother(grid, data)
    return IterativeSmoother(grid, data)


def _normal(grid: NodeGrid, data: Samples) -> tuple[Any, Array, Array]:
    """The basis B, and B'PB and B'PY."""
    B = data.basis(grid)
    weighted = B.multiply(data.weights[:, None]).tocsr() if sparse.issparse(B) else None
    if weighted is not None:
        return B, (weighted.T @ B).toarray(), weighted.T @ data.values
    weighted = B * data.weights[:, None]
    return B, weighted.T @ B, weighted.T @ data.values


class EigenSmoother:
    """One eigendecomposition serves all smoothnesses (the basis of Demmler and Reinsch)."""

    def __init__(self, grid: NodeGrid, data: Samples):
        B, G, self._target = _normal(grid, data)
        M = roughness_matrix(grid)
        self._tau = np.trace(G) / np.trace(M)
        L = np.tril(_factor(G + self._tau * M)[0])
        half = linalg.solve_triangular(L, M, lower=True)
        m, U = linalg.eigh(linalg.solve_triangular(L, half.T, lower=True))
        self._m = np.clip(m, 0.0, 1 / self._tau)
        # Linear maps are not rough at all: what rounding makes of them grows with the smoothness.
        self._m[: len(grid.axes) + 1] = 0.0
        # B'PB and M are both diagonal in these columns.
        self._turn = linalg.solve_triangular(L, U, lower=True, trans="T")
        self._data, self._basis = data, B @ self._turn

    def at(self, lam: float) -> NodeFit:
        shrink = 1 / (1 + (lam - self._tau) * self._m)
        coefficients = shrink[:, None] * (self._turn.T @ self._target)
        residual = self._data.values - self._basis @ coefficients
        leverage = self._data.weights * (self._basis**2 @ shrink)
        dof = float(np.sum((1 - self._tau * self._m) * shrink))
        return NodeFit(self._turn @ coefficients, residual, dof, leverage)

    def scale(self) -> float:
        return float(self._tau)


class CholeskySmoother:
    """A factorisation for every smoothness."""

    def __init__(self, grid: NodeGrid, data: Samples):
        self._data = data
        self._basis, self._normal, self._target = _normal(grid, data)
        self._rough = roughness_matrix(grid)

    def at(self, lam: float) -> NodeFit:
        factor = _factor(self._normal + lam * self._rough)
        W = linalg.cho_solve(factor, self._target)
        inverse, _ = linalg.lapack.dpotri(factor[0], lower=1, overwrite_c=1)
        below = np.tril(inverse, -1)
        inverse = below + below.T + np.diag(np.diag(inverse))
        B = self._basis
        if sparse.issparse(B):
            spread = np.diag(inverse)[self._data.nodes]
        else:
            spread = np.einsum("ij,ij->i", B @ inverse, B)
        leverage = self._data.weights * spread
        return NodeFit(W, self._data.values - B @ W, float(leverage.sum()), leverage)

    def scale(self) -> float:
        return float(np.trace(self._normal) / np.trace(self._rough))


class IterativeSmoother:
    """Conjugate gradients on products of axes; the degrees of freedom from random signs."""

    def __init__(self, grid: NodeGrid, data: Samples):
        self._grid, self._data = grid, data
        self._target = self._adjoint(data.weights[:, None] * data.values)
        signs = np.random.default_rng(0).integers(0, 2, size=(N_PROBES, len(data.values)))
        self._probes = 2.0 * signs - 1.0
        self.n_iter = 0

    def solve(self, lam: float, target: Array) -> Array:
        """Rows of ``target`` (d, size) times the inverse of B'PB + lam M."""
        p = self._data.weights
        mean = float(p.sum() / self._grid.size)

        def product(W: Array) -> Array:
            data = self._adjoint(p[:, None] * self._values(W))
            return data + lam * roughness_product(self._grid, W)

        found, self.n_iter = conjugate_gradients(
            product,
            spectral_preconditioner(self._grid, mean, lam),
            target,
            tol=CG_TOL,
            max_iter=CG_STEPS,
        )
        return found

    def at(self, lam: float, *, with_dof: bool = True) -> NodeFit:
        W = self.solve(lam, self._target)
        dof = np.nan
        if with_dof:
            p = self._data.weights[:, None]
            back = self.solve(lam, self._adjoint(p * self._probes.T))
            dof = float(np.mean(np.sum(self._probes.T * self._values(back), axis=0)))
        return NodeFit(W.T, self._data.values - self._values(W), dof, None)

    def scale(self) -> float:
        traces = np.array([[np.trace(K) for K in axis.gram] for axis in self._grid.axes])
        none, one, two = traces[0]
        for a, c, b in traces[1:]:
            two, one, none = two * a + 2 * one * c + none * b, one * a + none * c, none * a
        return float(self._data.weights.sum() / two)

    def _values(self, W: Array) -> Array:
        nodes = self._data.nodes
        return sample_values(self._grid, self._data.points, W) if nodes is None else W[:, nodes].T

    def _adjoint(self, V: Array) -> Array:
        nodes = self._data.nodes
        if nodes is None:
            return sample_adjoint(self._grid, self._data.points, V)
        W = np.zeros((V.shape[1], self._grid.size))
        W[:, nodes] = V.T
        return W


def _factor(A: Array) -> Any:
    """Lower Cholesky factor; a little is added to the diagonal where rounding has spoilt A."""
    try:
        return linalg.cho_factor(A, lower=True)
    except linalg.LinAlgError:
        return linalg.cho_factor(A + 1e-12 * np.trace(A) / len(A) * np.eye(len(A)), lower=True)


def smooth_samples(grid: NodeGrid, data: Samples, lam: float) -> Array:
    """Images of the nodes, shape (size, d), for one smoothness above zero."""
    if grid.size > DENSE_LIMIT:
        return IterativeSmoother(grid, data).at(lam, with_dof=False).weights
    _, G, target = _normal(grid, data)
    return np.asarray(linalg.cho_solve(_factor(G + lam * roughness_matrix(grid)), target))


def smooth_nodes(grid: NodeGrid, W: Array, lam: Array) -> Array:
    r"""Minimise :math:`\sum_i\|w_i-\tilde w_i\|^2/\lambda_i+\operatorname{tr}(W^\top MW)`.

    A node with :math:`\lambda_i=0` keeps its image, one with :math:`\lambda_i=\infty` is missing;
    W is (size, d), NaN where missing. Fixed nodes f are eliminated, which leaves the symmetric
    :math:`(\Lambda_v^{-1}+M_{vv})w_v=\Lambda_v^{-1}\tilde w_v-M_{vf}w_f`.
    """
    free = np.flatnonzero(lam > 0)
    if len(free) == 0:
        return W
    p = np.where(np.isinf(lam[free]), 0.0, 1 / lam[free])
    fixed = np.where((lam == 0)[:, None], W, 0.0)
    target = np.where(p[:, None] > 0, p[:, None] * np.nan_to_num(W[free]), 0.0)
    target = target - roughness_product(grid, fixed.T)[:, free].T
    found = fixed.copy()
    # With data at every free node a few steps of conjugate gradients are enough.
    if len(free) <= (DENSE_LIMIT if p.min() == 0 else EIGEN_LIMIT):
        A = _roughness_block(grid, free)
        A[np.diag_indices_from(A)] += p
        found[free] = linalg.cho_solve(_factor(A), target)
        return found
    whole = spectral_preconditioner(grid, float(p.sum() / grid.size), 1.0)

    def inside(operator: Any, V: Array) -> Array:
        padded = np.zeros((len(V), grid.size))
        padded[:, free] = V
        return np.asarray(operator(padded)[:, free])

    solution, _ = conjugate_gradients(
        lambda V: inside(lambda X: roughness_product(grid, X), V) + p * V,
        lambda V: inside(whole, V),
        np.ascontiguousarray(target.T),
        tol=CG_TOL,
        max_iter=CG_STEPS,
    )
    found[free] = solution.T
    return found


def _roughness_block(grid: NodeGrid, nodes: IntArray) -> Array:
    """Rows and columns ``nodes`` of M, without the rest."""
    if len(nodes) == grid.size:
        return roughness_matrix(grid)
    where = np.unravel_index(nodes, grid.shape)
    blocks = [
        [K[np.ix_(i, i)] for K in axis.gram] for axis, i in zip(grid.axes, where, strict=True)
    ]
    none, one, two = blocks[0]
    for A, C, B in blocks[1:]:
        two = two * A + 2 * one * C + none * B
        one, none = one * A + none * C, none * A
    return two


def smoothest_interpolant(grid: NodeGrid, points: Array, values: Array) -> Array:
    r"""The map of least roughness through all samples, shape (size, d).

    With :math:`w_0` any solution of :math:`Bw=y` and Z an orthonormal basis of the null space of B,
    :math:`w=w_0-Z(Z^\top MZ)^{-1}Z^\top Mw_0`. Where the grid has too few nodes to meet all
    samples, they are met in least squares.
    """
    B = grid.basis_matrix(points)
    U, s, Vt = linalg.svd(B, full_matrices=True)
    rank = int(np.sum(s > max(B.shape) * np.finfo(float).eps * s[0]))
    w0 = Vt[:rank].T @ ((U[:, :rank].T @ values) / s[:rank, None])
    Z = Vt[rank:].T
    if Z.shape[1] == 0:
        return np.asarray(w0)
    M = roughness_matrix(grid)
    inner = _factor(Z.T @ M @ Z)
    return np.asarray(w0 - Z @ linalg.cho_solve(inner, Z.T @ (M @ w0)))
