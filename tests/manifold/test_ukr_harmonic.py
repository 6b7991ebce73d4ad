"""K-harmonic means."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin

from isthmus.manifold.ukr import harmonic as _ukr_harmonic
from isthmus.manifold.ukr.harmonic import harmonic_means, harmonic_step
from isthmus.manifold.ukr.learning import _means_of_rows


def blobs(rng, n=60, sizes=(0.1, 0.1, 0.1)):
    """Three clouds with their means far apart."""
    means = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 7.0]])
    rows = [m + s * rng.normal(size=(n, 2)) for m, s in zip(means, sizes, strict=True)]
    return np.vstack(rows)


def plain_error(Y, C, power):
    """The formula, as printed."""
    d = np.linalg.norm(Y[:, None] - C, axis=2)
    return np.mean(len(C) / np.sum(d**-power, axis=1))


@pytest.mark.parametrize("power", [2.0, 3.5])
def test_a_step_is_the_printed_fixed_point(power, rng):
    Y, C = rng.normal(size=(50, 3)), rng.normal(size=(4, 3))
    d = np.linalg.norm(Y[:, None] - C, axis=2)
    w = d ** -(power + 2) / np.sum(d**-power, axis=1, keepdims=True) ** 2
    moved, error = harmonic_step(Y, C, power)
    assert_allclose(moved, (w.T @ Y) / w.sum(axis=0)[:, None], rtol=1e-10)
    assert_allclose(error, plain_error(Y, C, power), rtol=1e-10)


@pytest.mark.parametrize("power", [2.0, 3.5, 5.0])
def test_the_error_falls_to_a_fixed_point(power, rng):
    Y = rng.normal(size=(300, 3))
    found = harmonic_means(Y, 7, rng, power=power, max_iter=2000, tol=0.0)
    errors = np.array(found.errors)
    assert np.all(np.diff(errors[:-1]) <= 1e-12 * errors[0])
    moved, error = harmonic_step(Y, found.centres, power)
    assert_allclose(moved, found.centres, atol=1e-3)
    assert_allclose(error, errors.min(), rtol=1e-6)
    # Stationary: no direction lowers the error to first order.
    step = 1e-5 * rng.normal(size=found.centres.shape)
    up, down = (plain_error(Y, found.centres + s * step, power) for s in (1, -1))
    assert abs(up - down) < 1e-7 * error


@pytest.mark.parametrize("power", [2.0, 3.5, 12.0])
def test_rows_on_a_centre_are_no_trouble(power, rng):
    Y = rng.normal(size=(30, 2))
    C = np.vstack([Y[:4], Y[:1]])  # two of them the same
    moved, error = harmonic_step(Y, C, power)
    assert np.all(np.isfinite(moved))
    assert np.isfinite(error)
    repeated = np.repeat(Y[:5], 6, axis=0)
    found = harmonic_means(repeated, 8, rng, power=power)
    assert np.all(np.isfinite(found.centres))
    assert np.all(np.isfinite(found.errors))


def test_clouds_far_apart_get_a_centre_each_from_any_start():
    hits = {"harmonic": 0, "kmeans": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Y = blobs(rng)
        truth = np.repeat([0, 1, 2], 60)
        start = Y[:3]  # all in the same cloud
        C = start
        for _ in range(100):
            C, _ = harmonic_step(Y, C, 3.5)
        plain = KMeans(3, init=start, n_init=1).fit(Y).cluster_centers_
        for name, centres in (("harmonic", C), ("kmeans", plain)):
            labels = pairwise_distances_argmin(Y, centres)
            hits[name] += adjusted_rand_score(truth, labels) > 0.99
    assert hits["harmonic"] >= 18
    assert hits["kmeans"] < hits["harmonic"]


def test_a_large_power_counts_the_nearest_centre_alone(rng):
    Y, power = blobs(rng), 60.0
    means = KMeans(3, n_init=5, random_state=0).fit(Y)
    C = Y[[0, 60, 120]]
    for _ in range(200):
        C, _ = harmonic_step(Y, C, power)
    labels = pairwise_distances_argmin(Y, C)
    assert adjusted_rand_score(labels, means.labels_) == 1.0
    # The error tends to that of the nearest centre, and a centre to a mean of its own rows, in
    # which far rows count most (weights d^(p - 2)): k-means is the case without such weights.
    C = means.cluster_centers_ + 0.05
    d = np.linalg.norm(Y[:, None] - C, axis=2)
    moved, error = harmonic_step(Y, C, power)
    assert_allclose(error, 3 * np.mean(d.min(axis=1) ** power), rtol=1e-6)
    for j in range(3):
        own = d.argmin(axis=1) == j
        weight = d[own, j] ** (power - 2)
        assert_allclose(moved[j], weight @ Y[own] / weight.sum(), rtol=1e-6, atol=1e-8)


def test_blocks_and_units_do_not_matter(rng, monkeypatch):
    Y = rng.normal(size=(200, 3))
    whole = harmonic_means(Y, 5, np.random.default_rng(1))
    far = harmonic_means(1e6 * Y + 1e7, 5, np.random.default_rng(1))
    assert_allclose((far.centres - 1e7) / 1e6, whole.centres, rtol=1e-6, atol=1e-7)

    def small_blocks(n_rows, n_columns):
        return [slice(i, min(i + 7, n_rows)) for i in range(0, n_rows, 7)]

    monkeypatch.setattr(_ukr_harmonic, "block_slices", small_blocks)
    again = harmonic_means(Y, 5, np.random.default_rng(1))
    assert_allclose(again.centres, whole.centres, rtol=1e-8)
    assert_array_equal(again.centres.shape, (5, 3))


def test_landmarks_that_meet_in_one_place_are_told_of():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match=r"by \d+ of 30 landmarks.*method=\"kmeans\""):
        _means_of_rows(rng.normal(size=(200, 40)), 30, "harmonic", rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _means_of_rows(rng.normal(size=(200, 2)), 30, "harmonic", rng)
