"""Compiled selection of the largest numbers of an array.

numba's ``np.partition`` and ``argsort`` would do, and take four seconds to compile: they check
their arguments with ``np.unique`` and write messages.
"""

from isthmus._compiled import njit


@njit(nogil=True)
def _split(work, lo, hi):
    """Part ``work[lo:hi+1]`` by the middle of three; returns the ends of larger and smaller ones.

    What lies between the two ends equals the number that parts them.
    """
    pivot, low, high = work[(lo + hi) // 2], work[lo], work[hi]
    if low > high:
        low, high = high, low
    pivot = min(max(pivot, low), high)
    while lo <= hi:
        while work[lo] > pivot:
            lo += 1
        while work[hi] < pivot:
            hi -= 1
        if lo <= hi:
            work[lo], work[hi] = work[hi], work[lo]
            lo += 1
            hi -= 1
    return hi, lo


@njit(nogil=True)
def _lead(work, n, most):
    """Bring the ``most`` largest of the first ``n`` to the front, the least of them last."""
    lo, hi, place = 0, n - 1, most - 1
    while lo < hi:
        larger, smaller = _split(work, lo, hi)
        if place <= larger:
            hi = larger
        elif place >= smaller:
            lo = smaller
        else:
            break
    return work[place]


@njit(nogil=True)
def _order(work, n, most):
    """Bring the ``most`` largest of the first ``n`` to the front, in falling order."""
    if most < n:
        _lead(work, n, most)
    # Halving gaps: few lines, and fast for the few hundred numbers that are asked for.
    gap = 1
    while gap < most // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, most):
            value, j = work[i], i
            while j >= gap and work[j - gap] < value:
                work[j] = work[j - gap]
                j -= gap
            work[j] = value
        gap //= 3
