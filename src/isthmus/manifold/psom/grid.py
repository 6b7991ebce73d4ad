"""Cartesian grids of nodes and the polynomials through them, one axis at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isthmus._checks import refusal
from isthmus.typing import Array

BASES = ("lagrange", "chebyshev", "legendre")


@dataclass(frozen=True, eq=False)
class NodeAxis:
    r"""Nodes :math:`a_1<\dots<a_n` on a domain, and the Lagrange basis through them.

    The basis is evaluated in its barycentric form,
    :math:`\ell_i(x)=\frac{\beta_i/(x-a_i)}{\sum_j\beta_j/(x-a_j)}` with
    :math:`\beta_i=1/\prod_{j\ne i}(a_i-a_j)`, which is stable where products of differences and
    monomials are not [Berrut2004]_.
    """

    nodes: Array
    low: float
    high: float

    def __len__(self) -> int:
        return len(self.nodes)

    def __getstate__(self) -> dict[str, Any]:
        """The nodes and the domain: what is computed from them is no part of a model."""
        return {"nodes": self.nodes, "low": self.low, "high": self.high}

    @cached_property
    def barycentric(self) -> Array:
        """Weights of the nodes, the largest of size one; shape (n,)."""
        return barycentric_weights(self.nodes)

    @cached_property
    def differentiation(self) -> Array:
        """Matrix that takes values at the nodes to slopes there, shape (n, n)."""
        return differentiation_matrix(self.nodes, self.barycentric)

    def basis(self, x: Array) -> Array:
        """Values of the n polynomials at the points ``x``, shape (len(x), n)."""
        return barycentric_rows(x, self.nodes, self.barycentric)

    @cached_property
    def gram(self) -> tuple[Array, Array, Array]:
        r"""Integrals over the domain of :math:`\ell\ell^\top`, of slopes and of curvatures."""
        t, w = np.polynomial.legendre.leggauss(len(self))  # exact to degree 2n - 1
        half = (self.high - self.low) / 2
        L = self.basis(self.low + half * (t + 1))
        A = (L.T * (half * w)) @ L
        D = self.differentiation
        D2 = D @ D
        integrals = A, _symmetric(D.T @ A @ D), _symmetric(D2.T @ A @ D2)
        for table in integrals:
            table.flags.writeable = False  # kept, and shared by all who ask
        return integrals

    def nearest(self, x: Array) -> Any:
        """Number of the node nearest to each of ``x``."""
        return np.searchsorted((self.nodes[1:] + self.nodes[:-1]) / 2, x)


def _symmetric(A: Array) -> Array:
    return (A + A.T) / 2


def barycentric_weights(nodes: Array) -> Array:
    """Barycentric weights of sorted nodes (along the last axis), largest of size one."""
    n = nodes.shape[-1]
    gaps = np.abs(nodes[..., :, None] - nodes[..., None, :])
    gaps[..., range(n), range(n)] = 1.0
    size = -np.log(gaps).sum(axis=-1)
    signs = (-1.0) ** (n - 1 - np.arange(n))
    return np.asarray(signs * np.exp(size - size.max(axis=-1, keepdims=True)))


def differentiation_matrix(nodes: Array, weights: Array) -> Array:
    """Slopes at the nodes as a matrix of the values there; for rows of nodes, one for each."""
    n = nodes.shape[-1]
    here = np.arange(n)
    gaps = nodes[..., :, None] - nodes[..., None, :]
    gaps[..., here, here] = 1.0
    D = weights[..., None, :] / weights[..., :, None] / gaps
    D[..., here, here] = 0.0
    D[..., here, here] = -D.sum(axis=-1)  # slopes of a constant are exactly zero
    return np.asarray(D)


def barycentric_rows(x: Array, nodes: Array, weights: Array) -> Array:
    """Lagrange basis at ``x`` (m,); nodes and weights are (n,) or (m, n)."""
    gaps = x[:, None] - nodes
    hit = gaps == 0
    parts = weights / np.where(hit, 1.0, gaps)
    on_node = hit.any(axis=1)
    # What stands for an infinite part on a node may cancel the others; that row is not used.
    rows = parts / np.where(on_node, 1.0, parts.sum(axis=1))[:, None]
    rows[on_node] = hit[on_node]
    return rows


def node_axis(n: int, low: float, high: float, basis: str) -> NodeAxis:
    """An axis of ``n`` nodes on a domain: regular with both ends, or Gauss nodes without."""
    steps = (1 + _unit_nodes(n, basis)) / 2
    return NodeAxis(low + (high - low) * steps, float(low), float(high))


def _unit_nodes(n: int, basis: str) -> Array:
    """Increasing nodes on [-1, 1]: regular, or zeros of Chebyshev or Legendre polynomials."""
    if basis == "chebyshev":
        return -np.cos(np.pi * (np.arange(n) + 0.5) / n)
    if basis == "legendre":
        return np.asarray(np.polynomial.legendre.leggauss(n)[0])
    return np.linspace(-1.0, 1.0, n)


@dataclass(frozen=True, eq=False)
class NodeGrid:
    """The product of some axes; nodes are numbered with the last axis fastest."""

    axes: tuple[NodeAxis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def low(self) -> Array:
        return np.array([axis.low for axis in self.axes])

    @property
    def high(self) -> Array:
        return np.array([axis.high for axis in self.axes])

    def __getstate__(self) -> dict[str, Any]:
        """The axes: what is computed from them is no part of a model."""
        return {"axes": self.axes}

    @property
    def points(self) -> Array:
        """Positions of the nodes, shape (size, n_axes)."""
        mesh = np.meshgrid(*(axis.nodes for axis in self.axes), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=1)

    @cached_property
    def tables(self) -> dict[int | None, Any]:
        """What compiled searches know of windows of so many nodes, for the next search."""
        return {}

    def basis_matrix(self, points: Array) -> Array:
        """Values of all products of the axes' polynomials, shape (len(points), size)."""
        rows = np.ones((len(points), 1))
        for axis, x in zip(self.axes, points.T, strict=True):
            rows = (rows[:, :, None] * axis.basis(x)[:, None, :]).reshape(len(points), -1)
        return rows


