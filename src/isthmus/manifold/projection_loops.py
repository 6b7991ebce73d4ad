"""Compiled loops over the starts and the ends of searches, few for each row."""

from typing import Any

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def fill_least(distances: Any, found: Any) -> None:
    """Fill ``found`` (n, k) with the numbers of the least of each row, in order.

    Of equal ones the first is taken.
    """
    n, m = distances.shape
    k = found.shape[1]
    kept = np.empty(k)
    for i in range(n):
        kept[:] = np.inf
        for c in range(k):
            found[i, c] = c
        last = np.inf
        for j in range(m):
            value = distances[i, j]
            if not value < last:
                continue
            c = k - 1
            while c > 0 and value < kept[c - 1]:
                kept[c], found[i, c] = kept[c - 1], found[i, c - 1]
                c -= 1
            kept[c], found[i, c] = value, j
            last = kept[k - 1]


@njit(nogil=True)
def fill_first_ends(
    latent: Any,
    level: Any,
    start: Any,
    scale: Any,
    period: Any,
    same_end: float,
    equal: float,
    first: Any,
) -> None:
    """Fill ``first`` (n,) with the end of each row that comes first.

    ``latent`` (n, k, q) are the ends, ``level`` (n, k) their errors, zero where they meet the row.
    Of those that are equally good up to the share ``equal``, and for which no other end within
    ``same_end`` stands, it is the nearest to the start; the first search goes before all where it
    meets the row. ``period`` (q,) is zero where a coordinate has none.
    """
    n, k, q = latent.shape
    for i in range(n):
        best = 0
        for a in range(1, k):
            if level[i, a] < level[i, best]:
                best = a
        first[i], nearest = best, np.inf
        bound = (1.0 + equal) * level[i, best]
        if level[i, 0] == 0.0:
            first[i] = 0
            continue
        for a in range(k):
            if not level[i, a] <= bound or _has_leader(
                latent[i], level[i], scale, period, a, same_end
            ):
                continue
            away = 0.0
            for c in range(q):
                away += (_step(latent[i, a, c] - start[i, c], period[c]) / scale[c]) ** 2
            if away < nearest:
                first[i], nearest = a, away


@njit(nogil=True)
def _step(step: Any, period: Any) -> Any:
    """A difference, the short way round a period."""
    return step - period * np.round(step / period) if period > 0.0 else step


@njit(nogil=True)
def _has_leader(latent: Any, level: Any, scale: Any, period: Any, a: int, same_end: float) -> bool:
    """Whether another end stands for end ``a``: a better one at the same place, or an earlier."""
    for b in range(len(level)):
        if b == a or level[b] > level[a] or (b > a and level[b] == level[a]):
            continue
        same = True
        for c in range(len(scale)):
            gap = _step(latent[a, c] - latent[b, c], period[c]) / scale[c]
            same = same and abs(gap) < same_end
        if same:
            return True
    return False
