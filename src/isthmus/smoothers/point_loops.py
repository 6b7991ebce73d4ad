"""Compiled weights of one local polynomial and their slopes, eight pairs at a time.

For searches that ask for one point after the other. Terms are products of two earlier ones, which
makes one short loop of all degrees and any number of coordinates; :mod:`isthmus.smoothers.loops`
has many points at once, and is what this is tested against.
"""

from typing import NamedTuple

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve
from isthmus.linalg.lanes import (
    LANES,
    less_products,
    load_row,
    more,
    more_products,
    products,
    spread,
    store_row,
    total,
)
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.typing import Array, IntArray

SQUARED, VALUE, SLOPE, WEIGHT = range(4)  # lines of a list of pairs


class Terms(NamedTuple):
    """Terms of a polynomial, and room for those of a point.

    Term ``a`` is the product of those that ``factors[a]`` names: the first is one, the next are
    the coordinates, each itself times one. ``ridges`` are added to their moments.
    """

    factors: IntArray
    ridges: Array
    values: Array
    moments: Array


def terms_of(smoother: LocalSmoother, q: int, most: int) -> Terms:
    """The terms of a smoother that is not adaptive, with room for ``most`` pairs."""
    linear = range(1, q + 1) if smoother.degree else ()
    second = range(1, q + 1) if smoother.degree == 2 else ()
    crossed = second if smoother.cross_terms else ()
    factors = [(0, 0), *((m, 0) for m in linear), *((m, m) for m in second)]
    factors += [(m, other) for m in crossed for other in crossed if other > m]
    n = len(factors)
    ridges = np.full(n, smoother.ridge)
    # Half on products: then the ridge on second derivatives is the same in all directions.
    ridges[1 + 2 * q :] *= 0.5
    ridges[0] = smoother.background if smoother.degree else 0.0
    values = np.empty((max(n, q + 1) + 2, most + LANES))
    return Terms(np.array(factors), ridges, values, np.empty((n + 3, n)))


@njit(nogil=True)
def _fill_terms(count, indices, place, Xc, factors, T):
    """Fill in the terms of the listed centres, with zeros up to a multiple of eight."""
    q, none = place.shape[1], -count % LANES
    for p in range(count):
        T[0, p] = 1.0
        i = np.uint64(indices[p])
        for m in range(q):
            T[1 + m, p] = Xc[i, m] - place[0, m]
    for p in range(count, count + none):
        for a in range(q + 1):
            T[a, p] = 0.0
    for a in range(q + 1, len(factors)):
        first, second = factors[a, 0], factors[a, 1]
        for p in range(0, count, LANES):
            store_row(T, a, p, products(load_row(T, first, p), load_row(T, second, p)))


@njit(nogil=True)
def _sum_of(A, a, B, b, count):
    """The inner product of two lines."""
    found = spread(0.0)
    for p in range(0, count, LANES):
        found = more_products(found, load_row(A, a, p), load_row(B, b, p))
    return total(found)


@njit(nogil=True)
def _combine(coef, T, count, out):
    """Fill line ``out`` with the values of the polynomial with these coefficients."""
    for p in range(0, count, LANES):
        found = spread(coef[0])
        for a in range(1, len(coef)):
            found = more(found, coef[a], load_row(T, a, p))
        store_row(T, out, p, found)


@njit(nogil=True)
def _derive(coef, factors, m, T, count, out):
    """Fill line ``out`` with the slopes of that polynomial by coordinate m."""
    for p in range(0, count, LANES):
        found = spread(0.0)
        for a in range(1, len(coef)):
            for k in range(2):
                if factors[a, k] == 1 + m:
                    found = more(found, coef[a], load_row(T, factors[a, 1 - k], p))
        store_row(T, out, p, found)


@njit(nogil=True)
def _factored(count, lists, T, ridges, C):
    """Factor of the moments of a point, and its solution for the first unit vector after it."""
    n, row = len(ridges), len(T) - 2
    for a in range(n):
        for p in range(0, count, LANES):
            store_row(T, row, p, products(load_row(lists, VALUE, p), load_row(T, a, p)))
        for c in range(a + 1):
            C[a, c] = _sum_of(T, row, T, c, count)
        C[a, a] += ridges[a]
        C[n, a] = 1.0 if a == 0 else 0.0
    if not cholesky(C, n, 0.0):
        return False
    cholesky_solve(C, n, C[n])
    return True


@njit(nogil=True, inner=True)
def fill_jets(count, indices, place, Xc, terms, lists, slopes):
    """Fill in the weights of the outputs at a place, and their derivatives by its coordinates.

    ``lists`` has values and slopes of the kernel at ``count`` centres, and room up to a multiple
    of eight. With a = xi'u and w = H a dx - K grad(a) the derivatives are
    w + K xi' C^-1 (sum b grad(xi) - sum w xi). All are zero where the moments are singular.
    """
    factors, ridges, T, C = terms
    q, n, row, slope = place.shape[1], len(ridges), len(T) - 2, len(T) - 1
    _fill_terms(count, indices, place, Xc, factors, T)
    for p in range(count, count + -count % LANES):
        lists[VALUE, p] = lists[SLOPE, p] = 0.0
    good = _factored(count, lists, T, ridges, C)
    for a in range(n):
        C[n, a] = C[n, a] if good else 0.0
    _combine(C[n], T, count, row)
    for p in range(0, count, LANES):
        store_row(lists, WEIGHT, p, products(load_row(lists, VALUE, p), load_row(T, row, p)))
    for a in range(min(n, q + 1)):
        C[n + 2, a] = _sum_of(lists, WEIGHT, T, a, count)
    for m in range(q):
        _derive(C[n], factors, m, T, count, slope)
        for p in range(0, count, LANES):
            steep = products(load_row(lists, SLOPE, p), load_row(T, row, p))
            w = products(steep, load_row(T, 1 + m, p))
            w = less_products(w, load_row(lists, VALUE, p), load_row(T, slope, p))
            store_row(slopes, m, p, w)
        through = C[n + 1]
        for a in range(n):
            through[a] = -_sum_of(slopes, m, T, a, count)
            for k in range(2 if a else 0):
                if factors[a, k] == 1 + m:
                    through[a] += C[n + 2, factors[a, 1 - k]]
        if good:
            cholesky_solve(C, n, through)
        _combine(through, T, count, slope)
        for p in range(0, count, LANES):
            w = load_row(slopes, m, p)
            w = more_products(w, load_row(lists, VALUE, p), load_row(T, slope, p))
            store_row(slopes, m, p, w)
