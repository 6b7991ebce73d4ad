"""Pictures by their patches: noise goes, gaps close, the rest stays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import griddata
from sklearn.datasets import load_sample_image

from isthmus.sparse import dct_dictionary, denoise_image, inpaint_image
from isthmus.sparse.noise import detail_level, noise_level
from isthmus.sparse.patches import average_patches


def picture(size=64):
    """Stripes, a disc and a slope, grey values from 0 to 255."""
    y, x = np.mgrid[:size, :size] / size
    image = 60 + 60 * x + 50 * np.sin(40 * (x + y)) * (x > 0.5)
    image[(x - 0.3) ** 2 + (y - 0.4) ** 2 < 0.04] = 230
    return image


def psnr(image, truth):
    return 10 * np.log10(255**2 / np.mean((image - truth) ** 2))


def test_waves_have_unit_length_and_zero_mean_but_the_first():
    D = dct_dictionary(8, 256)
    assert_allclose(np.linalg.norm(D, axis=1), 1)
    assert_allclose(D[0], 1 / 8)
    assert_allclose(D[1:].mean(axis=1), 0, atol=1e-12)


def test_complete_waves_are_an_orthonormal_basis_but_for_the_shift():
    # With as many waves as pixels the dictionary spans all patches.
    assert np.linalg.matrix_rank(dct_dictionary(8, 64)) == 64


def test_averaging_unchanged_patches_gives_the_picture_back():
    image = picture(40)
    total, weight = average_patches(image, 8, lambda patches: (patches, None))
    assert_allclose(total / weight, image)
    assert weight[20, 20] == 64
    assert weight[0, 0] == 1


def test_noise_is_taken_off_and_a_learned_dictionary_is_no_worse():
    clean = picture()
    noisy = clean + 20 * np.random.default_rng(0).normal(size=clean.shape)
    waves = denoise_image(noisy, sigma=20, dictionary="dct")
    learned = denoise_image(noisy, sigma=20, random_state=0)
    assert psnr(waves, clean) > psnr(noisy, clean) + 5.5
    assert psnr(learned, clean) > psnr(waves, clean)


def test_denoising_knows_no_units():
    clean = picture(32)
    noisy = clean + 20 * np.random.default_rng(0).normal(size=clean.shape)
    once = denoise_image(noisy, sigma=20, dictionary="dct")
    again = denoise_image(noisy / 255 - 3, sigma=20 / 255, dictionary="dct")
    assert_allclose(255 * (again + 3), once, atol=1e-6)


def test_noise_level_is_estimated():
    noisy = picture(128) + 15 * np.random.default_rng(0).normal(size=(128, 128))
    assert_allclose(noise_level(noisy), 15, rtol=0.1)
    assert_array_equal(
        denoise_image(noisy, dictionary="dct"),
        denoise_image(noisy, sigma=noise_level(noisy), dictionary="dct"),
    )


def test_without_noise_nothing_changes():
    assert_array_equal(denoise_image(picture(20), sigma=0.0), picture(20))


def photograph(size=96):
    """Roofs and trees: what interpolation blurs."""
    pytest.importorskip("PIL")
    image = load_sample_image("china.jpg").mean(axis=2)
    return image[160 : 160 + size, 270 : 270 + size]


def test_half_of_the_pixels_are_filled_better_than_by_interpolation():
    clean = photograph()
    missing = np.random.default_rng(0).random(clean.shape) < 0.5
    holes = np.where(missing, np.nan, clean)
    places, values = np.argwhere(~missing), clean[~missing]
    near = griddata(places, values, tuple(np.indices(clean.shape)), "nearest")
    linear = griddata(places, values, tuple(np.indices(clean.shape)), "linear")
    linear = np.where(np.isnan(linear), near, linear)
    waves = inpaint_image(holes, dictionary="dct")
    learned = inpaint_image(holes, dictionary="ksvd", random_state=0)
    default = inpaint_image(holes)
    assert psnr(waves, clean) > psnr(near, clean) + 3
    assert psnr(waves, clean) > psnr(linear, clean) + 1.5
    assert psnr(learned, clean) > psnr(waves, clean)
    assert psnr(default, clean) > psnr(learned, clean)
    assert_array_equal(waves[~missing], clean[~missing])
    assert_array_equal(default[~missing], clean[~missing])


@pytest.mark.parametrize("dictionary", [None, "dct"])
def test_a_hole_larger_than_a_patch_is_filled(dictionary):
    clean = picture(40)
    holes = clean.copy()
    holes[10:30, 12:32] = np.nan
    filled = inpaint_image(holes, dictionary=dictionary)
    assert np.isfinite(filled).all()
    assert clean.min() - 60 < filled.min()
    assert filled.max() < clean.max() + 60


def test_channels_are_treated_one_by_one():
    colours = np.stack([picture(24), picture(24)[::-1]], axis=-1)
    noisy = colours + 20 * np.random.default_rng(0).normal(size=colours.shape)
    both = denoise_image(noisy, sigma=20, dictionary="dct")
    assert_array_equal(both[..., 1], denoise_image(noisy[..., 1], sigma=20, dictionary="dct"))
    noisy[3:5, :, 0] = np.nan
    assert np.isfinite(inpaint_image(noisy, dictionary="dct")).all()


def test_given_dictionary_is_used_and_input_untouched():
    image = picture(24)
    image.flags.writeable = False
    D = dct_dictionary(4, 36)
    better = denoise_image(image, sigma=5.0, dictionary=D, patch_size=4)
    assert_array_equal(
        better, denoise_image(image, sigma=5.0, dictionary="dct", patch_size=4, n_atoms=36)
    )
    assert_array_equal(inpaint_image(image), image)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (denoise_image, {"dictionary": "svd"}, "'ksvd', 'dct' or an array. Got 'svd'"),
        (denoise_image, {"dictionary": np.ones((3, 9))}, r"of 64 pixels \(patch_size=8\)"),
        (denoise_image, {"sigma": -1.0}, r"'sigma' parameter .* Got -1.0"),
        (denoise_image, {"n_atoms": 200}, "must be a square number. Got 200"),
        (inpaint_image, {"dictionary": "svd"}, "'dictionary' parameter of inpaint_image"),
        (inpaint_image, {"max_iter": 0}, "'max_iter' parameter of inpaint_image"),
        (inpaint_image, {"patch_size": 40}, r"at least 40 pixels .* Got shape \(24, 24\)"),
    ],
)
def test_bad_arguments_are_named(function, arguments, message):
    image = picture(24)
    if function is inpaint_image:
        image[0, 0] = np.nan
    with pytest.raises(ValueError, match=message):
        function(image, **arguments)


def test_a_picture_without_pixels_and_gaps_where_none_may_be_are_refused():
    with pytest.raises(ValueError, match="without any observed pixel"):
        inpaint_image(np.full((20, 20), np.nan))
    with pytest.raises(ValueError, match="NaN"):
        denoise_image(np.full((20, 20), np.nan))


def textured(n=160):
    """A picture that is half smooth, half texture of the finest detail, like grass."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[:n, :n]
    smooth = 100 + 50 * np.sin(x / 30) * np.cos(y / 40)
    return smooth + 30 * rng.normal(size=(n, n)) * (x > n // 2)


@pytest.mark.parametrize("sigma", [2.0, 5.0, 15.0])
def test_texture_is_not_taken_for_noise(sigma):
    noisy = textured() + sigma * np.random.default_rng(0).normal(size=(160, 160))
    assert_allclose(noise_level(noisy), sigma, rtol=0.1)
    assert detail_level(noisy) > 1.2 * sigma


def test_noise_level_follows_the_unit_and_is_zero_without_noise():
    noisy = textured() + np.random.default_rng(0).normal(size=(160, 160))
    assert_allclose(noise_level(1e-6 * noisy), 1e-6 * noise_level(noisy), rtol=1e-6)
    assert noise_level(np.ones((40, 40))) == 0


def test_every_second_patch_still_covers_the_picture():
    image = np.random.default_rng(0).random((21, 18))

    def same(patches):
        return patches, None

    for stride in (1, 2, 3):
        total, weight = average_patches(image, 8, same, stride=stride)
        assert weight.min() >= 1
        assert_allclose(total / weight, image)
