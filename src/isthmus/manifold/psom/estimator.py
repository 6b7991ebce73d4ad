"""Parametrised self-organising maps: smooth maps through few nodes, used in any direction."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import validate_data

from isthmus._checks import check_int, check_scale, check_table
from isthmus._parameters import Constraint, choice, having, instance, integer, none
from isthmus.manifold.projection import Search
from isthmus.manifold.psom.base import A_GRID, BOUNDS, OUTSIDE, BaseGridManifold
from isthmus.manifold.psom.checks import check_nodes
from isthmus.manifold.psom.codebook import read_codebook, window_of
from isthmus.manifold.psom.grid import BASES, make_grid
from isthmus.typing import Array


class PSOM(BaseGridManifold):
    r"""A smooth manifold through the nodes of a grid that fills in any missing components.

    Few training points that lie on a grid define a map of high precision,

    .. math::
        f(x)=\sum_gw_g\prod_\mu\ell_{g_\mu}(x_\mu),\qquad
        \ell_g(x)=\prod_{j\ne g}\frac{x-a_j}{a_g-a_j},

    with :math:`f(a_g)=w_g` at every node. Data are projected on it by least squares over any
    subset of their components, and the others are read off where it ends. So one model answers
    every direction: give postures and hand positions as the components of the nodes, and ask
    for either [Ritter1993]_.

    Parameters
    ----------
    nodes : array-like of shape (\*grid, n_features) or (n_nodes, n_features), optional
        Images of the grid's nodes, the last axis fastest (see :func:`grid_points`). None takes the
        rows that ``fit`` is given.
    grid : tuple of int, or sequence of arrays of increasing nodes, optional
        Nodes on each axis. None takes the shape of ``nodes``, or one axis through all rows.
    basis : {"lagrange", "chebyshev", "legendre"}, default="lagrange"
        Where nodes lie that ``grid`` only counts: regularly, with both ends, or inside the domain
        as zeros of Chebyshev polynomials (small largest error) or of Legendre polynomials (small
        mean error). Regular nodes ring near the ends from about 8 per axis.
    local : int, optional
        Use only this many nodes per axis, around the node nearest to a point. Cheaper and without
        ringing, but the map jumps where one window gives way to the next.
    bounds : pair, or a pair for each axis, optional
        The domain; by default [-1, 1], or what given nodes span.
    outside : {"clip", "extrapolate", "raise"}, default="clip"
        How latent points outside the domain are treated, where the polynomials are useless;
        published maps extrapolate.
    search : Search, optional
        How rows are projected; ``Search()`` by default, which starts from the four nodes that are
        nearest to a row. (The published search starts from one, and may end in a worse minimum.)

    Attributes
    ----------
    weights_ : ndarray of shape (\*grid, n_features)
        Images of the nodes.
    embedding_ : ndarray of shape (n_nodes, n_components)
        Positions of the nodes, the latent points of the training rows.
    grid_ : NodeGrid
        Axes with their nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import PSOM, grid_points
    >>> angles = grid_points((7, 7), bounds=(0, 1.5), basis="chebyshev")
    >>> a, b = angles.T
    >>> hand = np.c_[np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)]
    >>> arm = PSOM(np.c_[angles, hand], grid=(7, 7), bounds=(0, 1.5), basis="chebyshev").fit()

    Forward, from angles to the hand, and backward, from the hand to angles:

    >>> arm.complete([[0.5, 1.0, np.nan, np.nan]]).round(4)
    array([[0.5   , 1.    , 0.9483, 1.4769]])
    >>> arm.complete([[np.nan, np.nan, 0.9483, 1.4769]]).round(3)
    array([[0.5  , 1.   , 0.948, 1.477]])
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "nodes": having("__len__", text="an array of numbers with one node per row") | none,
        "grid": A_GRID | none,
        "basis": choice(*BASES),
        "local": integer(2) | none,
        "bounds": BOUNDS | none,
        "outside": choice(*OUTSIDE),
        "search": instance(Search) | none,
    }

    def __init__(
        self,
        nodes: Any = None,
        *,
        grid: Any = None,
        basis: str = "lagrange",
        local: int | None = None,
        bounds: Any = None,
        outside: str = "clip",
        search: Search | None = None,
    ):
        self.nodes = nodes
        self.grid = grid
        self.basis = basis
        self.local = local
        self.bounds = bounds
        self.outside = outside
        self.search = search

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Take the images of the nodes; return self.

        With ``nodes`` given nothing is learned, and ``X`` may be left out or be data whose
        columns are checked; without, the rows of ``X`` are the nodes in their order.
        """
        self._check_search()
        if self.local is not None:
            check_int(self.local, "local", self, low=2)
        nodes = self._nodes(X)
        shape = nodes.shape[:-1] if self.grid is None else self.grid
        grid = make_grid("PSOM", shape, bounds=self.bounds, basis=self.basis)
        rows = check_nodes(self, nodes, grid)
        self.n_features_in_ = nodes.shape[-1]
        self.grid_ = grid
        self.weights_ = rows.reshape(*grid.shape, -1)
        self.embedding_ = grid.points
        return self

    @classmethod
    def from_codebook(cls, codebook: Any, **parameters: Any) -> Self:
        r"""Return a fitted map through the units of a trained self-organising map.

        Parameters
        ----------
        codebook : array-like of shape (\*grid, n_features), or a trained map
            Weights of the units, or what holds them: a ``MiniSom`` (``get_weights``), a map of
            Somoclu (``codebook``) or SuSi (``unsuper_som_``), or any object with ``weights_`` or
            ``weights``. An array of two dimensions is a chain of units; give ``grid`` where it is
            the rows of a grid, the last axis fastest.
        **parameters :
            Of :class:`PSOM`. ``local`` is 3 where an axis has more than 7 units: polynomials
            through many regular nodes ring.

        Examples
        --------
        >>> import numpy as np
        >>> from isthmus.manifold import PSOM
        >>> x, y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 4), indexing="ij")
        >>> codebook = np.stack([x, y, x * y], axis=-1)  # 5 by 4 units in three dimensions
        >>> PSOM.from_codebook(codebook).complete([[0.5, 0.2, np.nan]]).round(6)
        array([[0.5, 0.2, 0.1]])
        """
        nodes = read_codebook(codebook, f"{cls.__name__}.from_codebook")
        grid = parameters.get("grid")
        if grid is None:
            counts = nodes.shape[:-1]
        else:  # of a mistaken one the constructor tells
            counts = make_grid(cls.__name__, grid, bounds=None, basis="lagrange").shape
        return cls(nodes, **{"local": window_of(counts)} | parameters).fit()

    def _nodes(self, X: Any) -> Array:
        """Images of the nodes: the parameter, or the rows of ``X``."""
        if self.nodes is None:
            if X is None:
                raise ValueError("PSOM needs its nodes, or rows for them in fit. Got neither.")
            nodes: Array = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
            check_scale(self, nodes)
            return nodes
        nodes = check_table(
            self.nodes,
            "nodes",
            self,
            expected="None or an array of numbers with one node per row",
            allow_nd=True,
        )
        check_scale(self, nodes, what="nodes")
        if X is not None:
            validate_data(self, X, dtype=np.float64)
            if self.n_features_in_ != nodes.shape[-1]:
                raise ValueError(
                    f"PSOM has nodes of {nodes.shape[-1]} components. Got X with "
                    f"{self.n_features_in_} features instead."
                )
        return nodes
