"""Sufficient reduction: planted directions, and each criterion by its slow formula."""

import numpy as np
import pytest
from scipy import linalg

from isthmus.features import (
    GradientKernelReduction,
    LikelihoodAcquiredDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
)
from isthmus.features.sufficient.formulas import ascend, likelihood
from isthmus.features.sufficient.gradient import choose, output_features, slope_scatter
from isthmus.features.sufficient.slices import Slice, slice_labels, whiten

SLICED = (SlicedInverseRegression, SlicedAverageVariance, LikelihoodAcquiredDirections)
ALL = (*SLICED, GradientKernelReduction)


def worst_angle(B, d):
    """Largest angle in degrees between the span of the rows of B and the first d axes."""
    Q = np.linalg.qr(B.T)[0]
    return np.degrees(np.arccos(np.linalg.svd(Q[:d], compute_uv=False).min().clip(-1, 1)))


@pytest.mark.parametrize("kind", ALL)
def test_planted_direction_of_a_monotone_tie_is_found(rng, kind):
    X = rng.normal(size=(1000, 8)) @ np.diag(np.logspace(0, 2, 8))
    y = np.tanh(X[:, 0]) + 0.1 * rng.normal(size=1000)
    model = kind(1).fit(X, y)
    assert worst_angle(model.components_ * X.std(axis=0), 1) < 15
    assert abs(np.corrcoef(model.transform(X)[:, 0], X[:, 0])[0, 1]) > 0.95


@pytest.mark.parametrize("kind", ALL[1:])
def test_even_tie_is_found_by_variances_and_kernels(rng, kind):
    X = rng.normal(size=(1500, 8))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=1500)
    assert worst_angle(kind(1).fit(X, y).components_, 1) < 15


def test_even_tie_is_hidden_from_means_of_slices(rng):
    X = rng.normal(size=(1500, 8))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=1500)
    assert worst_angle(SlicedInverseRegression(1).fit(X, y).components_, 1) > 30


@pytest.mark.parametrize("kind", ALL)
def test_coordinates_do_not_depend_on_units_and_have_unit_variance(rng, kind):
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + X[:, 1] ** 2
    Z = kind(2).fit(X, y).transform(X)
    other = kind(2).fit(1e3 * X + 5, -7 * y + 1).transform(1e3 * X + 5)
    np.testing.assert_allclose(np.abs(Z), np.abs(other), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-10)


def plain_slices(y, n_slices):
    """Rows of slices of distinct outputs, by sorting."""
    return np.array_split(np.argsort(y), n_slices)


def test_inverse_regression_solves_its_generalized_eigenproblem(rng):
    X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 5))
    y = X[:, 0] + 0.5 * rng.normal(size=300)
    model = SlicedInverseRegression(2, n_slices=6, shrinkage=0.0).fit(X, y)
    C = X - X.mean(axis=0)
    means = [C[rows].mean(axis=0) for rows in plain_slices(y, 6)]
    between = sum(np.outer(m, m) / 6 for m in means)
    values, V = linalg.eigh(between, C.T @ C / 300)
    np.testing.assert_allclose(model.strengths_, values[::-1][:2], rtol=1e-8)
    for component, v in zip(model.components_, V.T[::-1], strict=False):
        cosine = component @ v / np.linalg.norm(component) / np.linalg.norm(v)
        assert abs(cosine) == pytest.approx(1, abs=1e-8)


def test_average_variance_solves_its_eigenproblem(rng):
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    y = X[:, 0] ** 2 + 0.5 * rng.normal(size=300)
    model = SlicedAverageVariance(2, n_slices=6, shrinkage=0.0).fit(X, y)
    C = X - X.mean(axis=0)
    root = linalg.inv(linalg.sqrtm(C.T @ C / 300).real)
    M = np.zeros((4, 4))
    for rows in plain_slices(y, 6):
        D = np.eye(4) - np.cov((C @ root)[rows].T, bias=True)
        M += D @ D / 6
    np.testing.assert_allclose(model.strengths_, np.linalg.eigvalsh(M)[::-1][:2], rtol=1e-6)


def test_likelihood_ends_no_lower_than_the_truth_and_its_starts(rng):
    X = rng.normal(size=(800, 6))
    y = X[:, 0] ** 2 + X[:, 1] + 0.2 * rng.normal(size=800)
    found = LikelihoodAcquiredDirections(2, shrinkage=0.0, tol=1e-9).fit(X, y)
    T, _ = whiten(X - X.mean(axis=0), 0.0)
    parts = plain_slices(y, 10)

    def value(B):
        """The criterion by determinants, with the whitened inputs."""
        B = np.linalg.qr(B)[0]
        covariances = [np.cov(T[rows].T, bias=True) for rows in parts]
        return -0.5 * np.mean([np.linalg.slogdet(B.T @ V @ B)[1] for V in covariances])

    assert found.objective_ >= value(np.eye(6)[:, :2]) - 1e-3
    for start in (SlicedInverseRegression, SlicedAverageVariance):
        B = start(2, shrinkage=0.0).fit(X, y).components_.T
        assert found.objective_ >= value(B) - 1e-3


def test_few_rows_within_slices_do_not_hide_an_even_tie(rng):
    # Covariances of slices that are shrunk as Ledoit and Wolf do come out as the identity here.
    X = rng.normal(size=(300, 8))
    y = X[:, 0] ** 2 + X[:, 1] + 0.2 * rng.normal(size=300)
    assert worst_angle(LikelihoodAcquiredDirections(2).fit(X, y).components_, 2) < 25


def test_likelihood_has_its_gradient(rng, assert_gradient):
    slices = [Slice(0.5, np.zeros(5), np.cov(rng.normal(size=(30, 5)).T)) for _ in range(2)]
    f = likelihood(slices)
    assert_gradient(lambda B: f(B)[0], lambda B: f(B)[1], rng.normal(size=(5, 2)), rng)


