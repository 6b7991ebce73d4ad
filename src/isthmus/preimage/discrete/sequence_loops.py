"""Compiled loops of the search for sequences."""

import numpy as np

from isthmus._compiled import njit


@njit
def insertion_codes(sequence, order):
    """Inversion counts of a sequence: entries larger than the i-th smallest before it.

    ``order`` sorts the sequence, and keeps equal symbols in order.
    """
    m = sequence.shape[0]
    code = np.zeros(m, dtype=np.int64)
    for i in range(m):
        place = order[i]
        for j in range(place):
            if sequence[j] > sequence[place]:
                code[i] += 1
    return code


@njit
def decode_insertions(codes, sorted_symbols):
    """Sequences (n, m) from inversion counts (n, m): the last symbol first, each at its count."""
    n, m = codes.shape
    found = np.empty((n, m), dtype=np.int64)
    for k in range(n):
        row = found[k]
        for i in range(m - 1, -1, -1):
            place = codes[k, i]
            for j in range(m - 1 - i, place, -1):  # the symbols placed so far
                row[j] = row[j - 1]
            row[place] = sorted_symbols[i]
    return found


@njit
def build_trie(flat, starts, columns, stop, n_symbols, capacity):
    """A tree of all substrings, with the contribution of each occurrence to the products.

    ``columns`` (n, r) are coefficients over the sequences. Returns the children of each node
    (node, symbol), -1 for none, and the values (node, r): the sum over all substrings on the path
    from the root of weight times coefficients of the sequences that contain it. The tree is empty
    if ``capacity`` was too small.
    """
    r = columns.shape[1]
    children = np.full((capacity, n_symbols), -1, dtype=np.int32)
    values = np.zeros((capacity, r))
    parent = np.zeros(capacity, dtype=np.int32)
    depth = np.zeros(capacity, dtype=np.int32)
    n_nodes = 1
    for i in range(starts.shape[0] - 1):
        length = starts[i + 1] - starts[i]
        for s in range(starts[i], starts[i + 1]):
            node = 0
            for t in range(s, starts[i + 1]):
                child = children[node, flat[t]]
                if child < 0:
                    if n_nodes == capacity:
                        return children[:0], values[:0]
                    child = n_nodes
                    n_nodes += 1
                    children[node, flat[t]] = child
                    parent[child] = node
                    depth[child] = depth[node] + 1
                node = child
                for c in range(r):
                    values[node, c] += columns[i, c] / length
    for node in range(1, n_nodes):  # parents come before their children
        weight = stop**2 * (1.0 - stop) ** (2 * (depth[node] - 1))
        for c in range(r):
            values[node, c] = values[parent[node], c] + weight * values[node, c]
    return children[:n_nodes].copy(), values[:n_nodes].copy()


@njit
def trie_products(children, values, flat, starts):
    """Products (n, r) of the kernel against the sequences in the tree with their columns."""
    n, r = starts.shape[0] - 1, values.shape[1]
    found = np.zeros((n, r))
    for i in range(n):
        for s in range(starts[i], starts[i + 1]):
            node = 0
            for t in range(s, starts[i + 1]):
                child = children[node, flat[t]]
                if child < 0:
                    break
                node = child
            for c in range(r):
                found[i, c] += values[node, c]
        length = starts[i + 1] - starts[i]
        for c in range(r):
            found[i, c] /= length
    return found


@njit
def sum_transitions(flat, starts, table):
    """Mean over its pairs of neighbours of ``table[a, b]``, for each sequence."""
    n = starts.shape[0] - 1
    found = np.zeros(n)
    for i in range(n):
        for t in range(starts[i] + 1, starts[i + 1]):
            found[i] += table[flat[t - 1], flat[t]]
        found[i] /= max(1, starts[i + 1] - starts[i] - 1)
    return found
