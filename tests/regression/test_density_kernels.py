"""Density kernels: profiles and their derivatives."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from isthmus.smoothers.density_kernels import DENSITY_KERNELS, density_kernel

INSIDE = np.linspace(0.01, 0.95, 20)
EVERYWHERE = np.r_[INSIDE, 1.0, 1.5, 40.0]


@pytest.mark.parametrize("name", DENSITY_KERNELS)
def test_profile_starts_at_one_and_falls(name):
    kernel = density_kernel(name)
    values = kernel.profile(np.linspace(0, 2, 50))
    assert values[0] == 1.0
    assert np.all(np.diff(values) <= 0)
    assert np.all(values >= 0)


@pytest.mark.parametrize("name", DENSITY_KERNELS)
def test_slope_and_curvature_are_the_derivatives_of_the_profile(name):
    kernel, h = density_kernel(name), 1e-4
    s = np.r_[INSIDE, 1.5, 3.0]
    up, here, down = kernel.profile(s + h), kernel.profile(s), kernel.profile(s - h)
    assert_allclose(kernel.slope(s), -2 * (up - down) / (2 * h), atol=1e-6)
    assert_allclose(kernel.curvature(s), 4 * (up - 2 * here + down) / h**2, atol=1e-5)


@pytest.mark.parametrize("name", DENSITY_KERNELS)
def test_log_profile_is_the_logarithm_of_the_profile(name):
    kernel = density_kernel(name)
    assert_allclose(np.exp(kernel.log_profile(EVERYWHERE)), kernel.profile(EVERYWHERE), atol=1e-15)


@pytest.mark.parametrize("name", DENSITY_KERNELS)
def test_outside_the_support_everything_is_zero(name):
    kernel = density_kernel(name)
    if not kernel.compact:
        assert kernel.profile(np.array(50.0)) > 0
        return
    far = np.array([1.0, 1.0 + 1e-12, 7.0])
    for of in (kernel.profile, kernel.slope, kernel.curvature):
        assert np.all(of(far) == 0)


@pytest.mark.parametrize(
    ("name", "constant"), [("epanechnikov", 3 / 4), ("quartic", 15 / 16), ("triweight", 35 / 32)]
)
def test_normalising_constants_in_one_dimension(name, constant):
    mass = quad(lambda x: float(density_kernel(name).profile(np.array(x * x))), -1, 1)[0]
    assert_allclose(mass * constant, 1.0, rtol=1e-10)


def test_kernels_know_how_many_derivatives_they_have():
    found = {name: density_kernel(name).n_derivatives for name in DENSITY_KERNELS}
    assert found["epanechnikov"] == 0
    assert found["quartic"] == 1
    assert found["triweight"] == 2
    assert found["gaussian"] == np.inf


@pytest.mark.parametrize("name", DENSITY_KERNELS)
def test_a_kernel_is_its_own_name_and_survives_pickling(name):
    kernel = density_kernel(name)
    assert density_kernel(kernel) is kernel
    assert pickle.loads(pickle.dumps(kernel)) is kernel


def test_an_unknown_kernel_is_refused_with_the_known_names():
    with pytest.raises(ValueError, match=r"'quartic'.*Got 'box' instead"):
        density_kernel("box")
