"""Powers of two in compiled loops."""

import numpy as np
from numpy.testing import assert_allclose

from isthmus._compiled import njit
from isthmus.linalg.power_loops import LEAST, power_of_two


@njit
def powers_of_two(x, out):
    for i in range(len(x)):
        out[i] = power_of_two(x[i])


def test_powers_are_those_of_the_library(rng):
    x = np.concatenate([-np.logspace(-8, 2.9, 1000), -np.arange(20.0), -rng.uniform(0, 60, 1000)])
    found = np.empty_like(x)
    powers_of_two(x, found)
    # Rounding errors of x are multiplied by the size of x.
    assert_allclose(found, np.exp2(x), rtol=2e-14)


def test_powers_of_far_exponents_are_nearly_zero():
    found = np.empty(2)
    powers_of_two(np.array([10 * LEAST, -np.inf]), found)
    assert np.all((found >= 0) & (found < 1e-300))
