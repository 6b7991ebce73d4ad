r"""Compiled search for the label set of largest expected F1.

With :math:`v_{js}` the weight of label ``j`` in sets of size ``s``, the value of the best answer of
``k`` labels is the sum :math:`T_k(\Delta(k))` of the ``k`` largest of
:math:`\Delta_j(k)=\sum_sv_{js}\frac2{s+k}`. Where no weight is negative, every :math:`\Delta_j` is
convex in ``k`` and :math:`T_k` is a convex function of its vector, so that between two sizes
:math:`a<k<b` that were tried

.. math:: T_k(\Delta(k))\le\tfrac{b-k}{b-a}T_k(\Delta(a))+\tfrac{k-a}{b-a}T_k(\Delta(b)).

A negative weight makes its term concave, and adds at most
:math:`|v_{js}|\,2(\sqrt{s+b}-\sqrt{s+a})^2/((s+a)(s+b))` to the bound of label ``j``.

One pass over the weights gives all gains at :data:`N_NODES` sizes, the nodes, in geometric
progression. Their bounds leave a range of sizes open. Within it a label whose largest gain is below
the smallest gains of enough others is in no best answer, and is left out; of the few labels that
remain the size of the largest bound is tried next, until no bound is above the best value: that is
the proof.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.losses.tasks.size_bounds import (
    N_NODES,
    fill_bounds,
    fill_drop,
    fill_extra,
    fill_gains,
    fill_nodes,
    fill_sums,
    largest_bound,
    node_sizes,
    total_extra,
)
from isthmus.typing import Array, IntArray

# Sums of so many sizes are kept; beyond, the sizes whose bound is open are tried one by one.
MOST_KEPT = 64
# Ratio of two neighbouring sizes beyond which the gap between them is halved.
WIDE = 1.5
# A label this close to the limit, relatively, is not left out: rounding must not decide.
SLACK = 1e-12


@njit(nogil=True)
def middle_size(k, tried):
    """The middle of the gap around ``k`` between tried sizes, where the gap is wide.

    What negative weights add to bounds falls with the square of the gap.
    """
    a, b = 0, 0
    for size in tried:
        if size < k:
            a = max(a, size)
        elif b == 0 or size < b:
            b = size
    return int(np.sqrt(a * b)) if b > WIDE * a + 2 else k


@njit(nogil=True)
def best_node(gains, nodes, empty, totals):
    """Best size and value among the nodes; the sums of all positive gains at each."""
    m = len(gains)
    best, size = empty, 0
    totals[:] = 0.0
    for j in range(m):
        for q in range(N_NODES):
            totals[q] += max(gains[j, q], 0.0)
    for q in range(N_NODES):
        if totals[q] <= best:  # no answer is worth more
            continue
        top = gains[:, q].copy()
        if nodes[q] < m:
            top = np.partition(top, m - nodes[q])[m - nodes[q] :]
        if top.sum() > best:
            best, size = top.sum(), nodes[q]
    return size, best


@njit(nogil=True)
def bound_gaps(v, labels, sizes, nodes, gains, totals, best, extras, sums, bounds):
    """Bounds of all sizes between the nodes; what negative weights may add in open gaps."""
    m = len(gains)
    some_negative = v.min() < 0.0
    at_a, at_b, more = sums[0], sums[1], np.zeros(N_NODES)
    if some_negative:
        total_extra(v, sizes, nodes, more)
    for q in range(N_NODES):
        bounds[nodes[q]] = -np.inf
        extras[q, 0] = np.nan  # not filled
    for q in range(N_NODES - 1):
        a, b = nodes[q], nodes[q + 1]
        if b <= a + 1:
            continue
        # No answer is worth more than all positive gains, or than more labels: most gaps close
        # without the bounds of single sizes.
        if max(totals[q], totals[q + 1]) + more[q] <= best:
            bounds[a + 1 : b] = -np.inf
            continue
        low, high = gains[:, q].copy(), gains[:, q + 1].copy()
        fill_sums(low, b - 1, at_a)
        fill_sums(high, b - 1, at_b)
        if max(at_a[:b].max(), at_b[:b].max()) + more[q] <= best:
            bounds[a + 1 : b] = -np.inf
            continue
        if some_negative:
            fill_extra(v, labels, sizes, a, b, extras[q])
            fill_sums(low + extras[q], b - 1, at_a)
            fill_sums(high + extras[q], b - 1, at_b)
        fill_bounds(a, b, at_a, at_b, m, bounds)


@njit(nogil=True)
def mark_possible(gains, drop, extras, some_negative, first, last, most, keep):
    """Mark the labels that may be among the ``most`` best between two nodes; returns how many."""
    m = len(gains)
    lowest = gains[:, last].copy()
    if some_negative:  # positive weights count least at the last node, negative ones at the first
        lowest -= drop
    limit = np.partition(lowest, m - most)[m - most]
    limit -= SLACK * abs(limit)
    count = 0
    for j in range(m):
        highest = gains[j, first]
        if some_negative:
            for q in range(first, last):
                ends = max(gains[j, q], gains[j, q + 1])
                highest = max(highest, ends + extras[q, j])
        if highest >= limit:
            keep[j] = count
            count += 1
        else:
            keep[j] = -1
    return count


@njit(nogil=True)
def add_bounds(
    v, labels, sizes, row, count, tried, gains, sums, extra, most, bounds, some_negative
):
    """Bounds of the two gaps beside the size tried in ``row``."""
    below, above = -1, -1
    for r in range(count):
        if tried[r] < tried[row] and (below < 0 or tried[r] > tried[below]):
            below = r
        if tried[r] > tried[row] and (above < 0 or tried[r] < tried[above]):
            above = r
    at_a, at_b = sums[MOST_KEPT + 1], sums[MOST_KEPT + 2]
    for first, second in ((below, row), (row, above)):
        if first < 0 or second < 0:
            continue
        a, b = tried[first], tried[second]
        if not some_negative:
            fill_bounds(a, b, sums[first], sums[second], most, bounds)
        elif a + 1 < b and a < most:
            fill_extra(v, labels, sizes, a, b, extra)
            fill_sums(gains[first] + extra, most, at_a)
            fill_sums(gains[second] + extra, most, at_b)
            fill_bounds(a, b, at_a, at_b, most, bounds)


@njit(nogil=True)
def close_bounds(v, labels, sizes, count, tried, gains, sums, bounds, extra, found):
    """Try sizes until no bound is above the best value; ``found`` is a size and its value.

    ``gains`` and ``sums`` hold in their first ``count`` rows what belongs to the sizes ``tried``.
    Returns the best size, its value and how many sizes were tried.
    """
    size, best = found
    some_negative = v.min() < 0.0
    n_tried = 0
    k, most = largest_bound(bounds, min(len(bounds) - 1, gains.shape[1]), best)
    for row in range(count):
        fill_sums(gains[row], most, sums[row])
    while k:
        if some_negative and count < MOST_KEPT:
            k = min(middle_size(k, tried[:count]), most)
        row = min(count, MOST_KEPT)
        fill_gains(v, labels, sizes, k, gains[row])
        fill_sums(gains[row], max(most, k), sums[row])
        n_tried += 1
        bounds[k] = -np.inf
        if sums[row, k] > best:
            size, best = k, sums[row, k]
        if count < MOST_KEPT:
            tried[count] = k
            count += 1
            add_bounds(
                v, labels, sizes, row, count, tried, gains, sums, extra, most, bounds, some_negative
            )
        k, most = largest_bound(bounds, most, best)
    return size, best, n_tried


@njit(nogil=True)
def restrict(v, labels, sizes, keep, few):
    """The pairs of the labels that are kept, in their order, with the new numbers of labels."""
    few_v, few_labels, few_sizes = few
    count = 0
    for p in range(len(labels)):  # no branch: which labels are kept is hard to predict
        j = keep[labels[p]]
        few_v[count], few_labels[count], few_sizes[count] = v[p], j, sizes[p]
        count += j >= 0
    return few_v[:count], few_labels[:count], few_sizes[:count]


@njit(nogil=True)
def open_range(nodes, bounds, hi):
    """The nodes next to the open sizes, the last of which is ``hi``."""
    lo, first, last = 1, 0, N_NODES - 1
    while bounds[lo] == -np.inf:
        lo += 1
    while first + 1 < N_NODES and nodes[first + 1] < lo:
        first += 1
    while last > 0 and nodes[last - 1] > hi:
        last -= 1
    return first, last


@njit(nogil=True)
def mark_answer(v, labels, sizes, k, own, gain, answer):
    """Mark the ``k`` labels of largest gain; of equal ones the first."""
    fill_gains(v, labels, sizes, k, gain)
    order = np.argsort(-gain, kind="mergesort")
    for q in range(k):
        answer[own[order[q]]] = True


@njit(nogil=True)
def best_answer(v, empty, labels, sizes, nodes, space, few, answer):
    """Mark the labels of the best answer; returns its value and how many sizes were tried."""
    gains, extras, sums, bounds, keep, own, gain = space
    m = len(gains)
    totals = np.empty(N_NODES)
    fill_nodes(v, labels, sizes, nodes, gains)
    size, best = best_node(gains, nodes, empty, totals)
    bound_gaps(v, labels, sizes, nodes, gains, totals, best, extras, sums, bounds)
    k, hi = largest_bound(bounds, m, best)
    own[:] = np.arange(m)
    if k == 0:
        if size:
            mark_answer(v, labels, sizes, size, own, gain, answer)
        return best, N_NODES
    first, last = open_range(nodes, bounds, hi)
    some_negative = v.min() < 0.0
    if some_negative:
        fill_drop(v, labels, sizes, nodes[first], nodes[last], gain)
        for q in range(first, last):
            if np.isnan(extras[q, 0]):
                fill_extra(v, labels, sizes, nodes[q], nodes[q + 1], extras[q])
    count = mark_possible(gains, gain, extras, some_negative, first, last, hi, keep)
    kept_gains, tried = np.empty((MOST_KEPT + 1, count)), np.empty(MOST_KEPT, dtype=np.int64)
    for q in range(first, last + 1):
        tried[q - first] = nodes[q]
        for j in range(m):
            if keep[j] >= 0:
                kept_gains[q - first, keep[j]] = gains[j, q]
    few_v, few_labels, few_sizes = restrict(v, labels, sizes, keep, few)
    size, best, n_tried = close_bounds(
        few_v, few_labels, few_sizes, last - first + 1, tried, kept_gains, sums,
        bounds[: hi + 1], gain[:count], (size, best),
    )  # fmt: skip
    if nodes[first] <= size <= hi:  # the labels of such an answer are all kept
        own[:count] = np.flatnonzero(keep >= 0)
        mark_answer(few_v, few_labels, few_sizes, size, own, gain[:count], answer)
    elif size:
        mark_answer(v, labels, sizes, size, own, gain, answer)
    return best, N_NODES + n_tried


@njit(nogil=True)
def fill_answers(values, labels, sizes, nodes, H, best):
    """Mark in ``H`` (n, m) the answers, put their values into ``best``; returns sizes tried."""
    n, m = H.shape
    n_pairs, total = len(labels), 0
    space = (
        np.empty((m, N_NODES)), np.empty((N_NODES, m)), np.empty((MOST_KEPT + 3, m + 1)),
        np.empty(m + 1), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64), np.empty(m),
    )  # fmt: skip
    # One place more than pairs: what is left out is written there, and over.
    few = (
        np.empty(n_pairs + 1),
        np.empty(n_pairs + 1, labels.dtype),
        np.empty(n_pairs + 1, sizes.dtype),
    )
    for i in range(n):
        best[i], n_tried = best_answer(
            values[i, :n_pairs], values[i, n_pairs], labels, sizes, nodes, space, few, H[i]
        )
        total += n_tried
    return total


def best_label_sets(values: Array, labels: IntArray, sizes: IntArray, H: Array, best: Array) -> int:
    """Mark in ``H`` (n, m) the answers, put their values into ``best``; returns sizes tried.

    ``values`` (n, n_pairs + 1) are the weights of pairs of a label and a size, in order of their
    sizes; the last column is that of the empty set.
    """
    return int(fill_answers(values, labels, sizes, node_sizes(H.shape[1]), H, best))
