"""A compiled round of thresholds: waves of overlapping patches, the weak ones removed, their sum.

Columns of a picture are sorted: those that are alike modulo the stride of patches lie side by side,
``width`` of them in each of as many blocks as the stride is long. Column j of eight patches, one
beside the other, is then a register. Waves along columns are computed once for all patches that
share the columns, and summed over these patches before they become pixels again.

Cosines are even or odd about the middle of a patch: a sum or a difference with the mirror image
goes before them, and half of the products are saved. Matrices of both kinds have a place of the
first half in each row, or a wave on the way back, and zeros up to multiples of :data:`PIECE`; waves
are sorted, even ones first.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    load,
    load_row,
    moduli,
    more,
    more_products,
    quotients,
    spread,
    store,
    store_row,
    where_larger,
)

PIECE = 4  # waves of either kind that are summed together


@njit(nogil=True)
def _into_waves(points, places, start, matrices, waves, first, step):
    """Write coefficients of eight rows of points to every ``step``-th place from ``first``."""
    even, odd = matrices
    last, half = len(places) - 1, len(even)
    for k in range(0, half, PIECE):
        e0 = e1 = e2 = e3 = o0 = o1 = o2 = o3 = spread(0.0)
        for i in range(last // 2 + 1):
            one, other = load(points, start + places[i]), load(points, start + places[last - i])
            both, rest = more(one, 1.0, other), more(one, -1.0, other)
            e0, o0 = more(e0, even[i, k], both), more(o0, odd[i, k], rest)
            e1, o1 = more(e1, even[i, k + 1], both), more(o1, odd[i, k + 1], rest)
            e2, o2 = more(e2, even[i, k + 2], both), more(o2, odd[i, k + 2], rest)
            e3, o3 = more(e3, even[i, k + 3], both), more(o3, odd[i, k + 3], rest)
        place, far = first + k * step, first + (half + k) * step
        store(waves, place, e0)
        store(waves, place + step, e1)
        store(waves, place + 2 * step, e2)
        store(waves, place + 3 * step, e3)
        store(waves, far, o0)
        store(waves, far + step, o1)
        store(waves, far + 2 * step, o2)
        store(waves, far + 3 * step, o3)


@njit(nogil=True)
def _from_waves(waves, first, matrices, points, places, start):
    """Write eight rows of points, of which the waves lie one behind the other."""
    even, odd = matrices
    last, half = len(places) - 1, len(even)
    for i in range(0, last // 2 + 1, PIECE):
        e0 = e1 = e2 = e3 = o0 = o1 = o2 = o3 = spread(0.0)
        for k in range(half):
            one = load(waves, first + k * LANES)
            other = load(waves, first + (half + k) * LANES)
            e0, o0 = more(e0, even[k, i], one), more(o0, odd[k, i], other)
            e1, o1 = more(e1, even[k, i + 1], one), more(o1, odd[k, i + 1], other)
            e2, o2 = more(e2, even[k, i + 2], one), more(o2, odd[k, i + 2], other)
            e3, o3 = more(e3, even[k, i + 3], one), more(o3, odd[k, i + 3], other)
        store(points, start + places[i], more(e0, 1.0, o0))
        store(points, start + places[last - i], more(e0, -1.0, o0))
        if 2 * (i + 1) <= last:
            store(points, start + places[i + 1], more(e1, 1.0, o1))
            store(points, start + places[last - i - 1], more(e1, -1.0, o1))
        if 2 * (i + 2) <= last:
            store(points, start + places[i + 2], more(e2, 1.0, o2))
            store(points, start + places[last - i - 2], more(e2, -1.0, o2))
        if 2 * (i + 3) <= last:
            store(points, start + places[i + 3], more(e3, 1.0, o3))
            store(points, start + places[last - i - 3], more(e3, -1.0, o3))


@njit(nogil=True)
def _find_touched(gaps, top, n_patches, columns, lines, touched, groups):
    """Say which patches of a row have gaps, and which groups of eight; whether there are any."""
    lines[:] = 0
    for i in range(len(columns)):
        for x in range(len(lines)):
            lines[x] |= gaps[top + i, x]
    touched[:] = 0
    for j in range(len(columns)):
        for patch in range(n_patches):
            touched[patch] |= lines[columns[j] + patch]
    found = 0
    for group in range(len(groups)):
        groups[group] = 0
        for i in range(LANES):
            groups[group] |= touched[group * LANES + i]
        found |= groups[group]
    return found > 0


@njit(nogil=True)
def _shrink_group(waves, step, first, threshold, matrices, places, columns, codes, sums, target):
    """Remove weak waves of eight patches, and return how many of the others each patch has.

    Sums take the waves along each column of the patches, a wave after the other.
    """
    into, back = matrices
    n_waves = 2 * len(into[0])
    width = len(sums) // (n_waves * len(places))
    zero, one, limit = spread(0.0), spread(1.0), spread(threshold)
    for k in range(n_waves):
        _into_waves(waves, places, k * step + first, into, codes, k * n_waves * LANES, LANES)
    kept = one  # the mean
    for k in range(1, n_waves * n_waves):
        code = load(codes, k * LANES)
        strength = moduli(code)
        store(codes, k * LANES, where_larger(strength, limit, code, zero))
        kept = more(kept, 1.0, where_larger(strength, limit, one, zero))
    for k in range(n_waves):
        _from_waves(codes, k * n_waves * LANES, back, sums, columns, k * width + target)
    return kept


@njit(nogil=True)
def _add_columns(sums, weights, first, block, left, stride, back, codes, points, rows):
    """Points of eight columns, from the waves of all patches that cover them; their weight."""
    n_waves = 2 * len(back[0])
    for k in range(n_waves):
        store(codes, k * LANES, spread(0.0))
    seen = spread(0.0)
    for j in range((block - left) % stride, len(rows), stride):
        place = first + LANES - (left + j) // stride
        weight = load(weights, place)
        seen = more(seen, 1.0, weight)
        for k in range(n_waves):
            part = load(sums, (j * n_waves + k) * len(weights) + place)
            store(codes, k * LANES, more_products(load(codes, k * LANES), weight, part))
    _from_waves(codes, 0, back, points, rows, 0)
    return seen


@njit(nogil=True)
def _shrink_row(picture, top, threshold, matrices, places, stride, touched, groups, rooms):
    """Waves of those patches of a row that are touched, and their weights."""
    waves, codes, sums, weights = rooms
    into, (columns, lines, targets) = matrices[0], places
    step = picture.shape[1]
    width, flat = step // stride, picture.reshape(-1)
    for group in range(len(groups)):
        # The last columns of a group of patches are among those where the next one begins.
        if groups[group] | groups[max(group - 1, 0)]:
            for block in range(stride):
                place = block * width + group * LANES
                _into_waves(flat, lines, top * step + place, into, waves, place, step)
    weights[:] = 0.0
    for group in range(len(groups)):
        if groups[group]:
            first = group * LANES
            target = first + LANES
            kept = _shrink_group(
                waves, step, first, threshold, matrices, columns, targets, codes, sums, target
            )
            for i in range(LANES):
                weights[target + i] = touched[first + i]
            store(weights, target, quotients(load(weights, target), kept))


@njit(nogil=True)
def shrink_rows(
    picture, gaps, stride, corner, n_patches, threshold, matrices, rooms, total, covered
):
    """Add to ``total`` patches without their weak waves, times their weights.

    ``corner`` is where the first patch begins; ``n_patches`` are those of a row. ``covered[row]``
    takes the sums of weights over the patches of a row. Patches without a gap are left out.
    """
    _, codes, sums, weights, points = rooms
    left, back, n_waves = corner[1], matrices[1], 2 * len(matrices[0][0])
    step = picture.shape[1]
    size, width = len(points) // LANES, step // stride
    count = np.arange(size)
    columns = (left + count) % stride * width + (left + count) // stride
    places = columns, count * step, count * n_waves * len(weights)
    rows = count * LANES
    lines = np.empty(step, dtype=np.uint8)
    touched, groups = np.empty(width, dtype=np.uint8), np.empty(width // LANES, dtype=np.uint8)
    for row in range(len(covered)):
        top = corner[0] + row * stride
        covered[row] = 0.0
        if not _find_touched(gaps, top, n_patches, columns, lines, touched, groups):
            continue
        _shrink_row(picture, top, threshold, matrices, places, stride, touched, groups, rooms[:4])
        for group in range(len(groups)):
            if not (groups[group] | groups[max(group - 1, 0)]):
                continue
            first = group * LANES
            for block in range(stride):
                place = block * width + first
                seen = _add_columns(
                    sums, weights, first, block, left, stride, back, codes, points, rows
                )
                store_row(covered, row, place, seen)
                for i in range(size):
                    so_far = load_row(total, top + i, place)
                    part = load(points, i * LANES)
                    store_row(total, top + i, place, more(so_far, 1.0, part))


@njit(nogil=True, error_model="numpy")
def fill_gaps(picture, gaps, total, covered, stride, size, top, mirrored):
    """Averages of patches into the gaps; then the columns of the margin as ``mirrored`` says."""
    weights = np.empty(picture.shape[1])
    for y in range(size, len(picture) - size):
        row, known, sums = picture[y], gaps[y], total[y]
        weights[:] = 0.0
        first = max(0, -((top + size - 1 - y) // stride))
        for a in range(first, min(len(covered), (y - top) // stride + 1)):
            for x in range(len(row)):
                weights[x] += covered[a, x]
        for x in range(len(row)):
            row[x] = sums[x] / weights[x] if known[x] else row[x]
        for i in range(mirrored.shape[1]):
            row[mirrored[0, i]] = row[mirrored[1, i]]
