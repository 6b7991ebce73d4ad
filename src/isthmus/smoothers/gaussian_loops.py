"""Compiled loops over all pairs of some points with all centres, for Gaussian means.

Centres come in multiples of sixteen, of which the last may weigh nothing, and points in multiples
of four: four points with sixteen numbers are eight registers of sums.
"""

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    load_row,
    more,
    more_products,
    products,
    spread,
    store_row,
    total,
)

SUMS = {"reassoc", "contract", "nsz"}
# Numbers of outputs of some centres: these stay in the nearest cache while the points go by.
NEAREST = 2**11
POINTS, WIDE = 4, 2 * LANES


@njit(nogil=True, fastmath={"contract"})
def fill_exponents(Xe, lines, out):
    """Fill ``out`` with minus half the squared distances; ``lines`` has a coordinate per line."""
    (m, q), n = Xe.shape, lines.shape[1]
    for j in range(m):
        x, z = Xe[j, 0], Xe[j, q - 1]  # a single one counts once
        share = -0.5 if q > 1 else 0.0
        for i in range(n):
            t, u = lines[0, i] - x, lines[q - 1, i] - z
            out[j, i] = share * u * u - 0.5 * t * t
        for k in range(1, q - 1):
            x = Xe[j, k]
            for i in range(n):
                t = lines[k, i] - x
                out[j, i] -= 0.5 * t * t


@njit(nogil=True)
def fill_weighted(K, panels, F):
    """Fill F with the products of the rows of K with the outputs, sixteen columns to a panel.

    ``panels`` (panels * n, 16) has the columns of a panel below one another; F has a multiple of
    four rows, of which those beyond K repeat its last one.
    """
    n, last = K.shape[1], len(K) - 1
    for a in range(0, len(F), POINTS):
        e, b = min(a, last), min(a + 1, last)
        c, d = min(a + 2, last), min(a + 3, last)
        for p in range(F.shape[1] // WIDE):
            first, place = p * n, p * WIDE
            e0 = e1 = b0 = b1 = c0 = c1 = d0 = d1 = spread(0.0)
            for i in range(n):
                y, z = load_row(panels, first + i, 0), load_row(panels, first + i, LANES)
                e0, e1 = more(e0, K[e, i], y), more(e1, K[e, i], z)
                b0, b1 = more(b0, K[b, i], y), more(b1, K[b, i], z)
                c0, c1 = more(c0, K[c, i], y), more(c1, K[c, i], z)
                d0, d1 = more(d0, K[d, i], y), more(d1, K[d, i], z)
            store_row(F, a, place, e0)
            store_row(F, a, place + LANES, e1)
            store_row(F, a + 1, place, b0)
            store_row(F, a + 1, place + LANES, b1)
            store_row(F, a + 2, place, c0)
            store_row(F, a + 2, place + LANES, c1)
            store_row(F, a + 3, place, d0)
            store_row(F, a + 3, place + LANES, d1)


@njit(nogil=True, forceinline=True)
def _add_to(sums, r, first, second):
    store_row(sums, r, 0, more(more(load_row(sums, r, 0), 1.0, first), 1.0, second))


@njit(nogil=True, forceinline=True)
def _add_moments(sums, r, first, x, second, z):
    found = more_products(load_row(sums, r, 0), first, x)
    store_row(sums, r, 0, more_products(found, second, z))


@njit(nogil=True, forceinline=True)
def _give_back(back, r, i, x0, x1, x2, x3, w0, w1, w2, w3):
    found = more(more(load_row(back, r, i), x0, w0), x1, w1)
    store_row(back, r, i, more(more(found, x2, w2), x3, w3))


@njit(nogil=True)
def pull_pairs(D, offsets, panels, K, Xe, lines, sums, by_point, back):
    """Add up what pairs give to points and centres.

    A pull is a weight times the product of a point's slopes with a centre's outputs, and an offset.
    ``by_point`` is filled with the sums of pulls times (x_i - x_j); those of pulls times x_j and,
    in the last line, of pulls over the points are added to ``back`` (q + 1, n). Rows of D and Xe
    beyond those of K have nothing to give. ``panels`` (n / 16 * d, 16) has the outputs of sixteen
    centres, a column in each row, above those of the next.
    """
    (q, n), (m, d), last = lines.shape, D.shape, len(K) - 1
    step, stride = max(1, NEAREST // (WIDE * d)) * WIDE, q + 1
    for r in range(m * stride):
        store_row(sums, r, 0, spread(0.0))
    for low in range(0, n, step):
        for a in range(0, m, POINTS):
            b, c, e = a + 1, a + 2, a + 3
            ka, kb, kc, ke = min(a, last), min(b, last), min(c, last), min(e, last)
            for i in range(low, min(n, low + step), WIDE):
                h, first = i + LANES, i // WIDE * d
                a0 = a1 = spread(offsets[a])
                b0 = b1 = spread(offsets[b])
                c0 = c1 = spread(offsets[c])
                e0 = e1 = spread(offsets[e])
                for k in range(d):
                    y, z = load_row(panels, first + k, 0), load_row(panels, first + k, LANES)
                    a0, a1 = more(a0, D[a, k], y), more(a1, D[a, k], z)
                    b0, b1 = more(b0, D[b, k], y), more(b1, D[b, k], z)
                    c0, c1 = more(c0, D[c, k], y), more(c1, D[c, k], z)
                    e0, e1 = more(e0, D[e, k], y), more(e1, D[e, k], z)
                a0, a1 = products(a0, load_row(K, ka, i)), products(a1, load_row(K, ka, h))
                b0, b1 = products(b0, load_row(K, kb, i)), products(b1, load_row(K, kb, h))
                c0, c1 = products(c0, load_row(K, kc, i)), products(c1, load_row(K, kc, h))
                e0, e1 = products(e0, load_row(K, ke, i)), products(e1, load_row(K, ke, h))
                _add_to(sums, a * stride + q, a0, a1)
                _add_to(sums, b * stride + q, b0, b1)
                _add_to(sums, c * stride + q, c0, c1)
                _add_to(sums, e * stride + q, e0, e1)
                _give_back(back, q, i, 1.0, 1.0, 1.0, 1.0, a0, b0, c0, e0)
                _give_back(back, q, h, 1.0, 1.0, 1.0, 1.0, a1, b1, c1, e1)
                for k in range(q):
                    x, z = load_row(lines, k, i), load_row(lines, k, h)
                    _add_moments(sums, a * stride + k, a0, x, a1, z)
                    _add_moments(sums, b * stride + k, b0, x, b1, z)
                    _add_moments(sums, c * stride + k, c0, x, c1, z)
                    _add_moments(sums, e * stride + k, e0, x, e1, z)
                    xa, xb, xc, xe = Xe[a, k], Xe[b, k], Xe[c, k], Xe[e, k]
                    _give_back(back, k, i, xa, xb, xc, xe, a0, b0, c0, e0)
                    _give_back(back, k, h, xa, xb, xc, xe, a1, b1, c1, e1)
    for j in range(len(by_point)):
        mass = total(load_row(sums, j * stride + q, 0))
        for k in range(q):
            by_point[j, k] = total(load_row(sums, j * stride + k, 0)) - mass * Xe[j, k]


@njit(nogil=True, fastmath=SUMS)
def fill_sums(K, S):
    """Fill S with the sums of the rows of K."""
    m, n = K.shape
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += K[j, i]
        S[j] = total


@njit(nogil=True)
def clear_up_to(most, K):
    """Set to zero the numbers of a vector that are no larger than ``most``."""
    for i in range(len(K)):
        K[i] = K[i] if K[i] > most else 0.0
