"""Compiled loops of the search for graphs."""

import numpy as np

from isthmus._compiled import njit

# Rows of a tree of walks. The last two hold a path through it: its nodes, the child to try next.
DEPTH, EDGE, NODE, END, PATH, CHOICE = range(6)


@njit(inline="always")
def _start_walks(p, start, label, wanted):
    """Fill ``p`` with the shares of walks that start at nodes with one label; return their sum."""
    mass = 0.0
    for i in range(p.shape[0]):
        p[i] = start[i] if label[i] == wanted else 0.0
        mass += p[i]
    return mass


@njit(inline="always")
def _take_step(before, after, first, last, source, target, weight):
    """Fill ``after`` with the shares of walks after a step along some arcs; return their sum."""
    mass = 0.0
    for i in range(after.shape[0]):
        after[i] = 0.0
    for e in range(first, last):
        step = weight[e] * before[source[e]]
        after[target[e]] += step
        mass += step
    return mass


@njit(inline="always")
def _add_shares(p, owner, columns, stop, shares, values):
    """Add to ``values`` what walks that stop here contribute; ``shares`` is work space."""
    for i in range(shares.shape[0]):
        shares[i] = 0.0
    for i in range(p.shape[0]):
        shares[owner[i]] += p[i]
    for i in range(columns.shape[0]):
        if shares[i] != 0.0:
            for c in range(columns.shape[1]):
                values[c] += stop * shares[i] * columns[i, c]


@njit
def walk_tree(
    groups,
    group_edge,
    group_label,
    source,
    target,
    weight,
    label,
    owner,
    start,
    columns,
    stop,
    least,
    n_labels,
    p,
    shares,
    tree,
    values,
):
    """A tree of the labels that walks on all graphs read, in the order of a depth-first walk.

    Arcs of all graphs are sorted by (label of the edge, label of the node they lead to); ``groups``
    has the first arc of each such group. A walk is followed while at least ``least`` of the walks
    read the same labels. Writes, for each node of the tree, its depth, edge label, node label and
    where its subtree ends into a row of ``tree`` each, and its ``values``: the contribution of a
    walk that reads these labels to the products with ``columns`` (n_graphs, r). Two more rows of
    ``tree``, ``p`` (longest walk + 1, n) and ``shares`` (n_graphs,) are work space. Returns the
    number of nodes, 0 if there are more than ``tree`` has room for.
    """
    n_groups, n_graphs, most = groups.shape[0] - 1, columns.shape[0], p.shape[0] - 1
    count = 0
    d = -1  # the depth of the current node of the tree; -1 is the root, before the first step
    first_label = 0
    while True:
        # The next child of the current node: labels to start with, or groups of arcs.
        mass, child_edge, child_label = 0.0, -1, -1
        if d < 0:
            if first_label == n_labels:
                break
            child_label = first_label
            first_label += 1
            mass = _start_walks(p[0], start, label, child_label)
        else:
            if tree[CHOICE, d] == n_groups or d + 1 > most:
                tree[END, tree[PATH, d]] = count
                d -= 1
                continue
            g = tree[CHOICE, d]
            tree[CHOICE, d] += 1
            child_edge, child_label = group_edge[g], group_label[g]
            mass = _take_step(p[d], p[d + 1], groups[g], groups[g + 1], source, target, weight)
        if mass < least * n_graphs or mass == 0.0:
            continue
        if count == values.shape[0]:
            return 0
        d += 1
        tree[DEPTH, count], tree[EDGE, count], tree[NODE, count] = d, child_edge, child_label
        tree[PATH, d], tree[CHOICE, d] = count, 0
        _add_shares(p[d], owner, columns, stop, shares, values[count])
        count += 1
    return count


