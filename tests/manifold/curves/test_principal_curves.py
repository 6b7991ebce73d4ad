"""Principal curves: limiting cases, invariants, who follows what, and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.datasets import distance_to_manifold, make_half_circle, make_noisy_spiral
from isthmus.manifold import PrincipalCurve

METHODS = ("spline", "polygonal", "segments", "generative")


def circle(n=120, noise=0.03, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, size=n)
    return np.column_stack([np.cos(t), np.sin(t)]) + noise * rng.normal(size=(n, 2)), t


@pytest.mark.parametrize("method", METHODS)
def test_a_straight_line_is_its_principal_axis(method):
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 5, size=60))
    direction = np.array([0.6, 0.0, 0.8])
    Y = np.outer(t, direction) + [1.0, 2.0, 3.0]
    curve = PrincipalCurve(method, random_state=0).fit(Y)
    # Local axes end a little before the outermost rows.
    assert -curve.score(Y) < (1e-3 if method == "segments" else 1e-4) * np.sum(Y.var(axis=0))
    assert abs(np.corrcoef(curve.transform(Y)[:, 0], t)[0, 1]) > 0.999
    inside = np.linspace(0.2, 0.8, 5)[:, None] * curve.arc_lengths_[-1]
    tangent = curve.jacobian(inside)[:, :, 0]
    assert np.all(np.abs(tangent @ direction) > 0.98)


@pytest.mark.parametrize("method", METHODS)
def test_half_circle_is_followed(method):
    Y, angle = make_half_circle(100, noise=0.25, random_state=0)
    curve = PrincipalCurve(method, random_state=0).fit(Y)
    # Rows are 0.2 away on average, and the mean of many lies nearer.
    assert distance_to_manifold(curve.reconstruct(Y), "half_circle").mean() < 0.2
    assert abs(np.corrcoef(curve.embedding_[:, 0], angle)[0, 1]) > 0.99
    assert curve.arc_lengths_[-1] == pytest.approx(10 * np.pi, rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_spiral_is_followed_by_default(method):
    Y, t = make_noisy_spiral(200, noise=0.03, law="gaussian", random_state=0)
    curve = PrincipalCurve(method, random_state=0).fit(Y)
    points = curve.inverse_transform(np.linspace(0, curve.arc_lengths_[-1], 300)[:, None])
    assert distance_to_manifold(points, "spiral").mean() < 0.05
    assert abs(np.corrcoef(curve.embedding_[:, 0], t + t**2)[0, 1]) > 0.98  # the arc length


def test_the_published_start_fails_on_the_spiral():
    Y, _ = make_noisy_spiral(200, noise=0.03, law="gaussian", random_state=0)
    curve = PrincipalCurve(init="pca").fit(Y)
    points = curve.inverse_transform(np.linspace(0, curve.arc_lengths_[-1], 300)[:, None])
    assert distance_to_manifold(points, "spiral").mean() > 0.05
    assert curve.start_ == "pca"


@pytest.mark.parametrize("method", METHODS)
def test_closed_curves(method):
    Y, _ = circle()
    curve = PrincipalCurve(method, closed=True, random_state=0).fit(Y)
    assert curve.arc_lengths_[-1] == pytest.approx(2 * np.pi, rel=0.08)
    assert_allclose(curve.vertices_[0], curve.vertices_[-1])
    assert bool(curve.domain.periodic)
    length = curve.arc_lengths_[-1]
    assert_allclose(curve.inverse_transform([[0.3]]), curve.inverse_transform([[0.3 + length]]))
    ends = curve.inverse_transform(curve.project([[0.5, np.nan]]).ends[0, :2])
    assert_allclose(np.sort(ends[:, 1]), [-np.sqrt(0.75), np.sqrt(0.75)], atol=0.1)


def test_arc_lengths_are_distances_along_the_curve():
    Y, _ = make_half_circle(100, noise=0.25, random_state=1)
    curve = PrincipalCurve().fit(Y)
    x = np.linspace(0, curve.arc_lengths_[-1], 2000)[:, None]
    steps = np.linalg.norm(np.diff(curve.inverse_transform(x), axis=0), axis=1)
    assert_allclose(steps.sum(), curve.arc_lengths_[-1], rtol=1e-4)
    assert_allclose(np.linalg.norm(curve.jacobian(x)[:, :, 0], axis=1), 1.0)


def test_projection_is_the_nearest_point_and_agrees_with_the_search():
    Y, _ = make_half_circle(60, noise=0.5, random_state=2)
    curve = PrincipalCurve().fit(Y)
    x = np.linspace(0, curve.arc_lengths_[-1], 20_001)[:, None]
    P = curve.inverse_transform(x)
    slow = np.min(np.sum((Y[:, None] - P) ** 2, axis=2), axis=1)
    assert_allclose(curve.reconstruction_error(Y), slow, atol=1e-4)
    assert_allclose(curve.transform(Y), curve.project(Y).latent)
    again = curve.transform(Y, start=curve.transform(Y))
    assert_allclose(again, curve.transform(Y))
    path = curve.transform(P[::500], start="previous")
    assert_allclose(path, x[::500], atol=1e-6)


def test_rows_with_gaps_are_completed_exactly():
    Y, _ = make_half_circle(100, noise=0.1, random_state=3)
    curve = PrincipalCurve().fit(Y)
    filled, error = curve.complete([[6.0, np.nan], [np.nan, np.nan]], return_error=True)
    assert filled[0, 1] == pytest.approx(8.0, abs=0.2)
    assert filled[0, 0] == 6.0
    assert_allclose(error, 0.0, atol=1e-9)
    both = curve.project([[np.nan, 5.0]]).ends[0]
    assert_allclose(
        np.sort(curve.inverse_transform(both)[:, 0]), [-np.sqrt(75), np.sqrt(75)], atol=0.4
    )


@pytest.mark.parametrize("method", METHODS)
def test_units_and_rotations_do_not_matter(method):
    Y, _ = make_half_circle(60, noise=0.3, random_state=4)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    curve = PrincipalCurve(method, init="pca", random_state=0).fit(Y)
    other = PrincipalCurve(method, init="pca", random_state=0).fit(1000 * Y @ Q.T + 5)
    if method != "generative":  # whose variances belong to columns
        rotated = other.score(1000 * Y @ Q.T + 5) / 1e6
        assert rotated == pytest.approx(curve.score(Y), rel=1e-2)  # a descent ends within tol
    moved = PrincipalCurve(method, init="pca", random_state=0).fit(1000 * Y + 5)
    assert_allclose(moved.embedding_, 1000 * curve.embedding_, rtol=1e-5, atol=1e-2)


def test_the_number_of_segments_can_be_given():
    Y, _ = make_half_circle(100, noise=0.25, random_state=5)
    assert PrincipalCurve("polygonal", n_segments=5).fit(Y).n_segments_ == 5
    assert PrincipalCurve("segments", n_segments=4).fit(Y).n_segments_ == 7  # and three joints


def test_stiffness_can_be_given():
    Y, _ = make_half_circle(100, noise=0.25, random_state=6)
    stiff = PrincipalCurve(alpha=1e3, init="pca").fit(Y)
    loose = PrincipalCurve(alpha=1e-7, init="pca").fit(Y)
    assert stiff.alpha_ == 1e3
    assert loose.score(Y) > stiff.score(Y)


def test_density_of_the_generative_curve():
    Y, _ = make_half_circle(100, noise=0.5, random_state=7)
    curve = PrincipalCurve("generative", random_state=0).fit(Y)
    assert_allclose(curve.noise_variance_, 0.25, rtol=0.5)
    grid = np.stack(np.meshgrid(np.linspace(-15, 15, 301), np.linspace(-6, 15, 211)), -1)
    density = np.exp(curve.score_samples(grid.reshape(-1, 2)))
    assert density.sum() * 0.1 * 0.1 == pytest.approx(1.0, abs=0.01)
    assert not hasattr(PrincipalCurve("spline"), "score_samples")


def test_samples_lie_on_the_curve():
    Y, _ = circle()
    curve = PrincipalCurve(closed=True, random_state=0).fit(Y)
    drawn = curve.sample(50, random_state=0)
    assert_allclose(curve.reconstruction_error(drawn), 0.0, atol=1e-12)


def test_a_given_start_is_used():
    Y, t = make_noisy_spiral(150, noise=0.02, law="gaussian", random_state=8)
    curve = PrincipalCurve(init=t).fit(Y)
    assert curve.start_ == "given"
    assert abs(np.corrcoef(curve.embedding_[:, 0], t)[0, 1]) > 0.97
    with pytest.raises(ValueError, match="places in init"):
        PrincipalCurve(init=t[:-1]).fit(Y)


def test_single_precision_stays():
    Y = make_half_circle(50, noise=0.2, random_state=9)[0].astype(np.float32)
    curve = PrincipalCurve(random_state=0).fit(Y)
    assert curve.transform(Y).dtype == curve.embedding_.dtype == np.float32
    assert curve.reconstruct(Y).dtype == np.float32


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "circle"}, "method"),
        ({"n_segments": 0}, "n_segments"),
        ({"alpha": -1.0}, "alpha"),
        ({"init": "umap"}, "init"),
        ({"method": "polygonal", "closed": True, "n_segments": 2}, "at least 3"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        PrincipalCurve(**params).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="rows that differ"):
        PrincipalCurve().fit(np.ones((10, 2)))
