"""Compiled recurrences of elastic distances, many pairs side by side as in ``warping_loops``.

Row i + 1 of a table belongs to the element x_i, column j + 1 to z_j. There is one loop over pairs
for each distance: what is not asked for is not compiled.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.series.warping_loops import fill_lanes

# An exponential below this changes no sum of one and more.
VANISHES = -37.0


@njit(nogil=True)
def _tables(X, longest, n_lanes):
    """Lanes of both series, two rows of a table, both lengths, and a number for each lane."""
    shape = (longest, X[0].shape[1], n_lanes)
    work = np.empty((2, longest + 1, n_lanes))
    return np.empty(shape), np.empty(shape), work, np.empty((2, n_lanes), np.int64)


@njit(nogil=True, inline="always")
def _distances(x, z, out):
    """Euclidean distances of two elements, lane by lane."""
    if x.shape[0] == 1:
        for b in range(len(out)):
            out[b] = abs(x[0, b] - z[0, b])
        return
    out[:] = 0.0
    for c in range(x.shape[0]):
        for b in range(len(out)):
            out[b] += (x[c, b] - z[c, b]) ** 2
    for b in range(len(out)):
        out[b] = np.sqrt(out[b])


@njit(nogil=True)
def _keep(row, lengths, i, p, out):
    """Results of the lanes whose first series ends with element i."""
    for b in range(min(row.shape[1], len(out) - p)):
        if lengths[0, b] == i + 1:
            out[p + b] = row[lengths[1, b], b]


@njit(nogil=True)
def _corner_only(work, m):
    """A table that is entered at its corner alone."""
    for j in range(m + 1):
        for b in range(work.shape[2]):
            work[0, j, b] = work[1, j, b] = np.inf
    work[0, 0, :] = 0.0


@njit(nogil=True, inline="always")
def _three(corner, up, left, match, skip_x, skip_z, cell):
    """The least of a match, of x left out and of z left out."""
    for b in range(len(cell)):
        best = corner[b] + match[b]
        other = up[b] + skip_x[b]
        best = other if other < best else best
        other = left[b] + skip_z[b]
        cell[b] = other if other < best else best


@njit(nogil=True)
def lcss_pairs(X, Z, first, second, width, _, longest, n_lanes, out):
    """One minus the longest common subsequence, as a share of the shorter series."""
    x, z, work, lengths = _tables(X, longest, n_lanes)
    match, nothing = np.empty(n_lanes), np.zeros(n_lanes)
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        above, row = work[0], work[1]
        work[:, : m + 1] = 0.0
        for i in range(n):
            for j in range(m):
                # A common element is never worth leaving out, so the table of minus the lengths
                # is one of least sums.
                _distances(x[i], z[j], match)
                for b in range(n_lanes):
                    match[b] = -1.0 if match[b] <= width else 0.0
                _three(above[j], above[j + 1], row[j], match, nothing, nothing, row[j + 1])
            _keep(row, lengths, i, p, out)
            above, row = row, above
    for p in range(len(first)):
        out[p] = 1.0 + out[p] / min(X[2][first[p]], Z[2][second[p]])


@njit(nogil=True)
def edr_pairs(X, Z, first, second, width, _, longest, n_lanes, out):
    """Edits, of which a match within ``width`` is free, as a share of the longer series."""
    x, z, work, lengths = _tables(X, longest, n_lanes)
    gap, one = np.empty(n_lanes), np.ones(n_lanes)
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        above, row = work[0], work[1]
        for j in range(m + 1):
            above[j] = j
        for i in range(n):
            row[0] = i + 1.0
            for j in range(m):
                _distances(x[i], z[j], gap)
                for b in range(n_lanes):
                    gap[b] = 0.0 if gap[b] <= width else 1.0
                _three(above[j], above[j + 1], row[j], gap, one, one, row[j + 1])
            _keep(row, lengths, i, p, out)
            above, row = row, above
    for p in range(len(first)):
        out[p] /= max(X[2][first[p]], Z[2][second[p]])


@njit(nogil=True)
def msm_pairs(X, Z, first, second, cost, _, longest, n_lanes, out):
    """Moves, splits and merges of two series of one channel.

    An element that is split or merged costs more where it does not lie between its neighbour and
    the other series.
    """
    x, z, work, lengths = _tables(X, longest, n_lanes)
    move, split, merge = np.empty(n_lanes), np.empty(n_lanes), np.empty(n_lanes)
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        _corner_only(work, m)
        above, row = work[0], work[1]
        for i in range(n):
            new, last = x[i, 0], x[max(i - 1, 0), 0]
            row[0] = np.inf
            for j in range(m):
                here, before = z[j, 0], z[max(j - 1, 0), 0]
                for b in range(n_lanes):
                    gap, step, shift = here[b] - new[b], new[b] - last[b], here[b] - before[b]
                    apart = abs(gap)
                    move[b] = apart
                    least = min(apart, abs(step))
                    split[b] = cost + (0.0 if step * gap >= 0.0 else least)
                    least = min(apart, abs(shift))
                    merge[b] = cost + (0.0 if -shift * gap >= 0.0 else least)
                _three(above[j], above[j + 1], row[j], move, split, merge, row[j + 1])
            _keep(row, lengths, i, p, out)
            above, row = row, above


@njit(nogil=True)
def twe_pairs(X, Z, first, second, stiffness, cost, longest, n_lanes, out):
    """Edits of segments, with a price on differences in time; a zero stands before each series."""
    x, z, work, lengths = _tables(X, longest, n_lanes)
    match, before, skip_x = np.empty(n_lanes), np.empty(n_lanes), np.empty(n_lanes)
    skip_z, zero = np.empty((longest, n_lanes)), np.zeros(x.shape[1:])
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        _corner_only(work, m)
        above, row = work[0], work[1]
        for j in range(m):
            _distances(z[j], z[j - 1] if j > 0 else zero, skip_z[j])
            for b in range(n_lanes):  # an array in one go would compile error messages of texts
                skip_z[j, b] += stiffness + cost
        for i in range(n):
            last = x[i - 1] if i > 0 else zero
            _distances(x[i], last, skip_x)
            for b in range(n_lanes):
                skip_x[b] += stiffness + cost
            row[0] = np.inf
            for j in range(m):
                _distances(x[i], z[j], match)
                _distances(last, z[j - 1] if j > 0 else zero, before)
                for b in range(n_lanes):
                    match[b] += before[b] + 2 * stiffness * abs(i - j)
                _three(above[j], above[j + 1], row[j], match, skip_x, skip_z[j], row[j + 1])
            _keep(row, lengths, i, p, out)
            above, row = row, above


@njit(nogil=True)
def gap_pairs(X, Z, first, second, level, longest, n_lanes, out):
    """Alignments in which an element may meet the value ``level`` instead of another one."""
    x, z, work, lengths = _tables(X, longest, n_lanes)
    match, skip_x, skip_z = np.empty(n_lanes), np.empty(n_lanes), np.empty((longest, n_lanes))
    reference = np.empty(x.shape[1:])
    for c in range(len(level)):
        reference[c] = level[c]
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        above, row = work[0], work[1]
        above[0] = 0.0
        for j in range(m):
            _distances(z[j], reference, skip_z[j])
            for b in range(n_lanes):
                above[j + 1, b] = above[j, b] + skip_z[j, b]
        for i in range(n):
            _distances(x[i], reference, skip_x)
            for b in range(n_lanes):
                row[0, b] = above[0, b] + skip_x[b]
            for j in range(m):
                _distances(x[i], z[j], match)
                _three(above[j], above[j + 1], row[j], match, skip_x, skip_z[j], row[j + 1])
            _keep(row, lengths, i, p, out)
            above, row = row, above


@njit(nogil=True, error_model="numpy", inner=True)
def soft_warping(x, z, smoothness):
    """Minus the logarithm of the summed exponentials of all warping costs, times smoothness."""
    n, m = len(x), len(z)
    above, row = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    above[0] = 0.0
    for i in range(n):
        row[0] = np.inf
        for j in range(m):
            square = 0.0
            for c in range(x.shape[1]):
                square += (x[i, c] - z[j, c]) ** 2
            # The least counts one, and most of the others nothing.
            low, high = min(above[j], above[j + 1]), max(above[j], above[j + 1])
            least, middle = min(low, row[j]), max(low, row[j])
            total = 1.0
            for other in (middle, high):
                power = (least - other) / smoothness
                if power > VANISHES:
                    total += np.exp(power)
            row[j + 1] = square + least
            if total > 1.0:
                row[j + 1] -= smoothness * np.log(total)
        above, row = row, above
        row[0] = np.inf
    return above[m]


@njit(nogil=True)
def soft_pairs(X, Z, first, second, smoothness, _, longest, n_lanes, out):
    """One pair after another: exponentials do not fill registers."""
    for p in range(len(first)):
        i, j = first[p], second[p]
        x = X[0][X[1][i] : X[1][i] + X[2][i]]
        z = Z[0][Z[1][j] : Z[1][j] + Z[2][j]]
        out[p] = soft_warping(x, z, smoothness)
