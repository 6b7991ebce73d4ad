"""Lengths of shortest paths between all nodes of a graph with few edges, many sources at a time.

Dijkstra's algorithm visits the nodes in the order of their distance from a source, and for sources
near to it this is nearly the order too. So all sources of a group take the shorter way through a
neighbour (Bellman and Ford), node by node in that order, forwards and backwards in turn, until no
way gets shorter; a node is looked at again only when a neighbour came nearer. The sums are those
that Dijkstra's algorithm makes from each source, to the last bit.
"""

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    aligned,
    largest,
    load_row,
    more,
    spread,
    store_row,
    where_larger,
)
from isthmus.typing import Array, BoolArray, IntArray

# Sources in a group: many share one order, few are all near to one another.
GROUP = 4 * LANES
# A group that looks at each node more often, in the mean, is left to Dijkstra's algorithm: by then
# it has taken about as long. Graphs of neighbours take 3 to 8, rings of equal spokes up to 40.
MOST_LOOKS = 60


@njit
def settle_paths(starts: Any, nodes: Any, lengths: Any, order: Any, D: Any, most: int) -> bool:
    """Lower the lengths ``D`` (nodes, 32 sources) to those of shortest paths; tell if they are.

    Node v has the neighbours ``nodes[starts[v] : starts[v + 1]]``. The sources have length zero,
    all else is infinite before. At most ``most`` nodes are looked at.
    """
    n, none, one = len(order), spread(0.0), spread(1.0)
    waiting, forwards, changed = np.ones(n, np.bool_), True, True
    while changed:
        changed = False
        for p in range(n):
            v = order[p] if forwards else order[n - 1 - p]
            if not waiting[v]:
                continue
            if most == 0:
                return False
            most -= 1
            waiting[v] = False
            # Four groups of lanes have names, so that they stay in registers.
            a0, a1, a2, a3 = (
                load_row(D, v, 0),
                load_row(D, v, 8),
                load_row(D, v, 16),
                load_row(D, v, 24),
            )
            b0, b1, b2, b3 = a0, a1, a2, a3
            for e in range(starts[v], starts[v + 1]):
                u, length = nodes[e], spread(lengths[e])
                c0 = more(length, 1.0, load_row(D, u, 0))
                c1 = more(length, 1.0, load_row(D, u, 8))
                c2 = more(length, 1.0, load_row(D, u, 16))
                c3 = more(length, 1.0, load_row(D, u, 24))
                b0, b1 = where_larger(b0, c0, c0, b0), where_larger(b1, c1, c1, b1)
                b2, b3 = where_larger(b2, c2, c2, b2), where_larger(b3, c3, c3, b3)
            lower = where_larger(a1, b1, one, where_larger(a0, b0, one, none))
            lower = where_larger(a3, b3, one, where_larger(a2, b2, one, lower))
            if largest(lower) > 0.0:
                store_row(D, v, 0, b0)
                store_row(D, v, 8, b1)
                store_row(D, v, 16, b2)
                store_row(D, v, 24, b3)
                for e in range(starts[v], starts[v + 1]):
                    waiting[nodes[e]] = changed = True
        forwards = not forwards
    return True


def shortest_paths(graph: Any) -> Array:
    """Lengths (n, n) of shortest paths in a symmetric CSR graph; infinite where there is none."""
    n = graph.shape[0]
    found: Array = np.empty((n, n))
    left: BoolArray = np.ones(n, dtype=bool)
    D, lengths = aligned(n, GROUP), np.asarray(graph.data, dtype=np.float64)
    while left.any():
        order = _order(graph, found, left)
        group = order[left[order]][:GROUP]
        left[group] = False
        D[:] = np.inf
        D[group, np.arange(len(group))] = 0.0
        if settle_paths(graph.indptr, graph.indices, lengths, order, D, MOST_LOOKS * n):
            found[group] = D[:, : len(group)].T
        else:
            found[group] = dijkstra(graph, indices=group)
    return found


def _order(graph: Any, found: Array, left: BoolArray) -> IntArray:
    """The nodes by their distance from one near the first that is left, or from that itself."""
    first, known = int(np.argmax(left)), np.flatnonzero(~left)
    nearest = known[np.argmin(found[known, first])] if len(known) else first
    if len(known) and np.isfinite(found[nearest, first]):
        lengths = found[nearest]
    else:  # no path from any of those that are known
        lengths = dijkstra(graph, indices=first)
    return np.argsort(lengths, kind="stable")
