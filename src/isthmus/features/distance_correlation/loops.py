"""Compiled loops of the objective at exponents below 2: all pairs, one triangle, no temporaries."""

from isthmus._compiled import njit

# Sums may be taken in any order, so that they run in vector registers.
SUMS = {"reassoc", "contract", "nsz"}


@njit(fastmath=SUMS)
def fill_distances(Zt, exponent, floor, S, C, row_sums):
    r"""Powers of distances below the diagonal of ``C``, their row sums, and two sums over them.

    ``Zt`` is the transposed table. Returns :math:`\sum_{i>j}S_{ij}c_{ij}` and
    :math:`\sum_{i>j}c_{ij}^2` with :math:`c_{ij}=(\|z_i-z_j\|^2+\epsilon)^{a/2}`.
    """
    d, n = Zt.shape
    half = 0.5 * exponent
    product = 0.0
    squares = 0.0
    row_sums[:] = 0.0
    for i in range(n):
        c = C[i, :i]
        c[:] = floor
        for k in range(d):
            z = Zt[k, i]
            others = Zt[k, :i]
            for j in range(i):
                difference = z - others[j]
                c[j] += difference * difference
        for j in range(i):
            c[j] = c[j] ** half
        s = S[i]
        total = 0.0
        for j in range(i):
            total += c[j]
            product += s[j] * c[j]
            squares += c[j] * c[j]
            row_sums[j] += c[j]
        row_sums[i] += total
    return product, squares


@njit(fastmath=SUMS)
def add_slopes(Zt, exponent, S, C, means, grand_mean, along, against, weights, Gt):
    r"""Fill ``Gt`` with :math:`\sum_jw_{ij}(z_i-z_j)`.

    The weights are :math:`w_{ij}=(\alpha S_{ij}-\beta\hat c_{ij})\,c_{ij}^{(a-2)/a}` with the
    centred :math:`\hat c`; ``weights`` is work space for one row of them.
    """
    d, n = Zt.shape
    power = (exponent - 2.0) / exponent
    Gt[:] = 0.0
    for i in range(n):
        c = C[i]
        s = S[i]
        offset = grand_mean - means[i]
        for j in range(i):
            weights[j] = along * s[j] - against * (c[j] + offset - means[j])
        for j in range(i):
            weights[j] *= c[j] ** power
        for k in range(d):
            z = Zt[k, i]
            others = Zt[k]
            slopes = Gt[k]
            total = 0.0
            for j in range(i):
                pull = weights[j] * (z - others[j])
                total += pull
                slopes[j] -= pull
            slopes[i] += total
