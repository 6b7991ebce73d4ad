"""Compiled loops of the weighted edit distance, and of the search for a median."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def distance(y, t, S, gap, row):
    """Least cost of turning ``y`` into ``t``; ``S[a, b]`` is that of a in place of b."""
    m = len(t)
    for b in range(m + 1):
        row[b] = b * gap
    for a in range(len(y)):
        diagonal = row[0]
        row[0] += gap
        for b in range(m):
            above = row[b + 1]
            value = min(diagonal + S[y[a], t[b]], above + gap, row[b] + gap)
            row[b + 1] = value
            diagonal = above
    return row[m]


@njit(nogil=True)
def distances(flat_y, starts_y, flat_t, starts_t, S, gap, out):
    """Fill ``out`` with the distances of all pairs."""
    longest = 0
    for j in range(len(starts_t) - 1):
        longest = max(longest, starts_t[j + 1] - starts_t[j])
    row = np.empty(longest + 1)
    for i in range(out.shape[0]):
        y = flat_y[starts_y[i] : starts_y[i + 1]]
        for j in range(out.shape[1]):
            out[i, j] = distance(y, flat_t[starts_t[j] : starts_t[j + 1]], S, gap, row)


@njit(nogil=True)
def risk_of(y, flat, starts, ids, w, S, gap, row):
    """Weighted sum of the distances from ``y``."""
    total = 0.0
    for q in range(len(ids)):
        t = flat[starts[ids[q]] : starts[ids[q] + 1]]
        total += w[q] * distance(y, t, S, gap, row)
    return total


@njit(nogil=True)
def candidate_risks(flat, starts, candidates, ids, w, S, gap, out):
    """Fill ``out`` with the risks of some of the sequences themselves."""
    widest = 0
    for q in range(len(ids)):
        widest = max(widest, starts[ids[q] + 1] - starts[ids[q]])
    row = np.empty(widest + 1)
    for k in range(len(candidates)):
        y = flat[starts[candidates[k]] : starts[candidates[k] + 1]]
        out[k] = risk_of(y, flat, starts, ids, w, S, gap, row)


@njit(nogil=True, inner=True)
def fill_tables(y, t, S, gap, F, B):
    """``F[a, b]``: cost of the first a and b symbols; ``B[a, b]``: of those from a and b on."""
    n, m = len(y), len(t)
    for b in range(m + 1):
        F[0, b] = b * gap
        B[n, b] = (m - b) * gap
    for a in range(n):
        F[a + 1, 0] = (a + 1) * gap
        for b in range(m):
            F[a + 1, b + 1] = min(F[a, b] + S[y[a], t[b]], F[a, b + 1] + gap, F[a + 1, b] + gap)
    for a in range(n - 1, -1, -1):
        B[a, m] = (n - a) * gap
        for b in range(m - 1, -1, -1):
            B[a, b] = min(B[a + 1, b + 1] + S[y[a], t[b]], B[a + 1, b] + gap, B[a, b + 1] + gap)


@njit(nogil=True, inner=True)
def placed_symbol(F, B, a, after, t, S, gap, unit, w, without, best, out):
    """Add w times the cost of every symbol between the first a symbols and those from ``after`` on.

    The symbol either meets one of ``t`` or none (cost ``without`` and a gap). With unit costs all
    symbols cost the same except those of ``t`` itself, so the sum over symbols is kept in the
    last entry of ``out`` and only the others are touched.
    """
    m, A = len(t), len(out) - 1
    common = without + gap
    if unit:
        for b in range(m):
            common = min(common, F[a, b] + B[after, b + 1] + gap)
        out[A] += w * common
        for b in range(m):
            best[t[b]] = common
        for b in range(m):
            best[t[b]] = min(best[t[b]], F[a, b] + B[after, b + 1])
        for b in range(m):
            out[t[b]] += w * (best[t[b]] - common)
            best[t[b]] = common  # a symbol that occurs again is not counted again
        return
    for c in range(A):
        best[c] = common
    for b in range(m):
        here = F[a, b] + B[after, b + 1]
        for c in range(A):
            best[c] = min(best[c], here + S[c, t[b]])
    for c in range(A):
        out[c] += w * best[c]


@njit(nogil=True)
def score_moves(y, flat, starts, ids, w, S, gap, unit, F, B, best, delete, substitute, insert):
    """Risk after every deletion, substitution and insertion, from two tables per output.

    O(L m + L A) for each output of length m, and with unit costs O(L m): not that of computing
    each distance anew. ``substitute`` and ``insert`` have a last column of sums, added at the end.
    """
    L, A = len(y), substitute.shape[1] - 1
    delete[:L] = 0.0
    substitute[:L] = 0.0
    insert[: L + 1] = 0.0
    for q in range(len(ids)):
        t = flat[starts[ids[q]] : starts[ids[q] + 1]]
        m = len(t)
        fill_tables(y, t, S, gap, F, B)
        for a in range(L):
            without = np.inf
            for b in range(m + 1):
                without = min(without, F[a, b] + B[a + 1, b])
            delete[a] += w[q] * without
            placed_symbol(F, B, a, a + 1, t, S, gap, unit, w[q], without, best, substitute[a])
        for a in range(L + 1):
            without = np.inf
            for b in range(m + 1):
                without = min(without, F[a, b] + B[a, b])
            placed_symbol(F, B, a, a, t, S, gap, unit, w[q], without, best, insert[a])
    for a in range(L + 1):
        for c in range(A):
            insert[a, c] += insert[a, A]
            if a < L:
                substitute[a, c] += substitute[a, A]


@njit(nogil=True)
def surprise(y, length, table):
    """Minus the log probability of a sequence under a model of triples; A marks the ends."""
    A = table.shape[0] - 1
    first, second, total = A, A, 0.0
    for a in range(length):
        total -= table[first, second, y[a]]
        first, second = second, y[a]
    return total - table[first, second, A]


@njit(nogil=True)
def add_surprise(y, table, weight, other, delete, substitute, insert):
    """Add the prior to the risk after every move; ``other`` has room for the moved sequence."""
    L, A = len(y), table.shape[0] - 1
    for a in range(L + 1):
        # Without symbol a, with another in its place, with another before it.
        for length in range(L - 1, L + 2):
            if a == L and length <= L:
                continue
            for b in range(a):
                other[b] = y[b]
            for b in range(max(a, a + length - L), length):
                other[b] = y[b + L - length]
            if length < L:
                delete[a] += weight * surprise(other, length, table)
                continue
            scores = substitute[a] if length == L else insert[a]
            for c in range(A):
                other[a] = c
                scores[c] += weight * surprise(other, length, table)


@njit(nogil=True)
def median(start, flat, starts, ids, w, S, gap, unit, table, weight, longest, max_iter):
    """Move from ``start`` to the best neighbour until none has a lower risk.

    Returns the sequence, its risk (prior included) and whether no move lowers it.
    """
    A = S.shape[0]
    widest = 0
    for q in range(len(ids)):
        widest = max(widest, starts[ids[q] + 1] - starts[ids[q]])
    room = max(longest, len(start)) + 2
    F, B = np.empty((room, widest + 1)), np.empty((room, widest + 1))
    best, row = np.empty(A), np.empty(widest + 1)
    delete, other = np.empty(room), np.empty(room, dtype=np.int64)
    substitute, insert = np.empty((room, A + 1)), np.empty((room, A + 1))
    y, L = np.empty(room, dtype=np.int64), len(start)
    for a in range(L):
        y[a] = start[a]
    risk = risk_of(start, flat, starts, ids, w, S, gap, row)
    if weight > 0:
        risk += weight * surprise(y, L, table)
    for _ in range(max_iter):
        now = y[:L]
        score_moves(now, flat, starts, ids, w, S, gap, unit, F, B, best, delete, substitute, insert)
        if weight > 0:
            add_surprise(now, table, weight, other, delete, substitute, insert)
        # Only a fall that is no rounding error counts, so that the search ends.
        least, kind, place, symbol = risk - 1e-10 * (1.0 + abs(risk)), -1, 0, 0
        for a in range(L + 1):
            if a < L and delete[a] < least:
                least, kind, place = delete[a], 0, a
            for c in range(A):
                if a < L and substitute[a, c] < least:
                    least, kind, place, symbol = substitute[a, c], 1, a, c
                if longest > L and insert[a, c] < least:
                    least, kind, place, symbol = insert[a, c], 2, a, c
        if kind < 0:
            return y[:L].copy(), risk, True
        if kind == 0:
            for a in range(place, L - 1):
                y[a] = y[a + 1]
            L -= 1
        else:
            if kind == 2:
                for a in range(L, place, -1):
                    y[a] = y[a - 1]
                L += 1
            y[place] = symbol
        risk = least
    return y[:L].copy(), risk, False
