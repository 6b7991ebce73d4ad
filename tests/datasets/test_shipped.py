import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.datasets import load_digits_completion, load_noisy_digits


@pytest.mark.parametrize(("missing", "n_hidden"), [("bottom", 32), ("center", 16)])
def test_visible_and_hidden_pixels_make_up_the_image(missing, n_hidden):
    digits = load_digits_completion(missing)
    assert digits.X.shape == (1797, 64 - n_hidden)
    assert digits.Y.shape == (1797, n_hidden)
    again = np.empty_like(digits.images)
    again[:, ~digits.hidden], again[:, digits.hidden] = digits.X, digits.Y
    assert_array_equal(again, digits.images)
    assert digits.images.min() == 0.0
    assert digits.images.max() == 1.0


def test_the_bottom_half_is_below():
    digits = load_digits_completion()
    assert_array_equal(digits.Y.reshape(-1, 4, 8), digits.images[:, 4:])


def test_an_unknown_part_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"one of 'bottom', 'center'. Got 'left'"):
        load_digits_completion("left")


def test_the_noise_has_the_standard_deviation_asked_for():
    digits = load_noisy_digits(noise=0.3)
    assert digits.clean_train.shape == digits.noisy_train.shape == (1000, 64)
    assert digits.clean_test.shape == digits.noisy_test.shape == (797, 64)
    assert_allclose((digits.noisy_train - digits.clean_train).std(), 0.3, rtol=0.01)


def test_a_training_set_of_all_images_is_refused():
    with pytest.raises(ValueError, match=r"int in \[1, 1796\]. Got 1797"):
        load_noisy_digits(n_train=1797)
