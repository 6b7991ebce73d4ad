r"""How rough a map through grid nodes is, as a quadratic form in the images of its nodes.

.. math::
    R(w)=\int\sum_{\mu\nu}\Bigl(\frac{\partial^2f}{\partial x_\mu\partial x_\nu}\Bigr)^2=w^\top Mw,
    \qquad M=\sum_\mu A\otimes\cdots B_\mu\cdots\otimes A
    +2\sum_{\mu<\nu}A\otimes\cdots C_\mu\cdots C_\nu\cdots\otimes A,

where A, C and B hold the integrals of products of the polynomials of an axis, of their slopes and
of their curvatures. The sum is built along the axes with three parts: no derivative taken so
far, one, and two.
"""

import numpy as np

from isthmus.manifold.psom.grid import NodeGrid
from isthmus.typing import Array


def roughness_matrix(grid: NodeGrid) -> Array:
    """M as a matrix, shape (size, size)."""
    none, one, two = grid.axes[0].gram
    for axis in grid.axes[1:]:
        A, C, B = axis.gram
        two = np.kron(two, A) + 2 * np.kron(one, C) + np.kron(none, B)
        one = np.kron(one, A) + np.kron(none, C)
        none = np.kron(none, A)
    return two.copy() if len(grid.axes) == 1 else two


def roughness_product(grid: NodeGrid, W: Array) -> Array:
    """M times columns, without M: rows of ``W`` (d, size) are columns; O(size · sum of nodes)."""
    none, one, two = (along(grid, 0, K, W) for K in grid.axes[0].gram)
    for mu, axis in enumerate(grid.axes[1:], start=1):
        A, C, B = axis.gram
        two = along(grid, mu, A, two) + 2 * along(grid, mu, C, one) + along(grid, mu, B, none)
        if mu < len(grid.axes) - 1:
            one = along(grid, mu, A, one) + along(grid, mu, C, none)
            none = along(grid, mu, A, none)
    return two


def along(grid: NodeGrid, mu: int, A: Array, W: Array) -> Array:
    """A matrix applied along one axis of the grid to all rows of ``W`` (d, size)."""
    after = int(np.prod(grid.shape[mu + 1 :]))
    if after == 1:
        return np.asarray((W.reshape(-1, len(A)) @ A.T).reshape(W.shape))
    return np.asarray(np.matmul(A, W.reshape(-1, len(A), after)).reshape(W.shape))
