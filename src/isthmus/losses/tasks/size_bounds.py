"""Compiled gains of labels, their sums, and bounds of the sizes between two that were tried.

The formulas are those of :mod:`isthmus.losses.tasks.f_measure_loops`.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.losses.tasks.largest import _order
from isthmus.typing import IntArray

# Sizes that the first pass over the weights tries together.
N_NODES = 8
# What the weights of a label are summed up to: its gain, what the negative ones may add to a bound
# between two sizes, how much less the negative ones count at the second.
GAIN, EXTRA, DROP = 0, 1, 2


def node_sizes(m: int) -> IntArray:
    """The sizes 1 to ``m`` in geometric progression, all of them where there are few."""
    if m <= N_NODES:
        return np.minimum(np.arange(1, N_NODES + 1), m)
    nodes = np.rint(m ** (np.arange(N_NODES) / (N_NODES - 1))).astype(np.int64)
    return np.maximum(nodes, np.arange(1, N_NODES + 1))


@njit(nogil=True)
def _chord_gap(size, a, b):
    """How far 2 / (size + k) is below its chord between ``a`` and ``b``, at most."""
    low, high = float(size + a), float(size + b)
    root = np.sqrt(high) - np.sqrt(low)
    return 2.0 * root * root / (low * high)


@njit(nogil=True)
def _fill(v, pairs, what, a, b, m, total):
    """Sums over the weights of every label, pairs in order of their sizes."""
    for j in range(m):
        total[j] = 0.0
    size, factor = -1, 0.0
    for p in range(len(pairs)):
        if pairs[p, 1] != size:
            size = pairs[p, 1]
            if what == EXTRA:
                factor = _chord_gap(size, a, b)
            else:
                factor = 2.0 / (size + a)
                if what == DROP:
                    factor -= 2.0 / (size + b)
        weight = v[p]
        if what != GAIN:
            weight = max(-weight, 0.0)  # no branch: signs are hard to predict
        total[pairs[p, 0]] += weight * factor


@njit(nogil=True)
def _add_scaled(v, pairs, first, last, factors, total):
    """Add ``v`` times eight factors to the eight totals of each label, pairs of one size."""
    f0, f1, f2, f3 = factors[0], factors[1], factors[2], factors[3]
    f4, f5, f6, f7 = factors[4], factors[5], factors[6], factors[7]
    for p in range(first, last):
        w, row = v[p], total[pairs[p, 0]]
        row[0] += w * f0
        row[1] += w * f1
        row[2] += w * f2
        row[3] += w * f3
        row[4] += w * f4
        row[5] += w * f5
        row[6] += w * f6
        row[7] += w * f7


@njit(nogil=True)
def _fill_nodes(v, pairs, nodes, at_labels, gains, more, factors):
    """Gains of every label at every node, in the first N_NODES rows, by way of their transpose.

    ``more``: what all negative weights together may add to bounds between the nodes. Returns
    whether there are any.
    """
    for j in range(len(at_labels)):
        for q in range(N_NODES):
            at_labels[j, q] = 0.0
    for q in range(N_NODES):
        more[q] = 0.0
    first, n, any_negative = 0, len(pairs), False
    while first < n:
        size, last, mass = pairs[first, 1], first, 0.0
        while last < n and pairs[last, 1] == size:
            mass += max(-v[last], 0.0)
            last += 1
        for q in range(N_NODES):
            factors[q] = 2.0 / (size + nodes[q])
        if mass > 0.0:
            any_negative = True
            for q in range(N_NODES - 1):
                more[q] += mass * _chord_gap(size, nodes[q], nodes[q + 1])
        _add_scaled(v, pairs, first, last, factors, at_labels)
        first = last
    for j in range(len(at_labels)):
        for q in range(N_NODES):
            gains[q, j] = at_labels[j, q]
    return any_negative


@njit(nogil=True)
def _fill_sums(gain, extra, with_extra, m, most, work, sums):
    """``sums[q]``: the sum of the q largest gains, up to ``most``, where asked with extras."""
    for j in range(m):
        work[j] = gain[j]
        if with_extra:
            work[j] += extra[j]
    _order(work, m, most)
    sums[0] = 0.0
    for q in range(most):
        sums[q + 1] = sums[q] + work[q]


@njit(nogil=True)
def _fill_bounds(a, b, at_a, at_b, most, bounds):
    """Upper bounds of the open sizes between ``a`` and ``b``, from the sums at both."""
    for k in range(a + 1, min(b, most + 1)):
        t = (k - a) / (b - a)
        bounds[k] = (1.0 - t) * at_a[k] + t * at_b[k]


@njit(nogil=True)
def _largest_bound(bounds, most, best):
    """The open size of largest bound, 0 where none is above the best value, and the last one."""
    k, last = 0, 0
    for q in range(1, most + 1):
        if bounds[q] > best:
            last = q
            if k == 0 or bounds[q] > bounds[k]:
                k = q
        else:
            bounds[q] = -np.inf
    return k, last