def make_grid(
    owner: str, grid: Any, *, bounds: Any, basis: str, parameter: str = "grid"
) -> NodeGrid:
    """The grid that counts of nodes, or vectors of nodes, describe; or say what is wrong.

    ``bounds`` is None ([-1, 1], or what given nodes span), a pair, or a pair for each axis;
    ``parameter`` is what the owner calls its grid.
    """
    if not isinstance(basis, str) or basis not in BASES:
        raise ValueError(refusal(owner, "basis", f"one of {', '.join(map(repr, BASES))}", basis))
    parts = _axes_of(owner, grid, parameter)
    domains = _domains(owner, bounds, len(parts))
    axes = []
    for k, (part, domain) in enumerate(zip(parts, domains, strict=True)):
        if isinstance(part, int):
            axes.append(node_axis(part, *(domain or (-1.0, 1.0)), basis))
        else:
            axes.append(_given_axis(owner, k, part, domain, basis))
    return NodeGrid(tuple(axes))


def _axes_of(owner: str, grid: Any, parameter: str) -> list[Any]:
    if isinstance(grid, (int, np.integer)) and not isinstance(grid, bool):
        grid = (grid,)
    expected = (
        "a grid of at least 2 nodes per axis: a tuple of counts, or a list with a vector of "
        "increasing nodes for each axis"
    )
    if not isinstance(grid, (Sequence, np.ndarray)) or isinstance(grid, str) or len(grid) == 0:
        raise TypeError(refusal(owner, parameter, expected, grid))
    parts: list[Any] = []
    for part in grid:
        if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            parts.append(int(part))
            bad = part < 2
        else:
            try:
                nodes = np.asarray(part, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise TypeError(refusal(owner, parameter, expected, grid)) from error
            bad = nodes.ndim != 1 or len(nodes) < 2 or not np.isfinite(nodes).all()
            bad = bad or bool(np.any(np.diff(nodes) <= 0))
            parts.append(nodes)
        if bad:
            raise ValueError(refusal(owner, parameter, expected, grid))
    return parts


def _domains(owner: str, bounds: Any, n_axes: int) -> list[tuple[float, float] | None]:
    if bounds is None:
        return [None] * n_axes
    expected = f"None, a pair (low, high) of numbers, or one for each of its {n_axes} axes"
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(refusal(owner, "bounds", expected, bounds)) from error
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (n_axes, 1))
    if pairs.shape != (n_axes, 2) or not np.isfinite(pairs).all():
        raise ValueError(refusal(owner, "bounds", expected, bounds))
    if np.any(pairs[:, 0] >= pairs[:, 1]):
        raise ValueError(refusal(owner, "bounds", "pairs with low < high", bounds))
    return [(low, high) for low, high in pairs.tolist()]


def _given_axis(
    owner: str, k: int, nodes: Array, domain: tuple[float, float] | None, basis: str
) -> NodeAxis:
    """An axis with nodes of the caller; nodes of a Gauss basis are checked to be such."""
    low, high = domain or (float(nodes[0]), float(nodes[-1]))
    if basis != "lagrange":
        if domain is None:
            # Distance of the outermost nodes from the middle, in half widths.
            reach = _unit_nodes(len(nodes), basis)[-1]
            middle, half = (low + high) / 2, (high - low) / 2 / reach
            low, high = middle - half, middle + half
        proper = node_axis(len(nodes), low, high, basis).nodes
        if not np.allclose(proper, nodes, rtol=0, atol=1e-6 * (high - low)):
            raise ValueError(
                f"Axis {k} of {owner} does not have the nodes that basis={basis!r} promises on "
                f'[{low:g}, {high:g}]. Take basis="lagrange" for nodes of your own.'
            )
    elif low > nodes[0] or high < nodes[-1]:
        raise ValueError(
            f"The domain [{low:g}, {high:g}] of axis {k} of {owner} must hold its nodes. Got "
            f"nodes from {nodes[0]:g} to {nodes[-1]:g} instead."
        )
    return NodeAxis(nodes, low, high)


def grid_points(grid: Any, *, bounds: Any = None, basis: str = "lagrange") -> Array:
    """Positions of the nodes of a grid, in the order in which ``PSOM`` takes its nodes.

    Parameters
    ----------
    grid : tuple of int, or sequence of arrays of increasing nodes.
    bounds : pair, or a pair for each axis, optional
        The domain; by default [-1, 1], or what given nodes span.
    basis : {"lagrange", "chebyshev", "legendre"}, default="lagrange"
        Regular nodes with both ends, or Chebyshev or Legendre nodes, which lie inside the domain.

    Returns
    -------
    ndarray of shape (n_nodes, n_axes)

    Examples
    --------
    >>> from isthmus.manifold import grid_points
    >>> grid_points((2, 3), bounds=(0, 1))
    array([[0. , 0. ],
           [0. , 0.5],
           [0. , 1. ],
           [1. , 0. ],
           [1. , 0.5],
           [1. , 1. ]])
    """
    return make_grid("grid_points", grid, bounds=bounds, basis=basis).points