@njit
def walk_products(labels, states, tree, values, stop, n_labels, p, arcs, first, found):
    """Add products (n, r) of the kernel against the graphs in the tree with their columns.

    Candidates are node labels (n, m) and tables (n, m, m) that hold 0 for no edge and one plus
    the label of the edge otherwise. ``p`` (depth of the tree + 2, m), ``arcs`` (2, m * m) and
    ``first`` (one for each kind of arc, and one more) are work space.
    """
    n, m = labels.shape
    source, target, degree = arcs[0], arcs[1], p[p.shape[0] - 1]
    # Arcs are sorted by their kind, (label of the edge, label of the node they lead to).
    for k in range(n):
        for kind in range(first.shape[0]):
            first[kind] = 0
        for i in range(m):
            degree[i] = 0.0
            for j in range(m):
                if states[k, i, j] > 0:
                    first[(states[k, i, j] - 1) * n_labels + labels[k, j] + 1] += 1
                    degree[i] += 1.0
        for kind in range(1, first.shape[0]):
            first[kind] += first[kind - 1]
        for i in range(m):
            for j in range(m):
                if states[k, i, j] > 0:
                    kind = (states[k, i, j] - 1) * n_labels + labels[k, j]
                    source[first[kind]], target[first[kind]] = i, j
                    first[kind] += 1  # ends where the next kind begins
        t = 0
        while t < values.shape[0]:
            d = tree[DEPTH, t]
            mass = 0.0
            if d == 0:
                for i in range(m):
                    p[0, i] = 1.0 / m if labels[k, i] == tree[NODE, t] else 0.0
                    mass += p[0, i]
            else:
                for i in range(m):
                    p[d, i] = 0.0
                kind = tree[EDGE, t] * n_labels + tree[NODE, t]
                for e in range(first[kind - 1] if kind > 0 else 0, first[kind]):
                    step = (1.0 - stop) / degree[source[e]] * p[d - 1, source[e]]
                    p[d, target[e]] += step
                    mass += step
            if mass == 0.0:
                t = tree[END, t]  # nothing below it either
                continue
            for c in range(values.shape[1]):
                found[k, c] += stop * mass * values[t, c]
            t += 1


@njit(inline="always")
def _n_reached(state, stack, seen):
    """Number of nodes that can be reached from node 0."""
    m = state.shape[0]
    for i in range(m):
        seen[i] = i == 0
    stack[0] = 0
    height, reached = 1, 1
    while height:
        height -= 1
        i = stack[height]
        for j in range(m):
            if state[i, j] > 0 and not seen[j]:
                seen[j] = True
                stack[height] = j
                height += 1
                reached += 1
    return reached


@njit
def allowed_graphs(labels, states, max_degree, bonds, connected):
    """Which candidates follow the rules: degrees, labels at the ends of edges, connectedness."""
    n, m = labels.shape
    found = np.ones(n, dtype=np.bool_)
    stack, seen = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.bool_)
    for k in range(n):
        for i in range(m):
            degree = 0
            for j in range(m):
                s = states[k, i, j]
                if s > 0:
                    degree += 1
                    found[k] &= bonds[labels[k, i], labels[k, j], s - 1]
            found[k] &= degree <= max_degree[labels[k, i]]
        if connected and found[k]:
            found[k] = _n_reached(states[k], stack, seen) == m
    return found


@njit
def repair_graphs(draws, first, second, labels, order, likely, max_degree, bonds, connected):
    """Drop edges that break the rules, then join components, the most likely pairs first.

    ``draws`` (n, n_pairs) hold the state of each pair of nodes and are changed in place.
    """
    n, n_pairs = draws.shape
    m = labels.shape[0]
    degree, piece = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for k in range(n):
        degree[:] = 0
        for u in range(m):
            piece[u] = u
        for sweep in range(2):
            for t in range(n_pairs):
                pair = order[t]
                i, j, s = first[pair], second[pair], draws[k, pair]
                joins = piece[i] != piece[j]
                if sweep == 1:
                    if s > 0 or not joins or not connected:
                        continue
                    s = likely[pair]
                if s == 0:
                    continue
                fits = (
                    bonds[labels[i], labels[j], s - 1]
                    and degree[i] < max_degree[labels[i]]
                    and degree[j] < max_degree[labels[j]]
                )
                draws[k, pair] = s if fits else 0
                if fits:
                    degree[i] += 1
                    degree[j] += 1
                    if joins:
                        old, new = piece[j], piece[i]
                        for a in range(m):
                            if piece[a] == old:
                                piece[a] = new
