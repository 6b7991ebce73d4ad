"""K-harmonic means and neural gas."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin

from isthmus.manifold import KHarmonicMeans, Landmarks, UnsupervisedKernelRegression
from isthmus.manifold.quantizers import gas as gas_module
from isthmus.manifold.quantizers import harmonic as harmonic_module
from isthmus.manifold.quantizers.gas import gas_step, gas_sums, neural_gas, plain_sums
from isthmus.manifold.quantizers.harmonic import harmonic_means, harmonic_step
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
    monkeypatch.setattr(harmonic_module, "BLOCK_VALUES", 7 * 5)  # of seven rows each
    again = harmonic_means(Y, 5, np.random.default_rng(1))
    assert_allclose(again.centres, whole.centres, rtol=1e-8)
    assert_array_equal(again.centres.shape, (5, 3))


def test_landmarks_that_meet_in_one_place_are_told_of():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match=r"Only \d+ of 30 landmarks.*method=\"kmeans\""):
        _means_of_rows(rng.normal(size=(200, 40)), 30, "harmonic", rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _means_of_rows(rng.normal(size=(200, 2)), 30, "harmonic", rng)


# The estimator ------------------------------------------------------------------------------


def test_the_estimator_is_the_function(rng):
    Y = blobs(rng)
    model = KHarmonicMeans(3, random_state=0).fit(Y)
    moved, error = harmonic_step(Y, model.cluster_centers_, 3.5)
    assert_allclose(moved, model.cluster_centers_, atol=1e-2)
    assert model.inertia_ == pytest.approx(error, rel=1e-6)
    assert model.score(Y) == pytest.approx(-error, rel=1e-6)
    truth = np.repeat([0, 1, 2], 60)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert_array_equal(model.predict(Y), model.labels_)
    assert_allclose(
        model.transform(Y), np.linalg.norm(Y[:, None] - model.cluster_centers_, axis=2), atol=1e-7
    )
    d = model.transform(Y) ** -5.5
    assert_allclose(model.memberships(Y), d / d.sum(axis=1)[:, None], atol=1e-6)
    on_centre = model.memberships(model.cluster_centers_)
    assert_allclose(on_centre, np.eye(3), atol=1e-6)


def test_a_weight_of_two_is_a_row_twice(rng):
    Y = blobs(rng, n=20)
    weights = rng.integers(1, 4, size=len(Y))
    repeated = np.repeat(Y, weights, axis=0)
    C = Y[[0, 25, 45]]
    one, other = harmonic_step(Y, C, 3.0, weights.astype(float)), harmonic_step(repeated, C, 3.0)
    assert_allclose(one[0], other[0], rtol=1e-10)
    assert one[1] == pytest.approx(other[1])
    fits = [
        KHarmonicMeans(3, n_init=5, random_state=0).fit(Y, sample_weight=weights),
        KHarmonicMeans(3, n_init=5, random_state=0).fit(repeated),
    ]
    centres = [np.sort(f.cluster_centers_, axis=0) for f in fits]
    assert_allclose(centres[0], centres[1], atol=1e-2)
    assert fits[0].score(Y, sample_weight=weights) == pytest.approx(fits[0].score(repeated))


def test_rows_in_blocks_have_the_same_centres(rng):
    Y = blobs(rng)
    weights = rng.uniform(0.5, 2.0, size=len(Y))
    whole = KHarmonicMeans(3, random_state=1).fit(Y, sample_weight=weights)
    parts = KHarmonicMeans(3, random_state=1).fit(
        lambda: iter(np.array_split(Y, 5)), sample_weight=weights
    )
    assert_allclose(parts.cluster_centers_, whole.cluster_centers_, atol=1e-8)
    assert_array_equal(parts.labels_, whole.labels_)
    with pytest.raises(ValueError, match="once per step"):
        KHarmonicMeans(3).fit(iter([Y]))


@pytest.mark.parametrize("power", [2.0, 3.5, 6.0])
def test_full_steps_that_overshoot_are_shortened(power):
    for seed in range(20):
        Y = blobs(np.random.default_rng(seed), n=40)
        model = KHarmonicMeans(3, power=power, random_state=seed).fit(Y)
        assert len(np.unique(model.labels_[[0, 40, 80]])) == 3
        assert model.n_iter_ < 60
        assert model.inertia_ == min(model.history_)


def test_more_starts_are_not_worse_and_too_many_centres_are_refused(rng):
    Y = rng.normal(size=(60, 2))
    one = KHarmonicMeans(6, power=6.0, random_state=0).fit(Y)
    several = KHarmonicMeans(6, power=6.0, n_init=4, random_state=0).fit(Y)
    assert several.inertia_ <= one.inertia_
    with pytest.raises(ValueError, match=r"n_clusters.* must be an int in \[1, 60\]"):
        KHarmonicMeans(61).fit(Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        KHarmonicMeans(6, max_iter=2, tol=0.0, random_state=0).fit(Y)


# Neural gas ---------------------------------------------------------------------------------


def test_a_step_of_the_gas_is_the_formula(rng):
    Y, C = rng.normal(size=(40, 3)), rng.normal(size=(6, 3))
    D = np.linalg.norm(Y[:, None] - C, axis=2)
    rank = (D[:, None, :] < D[:, :, None]).sum(axis=2)
    h = np.exp(-rank / 1.7)
    assert_allclose(gas_step(Y, C, 1.7), h.T @ Y / h.sum(axis=0)[:, None], rtol=1e-10)
    # With a range near zero it is a step of k-means, with a large one all go to the mean.
    near = np.array([Y[rank[:, j] == 0].mean(axis=0) for j in range(6)])
    assert_allclose(gas_step(Y, C, 1e-3), near, rtol=1e-8)
    assert_allclose(gas_step(Y, C, 1e9), np.tile(Y.mean(axis=0), (6, 1)), atol=1e-6)


@pytest.mark.parametrize("d", [1, 4, 40])  # distances in a loop, and by a product
@pytest.mark.parametrize("reach", [30.0, 2.0, 0.4, 0.1, 0.03, 0.01])
def test_few_ranks_give_the_sums_of_all(rng, d, reach):
    Y, C = rng.normal(size=(1500, d)), rng.normal(size=(60, d))
    C[-3:] += [[8.0], [9.0], [50.0]]  # nearest to no row: small weights are all they have
    plain = plain_sums(Y, C, np.exp(-np.arange(60) / reach))
    for best in (0.0, 5.0, np.inf):
        weights, sums = gas_sums(Y, C, reach, best)
        assert_allclose(weights, plain[0], rtol=1e-12)
        assert_allclose(sums, plain[1], rtol=1e-9, atol=1e-12 * np.abs(plain[0]).max())
        moved, expected = (gas_module.moved(C, *both) for both in ((weights, sums), plain))
        assert_allclose(moved, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "d", "n_centres"), [(900, 3, 50), (300, 2, 1), (400, 35, 30)])
def test_the_gas_is_that_of_sorted_tables(rng, monkeypatch, n, d, n_centres):
    Y = 6 * rng.normal(size=(5, d))[rng.integers(0, 5, n)] + rng.normal(size=(n, d))
    fast = neural_gas(Y, n_centres, np.random.default_rng(0))
    monkeypatch.setattr(gas_module, "MOST_KEYS", 0)  # the slow twin
    monkeypatch.setattr(gas_module, "worst_rank", lambda *_: np.inf)  # of all ranks
    slow = neural_gas(Y, n_centres, np.random.default_rng(0))
    assert_allclose(fast, slow, rtol=1e-8, atol=1e-10)


def test_the_gas_does_not_depend_on_its_start():
    worst = {"gas": 0.0, "kmeans": 0.0}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        Y = blobs(np.random.default_rng(0))
        gas = neural_gas(Y, 3, rng)
        plain = KMeans(3, init="random", n_init=1, random_state=seed).fit(Y).cluster_centers_
        for name, C in (("gas", gas), ("kmeans", plain)):
            worst[name] = max(worst[name], plain_error(Y, C, 2.0))
    best = KMeans(3, n_init=10, random_state=0).fit(blobs(np.random.default_rng(0)))
    assert worst["gas"] < 1.05 * plain_error(
        blobs(np.random.default_rng(0)), best.cluster_centers_, 2.0
    )


def test_landmarks_of_a_gas(rng):
    a = rng.uniform(0, np.pi, 150)
    Y = np.c_[np.cos(a), np.sin(a)]
    model = UnsupervisedKernelRegression(
        1, n_landmarks=Landmarks(15, "gas"), init="pca", random_state=0
    ).fit(Y)
    assert model.score(Y) > -0.01
