"""Compiled recurrence of the gap-weighted subsequence kernel."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def subsequences(s, t, length, decay, match, work):
    r"""Sum over common subsequences of ``length`` symbols of decay to the two spans.

    ``work[0]`` holds :math:`K'_q(i,j)`, the same sum over beginnings of ``q`` symbols, spans
    counted up to the ends i and j of the two prefixes. ``match[r]`` is what a pair of symbols r
    places apart counts.
    """
    n, m = len(s), len(t)
    old, new = work[0], work[1]
    for i in range(n + 1):
        for j in range(m + 1):
            old[i, j] = 1.0
    for _ in range(1, length):
        for j in range(m + 1):
            new[0, j] = 0.0
        for i in range(1, n + 1):
            new[i, 0] = 0.0
            along = 0.0  # K''_q(i, j)
            for j in range(1, m + 1):
                along *= decay
                if s[i - 1] == t[j - 1]:
                    along += match[abs(i - j)] * old[i - 1, j - 1]
                new[i, j] = decay * new[i - 1, j] + along
        old, new = new, old
    total = 0.0
    for i in range(n):
        for j in range(m):
            if s[i] == t[j]:
                total += match[abs(i - j)] * old[i, j]
    return total


@njit(nogil=True)
def pair_subsequences(X, Z, first, second, length, decay, match, out):
    """The kernel of ``X[first[p]]`` and ``Z[second[p]]`` for all p, into ``out``."""
    longest = len(match)
    work = np.empty((2, longest + 1, longest + 1))
    for p in range(len(first)):
        i, j = first[p], second[p]
        s = X[0][X[1][i] : X[1][i] + X[2][i], 0]
        t = Z[0][Z[1][j] : Z[1][j] + Z[2][j], 0]
        out[p] = subsequences(s, t, length, decay, match, work)
