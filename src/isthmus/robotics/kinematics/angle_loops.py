"""Sines and angles of eight lanes, by the series of fdlibm."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    less,
    less_products,
    moduli,
    more,
    more_products,
    products,
    quotients,
    scaled,
    spread,
    where_larger,
)

ROUNDING = 1.5 * 2.0**52  # what is added to it loses its fraction
# Half of pi in parts, of which the first have few digits: their multiples are exact.
HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)

# Of arc tangents up to tan(π/8).
AT = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)


@njit(nogil=True, forceinline=True)
def _rounded(x):
    """The nearest whole numbers."""
    return less(more(spread(ROUNDING), 1.0, x), 1.0, spread(ROUNDING))


@njit(nogil=True, forceinline=True)
def _series(z, a, b, c, d, e, f):
    """a + b z + c z² + ..."""
    found = more(spread(e), f, z)
    found = more_products(spread(d), found, z)
    found = more_products(spread(c), found, z)
    found = more_products(spread(b), found, z)
    return more_products(spread(a), found, z)


@njit(nogil=True, forceinline=True)
def sines(x):
    """Cosines and sines: the series of fdlibm within an eighth of a turn, and quarters."""
    quarters = _rounded(scaled(2.0 / np.pi, x))
    x = less(x, HALF_PI[0], quarters)
    x = less(x, HALF_PI[1], quarters)
    x = less(x, HALF_PI[2], quarters)
    z = products(x, x)
    sine = _series(
        z,
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    )
    sine = more_products(x, products(x, z), sine)
    cosine = _series(
        z,
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    )
    cosine = more_products(more(spread(1.0), -0.5, z), products(z, z), cosine)
    # Of a quarter k = 4a + 2b + c, b is whether both change their signs, c whether they swap.
    halves = _rounded(more(spread(-0.25), 0.5, quarters))
    swapped = less(quarters, 2.0, halves)
    turned = less(halves, 2.0, _rounded(more(spread(-0.25), 0.5, halves)))
    sign, half = less(spread(1.0), 2.0, turned), spread(0.5)
    first = where_larger(swapped, half, scaled(-1.0, sine), cosine)
    second = where_larger(swapped, half, cosine, sine)
    return products(sign, first), products(sign, second)


@njit(nogil=True, forceinline=True)
def angles(cosine, sine):
    """Angles of cosines and sines that are not negative, times any length: fdlibm's series."""
    nothing, length = spread(0.0), moduli(cosine)
    small = where_larger(sine, length, length, sine)
    large = where_larger(sine, length, sine, length)
    # Within a sixteenth of a turn of an axis, or of the middle between two.
    middle = where_larger(small, scaled(np.sqrt(2.0) - 1.0, large), spread(1.0), nothing)
    over = less_products(small, middle, large)
    x = quotients(over, more_products(large, middle, small))
    z = products(x, x)
    found = more(spread(AT[9]), AT[10], z)
    for k in range(8, -1, -1):
        found = more_products(spread(AT[k]), found, z)
    found = less_products(x, products(x, z), found)
    found = more(found, 0.25 * np.pi, middle)
    found = where_larger(sine, length, less(spread(0.5 * np.pi), 1.0, found), found)
    return where_larger(nothing, cosine, less(spread(np.pi), 1.0, found), found)
