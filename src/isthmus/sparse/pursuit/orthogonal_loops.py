"""Compiled loops of orthogonal pursuits: one signal after another, nothing allocated inside.

Atoms are rows of ``D`` with unit length. A pursuit keeps an orthonormal basis q_1, q_2, ... of the
chosen atoms without ever forming it: ``U[s, j]`` holds ⟨q_s, d_j⟩ for every atom, so the columns of
the chosen ones are the Cholesky factor of their Gram matrix. Each step is one pass over all atoms,
32 at a time: the new row of ``U``, the correlations without their part along it, and which of them
is the best. That is why ``G`` and ``B`` have columns for a multiple of 32 atoms, the last of them
zeros, which are never chosen.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    largest,
    less,
    less_products,
    load,
    load_row,
    moduli,
    more,
    products,
    quotients,
    scaled,
    spread,
    store,
    store_row,
    where_larger,
)
from isthmus.sparse.pursuit.loops import NOTHING, PIVOT, SUMS, copy, dot, subtract

WIDTH = 4 * LANES
# ‖x‖² - Σc² has lost its digits below this share of ‖x‖²: the residual is then formed.
CANCELLED = 1e-8
# Loops that are called from one place are written into their caller (``inline``): the arrays that
# they take would cost as much as the work on a few atoms.


@njit(nogil=True)
def _coefficients(U, c, chosen, inverse, count, out):
    """Solve R a = c with R[s, t] = U[s, chosen[t]], upper triangular, diagonal inverted apart."""
    for t in range(count - 1, -1, -1):
        value = c[t]
        for s in range(count - 1, t, -1):  # the last one found comes last: all wait for it
            value -= U[t, chosen[s]] * out[s]
        out[t] = value * inverse[t]


@njit(nogil=True)
def _refresh(x, D, U, c, chosen, inverse, count, a, r, alpha):
    """Form the residual, refine ``c`` by it, renew the correlations; return its squared norm.

    One step of the corrected semi-normal equations, R'δ = D_I r.
    """
    for turn in range(2):
        _coefficients(U, c, chosen, inverse, count, a)
        copy(x, r)
        for t in range(count):
            subtract(r, a[t], D[chosen[t]])
        if turn == 1:
            break
        for t in range(count):
            value = dot(D[chosen[t]], r)
            for s in range(t):
                value -= U[s, chosen[t]] * a[s]  # a holds δ from here on
            a[t] = value * inverse[t]
        for t in range(count):
            c[t] += a[t]
    for j in range(D.shape[0]):
        alpha[j] = dot(D[j], r)
    for t in range(count):
        alpha[chosen[t]] = 0.0
    return dot(r, r)


@njit(nogil=True, inline="always")
def _compared(alpha, left, recursive, j, best, over, place):
    """The best scores so far, as best / over, and their places, with eight more atoms from j on."""
    if recursive:
        least = spread(PIVOT)
        score = where_larger(left, least, products(alpha, alpha), spread(0.0))
        weight = where_larger(left, least, left, spread(1.0))
        # score / weight > best / over, without the division
        one, two = products(score, over), products(best, weight)
        over = where_larger(one, two, weight, over)
    else:
        score = one = moduli(alpha)
        two = best
    place = where_larger(one, two, spread(-np.float64(j)), place)
    return where_larger(one, two, score, best), over, place


@njit(nogil=True, inline="always")
def _first_best(best, over, place, recursive, lanes):
    """Atom with the largest score, the first among equals; ``lanes`` are 0, -1, -2, ..."""
    score = quotients(best, over) if recursive else best
    # Places are negative: the first is the largest.
    place = where_larger(
        spread(largest(score)), score, spread(-np.inf), more(place, 1.0, load(lanes, 0))
    )
    return np.int64(-largest(place))


@njit(nogil=True)
def _best(alpha, left, recursive, lanes):
    """The atom with the largest modulus of alpha, or of alpha² / left."""
    best, over, place = spread(0.0), spread(1.0), spread(0.0)
    for j in range(0, alpha.shape[0], LANES):
        best, over, place = _compared(
            load(alpha, j), load(left, j), recursive, j, best, over, place
        )
    return _first_best(best, over, place, recursive, lanes)


@njit(nogil=True, fastmath=SUMS)
def _squared_pivot(U, G, count, new, weights):
    """Squared distance of an atom to the span of the chosen ones; ``weights`` becomes U[:, new]."""
    explained = 0.0
    for s in range(count):
        weights[s] = U[s, new]
        explained += weights[s] * weights[s]
    return G[new, new] - explained


@njit(nogil=True, inline="always")
def _pass(U, G, count, new, weights, scale, step, alpha, left, recursive, lanes):
    """Write row ``count`` of ``U``, take it out of ``alpha`` and ``left``; return the best atom."""
    best, over, place = spread(0.0), spread(1.0), spread(0.0)
    for j in range(0, alpha.shape[0], WIDTH):
        u0, u1 = load_row(G, new, j), load_row(G, new, j + 8)
        u2, u3 = load_row(G, new, j + 16), load_row(G, new, j + 24)
        for s in range(count):
            w = weights[s]
            u0, u1 = less(u0, w, load_row(U, s, j)), less(u1, w, load_row(U, s, j + 8))
            u2, u3 = less(u2, w, load_row(U, s, j + 16)), less(u3, w, load_row(U, s, j + 24))
        for q, u in enumerate((u0, u1, u2, u3)):
            i = j + q * LANES
            u = scaled(scale, u)
            store_row(U, count, i, u)
            a = less(load(alpha, i), step, u)
            store(alpha, i, a)
            rest = load(left, i)
            if recursive:
                rest = less_products(rest, u, u)
                store(left, i, rest)
            best, over, place = _compared(a, rest, recursive, i, best, over, place)
    return _first_best(best, over, place, recursive, lanes)


@njit(nogil=True)
def orthogonal_pursuits(X, D, G, B, goals, recursive, support, coef, errors, U, lines, r, lanes):
    """Fill ``support`` and ``coef`` (n, n_nonzero) with the codes of the rows of ``X``.

    ``G`` is D D', ``B`` is X D' and is overwritten, both filled up with zeros, ``goals`` are the
    norms at which a residual is small enough. Unused places of ``support`` hold -1; ``errors``
    becomes the squared norms that are left. Memory: n_nonzero + 1 rows of ``G`` in ``U``, ``lines``
    (3, n_nonzero), a residual ``r``; ``lanes`` are 0, -1, -2, ...
    """
    n_nonzero = support.shape[1]
    left = U[n_nonzero]  # squared distance of each atom to the span of the chosen ones
    c, weights, inverse = lines[0], lines[1], lines[2]
    for i in range(X.shape[0]):
        x, alpha, chosen, a = X[i], B[i], support[i], coef[i]
        energy = dot(x, x)
        error = energy
        goal = goals[i] * goals[i]
        nothing = NOTHING * np.sqrt(energy)
        for t in range(n_nonzero):
            chosen[t] = -1
            a[t] = 0.0
        count = 0
        if recursive:
            for j in range(left.shape[0]):
                left[j] = G[j, j]
        new = _best(alpha, left, recursive, lanes)
        while count < n_nonzero and error > goal and abs(alpha[new]) > nothing:
            pivot = _squared_pivot(U, G, count, new, weights)
            if pivot < PIVOT:
                break
            inverse[count] = scale = 1.0 / np.sqrt(pivot)
            c[count] = alpha[new] * scale
            error -= c[count] * c[count]
            chosen[count] = new
            cancelled = error < CANCELLED * energy
            # What follows is for the next step: the last one does without.
            if cancelled or (error > goal and count + 1 < n_nonzero):
                after = _pass(
                    U, G, count, new, weights, scale, c[count], alpha, left, recursive, lanes
                )
                alpha[new] = 0.0
                left[new] = 0.0
            else:
                after = new
            count += 1
            if cancelled:
                error = _refresh(x, D, U, c, chosen, inverse, count, a, r, alpha)
                after = _best(alpha, left, recursive, lanes)
            new = after
        _coefficients(U, c, chosen, inverse, count, a)
        errors[i] = error
