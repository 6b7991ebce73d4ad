"""Compiled loops of the search for graphs."""

import numpy as np

from isthmus._compiled import njit


@njit
def _start_walks(p, start, label, wanted):
    """Fill ``p`` with the shares of walks that start at nodes with one label; return their sum."""
    mass = 0.0
    for i in range(p.shape[0]):
        p[i] = start[i] if label[i] == wanted else 0.0
        mass += p[i]
    return mass


@njit
def _take_step(before, after, first, last, source, target, weight):
    """Fill ``after`` with the shares of walks after a step along some arcs; return their sum."""
    mass = 0.0
    after[:] = 0.0
    for e in range(first, last):
        step = weight[e] * before[source[e]]
        after[target[e]] += step
        mass += step
    return mass


@njit
def _add_shares(p, owner, columns, stop, shares, values):
    """Add to ``values`` what walks that stop here contribute; ``shares`` is work space."""
    shares[:] = 0.0
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
    capacity,
):
    """A tree of the labels that walks on all graphs read, in the order of a depth-first walk.

    Arcs of all graphs are sorted by (label of the edge, label of the node they lead to); ``groups``
    has the first arc of each such group. A walk is followed while at least ``least`` of the walks
    read the same labels. Returns, for each node of the tree, its depth, edge label, node label,
    where its subtree ends, and its values: the contribution of a walk that reads these labels to
    the products with ``columns`` (n_graphs, r). Everything is empty if ``capacity`` was too small.
    """
    n, n_graphs, r = label.shape[0], columns.shape[0], columns.shape[1]
    n_labels = label.max() + 1
    n_groups = groups.shape[0] - 1
    most = 2 + int(np.log(least) / np.log(1.0 - stop)) if stop < 1.0 else 2
    p = np.zeros((most + 1, n))  # p[d]: where walks are after d steps
    choice = np.zeros(most + 1, dtype=np.int64)  # the child to try next at each depth
    path = np.zeros(most + 1, dtype=np.int64)
    depth = np.empty(capacity, dtype=np.int64)
    edge = np.empty(capacity, dtype=np.int64)
    node = np.empty(capacity, dtype=np.int64)
    end = np.empty(capacity, dtype=np.int64)
    values = np.zeros((capacity, r))
    count = 0
    d = -1  # the depth of the current node of the tree; -1 is the root, before the first step
    first_label = 0
    shares = np.zeros(n_graphs)
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
            if choice[d] == n_groups or d + 1 > most:
                end[path[d]] = count
                d -= 1
                continue
            g = choice[d]
            choice[d] += 1
            child_edge, child_label = group_edge[g], group_label[g]
            mass = _take_step(p[d], p[d + 1], groups[g], groups[g + 1], source, target, weight)
        if mass < least * n_graphs or mass == 0.0:
            continue
        if count == capacity:
            return depth[:0], edge[:0], node[:0], end[:0], values[:0]
        d += 1
        depth[count], edge[count], node[count] = d, child_edge, child_label
        path[d], choice[d] = count, 0
        _add_shares(p[d], owner, columns, stop, shares, values[count])
        count += 1
    return depth[:count], edge[:count], node[:count], end[:count], values[:count]


@njit
def walk_products(labels, states, depth, edge, node, end, values, stop, n_labels, n_names):
    """Products (n, r) of the kernel against the graphs in the tree with their columns.

    Candidates are node labels (n, m) and tables (n, m, m) that hold 0 for no edge and one plus
    the label of the edge otherwise.
    """
    n, m = labels.shape
    found = np.zeros((n, values.shape[1]))
    p = np.zeros((depth.max() + 1, m))
    source = np.empty(m * m, dtype=np.int64)
    target = np.empty(m * m, dtype=np.int64)
    degree = np.empty(m)
    # Arcs are sorted by their kind, (label of the edge, label of the node they lead to).
    first = np.empty(n_labels * n_names + 1, dtype=np.int64)
    for k in range(n):
        first[:] = 0
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
        while t < depth.shape[0]:
            d = depth[t]
            mass = 0.0
            if d == 0:
                for i in range(m):
                    p[0, i] = 1.0 / m if labels[k, i] == node[t] else 0.0
                    mass += p[0, i]
            else:
                p[d] = 0.0
                kind = edge[t] * n_labels + node[t]
                for e in range(first[kind - 1] if kind > 0 else 0, first[kind]):
                    step = (1.0 - stop) / degree[source[e]] * p[d - 1, source[e]]
                    p[d, target[e]] += step
                    mass += step
            if mass == 0.0:
                t = end[t]  # nothing below it either
                continue
            for c in range(values.shape[1]):
                found[k, c] += stop * mass * values[t, c]
            t += 1
    return found


@njit
def _n_reached(state, stack, seen):
    """Number of nodes that can be reached from node 0."""
    m = state.shape[0]
    seen[:] = False
    seen[0] = True
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
