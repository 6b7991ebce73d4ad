"""The camera with one pixel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus.sensing import SinglePixelCamera


@pytest.fixture
def scene():
    image = np.zeros((32, 32))
    image[4:28, 6:12] = 0.8
    image[4:10, 12:24] = 1.0
    image.flags.writeable = False
    return image


@pytest.mark.parametrize("patterns", ["hadamard", "bernoulli"])
def test_readings_are_sums_over_mirrors_that_are_on(scene, patterns):
    camera = SinglePixelCamera(shape=(32, 32), n_exposures=20, patterns=patterns)
    readings = camera.measure(scene)
    for i in (0, 1, 7, 20):
        pattern = camera.pattern(i)
        assert set(np.unique(pattern)) <= {0.0, 1.0}
        assert_allclose(readings[i], (pattern * scene).sum())


@pytest.mark.parametrize("patterns", ["hadamard", "bernoulli"])
def test_picture_comes_back_from_a_third_of_the_readings(scene, patterns):
    camera = SinglePixelCamera(shape=(32, 32), n_exposures=340, patterns=patterns)
    image, certificate = camera.reconstruct(camera.measure(scene), return_certificate=True)
    assert_allclose(image, scene, atol=1e-7)
    assert certificate.gap < 1e-6


def test_noise_is_passed_on_gracefully(scene):
    camera = SinglePixelCamera(shape=(32, 32), n_exposures=500)
    clean = camera.measure(scene)
    noise = 10 ** (-30 / 20) * clean.std()
    image = camera.reconstruct(camera.measure(scene, sigma=noise, random_state=0), sigma=noise)
    assert np.linalg.norm(image - scene) < 0.1 * np.linalg.norm(scene)


def test_readings_belong_to_no_dictionary():
    y, x = (np.mgrid[:32, :32] + 0.5) / 32
    smooth = 1 + np.cos(np.pi * x) * np.cos(2 * np.pi * y)  # two cosines, hundreds of wavelets
    camera = SinglePixelCamera(shape=(32, 32), n_exposures=100, basis="haar")
    assert_allclose(camera.reconstruct(camera.measure(smooth), basis="dct"), smooth, atol=1e-7)


def test_camera_is_its_parameters(scene):
    camera = SinglePixelCamera(shape=(32, 32), n_exposures=30)
    assert_allclose(clone(camera).measure(scene), camera.measure(scene), rtol=0)
    camera.set_params(random_state=1)
    assert not np.allclose(
        SinglePixelCamera(shape=(32, 32), n_exposures=30).measure(scene)[1:],
        camera.measure(scene)[1:],
    )


def test_refusals_say_what_was_expected(scene):
    camera = SinglePixelCamera(shape=(32, 32), n_exposures=30)
    with pytest.raises(ValueError, match=r"shape \(32, 32\). Got \(16, 32\)"):
        camera.measure(scene[:16])
    with pytest.raises(ValueError, match=r"31 readings.*Got shape \(30,\)"):
        camera.reconstruct(np.ones(30))
    with pytest.raises(ValueError, match=r"exposures 0 to 30\. Got 31"):
        camera.pattern(31)
    with pytest.raises(ValueError, match=r"'patterns' parameter of Single.*Got 'stripes'"):
        SinglePixelCamera(shape=(4, 4), n_exposures=3, patterns="stripes").measure(np.ones((4, 4)))
