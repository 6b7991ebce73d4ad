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
from isthmus.losses.tasks.largest import _lead
from isthmus.losses.tasks.size_bounds import (
    DROP,
    EXTRA,
    GAIN,
    N_NODES,
    _fill,
    _fill_bounds,
    _fill_nodes,
    _fill_sums,
    _largest_bound,
    node_sizes,
)
from isthmus.typing import Array, IntArray

# Sums of so many sizes are kept; beyond, the sizes whose bound is open are tried one by one.
MOST_KEPT = 64
# Ratio of two neighbouring sizes beyond which the gap between them is halved.
WIDE = 1.5
# A label this close to the limit, relatively, is not left out: rounding must not decide.
SLACK = 1e-12
# Rows of the array in which all numbers are kept, and of that of whole numbers: each argument of a
# loop, and each array that it makes, adds to the time it takes to compile.
AT_NODES, EXTRAS, BOUNDS, WORK, OWN = 0, N_NODES, 2 * N_NODES, 2 * N_NODES + 1, 2 * N_NODES + 2
SUMS = OWN + 1  # of the sizes tried; the last two with extras
KEPT = SUMS + MOST_KEPT + 3  # gains of the labels that are kept
N_ROWS = KEPT + MOST_KEPT + 1
NODES, TRIED, KEEP = 0, 1, 2


@njit(nogil=True)
def _middle_size(k, tried, count):
    """The middle of the gap around ``k`` between tried sizes, where the gap is wide.

    What negative weights add to bounds falls with the square of the gap.
    """
    a, b = 0, 0
    for q in range(count):
        size = tried[q]
        if size < k:
            a = max(a, size)
        elif b == 0 or size < b:
            b = size
    return int(np.sqrt(a * b)) if b > WIDE * a + 2 else k


@njit(nogil=True)
def _best_node(space, nodes, m, empty, totals):
    """Best size and value among the nodes; the sums of all positive gains at each."""
    best, size, work = empty, 0, space[WORK]
    for q in range(N_NODES):
        gain, total = space[AT_NODES + q], 0.0
        for j in range(m):
            work[j] = gain[j]
            total += max(gain[j], 0.0)
        totals[q] = total
        if total <= best:  # no answer is worth more
            continue
        if nodes[q] < m:
            _lead(work, m, nodes[q])
        total = 0.0
        for j in range(nodes[q]):
            total += work[j]
        if total > best:
            best, size = total, nodes[q]
    return size, best


@njit(nogil=True)
def _bound_gap(v, pairs, with_extra, q, space, nodes, m):
    """Fill the sums at both ends of the gap after node ``q``; returns the largest."""
    a, b = nodes[q], nodes[q + 1]
    extra, highest = space[EXTRAS + q], -np.inf
    if with_extra:
        _fill(v, pairs, EXTRA, a, b, m, extra)
    for end in range(2):
        sums = space[SUMS + end]
        _fill_sums(space[AT_NODES + q + end], extra, with_extra, m, b - 1, space[WORK], sums)
        for k in range(b):
            highest = max(highest, sums[k])
    return highest


@njit(nogil=True)
def _bound_gaps(v, pairs, some_negative, space, nodes, m, totals, more, best):
    """Bounds of all sizes between the nodes; what negative weights may add in open gaps."""
    bounds = space[BOUNDS]
    for k in range(m + 1):
        bounds[k] = -np.inf
    for q in range(N_NODES - 1):
        space[EXTRAS + q, 0] = np.nan  # not filled
        a, b = nodes[q], nodes[q + 1]
        # No answer is worth more than all positive gains, or than more labels: most gaps close
        # without the bounds of single sizes.
        if b <= a + 1 or max(totals[q], totals[q + 1]) + more[q] <= best:
            continue
        highest = -np.inf
        for with_extra in range(1 + some_negative):
            highest = _bound_gap(v, pairs, with_extra, q, space, nodes, m)
            if highest + more[q] <= best:
                break
        if highest > best:
            _fill_bounds(a, b, space[SUMS], space[SUMS + 1], m, bounds)


@njit(nogil=True)
def _mark_possible(space, some_negative, m, first, last, most, keep):
    """Mark the labels that may be among the ``most`` best between two nodes; returns how many."""
    work = space[WORK]
    for j in range(m):
        work[j] = space[AT_NODES + last, j]
        if some_negative:  # positive weights count least at the last node, negative at the first
            work[j] -= space[OWN, j]
    limit = _lead(work, m, most)
    limit -= SLACK * abs(limit)
    count = 0
    for j in range(m):
        highest = space[AT_NODES + first, j]
        if some_negative:
            for q in range(first, last):
                ends = max(space[AT_NODES + q, j], space[AT_NODES + q + 1, j])
                highest = max(highest, ends + space[EXTRAS + q, j])
        if highest < limit:
            keep[j] = -1
            continue
        keep[j] = count
        for q in range(first, last + 1):
            space[KEPT + q - first, count] = space[AT_NODES + q, j]
        count += 1
    return count


@njit(nogil=True)
def _add_bounds(v, pairs, some_negative, row, count, tried, space, m, most):
    """Bounds of the two gaps beside the size tried in ``row``."""
    below, above, extra = -1, -1, space[OWN]
    for r in range(count):
        if tried[r] < tried[row] and (below < 0 or tried[r] > tried[below]):
            below = r
        if tried[r] > tried[row] and (above < 0 or tried[r] < tried[above]):
            above = r
    for side in range(2):
        first, second = (row, above) if side else (below, row)
        if first < 0 or second < 0 or tried[first] >= most:
            continue
        a, b = tried[first], tried[second]
        if some_negative and a + 1 < b:
            _fill(v, pairs, EXTRA, a, b, m, extra)
            for end in range(2):
                gain, sums = space[KEPT + (second if end else first)], space[KEPT - 2 + end]
                _fill_sums(gain, extra, 1, m, most, space[WORK], sums)
            first, second = KEPT - 2 - SUMS, KEPT - 1 - SUMS
        _fill_bounds(a, b, space[SUMS + first], space[SUMS + second], most, space[BOUNDS])


