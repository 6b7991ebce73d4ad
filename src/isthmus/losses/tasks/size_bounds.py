"""Compiled sums of gains of labels, and bounds of the sizes between two that were tried.

The formulas are those of :mod:`isthmus.losses.tasks.f_measure_loops`.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.typing import IntArray

# Sizes that the first pass over the weights tries together.
N_NODES = 8


def node_sizes(m: int) -> IntArray:
    """The sizes 1 to ``m`` in geometric progression, all of them where there are few."""
    if m <= N_NODES:
        return np.minimum(np.arange(1, N_NODES + 1), m)
    nodes = np.rint(m ** (np.arange(N_NODES) / (N_NODES - 1))).astype(np.int64)
    return np.maximum(nodes, np.arange(1, N_NODES + 1))


@njit(nogil=True)
def fill_gains(v, labels, sizes, k, gain):
    """Gain of every label in answers of ``k`` labels; pairs are in order of their sizes."""
    gain[:] = 0.0
    size, factor = -1, 0.0
    for p in range(len(labels)):
        if sizes[p] != size:
            size = sizes[p]
            factor = 2.0 / (size + k)
        gain[labels[p]] += v[p] * factor


@njit(nogil=True)
def add_scaled(v, labels, first, last, factors, total):
    """Add ``v`` times eight factors to the eight totals of each label, pairs of one size."""
    f0, f1, f2, f3 = factors[0], factors[1], factors[2], factors[3]
    f4, f5, f6, f7 = factors[4], factors[5], factors[6], factors[7]
    for p in range(first, last):
        w, row = v[p], total[labels[p]]
        row[0] += w * f0
        row[1] += w * f1
        row[2] += w * f2
        row[3] += w * f3
        row[4] += w * f4
        row[5] += w * f5
        row[6] += w * f6
        row[7] += w * f7


@njit(nogil=True)
def chord_gap(size, a, b):
    """How far 2 / (size + k) is below its chord between ``a`` and ``b``, at most."""
    low, high = float(size + a), float(size + b)
    root = np.sqrt(high) - np.sqrt(low)
    return 2.0 * root * root / (low * high)


@njit(nogil=True)
def fill_nodes(v, labels, sizes, nodes, gains):
    """Gains (m, N_NODES) of every label at every node."""
    gains[:] = 0.0
    factors = np.empty(N_NODES)
    first, n = 0, len(labels)
    while first < n:
        last = first
        while last < n and sizes[last] == sizes[first]:
            last += 1
        for q in range(N_NODES):
            factors[q] = 2.0 / (sizes[first] + nodes[q])
        add_scaled(v, labels, first, last, factors, gains)
        first = last


@njit(nogil=True)
def fill_extra(v, labels, sizes, a, b, extra):
    """What the negative weights of each label may add to a bound between ``a`` and ``b``."""
    extra[:] = 0.0
    size, factor = -1, 0.0
    for p in range(len(labels)):
        if sizes[p] != size:
            size = sizes[p]
            factor = chord_gap(size, a, b)
        extra[labels[p]] += max(-v[p], 0.0) * factor  # no branch: signs are hard to predict


@njit(nogil=True)
def fill_drop(v, labels, sizes, a, b, drop):
    """How much less the negative weights of each label count at ``b`` than at ``a``."""
    drop[:] = 0.0
    size, factor = -1, 0.0
    for p in range(len(labels)):
        if sizes[p] != size:
            size = sizes[p]
            factor = 2.0 / (size + a) - 2.0 / (size + b)
        drop[labels[p]] += max(-v[p], 0.0) * factor


@njit(nogil=True)
def total_extra(v, sizes, nodes, total):
    """What the negative weights of all labels together may add to bounds between the nodes."""
    total[:] = 0.0
    first, n = 0, len(sizes)
    while first < n:
        last, mass = first, 0.0
        while last < n and sizes[last] == sizes[first]:
            mass += max(-v[last], 0.0)
            last += 1
        for q in range(N_NODES - 1):
            total[q] += mass * chord_gap(sizes[first], nodes[q], nodes[q + 1])
        first = last


@njit(nogil=True)
def fill_sums(gain, most, sums):
    """``sums[q]``: the sum of the q largest gains, up to ``most`` of them."""
    m = len(gain)
    top = np.partition(gain, m - most)[m - most :] if most < m else gain.copy()
    top.sort()
    sums[0] = 0.0
    for q in range(most):
        sums[q + 1] = sums[q] + top[most - 1 - q]


@njit(nogil=True)
def fill_bounds(a, b, at_a, at_b, most, bounds):
    """Upper bounds of the open sizes between ``a`` and ``b``, from the sums at both."""
    for k in range(a + 1, min(b, most + 1)):
        t = (k - a) / (b - a)
        bounds[k] = (1.0 - t) * at_a[k] + t * at_b[k]


@njit(nogil=True)
def largest_bound(bounds, most, best):
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
