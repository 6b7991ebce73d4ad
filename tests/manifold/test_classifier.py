"""One manifold per class."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from isthmus.manifold import ManifoldClassifier

RNG = np.random.default_rng(0)
LINES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def three_lines(n=40, noise=0.01):
    """Points on three lines through different places."""
    y = np.repeat([0, 1, 2], n)
    X = RNG.uniform(-1, 1, size=(3 * n, 1)) * LINES[y] + 0.5 * LINES[(y + 1) % 3]
    return X + noise * RNG.normal(size=X.shape), np.array(["a", "b", "c"])[y]


class Reconstructor(PCA):
    """Has a reconstruct of its own, which must be preferred."""

    def reconstruct(self, X):
        return self.inverse_transform(self.transform(X)) + 1.0


def test_error_is_the_squared_distance_to_the_manifold_of_the_class():
    X, y = three_lines()
    model = ManifoldClassifier(PCA(1)).fit(X, y)
    errors = model.reconstruction_errors(X)
    own = PCA(1).fit(X[y == "b"])
    expected = np.sum((X - own.inverse_transform(own.transform(X))) ** 2, axis=1)
    assert_allclose(errors[:, 1], expected, atol=1e-12)
    assert_allclose(model.decision_function(X), -errors)
    assert model.score(X, y) == 1.0


def test_two_classes_have_one_decision_value():
    X, y = three_lines()
    X, y = X[y != "c"], y[y != "c"]
    model = ManifoldClassifier(PCA(1)).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (len(X),)
    assert np.all((values > 0) == (model.predict(X) == "b"))


def test_reconstruct_is_used_where_it_exists():
    X, y = three_lines()
    model = ManifoldClassifier(Reconstructor(3)).fit(X, y)
    assert_allclose(model.reconstruction_errors(X), 3.0)


def test_a_class_does_not_change_the_manifold_of_another():
    X, y = three_lines()
    two = ManifoldClassifier(PCA(1)).fit(X[y != "c"], y[y != "c"])
    three = ManifoldClassifier(PCA(1)).fit(X, y)
    assert_allclose(three.reconstruction_errors(X)[:, :2], two.reconstruction_errors(X), atol=1e-12)


def test_the_prototype_is_not_fitted_itself():
    prototype = PCA(1)
    ManifoldClassifier(prototype).fit(*three_lines())
    assert not hasattr(prototype, "components_")


def test_no_probabilities_are_claimed():
    assert not hasattr(ManifoldClassifier(PCA(1)), "predict_proba")


def test_a_class_with_too_few_rows_is_named():
    X, y = three_lines()
    X, y = X[:82], y[:82]
    with pytest.raises(ValueError, match=r"class .*c.*2 rows, could not be fitted: n_components=3"):
        ManifoldClassifier(PCA(3)).fit(X, y)


def test_what_cannot_reconstruct_is_refused():
    with pytest.raises(TypeError, match="LinearRegression has none of them"):
        ManifoldClassifier(LinearRegression()).fit(*three_lines())


def test_curved_manifolds_tell_digits_apart():
    from isthmus.manifold import UnsupervisedKernelRegression

    X, y = load_digits(n_class=4, return_X_y=True)
    manifold = UnsupervisedKernelRegression(2, max_iter=50, random_state=0)
    model = ManifoldClassifier(manifold).fit(X[::4], y[::4])
    assert model.score(X[1::4], y[1::4]) > 0.95


def test_a_manifold_in_feature_space_measures_its_distances_there():
    from isthmus.kernels import Polynomial
    from isthmus.manifold import UnsupervisedKernelRegression

    X, y = load_digits(n_class=3, return_X_y=True)
    X = X / 16.0
    manifold = UnsupervisedKernelRegression(
        2, data_kernel=Polynomial(3, coef0=0.0), degree=0, max_iter=50, tol=0.05, random_state=0
    )
    model = ManifoldClassifier(manifold).fit(X[:240], y[:240])
    errors = model.reconstruction_errors(X[240:260])
    assert_allclose(errors[:, 1], model.manifolds_[1].reconstruction_error(X[240:260]))
    assert model.score(X[240:], y[240:]) > 0.95


class Teller(PCA):
    """Says itself how far rows are, which must be preferred."""

    def reconstruction_error(self, X):
        return np.full(len(X), 7.0)


def test_the_error_that_a_manifold_tells_is_used():
    X, y = three_lines()
    assert_allclose(ManifoldClassifier(Teller(1)).fit(X, y).reconstruction_errors(X), 7.0)


def test_objects_are_classified_through_the_kernel_of_the_manifold():
    from isthmus.kernels import Normalized, Spectrum
    from isthmus.manifold import UnsupervisedKernelRegression

    rng = np.random.default_rng(0)
    kernel, words = Normalized(Spectrum(2)), []
    while len(words) < 60:
        word = "".join(rng.choice(list("ab" if len(words) % 2 else "ac"), size=12))
        # Words with the same pairs of letters are the same to the kernel.
        if not words or kernel([word], words).max() < 1 - 1e-9:
            words.append(word)
    y = np.arange(60) % 2
    manifold = UnsupervisedKernelRegression(
        1, data_kernel=kernel, degree=0, tol=0.05, random_state=0
    )
    model = ManifoldClassifier(manifold).fit(words[:40], y[:40])
    assert model.score(words[40:], y[40:]) > 0.9
    with pytest.raises(ValueError, match="as many labels as objects: expected 40, got 39"):
        ManifoldClassifier(manifold).fit(words[:40], y[:39])
