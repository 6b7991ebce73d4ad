"""Every verb of a manifold, on a map that a stranger wrote, and on ours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isthmus.kernels import Gaussian, Normalized, Spectrum
from isthmus.manifold import (
    PSOM,
    BaseLatentMap,
    Domain,
    ManifoldClassifier,
    MapValues,
    Search,
    SmoothPSOM,
    UnsupervisedKernelRegression,
    grid_points,
)
from isthmus.typing import provides


class Circle(BaseLatentMap):
    """The least that a manifold must say of itself: a circle whose radius is learned."""

    domain = Domain(0.0, 2 * np.pi, periodic=True)

    def fit(self, X, y=None):
        self.radius_, self.n_features_in_ = np.linalg.norm(X, axis=1).mean(), 2
        return self

    def evaluate(self, Z, jacobian=False):
        x, y = self.radius_ * np.cos(Z), self.radius_ * np.sin(Z)
        slopes = np.stack([-y, x], axis=1) if jacobian else None
        return MapValues(np.hstack([x, y]), slopes, np.ones(len(Z), dtype=bool))


class Arc(Circle):
    """A domain that ends, a limit of its own, starts of its own and a density."""

    domain = Domain(0.0, np.pi)

    def evaluate(self, Z, jacobian=False):
        return super().evaluate(Z, jacobian)._replace(feasible=Z[:, 0] <= 3.0)

    def starts(self):
        places = np.linspace(0.1, 2.9, 7)[:, None]
        return places, self.evaluate(places).values

    def sample_latent(self, n_samples, rng):
        return rng.uniform(0.0, 3.0, size=(n_samples, 1))


class Words(BaseLatentMap):
    """A line of words of two letters, which differ in how often they have the first."""

    domain = Domain(0.0, 1.0)

    def __init__(self, letters="ab"):
        self.letters = letters

    @property
    def provides(self):
        return frozenset({"transform", "inverse", "objects", "sequences"})

    def fit(self, X, y=None):
        self.length_ = max(map(len, X))
        return self

    def evaluate(self, Z, jacobian=False):
        values = self.length_ * np.hstack([Z, 1 - Z])
        slopes = self.length_ * np.tile([[1.0], [-1.0]], (len(Z), 1, 1)) if jacobian else None
        return MapValues(values, slopes, np.ones(len(Z), dtype=bool))

    def encode(self, X):
        return np.array([[word.count(letter) for letter in self.letters] for word in X], float)

    def decode(self, values):
        first, second = self.letters
        return [first * round(a) + second * round(b) for a, b in values]

    def encoding_error(self, X, codes):
        return (np.array([len(word) for word in X]) - codes.sum(axis=1)) ** 2


@pytest.fixture
def circle():
    return Circle().fit(2.0 * np.eye(2))


@pytest.fixture
def arc():
    return Arc().fit(np.eye(2))


def ring(t):
    return np.column_stack([np.cos(t), np.sin(t)])


def test_a_stranger_s_map_has_every_verb(circle):
    t = np.linspace(0.0, 6.2, 40)
    X = 3.0 * ring(t)
    assert_allclose(circle.transform(X)[:, 0], t, atol=1e-5)
    assert_allclose(circle.fit(X).transform(X).ravel(), t, atol=1e-5)
    assert_allclose(circle.reconstruct(2 * X), X, atol=1e-4)
    assert_allclose(circle.reconstruction_error(2 * X), 9.0)
    assert circle.score(2 * X) == pytest.approx(-9.0)
    assert_allclose(circle.inverse_transform(t[:, None] + 2 * np.pi), X)
    slopes = circle.jacobian(t[:, None])
    assert_allclose(slopes[:, :, 0], 3.0 * np.column_stack([-np.sin(t), np.cos(t)]), atol=1e-12)
    filled = circle.complete([[np.nan, 3.0], [3.0, np.nan], [1.0, 2.0]])
    assert_allclose(filled, [[0.0, 3.0], [3.0, 0.0], [1.0, 2.0]], atol=1e-4)
    assert provides(circle) == {"transform", "inverse", "vectors"}
    assert circle.get_feature_names_out().tolist() == ["circle0"]
    assert not hasattr(circle, "sample")


def test_a_stranger_s_map_is_a_part_like_ours():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6.28, size=60)
    radius = np.repeat([1.0, 2.0], 30)
    X = radius[:, None] * ring(t) + 0.01 * rng.normal(size=(60, 2))
    model = ManifoldClassifier(Circle()).fit(X, radius)
    assert model.score(X, radius) == 1.0
    assert clone(Circle()).get_params() == {}
    with pytest.raises(NotFittedError):
        Circle().transform(X)


def test_a_stranger_s_map_of_other_objects_has_the_verbs_too():
    words = ["abab", "aaab", "bbbb"]
    model = Words().fit(words)
    assert_allclose(model.transform(words), [[0.5], [0.75], [0.0]], atol=1e-6)
    assert model.inverse_transform([[0.25]]) == ["abbb"]
    assert model.reconstruct(["baba", "abcc"]) == ["aabb", "aabb"]
    assert_allclose(model.reconstruction_error(["baba", "abcc"]), [0.0, 6.0], atol=1e-9)
    assert_allclose(model.project(["abcc"]).error, [6.0])
    with pytest.raises(ValueError, match=r"Words\.complete needs rows of numbers"):
        model.complete(words)
    with pytest.raises(TypeError, match="collection of objects"):
        model.transform("abab")
    classifier = ManifoldClassifier(Words("ab")).fit([*words, "cc"], [0, 0, 0, 1])
    assert classifier.reconstruction_errors(words).shape == (3, 2)


def test_all_answers_are_told_and_the_first_is_taken(circle):
    found = circle.project([[1.0, np.nan], [0.0, 2.0]])
    assert_allclose(np.sort(found.ends[0, :, 0]), [np.pi / 3, 5 * np.pi / 3], atol=1e-6)
    assert_allclose(found.end_errors[0], 0.0, atol=1e-12)
    assert_allclose(found.ends[1], [[np.pi / 2], [np.nan]], atol=1e-6)
    assert found.end_errors[1, 1] == np.inf
    assert_array_equal(found.latent, found.ends[:, 0])
    assert found.reached.all()
    assert found.converged.all()
    assert_allclose(found.values, circle.inverse_transform(found.latent))
    filled = circle.complete([[1.0, np.nan]])
    assert_allclose(filled[0, 1], found.values[0, 1], atol=1e-9)


@pytest.mark.parametrize("angle", [0.9, 5.4])
def test_of_equal_answers_the_one_near_the_start_is_taken(circle, angle):
    asked = [[1.0, np.nan]]
    near = np.pi / 3 if angle < np.pi else 5 * np.pi / 3
    assert_allclose(circle.project(asked, start=[[angle]]).latent, [[near]], atol=1e-6)
    recalled = circle.complete(asked, start=[[angle]])
    assert_allclose(recalled, [[1.0, 2.0 * np.sin(near)]], atol=1e-6)
    assert_allclose(circle.transform([[2.0, 0.1]], start=[[-0.2]]), [[np.arctan(0.05)]], atol=1e-6)


def test_a_path_is_followed_over_the_border_of_a_period(circle):
    t = np.linspace(5.5, 7.0, 12)
    X = 2.0 * ring(t)
    asked = np.column_stack([X[:, 0], np.full(12, np.nan)])
    asked[0, 1] = X[0, 1]
    found = circle.complete(asked, start="previous")
    # Where the first component alone is known, the path may turn back at its largest value.
    assert_allclose(found[:6], X[:6], atol=1e-4)
    assert circle.project(X, start="previous").reached.all()


def test_weights_say_what_counts(circle):
    asked = [[3.0, 1.0]]
    light = circle.project(asked, weights=[1.0, 0.0])
    assert_allclose(light.values, [[2.0, 0.0]], atol=1e-4)
    assert_allclose(light.error, [1.0], atol=1e-6)
    even, heavy = (circle.project(asked, weights=[1.0, w]).values[0, 1] for w in (1.0, 9.0))
    assert abs(heavy - 1.0) < abs(even - 1.0)
    filled, error = circle.complete([[3.0, np.nan]], weights=[4.0, 1.0], return_error=True)
    assert_allclose(filled, [[3.0, 0.0]], atol=1e-4)
    assert_allclose(error, [4.0], atol=1e-6)


def test_limits_of_the_domain_and_of_the_map_are_kept(arc):
    below = ring(np.array([-0.3, -1.0]))
    assert_allclose(arc.transform(below), 0.0, atol=1e-12)
    assert arc.transform(ring(np.array([3.1])))[0, 0] <= 3.0
    assert_allclose(arc.inverse_transform([[-1.0]]), [[1.0, 0.0]])
    assert arc.sample(5, random_state=0).shape == (5, 2)
    assert_array_equal(arc.sample(5, random_state=0), arc.sample(5, random_state=0))


def test_single_precision_and_wrong_shapes(circle):
    X = np.float32(ring(np.array([1.0, 2.0])))
    assert circle.transform(X).dtype == np.float32
    assert circle.complete(X).dtype == np.float32
    with pytest.raises(ValueError, match=r"1 latent dimensions: expected an array of shape"):
        circle.inverse_transform([[0.0, 1.0]])
    with pytest.raises(ValueError, match="as many starts as rows: expected 2, got 1"):
        circle.project(X, start=[[0.0]])
    with pytest.raises(ValueError, match="contains NaN"):
        circle.transform([[np.nan, 1.0]])


def test_a_map_without_ends_must_name_its_starts():
    class Line(Circle):
        domain = Domain()

    with pytest.raises(NotImplementedError, match="Line must implement starts"):
        Line().fit(np.eye(2)).transform([[1.0, 0.0]])


@pytest.mark.parametrize(
    ("low", "high", "periodic", "message"),
    [(1.0, 0.0, False, "low < high"), (0.0, np.inf, True, "finite ends")],
)
def test_domains_that_make_no_sense(low, high, periodic, message):
    with pytest.raises(ValueError, match=message):
        Domain(low, high, periodic)


def test_differences_go_the_short_way_round():
    domain = Domain([0.0, 0.0], [1.0, 10.0], periodic=[True, False])
    assert_allclose(domain.difference(np.array([[0.9, 9.0]]), np.array([[0.1, 1.0]])), [[-0.2, 8]])
    assert_array_equal(domain.contains(np.array([[7.0, 5.0], [0.5, 11.0]])), [True, False])
    assert_allclose(domain.wrap(np.array([[7.25, 5.0]])), [[0.25, 5.0]])
    assert domain.lattice(2, 100).shape == (100, 2)


@pytest.mark.parametrize("bad", [{"n_init": 0}, {"max_iter": 2.5}, {"tol": -1.0}], ids=str)
def test_wrong_settings_of_a_search_are_named(bad):
    name = next(iter(bad))
    with pytest.raises((ValueError, TypeError), match=f"'{name}' parameter of Search"):
        PSOM(np.eye(3), search=Search(**bad)).fit()
    with pytest.raises(TypeError, match=r"an instance of Search or None. Got 5"):
        PSOM(np.eye(3), search=5).fit()


# Our members share the verbs and the meaning of every result. ------------------------------


def folded(t):
    """A curve that passes the same first component several times."""
    return np.column_stack([np.cos(t), np.sin(t), np.cos(3 * t)])


def our_maps():
    t = np.linspace(0, 5.6, 45)
    Y = folded(t)
    nodes = folded(grid_points((11,), bounds=(0.0, 5.6), basis="chebyshev")[:, 0])
    return {
        "ukr": UnsupervisedKernelRegression(
            1,
            init=np.linspace(-9, 9, 45)[:, None],
            density_kernel="gaussian",
            degree=1,
            max_iter=0,
            random_state=0,
        ).fit(Y),
        "psom": PSOM(nodes, grid=(11,), bounds=(0.0, 5.6), basis="chebyshev").fit(),
        "smooth": SmoothPSOM((11,), smoothness=1e-6, bounds=(0.0, 5.6)).fit(Y, latent=t[:, None]),
    }


@pytest.fixture(scope="module")
def maps():
    return our_maps()


@pytest.mark.parametrize("name", ["ukr", "psom", "smooth"])
def test_every_member_means_the_same(name, maps):
    model = maps[name]
    X = folded(np.linspace(0.4, 5.0, 12)) + 0.05
    latent, error = model.transform(X, return_error=True)
    images = model.inverse_transform(latent)
    squared = np.sum((images - X) ** 2, axis=1)
    assert_allclose(error, squared, rtol=1e-6)
    assert_allclose(model.reconstruction_error(X), squared, rtol=1e-6)
    assert_allclose(model.reconstruct(X), images, atol=1e-9)
    assert model.score(X) == pytest.approx(-squared.mean())
    found = model.project(X)
    assert_allclose(found.error, squared, rtol=1e-6)
    assert_allclose(found.latent, latent, atol=1e-9)
    gaps = np.where(np.arange(3) == 1, np.nan, X)
    filled, error = model.complete(gaps, weights=[1.0, 1.0, 0.5], return_error=True)
    projected = model.project(gaps, weights=[1.0, 1.0, 0.5])
    assert_allclose(filled[:, 1], projected.values[:, 1], atol=1e-9)
    assert_allclose(error, projected.error, atol=1e-12)
    errors = projected.end_errors
    assert np.all(errors[:, 1:] >= (1 - 1e-5) * errors[:, :-1] - 1e-10)
    path = model.complete(gaps, start="previous")
    assert_array_equal(path[:, [0, 2]], gaps[:, [0, 2]])
    assert not hasattr(model, "score_samples")


@pytest.mark.parametrize("name", ["ukr", "psom", "smooth"])
def test_gaps_are_filled_from_several_starts(name, maps):
    """Descent from the nearest start alone gets stuck for some of these rows."""
    model, rng = maps[name], np.random.default_rng(0)
    X = rng.uniform(-1.2, 1.2, size=(300, 3))
    X[::2, 1], X[1::2, 0] = np.nan, np.nan
    _, error = model.complete(X, return_error=True)
    places, images = model.starts()
    squared = np.nansum((model.encode(X)[:, None] - images) ** 2, axis=2)
    nearest = np.argsort(squared, axis=1)[:, : model.search_settings(gaps=True).n_init]
    ends = [model.complete(X, start=places[k], return_error=True)[1] for k in nearest.T]
    assert_allclose(error, np.min(ends, axis=0), rtol=1e-4, atol=1e-10)
    assert np.any(ends[0] > 1.2 * error + 1e-3)


def test_what_a_manifold_of_objects_provides():
    make = UnsupervisedKernelRegression
    assert provides(make()) == {"transform", "inverse", "vectors"}
    assert {"vectors", "transform"} <= provides(make(data_kernel=Gaussian(1.0)))
    words = provides(make(data_kernel=Normalized(Spectrum(2))))
    assert "sequences" in words
    assert "vectors" not in words
