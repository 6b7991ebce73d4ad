r"""Compiled search for the label set of largest expected F1.

With :math:`v_{js}` the weight of label ``j`` in sets of size ``s``, the value of the best answer of
``k`` labels is the sum :math:`T_k(\Delta(k))` of the ``k`` largest of
:math:`\Delta_j(k)=\sum_sv_{js}\frac2{s+k}`. Where no weight is negative, every :math:`\Delta_j` is
convex in ``k`` and :math:`T_k` is a convex function of its vector, so that between two sizes
:math:`a<k<b` that were tried

.. math:: T_k(\Delta(k))\le\tfrac{b-k}{b-a}T_k(\Delta(a))+\tfrac{k-a}{b-a}T_k(\Delta(b)).

A negative weight makes its term concave, and adds at most
:math:`|v_{js}|\,2(\sqrt{s+b}-\sqrt{s+a})^2/((s+a)(s+b))` to the bound of label ``j``. The size of
the largest bound is tried next, until no bound is above the best value: that is the proof.
"""

import numpy as np

from isthmus._compiled import njit

# Sums of so many sizes are kept; beyond, the sizes whose bound is open are tried one by one.
MOST_KEPT = 64
# Ratio of two neighbouring sizes beyond which the gap between them is halved.
WIDE = 1.5


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
def fill_extra(v, labels, sizes, a, b, extra):
    """What the negative weights of each label may add to a bound between ``a`` and ``b``."""
    extra[:] = 0.0
    size, factor = -1, 0.0
    for p in range(len(labels)):
        if sizes[p] != size:
            size = sizes[p]
            low, high = float(size + a), float(size + b)
            root = np.sqrt(high) - np.sqrt(low)
            factor = 2.0 * root * root / (low * high)
        if v[p] < 0.0:
            extra[labels[p]] -= v[p] * factor


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
def best_size(v, empty, labels, sizes, gains, sums, bounds, extra, tried):
    """The number of labels of the best answer, its value, and how many sizes were tried."""
    m = gains.shape[1]
    best, size, most, count, n_tried = empty, 0, m, 0, 0
    some_negative = False
    for p in range(len(labels)):
        some_negative = some_negative or v[p] < 0.0
    at_a, at_b = sums[MOST_KEPT + 1], sums[MOST_KEPT + 2]
    bounds[:] = np.inf
    k = 1
    while k:
        row = min(count, MOST_KEPT)
        fill_gains(v, labels, sizes, k, gains[row])
        fill_sums(gains[row], max(most, k), sums[row])
        n_tried += 1
        bounds[k] = -np.inf
        if sums[row, k] > best:
            best, size = sums[row, k], k
        if count < MOST_KEPT:
            tried[count] = k
            count += 1
            below, above = -1, -1
            for r in range(count):
                if tried[r] < k and (below < 0 or tried[r] > tried[below]):
                    below = r
                if tried[r] > k and (above < 0 or tried[r] < tried[above]):
                    above = r
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
        if n_tried == 1:
            k = m if m > 1 else 0
        else:
            k, most = largest_bound(bounds, most, best)
            if k and some_negative and count < MOST_KEPT:
                k = middle_size(k, tried[:count])
    return size, best, n_tried


@njit(nogil=True)
def best_label_sets(values, labels, sizes, H, best):
    """Mark in ``H`` (n, m) the answers, put their values into ``best``; returns sizes tried.

    ``values`` (n, n_pairs + 1) are the weights of pairs of a label and a size, in order of their
    sizes; the last column is that of the empty set.
    """
    n, m = H.shape
    n_pairs, total = len(labels), 0
    gains, sums = np.empty((MOST_KEPT + 1, m)), np.empty((MOST_KEPT + 3, m + 1))
    bounds, extra = np.empty(m + 1), np.empty(m)
    tried = np.empty(MOST_KEPT, dtype=np.int64)
    for i in range(n):
        v = values[i, :n_pairs]
        k, best[i], n_tried = best_size(
            v, values[i, n_pairs], labels, sizes, gains, sums, bounds, extra, tried
        )
        total += n_tried
        if k:
            fill_gains(v, labels, sizes, k, extra)
            order = np.argsort(-extra, kind="mergesort")  # of equal gains the first label
            for q in range(k):
                H[i, order[q]] = True
    return total
