"""Conjugate gradients for smooth maps on grids whose matrices would not fit in memory."""

from collections.abc import Callable

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.map import BLOCK_BYTES, map_values
from isthmus.manifold.psom.roughness import along
from isthmus.typing import Array

Operator = Callable[[Array], Array]
STIFF = 0.03  # smoothness over data weight, on [-1, 1], above which roughness rules


def conjugate_gradients(
    product: Operator, precondition: Operator, target: Array, *, tol: float, max_iter: int
) -> tuple[Array, int]:
    """Solve a positive definite system for every row of ``target``, all rows together."""
    solution = np.zeros_like(target)
    residual = target.copy()
    goal = tol * np.linalg.norm(target, axis=1)
    if not goal.any():
        return solution, 0
    z = precondition(residual)
    direction, energy = z.copy(), np.einsum("ij,ij->i", residual, z)
    for step in range(1, max_iter + 1):
        image = product(direction)
        curved = np.einsum("ij,ij->i", direction, image)
        # A row that is solved has no direction left; it stays where it is.
        length = np.divide(energy, curved, out=np.zeros_like(energy), where=curved > 0)[:, None]
        solution += length * direction
        residual -= length * image
        if np.all(np.linalg.norm(residual, axis=1) <= goal):
            return solution, step
        z = precondition(residual)
        fresh = np.einsum("ij,ij->i", residual, z)
        ratio = np.divide(fresh, energy, out=np.zeros_like(fresh), where=energy > 0)
        direction = z + ratio[:, None] * direction
        energy = fresh
    left = np.linalg.norm(residual, axis=1).max() / np.linalg.norm(target, axis=1).max()
    warn(
        f"Conjugate gradients stopped after {max_iter} steps with a relative residual of "
        f"{left:.1e}, above tol={tol:g}. Raise the smoothness, or give more nodes.",
        ConvergenceWarning,
    )
    return solution, max_iter


def spectral_preconditioner(grid: NodeGrid, weight: float, lam: float) -> Operator:
    r"""An approximate inverse of :math:`\text{weight}\cdot I+\lambda M`, as a product of axes.

    Each axis is turned to directions in which its matrices are diagonal or nearly so, and of the
    others the diagonal is kept: to the eigenvectors of the curvature matrix, where the identity
    stays what it is, or, for stiff maps, where the roughness rules, to those that make integrals
    and curvatures diagonal together. The number of steps then hardly depends on
    :math:`\lambda`, and grows like the number of nodes of an axis.
    """
    turns = _directions(grid, stiff=lam / max(weight, 1e-300) * _unit(grid) > STIFF)
    parts = [
        [np.einsum("ij,ij->j", U, K @ U) for K in (np.eye(len(axis)), *axis.gram)]
        for U, axis in zip(turns, grid.axes, strict=True)
    ]
    identity, none, one, two = parts[0]
    outer = np.multiply.outer
    for i, a, c, b in parts[1:]:
        two = outer(two, a) + 2 * outer(one, c) + outer(none, b)
        one, none = outer(one, a) + outer(none, c), outer(none, a)
        identity = outer(identity, i)
    spectrum = weight * identity.ravel() + lam * np.maximum(two.ravel(), 0.0)
    spectrum = np.maximum(spectrum, 1e-14 * spectrum.max())

    def inverse(W: Array) -> Array:
        for mu, U in enumerate(turns):
            W = along(grid, mu, U.T, W)
        W = W / spectrum
        for mu, U in enumerate(turns):
            W = along(grid, mu, U, W)
        return W

    return inverse


def _unit(grid: NodeGrid) -> float:
    """What a smoothness is multiplied by when the domain is stretched to [-1, 1]."""
    half = (grid.high - grid.low) / 2
    return float(np.prod(half) / np.exp(np.mean(np.log(half))) ** 4)


def _directions(grid: NodeGrid, *, stiff: bool) -> list[Array]:
    if stiff:
        try:
            return [linalg.eigh(axis.gram[2], axis.gram[0])[1] for axis in grid.axes]
        except linalg.LinAlgError:
            pass  # integrals of many regular nodes are singular to working precision
    return [linalg.eigh(axis.gram[2])[1] for axis in grid.axes]


def sample_values(grid: NodeGrid, points: Array, W: Array) -> Array:
    """The map with weights ``W`` (d, size) at all points, shape (n, d)."""
    return map_values(grid, np.ascontiguousarray(W.T).reshape(*grid.shape, len(W)), points)


def sample_adjoint(grid: NodeGrid, points: Array, V: Array) -> Array:
    """The transpose of :func:`sample_values`: from (n, d) to (d, size)."""
    out = np.zeros((V.shape[1], grid.shape[0], grid.size // grid.shape[0]))
    rest = NodeGrid(grid.axes[1:])
    for rows in block_slices(
        len(points), 1, block_size=max(1, BLOCK_BYTES // (8 * out[0, 0].size))
    ):
        first = grid.axes[0].basis(points[rows, 0])
        others = rest.basis_matrix(points[rows, 1:])
        for k, v in enumerate(V[rows].T):
            out[k] += (first * v[:, None]).T @ others
    return out.reshape(V.shape[1], -1)
