"""The marginalised kernel of labelled graphs."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, check_parameters, choice, real
from isthmus.kernels.base import Kernel
from isthmus.kernels.graphs.labelled import LabelledGraph, as_graphs
from isthmus.kernels.objects import check_list
from isthmus.kernels.sequences.marginalized import balanced_rows, row_blocks
from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array, IntArray, Objects


@dataclass
class MarginalizedGraph(Kernel):
    r"""Expected agreement of two random walks on two labelled graphs [Kashima2003]_.

    A walk starts at any node, at each stops with probability :math:`\lambda` and otherwise moves
    on to a neighbour. The kernel is the probability that both walks read the same labels, of
    nodes and of edges, and stop. With :math:`P_e` the probabilities of steps along edges labelled
    :math:`e` and :math:`\Delta_{ij}` one where node labels agree,

    .. math::
        R=\Delta\circ\Big(\lambda^2+\sum_eP_e\,R\,P_e'^\top\Big),\qquad
        k=\frac1{nn'}\sum_{ij}R_{ij}.

    Parameters
    ----------
    stop : float in (0, 1], default=0.1
        :math:`\lambda`: small values compare large parts of the graphs, 1 single nodes.
    solver : {"auto", "conjugate_gradients", "fixed_point"}, default="auto"
        For undirected graphs the equation is symmetric, and conjugate gradients need about the
        square root of the number of sweeps of the fixed point; directed graphs need the latter.
    tol : float, default=1e-10
        Relative residual at which the solver stops.

    Notes
    -----
    Objects are :class:`LabelledGraph` or networkx graphs with the attribute ``label`` on nodes and
    edges. They are returned as :class:`LabelledGraph`. The product graph is never formed: a sweep
    costs O(nm' + n'm) for m and m' edges, and memory is O(nn') per thread. A walk at a node without
    neighbours does not count unless it stops there. The kernel cannot tell two disjoint copies of a
    graph from one.

    Examples
    --------
    >>> from isthmus.kernels import LabelledGraph, MarginalizedGraph
    >>> water = LabelledGraph("HOH", [(0, 1), (1, 2)])
    >>> peroxide = LabelledGraph("HOOH", [(0, 1), (1, 2), (2, 3)])
    >>> MarginalizedGraph(0.3)([water, peroxide]).round(4)
    array([[0.098 , 0.072 ],
           [0.072 , 0.0685]])
    """

    __module__ = "isthmus.kernels"

    stop: float = 0.1
    solver: str = field(default="auto", kw_only=True)
    tol: float = field(default=1e-10, kw_only=True)
    vectors = False
    offers = frozenset({"graphs"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "stop": real(0, 1, include_low=False),
        "solver": choice("auto", "conjugate_gradients", "fixed_point"),
        "tol": real(0, 1, include_low=False),
    }

    def check(self, X: Objects) -> Objects:
        return as_graphs(check_list(X, "MarginalizedGraph"), "MarginalizedGraph")

    def resolve(self, X: Objects) -> "MarginalizedGraph":
        check_parameters(self)
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        from isthmus.kernels.walk_loops import ALL, UPPER

        symmetric = Z is X
        gradients = self._gradients(X) and (symmetric or self._gradients(Z))
        codes: tuple[dict[Hashable, int], dict[Hashable, int]] = ({}, {})
        x = pack_graphs(X, self.stop, gradients, codes)
        z = x if symmetric else pack_graphs(Z, self.stop, gradients, codes)
        K = np.empty((len(X), len(Z)))
        settings = (self.stop**2, gradients, self.tol, self._max_iter())
        # A sweep costs some operations per pair of nodes, and a hundred sweeps are many.
        cost = 300.0 * np.mean([graph.n_nodes for graph in X]) * sum(g.n_nodes for g in Z)
        parts = row_blocks(balanced_rows(len(X)), float(cost))
        fill_gram(x, z, settings, parts, UPPER if symmetric else ALL, K)
        return K

    def diag(self, X: Objects) -> Array:
        from isthmus.kernels.walk_loops import OWN

        self.resolve(X)
        X = self.check(X)
        gradients = self._gradients(X)
        diagonal = np.empty((len(X), 1))
        packed = pack_graphs(X, self.stop, gradients, ({}, {}))
        settings = (self.stop**2, gradients, self.tol, self._max_iter())
        fill_gram(packed, packed, settings, [np.arange(len(X))], OWN, diagonal)
        return diagonal[:, 0]

    def _gradients(self, X: list[LabelledGraph]) -> bool:
        directed = any(graph.directed for graph in X)
        if directed and self.solver == "conjugate_gradients":
            raise ValueError(
                "MarginalizedGraph(solver='conjugate_gradients') needs undirected graphs. Graph "
                f"{[graph.directed for graph in X].index(True)} is directed: use 'auto'."
            )
        return not directed and self.solver != "fixed_point"

    def _max_iter(self) -> int:
        # A sweep of the fixed point shrinks the error by this factor; gradients are faster.
        factor = (1 - self.stop) ** 2
        return 2 if factor == 0 else 2 + int(np.log(self.tol * (1 - factor)) / np.log(factor))


def fill_gram(
    x: tuple[Any, ...],
    z: tuple[Any, ...],
    settings: Any,
    parts: list[IntArray],
    part: int,
    K: Array,
) -> None:
    """Fill rows of a Gram matrix of packed graphs, part by part, in threads if that is long."""
    from isthmus.kernels.walk_loops import graph_gram

    cells = int(np.diff(x[0]).max(initial=0) * np.diff(z[0]).max(initial=0))

    def fill(some: IntArray) -> None:
        graph_gram(x, z, *settings, some, part, np.empty((6, cells)), K)

    rest_in_threads(fill, parts)


def pack_graphs(
    graphs: list[LabelledGraph],
    stop: float,
    symmetric: bool,
    codes: tuple[dict[Hashable, int], dict[Hashable, int]],
) -> tuple[Any, ...]:
    r"""Arrays for the compiled loops: all nodes and arcs of all graphs, one after another.

    Arcs of a graph are sorted by the code of their label. A step has the weight
    :math:`(1-\lambda)/d_i`, or :math:`(1-\lambda)/\sqrt{d_id_j}` in the ``symmetric`` form, whose
    unknowns are those of the equation times :math:`\sqrt{d_id'_j}`. ``codes`` holds the numbers
    of node and edge labels, and is extended.
    """
    node_codes, edge_codes = codes
    sizes = [graph.n_nodes for graph in graphs]
    arcs = [graph.arcs for graph in graphs]
    lengths = [len(a[0]) for a in arcs]
    labels = [node_codes.setdefault(v, len(node_codes)) for g in graphs for v in g.labels]
    names = [edge_codes.setdefault(v, len(edge_codes)) for g in graphs for v in g.edge_labels or ()]
    n_edges = [len(graph.edges) for graph in graphs]
    first_edge = np.repeat(np.cumsum([0, *n_edges])[:-1], lengths)
    owner = np.repeat(np.arange(len(graphs)), lengths)
    source, target, edge = (np.concatenate([a[k] for a in arcs]) for k in range(3))
    name = np.asarray(names, dtype=np.int64)[edge + first_edge]
    degree = np.maximum(np.concatenate([graph.degrees for graph in graphs]), 1).astype(float)
    nodes = np.cumsum([0, *sizes])
    start = nodes[owner]
    if symmetric:
        weight = (1 - stop) / np.sqrt(degree[source + start] * degree[target + start])
        scale = np.sqrt(degree)
    else:
        weight, scale = (1 - stop) / degree[source + start], np.ones(len(degree))
    order = np.lexsort((target, source, name, owner))
    return (
        nodes,
        np.cumsum([0, *lengths]),
        np.asarray(labels, dtype=np.int64),
        scale,
        source[order].astype(np.uintp),
        target[order].astype(np.uintp),
        name[order],
        weight[order],
    )
