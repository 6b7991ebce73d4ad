"""Compiled recurrence of the global alignment kernel.

Sums over all alignments overflow after a few hundred elements. The slow form adds logarithms. The
fast one scales every column of the table by its own power of two, so that a cell costs one more
multiplication instead of three exponentials and a logarithm, and works on many pairs side by side;
a pair for which a number still comes close to the limits is left to the slow form.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.series.warping_loops import fill_lanes

# Multiply and add in one instruction: one rounding fewer, nothing assumed about infinities.
FUSED = {"contract"}
# Adding it rounds to the nearest integer, which is then in the last bits of the number.
MAGIC = 1.5 * 2.0**52
LOG2 = np.log(2.0)
# A double is mantissa and exponent: 52 bits, then the exponent plus 1023.
MANTISSA, BIAS, END = (1 << 52) - 1, 1023, 2047
# Columns are rescaled after this many rows. In between a number shrinks by at most 2^(4 * 240), and
# so stays in range.
ROWS_BETWEEN_UNITS = 4
LOWEST = -240.0
# Local similarities are computed for this many columns at once: few enough for the cache.
TILE = 16


@njit(nogil=True)
def log_alignment(x, z, gamma, triangle, local):
    """Logarithm of the kernel of two series, in the slow and obvious form.

    ``triangle`` is T, infinite for none.
    ``local = (a, b)`` makes the local similarity ``w e / (a - b w e)``: (2, 1) or (1, 0).
    """
    n, m = len(x), len(z)
    reach = int(min(triangle, float(n + m)))
    above = np.full(m + 1, -np.inf)
    row = np.full(m + 1, -np.inf)
    above[0] = 0.0
    for i in range(n):
        for j in range(m + 1):
            row[j] = -np.inf
        for j in range(max(0, i - reach + 1), min(m, i + reach)):
            squared = 0.0
            for c in range(x.shape[1]):
                d = x[i, c] - z[j, c]
                squared += d * d
            # log(w e), with w = 1 - |i - j| / T
            weighted = np.log1p(-abs(i - j) / triangle) - gamma * squared
            similarity = weighted - np.log(local[0] - local[1] * np.exp(weighted))
            top = max(above[j], above[j + 1], row[j])
            if top > -np.inf:
                total = np.exp(above[j] - top) + np.exp(above[j + 1] - top) + np.exp(row[j] - top)
                row[j + 1] = similarity + top + np.log(total)
        above, row = row, above
    return above[m]


@njit(nogil=True, fastmath=FUSED)
def _powers(x, z, start, stop, rate, parts, whole, bits, lowest):
    r"""Local similarities :math:`2^{-rate\,d^2}` as numerator and denominator, for some columns.

    :math:`2^f=(q+p)/(q-p)` is a rational approximation good to the last digit for
    :math:`|f|\le 1/2`; the integer part of the power is added to the exponent. No division yet:
    the geometric form of the similarity needs one anyway.
    """
    upper, lower = parts[0], parts[1]
    size = (stop - start) * lowest.shape[0]
    for k in range(size):
        upper[k] = 0.0
    for j in range(start, stop):
        at = (j - start) * lowest.shape[0]
        for c in range(x.shape[0]):
            left, right, squared = x[c], z[j, c], upper[at : at + lowest.shape[0]]
            for b in range(lowest.shape[0]):
                d = left[b] - right[b]
                squared[b] += d * d
        squared = upper[at : at + lowest.shape[0]]
        for b in range(lowest.shape[0]):
            power = -rate * squared[b]
            lowest[b] = power if power < lowest[b] else lowest[b]
            squared[b] = power if power > LOWEST else LOWEST
    for k in range(size):
        shifted = upper[k] + MAGIC
        whole[k] = shifted
        f = upper[k] - (shifted - MAGIC)
        g = f * f
        p = f * ((2.30933477057345225087e-2 * g + 2.02020656693165307700e1) * g
                 + 1.51390680115615096133e3)  # fmt: skip
        q = (g + 2.33184211722314911771e2) * g + 4.36821166879210612817e3
        upper[k] = q + p
        lower[k] = q - p
    upper_bits, whole_bits = bits
    for k in range(size):
        upper_bits[k] += whole_bits[k] << 52


@njit(nogil=True, fastmath=FUSED, error_model="numpy")
def _cells(parts, tile, start, stop, i, triangle, local, above, row, ratios):
    """Columns ``start`` to ``stop`` of row ``i``; ``parts`` begins at column ``tile``."""
    n_lanes = row.shape[1]
    a, b = local
    for j in range(start, stop):
        weight = 1.0 - abs(i - j) / triangle
        at = (j - tile) * n_lanes
        upper, lower = parts[0, at : at + n_lanes], parts[1, at : at + n_lanes]
        corner, up, left, ratio, cell = above[j], above[j + 1], row[j], ratios[j], row[j + 1]
        for k in range(n_lanes):
            top = weight * upper[k]
            similarity = top / (a * lower[k] - b * top)
            cell[k] = similarity * (up[k] + ratio[k] * (corner[k] + left[k]))


@njit(nogil=True)
def _take_unit(cell, exponent):
    """Divide by powers of two so that all lanes are in [1, 2), and add the powers up."""
    for b in range(cell.shape[0]):
        exponent[b] += ((cell[b] >> 52) & END) - BIAS
        cell[b] = (cell[b] & MANTISSA) | (BIAS << 52)


@njit(nogil=True)
def _units_between(before, exponent, ratio):
    """The bits of 2^(before - exponent), limited to numbers that exist."""
    for b in range(ratio.shape[0]):
        power = before[b] - exponent[b]
        power = power if power > -BIAS else -BIAS
        power = power if power < END - BIAS else END - BIAS
        ratio[b] = (power + BIAS) << 52


@njit(nogil=True)
def _mark_outside(cell, bad):
    for b in range(cell.shape[0]):
        exponent = (cell[b] >> 52) & END
        if exponent == 0 or exponent == END:
            bad[b] = True


@njit(nogil=True)
def _new_units(row, exponents, ratios, start, stop, bad):
    """Rescale the columns of a row."""
    for j in range(start, stop):
        _mark_outside(row[j + 1], bad)
        _take_unit(row[j + 1], exponents[j + 1])
        if j > start:
            _units_between(exponents[j], exponents[j + 1], ratios[j])


@njit(nogil=True)
def _lanes(x, z, lengths, gamma, triangle, local, work, work_bits, out, bad):
    n, m, n_lanes = x.shape[0], z.shape[0], x.shape[2]
    rows, ratios, parts, whole, lowest = work
    row_bits, ratio_bits, parts_bits, whole_bits, exponents = work_bits
    bits = (parts_bits[0], whole_bits)
    rate = gamma / LOG2
    reach = int(min(triangle, float(n + m)))
    for b in range(n_lanes):
        for j in range(m + 1):
            rows[0, j, b] = rows[1, j, b] = 0.0
            ratios[j, b] = 1.0
            exponents[j, b] = 0
        rows[0, 0, b] = 1.0
        lowest[b] = 0.0
        out[b], bad[b] = -np.inf, False
    for i in range(n):
        above, row = rows[i % 2], rows[(i + 1) % 2]
        start, stop = max(0, i - reach + 1), min(m, i + reach)
        # Columns from here on appear for the first time.
        fresh = 0 if i == 0 else min(m, i - 1 + reach)
        for b in range(n_lanes):
            row[start, b] = 0.0
        for tile in range(start, stop, TILE):
            end = min(tile + TILE, stop)
            _powers(x[i], z, tile, end, rate, parts, whole, bits, lowest)
            known = min(max(fresh, tile), end)
            _cells(parts, tile, tile, known, i, triangle, local, above, row, ratios)
            for j in range(known, end):
                # Start with the unit of the neighbour.
                for b in range(n_lanes):
                    exponents[j + 1, b] = exponents[j, b]
                    ratios[j, b] = 1.0
                _cells(parts, tile, j, j + 1, i, triangle, local, above, row, ratios)
                cell = row_bits[(i + 1) % 2, j + 1]
                _mark_outside(cell, bad)
                _take_unit(cell, exponents[j + 1])
                _units_between(exponents[j], exponents[j + 1], ratio_bits[j])
        for b in range(n_lanes):
            last = lengths[1, b]
            if lengths[0, b] == i + 1 and start < last <= stop:
                out[b] = np.log(row[last, b]) + LOG2 * exponents[last, b]
        if i % ROWS_BETWEEN_UNITS == ROWS_BETWEEN_UNITS - 1:
            _new_units(row_bits[(i + 1) % 2], exponents, ratio_bits, start, stop, bad)
    for b in range(n_lanes):
        bad[b] = bad[b] or lowest[b] < LOWEST


@njit(nogil=True)
def pair_alignments(X, Z, first, second, gamma, triangle, local, longest, n_lanes, out):
    """Logarithms of the kernel of ``X[first[p]]`` and ``Z[second[p]]`` for all p, into ``out``.

    Pairs that are left to the slow form are NaN.
    """
    n_channels = X[0].shape[1]
    rows = np.empty((2, longest + 1, n_lanes))
    ratios = np.empty((longest + 1, n_lanes))
    parts = np.empty((2, TILE * n_lanes))
    whole = np.empty(TILE * n_lanes)
    exponents = np.empty((longest + 1, n_lanes), dtype=np.int64)
    work = (rows, ratios, parts, whole, np.empty(n_lanes))
    work_bits = (
        rows.view(np.int64),
        ratios.view(np.int64),
        parts.view(np.int64),
        whole.view(np.int64),
        exponents,
    )
    x = np.empty((longest, n_channels, n_lanes))
    z = np.empty((longest, n_channels, n_lanes))
    lengths = np.empty((2, n_lanes), dtype=np.int64)
    found = np.empty(n_lanes)
    bad = np.empty(n_lanes, dtype=np.bool_)
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        _lanes(x[:n], z[:m], lengths, gamma, triangle, local, work, work_bits, found, bad)
        for b in range(min(n_lanes, len(first) - p)):
            out[p + b] = np.nan if bad[b] else found[b]
