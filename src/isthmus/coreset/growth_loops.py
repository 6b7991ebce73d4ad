"""The compiled loop of a core set that grows by one point at a time."""

import numpy as np

from isthmus._compiled import njit
from isthmus.coreset.simplex_loops import descend


@njit
def grow(core, size, alpha, M, rows, slots, values, shifts, v, terms, most, tie, radii):
    """Let the worst point join until none is outside, or a row of the worst one is lacking.

    ``core[:size]`` are the points with their weights ``alpha`` and Gram matrix ``M``;
    ``rows[slots[p]]`` is the row of the whole matrix that belongs to point p, without the shift,
    and ``values`` is the sum of the rows with the weights. All are changed in place. ``terms`` are
    what the tolerance is made of, see :func:`_tolerance`; ``most`` are the largest core set, the
    largest that is always solved exactly, and the number of steps of a descent; ``tie`` is what
    counts as equal in it. ``radii[size - 1]``
    is the radius of a core set of that size. Returns the size, the point that is to join next or
    -1, and its violation.
    """
    inside = np.zeros(len(v), dtype=np.bool_)
    inside[core[:size]] = True
    before, G = alpha.copy(), np.empty(len(alpha))
    outside, exactly = np.inf, True
    while True:
        quadratic, linear = _objective(core, size, alpha, M, G, v)
        # Ten times as accurately as the whole, or as the worst violation while that is larger.
        inner = 0.1 * _tolerance(quadratic, linear, terms)
        exact = exactly or size < most[1] or inner >= 0.1 * outside
        inner = inner if exact else 0.1 * outside
        _, steps = descend(M, alpha[:size], G[:size], max(inner, 1e-15), most[2], tie)
        quadratic, linear = _objective(core, size, alpha, M, G, v)
        for k in range(size):
            if alpha[k] != before[k]:
                _add(values, rows[slots[core[k]]], alpha[k] - before[k])
                before[k] = alpha[k]
        radii[size - 1] = np.sqrt(max(terms[0] - linear - quadratic, 0.0))
        worst = _worst(values, v, inside)
        outside = 2.0 * quadratic + linear - 2.0 * values[worst] - v[worst]
        wanted = max(_tolerance(quadratic, linear, terms), 1e-14 * max(terms[0], 1.0))
        exactly = inside[worst] or outside <= wanted
        if (exactly and exact) or size >= most[0] or steps == most[2]:
            return size, -1, outside
        if exactly:
            continue
        if slots[worst] < 0:
            return size, worst, outside
        row = rows[slots[worst]]
        for k in range(size):
            M[size, k] = M[k, size] = row[core[k]]
        M[size, size] = row[worst] + shifts[worst]
        core[size], alpha[size], before[size] = worst, 0.0, 0.0
        inside[worst] = True
        size += 1


@njit
def farthest(values, v, slots, worst, number):
    """The worst point, and others that are farthest outside and whose rows are not known."""
    found, least, known = np.empty(number, dtype=np.int64), np.full(number, np.inf), 0
    for k in range(values.size):
        price = -np.inf if k == worst else 2.0 * values[k] + v[k]
        if slots[k] >= 0 or not price < least[-1]:
            continue
        known = min(known + 1, number)
        place = known - 1
        while place > 0 and price < least[place - 1]:
            found[place], least[place] = found[place - 1], least[place - 1]
            place -= 1
        found[place], least[place] = k, price
    return found[:known]


@njit
def _tolerance(quadratic, linear, terms):
    """The violation that is accepted: shares of the squared radius and of the quadratic part."""
    eta, of_radius, of_quadratic = terms
    return of_radius * max(eta - linear - quadratic, 0.0) + of_quadratic * abs(quadratic)


@njit
def _objective(core, size, alpha, M, G, v):
    """The quadratic and the linear part; the gradient is written to ``G``."""
    quadratic = linear = 0.0
    for k in range(size):
        value = 0.0
        for j in range(size):
            value += M[k, j] * alpha[j]
        G[k] = 2.0 * value + v[core[k]]
        quadratic += alpha[k] * value
        linear += alpha[k] * v[core[k]]
    return quadratic, linear


@njit
def _add(values, row, weight):
    for k in range(values.size):
        values[k] += weight * row[k]


@njit
def _worst(values, v, inside):
    """The point with the least inner product with the centre, less its own length."""
    worst, least = 0, np.inf
    for k in range(values.size):
        price = 2.0 * values[k] + v[k]
        if price < least and not inside[k]:
            worst, least = k, price
    return worst