def test_ascent_over_spans_finds_leading_eigenvectors(rng):
    S = np.diag([5.0, 4.0, 1.0, 0.5])
    start = np.linalg.qr(rng.normal(size=(4, 2)))[0]
    end = ascend(lambda B: (np.trace(B.T @ S @ B), 2 * S @ B), start, max_iter=500, tol=1e-10)
    assert end.converged
    assert end.value == pytest.approx(9, rel=1e-6)
    np.testing.assert_allclose(end.B.T @ end.B, np.eye(2), atol=1e-10)


def test_scatter_of_slopes_is_the_formula_row_by_row(rng):
    X, Y = rng.normal(size=(15, 3)), rng.normal(size=(15, 1))
    R, width, alpha = output_features(Y), 1.3, 0.02
    squares = np.sum((X[:, None] - X) ** 2, axis=2)
    G = np.exp(-squares / (2 * width**2))
    inverse = np.linalg.inv(G + 15 * alpha * np.eye(15))
    M = np.zeros((3, 3))
    for i in range(15):
        D = (X - X[i]) * G[i][:, None] / width**2
        M += D.T @ inverse @ (R @ R.T) @ inverse @ D / 15
    np.testing.assert_allclose(slope_scatter(X, squares, R, width, alpha), M, rtol=1e-8)


def test_choice_is_that_of_leaving_rows_out_one_by_one(rng):
    X, targets = rng.normal(size=(25, 2)), rng.normal(size=(25, 3))
    targets[:, 0] += np.sin(X[:, 0])
    squares = np.sum((X[:, None] - X) ** 2, axis=2)
    errors = {}
    for width in (0.5, 2.0):
        G = np.exp(-squares / (2 * width**2))
        for alpha in (1e-3, 1e-1):
            left = []
            for i in range(25):
                rest = np.delete(np.arange(25), i)
                A = G[np.ix_(rest, rest)] + 25 * alpha * np.eye(24)
                left.append(targets[i] - G[i, rest] @ np.linalg.solve(A, targets[rest]))
            errors[width, alpha] = np.mean(np.square(left))
    chosen = choose(squares, targets, 1.0, (0.5, 2.0), (1e-3, 1e-1))
    assert (chosen.width, chosen.alpha) == min(errors, key=errors.__getitem__)
    assert chosen.error == pytest.approx(min(errors.values()), rel=1e-8)


def test_slices_keep_equal_outputs_together_and_do_not_depend_on_the_order(rng):
    y = rng.integers(0, 30, size=200).astype(float)[:, None]
    labels = slice_labels(y, 7)
    for value in np.unique(y):
        assert len(set(labels[y[:, 0] == value])) == 1
    order = rng.permutation(200)
    np.testing.assert_array_equal(slice_labels(y[order], 7), labels[order])
    assert labels.max() == 6
    assert slice_labels(np.array([[2.0], [5.0], [2.0]]), 10).tolist() == [0, 1, 0]


def test_several_outputs_are_cut_along_two_axes(rng):
    Y = rng.normal(size=(400, 2))
    labels = slice_labels(Y, 9)
    assert labels.max() == 8
    assert np.bincount(labels).min() > 30
    X = rng.normal(size=(400, 5))
    X[:, :2] = Y + 0.1 * rng.normal(size=(400, 2))
    assert worst_angle(SlicedInverseRegression(2, n_slices=16).fit(X, Y).components_, 2) < 15


@pytest.mark.parametrize("kind", ALL)
def test_words_are_labels(kind):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    words = np.array(["a", "b", "c"])[y]
    model = kind(2).fit(X, words)
    assert model.classes_.tolist() == ["a", "b", "c"]
    Z = model.transform(X)
    within = np.mean([Z[y == k].std(axis=0) for k in range(3)], axis=0)
    assert within.min() < 0.5  # classes are far apart along some coordinate


def test_more_directions_than_labels_allow_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.repeat(["a", "b"], 15)
    with pytest.raises(ValueError, match=r"n_components.*slices of y less one"):
        SlicedInverseRegression(2).fit(X, y)
    assert SlicedInverseRegression().fit(X, y).components_.shape == (1, 4)


def test_more_slices_are_made_for_more_directions(rng):
    X = rng.normal(size=(300, 13))
    assert SlicedInverseRegression(11).fit(X, X[:, 0]).components_.shape == (11, 13)


@pytest.mark.parametrize("kind", ALL)
def test_more_columns_than_rows(rng, kind):
    X = rng.normal(size=(40, 60))
    model = kind(1).fit(X, X[:, 0])
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("kind", ALL)
def test_constant_columns_and_outputs(rng, kind):
    X = np.column_stack([rng.normal(size=(50, 2)), np.ones(50)])
    assert kind(1).fit(X, X[:, 0]).components_[0, 2] == 0
    with pytest.raises(ValueError, match="needs y to vary"):
        kind(1).fit(X, np.ones(50))


def test_likelihood_that_has_not_settled_warns(rng):
    X = rng.normal(size=(200, 6))
    with pytest.warns(UserWarning, match="raise max_iter or tol"):
        LikelihoodAcquiredDirections(2, max_iter=1, tol=0.0).fit(X, X[:, 0] ** 2 + X[:, 1])


def test_rows_of_the_gradient_are_drawn_by_the_seed(rng):
    X = rng.normal(size=(200, 4))
    y = X[:, 0] ** 2
    a, b = (
        GradientKernelReduction(1, n_landmarks=60, random_state=0).fit(X, y).components_
        for _ in range(2)
    )
    np.testing.assert_array_equal(a, b)
    assert worst_angle(a, 1) < 30
