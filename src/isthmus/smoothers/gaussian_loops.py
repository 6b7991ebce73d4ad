"""Compiled loops over all pairs of some points with all centres, for Gaussian means."""

from isthmus._compiled import njit

SUMS = {"reassoc", "contract", "nsz"}


@njit(nogil=True, fastmath={"contract"})
def fill_exponents(Xe, lines, out):
    """Fill ``out`` with minus half the squared distances; ``lines`` has a coordinate per line."""
    (m, q), n = Xe.shape, lines.shape[1]
    for j in range(m):
        x = Xe[j, 0]
        for i in range(n):
            t = lines[0, i] - x
            out[j, i] = -0.5 * t * t
        for k in range(1, q):
            x = Xe[j, k]
            for i in range(n):
                t = lines[k, i] - x
                out[j, i] -= 0.5 * t * t


@njit(nogil=True, fastmath=SUMS)
def pull_pairs(Q, H, Xe, lines, by_point, back):
    """Multiply Q by H, and add up what pairs give to points and centres, four points at a time.

    ``by_point`` is filled with the sums of Q (x_i - x_j); those of Q x_j and, in the last line, of
    Q over the points are added to ``back`` (q + 1, n).
    """
    (m, q), n = Xe.shape, lines.shape[1]
    last = m - 1
    for a in range(0, m, 4):
        # The last points stand in for those that are missing, with nothing to give.
        b, c, d = min(a + 1, last), min(a + 2, last), min(a + 3, last)
        fb, fc = 1.0 if b > a else 0.0, 1.0 if c > b else 0.0
        fd = 1.0 if d > c else 0.0
        s0 = s1 = s2 = s3 = 0.0
        for i in range(n):
            w0, w1 = Q[a, i] * H[a, i], Q[b, i] * H[b, i]
            w2, w3 = Q[c, i] * H[c, i], Q[d, i] * H[d, i]
            s0 += w0
            s1 += w1
            s2 += w2
            s3 += w3
            back[q, i] += (w0 + fb * w1) + (fc * w2 + fd * w3)
        for k in range(q):
            z0, z1, z2, z3 = Xe[a, k], fb * Xe[b, k], fc * Xe[c, k], fd * Xe[d, k]
            t0 = t1 = t2 = t3 = 0.0
            for i in range(n):
                w0, w1 = Q[a, i] * H[a, i], Q[b, i] * H[b, i]
                w2, w3 = Q[c, i] * H[c, i], Q[d, i] * H[d, i]
                x = lines[k, i]
                t0 += w0 * x
                t1 += w1 * x
                t2 += w2 * x
                t3 += w3 * x
                back[k, i] += (w0 * z0 + w1 * z1) + (w2 * z2 + w3 * z3)
            by_point[a, k] = t0 - s0 * Xe[a, k]
            by_point[b, k] = t1 - s1 * Xe[b, k]
            by_point[c, k] = t2 - s2 * Xe[c, k]
            by_point[d, k] = t3 - s3 * Xe[d, k]


@njit(nogil=True, fastmath=SUMS)
def fill_sums(K, S):
    """Fill S with the sums of the rows of K."""
    m, n = K.shape
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += K[j, i]
        S[j] = total