@njit(nogil=True)
def _close_bounds(v, pairs, some_negative, count, tried, space, m, most, size, best):
    """Try sizes until no bound is above the ``best`` value, so far that of an answer of ``size``.

    Of the first ``count`` sizes ``tried`` the gains of the ``m`` labels are there. Returns the best
    size, its value and how many sizes were tried.
    """
    n_tried, bounds, extra = 0, space[BOUNDS], space[OWN]
    k, most = _largest_bound(bounds, min(most, m), best)
    for row in range(count):
        _fill_sums(space[KEPT + row], extra, 0, m, most, space[WORK], space[SUMS + row])
    while k:
        if some_negative and count < MOST_KEPT:
            k = min(_middle_size(k, tried, count), most)
        row = min(count, MOST_KEPT)
        gain, sums = space[KEPT + row], space[SUMS + row]
        _fill(v, pairs, GAIN, k, k, m, gain)
        _fill_sums(gain, extra, 0, m, max(most, k), space[WORK], sums)
        n_tried += 1
        bounds[k] = -np.inf
        if sums[k] > best:
            size, best = k, sums[k]
        if count < MOST_KEPT:
            tried[count] = k
            count += 1
            _add_bounds(v, pairs, some_negative, row, count, tried, space, m, most)
        k, most = _largest_bound(bounds, most, best)
    return size, best, n_tried


@njit(nogil=True)
def _restrict(v, pairs, keep, few_v, few_pairs):
    """Copy the pairs of the labels that are kept, with their new numbers; returns how many."""
    count = 0
    for p in range(len(pairs)):  # no branch: which labels are kept is hard to predict
        j = keep[pairs[p, 0]]
        few_v[count], few_pairs[count, 0], few_pairs[count, 1] = v[p], j, pairs[p, 1]
        count += j >= 0
    return count


@njit(nogil=True)
def _open_range(nodes, bounds, hi):
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
def _mark_answer(v, pairs, k, gain, work, answer):
    """Mark the ``k`` labels of largest gain; of equal ones the first."""
    m = len(answer)
    _fill(v, pairs, GAIN, k, k, m, gain)
    for j in range(m):
        work[j] = gain[j]
    limit = _lead(work, m, k)
    for j in range(m):
        answer[j] = gain[j] > limit
        k -= answer[j]
    for j in range(m):
        if k > 0 and gain[j] == limit:
            answer[j] = True
            k -= 1


@njit(nogil=True)
def fill_answers(values, pairs, at_labels, space, whole, few_v, few_pairs, H, best):
    """Mark in ``H`` (n, m) the answers, put their values into ``best``; returns sizes tried."""
    n, m = H.shape
    nodes, tried, keep, bounds = whole[NODES], whole[TRIED], whole[KEEP], space[BOUNDS]
    # Rows that are free at first: sums of gains at the nodes, and of negative weights.
    totals, more = space[KEPT], space[KEPT + 1]
    n_tried = n * N_NODES
    for i in range(n):
        v = values[i]
        negative = _fill_nodes(v, pairs, nodes, at_labels, space, more, space[WORK])
        size, value = _best_node(space, nodes, m, v[len(pairs)], totals)
        _bound_gaps(v, pairs, negative, space, nodes, m, totals, more, value)
        k, hi = _largest_bound(bounds, m, value)
        if k:
            first, last = _open_range(nodes, bounds, hi)
            for q in range(first, last + 1):
                tried[q - first] = nodes[q]
            if negative:
                _fill(v, pairs, DROP, nodes[first], nodes[last], m, space[OWN])
                for q in range(first, last):
                    if np.isnan(space[EXTRAS + q, 0]):
                        _fill(v, pairs, EXTRA, nodes[q], nodes[q + 1], m, space[EXTRAS + q])
            count = _mark_possible(space, negative, m, first, last, hi, keep)
            few = few_pairs[: _restrict(v, pairs, keep, few_v, few_pairs)]
            size, value, more_tried = _close_bounds(
                few_v, few, negative, last - first + 1, tried, space, count, hi, size, value
            )
            n_tried += more_tried
        best[i] = value
        if size:
            _mark_answer(v, pairs, size, space[OWN], space[WORK], H[i])
    return n_tried


def best_label_sets(values: Array, labels: IntArray, sizes: IntArray, H: Array, best: Array) -> int:
    """Mark in ``H`` (n, m) the answers, put their values into ``best``; returns sizes tried.

    ``values`` (n, n_pairs + 1) are the weights of pairs of a label and a size, in order of their
    sizes; the last column is that of the empty set.
    """
    m = H.shape[1]
    pairs = np.column_stack([labels, sizes]).astype(np.int64)
    whole = np.empty((3, max(m, MOST_KEPT)), dtype=np.int64)
    whole[NODES, :N_NODES] = node_sizes(m)
    # One place more than pairs: what is left out is written there, and over.
    few_v, few_pairs = np.empty(len(pairs) + 1), np.empty((len(pairs) + 1, 2), dtype=np.int64)
    at_labels, space = np.empty((m, N_NODES)), np.empty((N_ROWS, max(m + 1, N_NODES)))
    return int(fill_answers(values, pairs, at_labels, space, whole, few_v, few_pairs, H, best))
