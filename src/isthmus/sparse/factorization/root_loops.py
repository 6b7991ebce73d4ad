"""Roots of a fit and ratios to them in one compiled pass: the beta divergence 1.5."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    load,
    products,
    reciprocal_roots,
    spread,
    store,
    where_larger,
)

# Within these bounds reciprocal roots may start from an estimate in single precision.
FLOOR, CEILING = 1e-16, 1e36


@njit(nogil=True)
def roots_and_ratios(x, fit, root):
    """Set ``root`` to roots of the fit and ``fit`` to x over these; no more than 1e36 goes in.

    What is smaller than 1e-16 counts as that.
    """
    least, i = spread(FLOOR), 0
    while i + LANES <= fit.shape[0]:
        found = load(fit, i)
        found = where_larger(found, least, found, least)
        inverse = reciprocal_roots(found)
        store(root, i, products(found, inverse))
        store(fit, i, products(load(x, i), inverse))
        i += LANES
    while i < fit.shape[0]:
        root[i] = np.sqrt(max(fit[i], FLOOR))
        fit[i] = x[i] / root[i]
        i += 1
