"""Gaps filled by thresholds on waves: the fast rounds against plain ones, and limiting cases."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.fft import dctn, idctn

from isthmus.sparse import inpaint_image
from isthmus.sparse.shrinkage import fill_by_shrinkage, fill_from_coarser, roughness, shrink_patches


def _slow_shrinkage(image, size, threshold, shift):
    """Patch by patch, each by a transform of its own."""
    stride = max(1, size // 2)
    wide = np.pad(image, size, mode="symmetric")
    total, weight = np.zeros_like(wide), np.zeros_like(wide)
    for i in range(shift % stride, len(wide) - size + 1, stride):
        for j in range(shift // stride % stride, wide.shape[1] - size + 1, stride):
            codes = dctn(wide[i : i + size, j : j + size], norm="ortho")
            kept = np.abs(codes) > threshold
            kept[0, 0] = True
            place = slice(i, i + size), slice(j, j + size)
            total[place] += idctn(codes * kept, norm="ortho") / kept.sum()
            weight[place] += 1 / kept.sum()
    inside = slice(size, -size), slice(size, -size)
    return total[inside] / weight[inside]


@pytest.mark.parametrize(
    ("size", "shift"), [(8, 0), (8, 7), (5, 3), (4, 13), (1, 0), (12, 31), (17, 4)]
)
def test_rounds_are_those_of_single_patches(rng, size, shift):
    image = rng.normal(size=(21, 18))
    fast = shrink_patches(image, size, 0.7, shift=shift)
    assert_allclose(fast, _slow_shrinkage(image, size, 0.7, shift), atol=1e-12)


@pytest.mark.parametrize(("size", "shift"), [(8, 0), (8, 7), (5, 3), (1, 0)])
def test_patches_without_gaps_do_not_matter(rng, size, shift):
    image, wanted = rng.normal(size=(41, 38)), np.zeros((41, 38), dtype=bool)
    wanted[3:7, 30:33] = wanted[40, 0] = True
    fast = shrink_patches(image, size, 0.7, shift=shift, wanted=wanted)
    assert_allclose(fast[wanted], _slow_shrinkage(image, size, 0.7, shift)[wanted], atol=1e-12)


def test_groups_of_patches_without_gaps_are_left_out(rng):
    """Gaps so far apart that whole registers and rows of patches between them are skipped."""
    image, wanted = rng.normal(size=(90, 150)), np.zeros((90, 150), dtype=bool)
    wanted[2, 3] = wanted[4, 149] = wanted[80, 36:38] = wanted[89, 90] = True
    for shift in (0, 6, 13):
        fast = shrink_patches(image, 8, 0.7, shift=shift, wanted=wanted)
        assert_allclose(fast[wanted], _slow_shrinkage(image, 8, 0.7, shift)[wanted], atol=1e-12)
        assert_array_equal(fast[~wanted], image[~wanted])


def test_long_pictures_are_treated_row_by_row(rng):
    image = rng.normal(size=(300, 9))
    fast = shrink_patches(image, 4, 0.7, shift=1)
    assert_allclose(fast, _slow_shrinkage(image, 4, 0.7, 1), atol=1e-12)


def test_without_a_threshold_nothing_changes(rng):
    image = rng.normal(size=(20, 20))
    assert_allclose(shrink_patches(image, 8, 0.0), image, atol=1e-12)


@pytest.mark.parametrize("shape", [(16, 16), (9, 23)])
def test_a_constant_picture_comes_back(rng, shape):
    image = np.full(shape, 7.0)
    image[rng.random(shape) < 0.9] = np.nan
    assert_allclose(inpaint_image(image), 7.0)


def test_one_observed_pixel_fills_all():
    image = np.full((12, 10), np.nan)
    image[5, 3] = -2.0
    assert_allclose(fill_from_coarser(image), -2.0)
    assert_allclose(inpaint_image(image), -2.0)


def test_units_and_origin_do_not_matter(rng):
    x, y = np.meshgrid(np.arange(40), np.arange(32))
    image = np.sin(x / 3) * np.cos(y / 5)
    image[rng.random(image.shape) < 0.6] = np.nan
    assert_allclose(inpaint_image(1e3 * image + 50), 1e3 * inpaint_image(image) + 50, rtol=1e-9)


def test_roughness_looks_at_observed_neighbours(rng):
    board = np.indices((10, 10)).sum(axis=0) % 2.0
    # Of the twelve shares around a pixel of a chessboard, eight are of the other colour.
    inner = roughness(np.pad(board, 0)[1:-1, 1:-1])
    assert 0.5 < inner < 1.0
    apart = np.full((9, 9), np.nan)
    apart[::3, ::3] = rng.normal(size=(3, 3))
    assert_allclose(roughness(apart), np.nanstd(apart))


def test_observed_pixels_stay_and_input_is_untouched(rng):
    image = rng.normal(size=(24, 24))
    image[rng.random(image.shape) < 0.5] = np.nan
    given = image.copy()
    given.flags.writeable = False
    filled = inpaint_image(given, max_iter=3)
    assert_array_equal(filled[~np.isnan(image)], image[~np.isnan(image)])


def test_no_room_is_taken_for_all_waves_of_a_patch():
    image = np.random.default_rng(0).normal(size=(70, 70))
    image[::3, ::3] = np.nan
    fill_by_shrinkage(image, patch_size=8, n_rounds=1)  # compiled
    tracemalloc.start()
    fill_by_shrinkage(image, patch_size=40, n_rounds=1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    waves = 8 * 40**4 // 4
    assert 2 * most < waves
