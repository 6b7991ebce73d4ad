"""Exact codes and receptive fields: the experiments, and what they measure with."""

import numpy as np
from isthmus_experiments import run
from isthmus_experiments.experiments._natural_images import (
    dead_leaves,
    gabor_fit,
    gabor_pair,
    patches,
    whitened,
)
from numpy.testing import assert_allclose


def test_exact_codes_agree_but_for_the_printed_factor(quiet):
    (result,) = run(["SC-l1"], quick=True, console=quiet)
    assert result.error == ""
    differing = [row.quantity for row in result.outcome.rows if row.agrees is False]
    assert len(differing) == 1
    assert differing[0].startswith("derivative of the dual")


def test_gabor_functions_are_fitted_and_whole_waves_are_not():
    wave = gabor_pair(8, (0.5, -1.0, 0.7, 0.2, 1.6, 1.2))[0]
    assert gabor_fit(wave) > 0.99
    y, x = np.mgrid[:8, :8]
    assert gabor_fit((np.cos(0.9 * x) * np.cos(1.1 * y)).ravel()) < 0.7


def test_whitening_flattens_the_spectrum(rng):
    image = dead_leaves(128, rng)
    flat = whitened(image)

    def fall(picture):
        """Power at low over power at middle frequencies."""
        power = np.abs(np.fft.rfft2(picture)) ** 2
        return power[2:6, 2:6].mean() / power[24:30, 24:30].mean()

    assert fall(flat) < 0.05 * fall(image)
    assert_allclose(flat.std(), 1.0)


def test_patches_have_no_mean(rng):
    X = patches([rng.normal(size=(40, 40))], 6, 20, 0)
    assert X.shape == (20, 36)
    assert_allclose(X.mean(axis=1), np.zeros(20), atol=1e-12)
