"""The gradient at exponents below 2, and the published algorithm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.dependence import distance_correlation
from isthmus.features import DistanceCorrelationReduction
from isthmus.features.distance_correlation.formulas import exact_reduction, joint_table, objective
from isthmus.features.distance_correlation.gradient import (
    alignment,
    free_reduction,
    linear_reduction,
    wanted_distances,
)
from isthmus.features.distance_correlation.pairs import PlainPairs, PowerPairs
from isthmus.features.distance_correlation.published import (
    AnchoredProblem,
    published_reduction,
    published_start,
)
from isthmus.features.distance_correlation.semi import (
    distance_gram,
    semi_correlation,
    semi_reduction,
)

EXPONENTS = [0.7, 1.0, 1.5]


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 4))
    Y = (X[:, :1] ** 2 + 0.1 * rng.normal(size=(60, 1))) * 2
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def both(X, Z, Y, exponent):
    return sum(distance_correlation(side, Z, exponent=exponent, squared=True) for side in (X, Y))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_value_is_the_sum_of_true_distance_correlations(table, rng, exponent):
    X, Y = table
    Z = rng.normal(size=(60, 3))
    value, _ = alignment(wanted_distances(X, Y, 0.5, exponent), exponent)(Z)
    assert_allclose(value, both(X, Z, Y, exponent), rtol=1e-8)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_gradient_is_that_of_the_value(table, rng, assert_gradient, exponent):
    X, Y = table
    f = alignment(wanted_distances(X, Y, 0.3, exponent), exponent)
    assert_gradient(lambda Z: f(Z)[0], lambda Z: f(Z)[1], rng.normal(size=(60, 3)), rng)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 9, 33, 126, 127, 128, 1030])
def test_passes_in_registers_are_those_of_any_exponent(rng, n):
    Z, S = rng.normal(size=(n, 3)), rng.normal(size=(n, n))
    Z[n // 2] = Z[0] + (n < 3)  # at no distance but the floor, if others are
    found, expected = PlainPairs(S), PowerPairs(S, 1.0)
    for start in (Z, Z[:, :1]):
        *sums, row_sums = found.sums(start)
        *wanted, wanted_rows = expected.sums(start)
        assert_allclose(sums, wanted, rtol=1e-12, atol=1e-10)
        assert_allclose(row_sums, wanted_rows, rtol=1e-12)
        slopes = expected.slopes(wanted_rows / n, 0.3, 0.4)
        assert_allclose(found.slopes(row_sums / n, 0.3, 0.4), slopes, rtol=1e-9, atol=1e-11 * n)


def test_only_what_is_below_the_diagonal_is_read(rng):
    S, Z = rng.normal(size=(20, 20)), rng.normal(size=(20, 2))
    found = [PlainPairs(np.tril(S)), PlainPairs(S)]
    sums = [pairs.sums(Z)[0] for pairs in found]
    assert sums[0] == sums[1]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_climb_starts_at_the_closed_form_and_never_falls(table, exponent):
    X, Y = table
    S = wanted_distances(X, Y, 0.5, exponent)
    found = free_reduction(S, exact_reduction(joint_table(X, Y, 0.5), 2).Z, exponent)
    assert np.all(np.diff(found.values) > -1e-9)
    assert found.values[-1] > found.values[0] + 1e-3
    assert_allclose(both(X, found.Z, Y, exponent), found.values[-1], rtol=1e-6)


def test_slope_along_a_linear_map_follows_the_chain_rule(table, rng, assert_gradient):
    X, Y = table
    f = alignment(wanted_distances(X, Y, 0.5, 1.0), 1.0)
    B = rng.normal(size=(4, 2))
    assert_gradient(lambda B: f(X @ B)[0], lambda B: X.T @ f(X @ B)[1], B, rng)


def test_linear_map_is_stationary_where_the_climb_ends(table, rng):
    X, Y = table
    S = wanted_distances(X, Y, 0.5, 1.0)
    B, found = linear_reduction(S, X, rng.normal(size=(4, 2)), 1.0, tol=1e-9)
    slope = X.T @ alignment(S, 1.0)(X @ B)[1]
    assert np.abs(slope).max() * np.abs(B).max() < 1e-4
    assert_allclose(both(X, X @ B, Y, 1.0), found.values[-1], rtol=1e-6)


def test_projection_by_true_distance_correlation_finds_what_correlation_cannot(rng):
    X = rng.normal(size=(300, 6))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=300)  # uncorrelated with every input
    model = DistanceCorrelationReduction(1, solver="gradient", mapping="linear", y_weight=1.0)
    b = model.fit(X, y).components_[0]
    assert abs(b[0]) > 0.99 * np.linalg.norm(b)


def test_planted_plane_is_found_within_ten_degrees(rng):
    X = rng.normal(size=(500, 10))
    y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=500)
    model = DistanceCorrelationReduction(2, solver="gradient", mapping="linear", y_weight=0.9)
    Q = np.linalg.qr(model.fit(X, y).components_.T)[0]
    cosines = np.linalg.svd(Q[:2], compute_uv=False)
    assert cosines.min() > np.cos(np.radians(15))
    assert cosines.max() > np.cos(np.radians(10))


def test_linear_map_needs_no_regression_and_is_exact(table):
    X, Y = table
    model = DistanceCorrelationReduction(2, solver="gradient", mapping="linear").fit(X, Y)
    assert model.regressor_ is None
    assert_allclose(model.transform(X), model.embedding_, atol=1e-12)


def test_gradient_on_landmarks_gives_all_rows_coordinates(rng):
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=150)
    model = DistanceCorrelationReduction(2, solver="gradient", n_landmarks=60, random_state=0)
    Z = model.fit_transform(X, y)
    assert model.embedding_.shape == (60, 2)
    assert Z.shape == (150, 2)
    assert np.abs(np.corrcoef(Z.T, y)[2, :2]).max() > 0.5


# The published algorithm ----------------------------------------------------------------


def test_published_start_has_one_dimension_less_than_it_should():
    assert np.linalg.matrix_rank(published_start(30, 5)) == 4


def test_surrogate_of_the_document_bounds_the_objective_from_above(table, rng):
    A = joint_table(*table, 0.5)
    M = rng.normal(size=(60, 2))
    M -= M.mean(axis=0)
    M /= (2 * np.linalg.norm(M.T @ M) ** 2) ** 0.25
    for _ in range(50):
        Z = rng.normal(size=(60, 2))
        Z -= Z.mean(axis=0)
        g = np.sqrt(2) * np.sum((A.T @ Z) ** 2) / (2 * np.sum((M.T @ Z) ** 2))
        assert g >= objective(A, Z)
    touching = np.sqrt(2) * np.sum((A.T @ M) ** 2) / (2 * np.sum((M.T @ M) ** 2))
    assert_allclose(touching, objective(A, M))


@pytest.mark.parametrize("theta", [0.0, 0.01, 1.0, 100.0])
def test_inner_step_never_raises_the_inner_objective(table, rng, theta):
    X, Y = table
    A = joint_table(X, Y, 0.5)
    M = published_start(60, 3)
    problem = AnchoredProblem(A, 2**0.25 * A, 2 * np.sum(X**2, axis=1) + 1e-6, M, 1.01, 1, 0.0)
    step = problem.step(theta)
    for _ in range(20):
        Z = rng.normal(size=(60, 3))
        assert problem.value(theta, step(Z)) <= problem.value(theta, Z) + 1e-9


def test_published_algorithm_stays_below_the_optimum_and_collapses(table):
    X, Y = table
    A = joint_table(X, Y, 0.5)
    found, trace = published_reduction(A, X, 3)
    assert max(trace.values) < exact_reduction(A, 3).values[-1]
    s = np.linalg.svd(found.Z, compute_uv=False)
    assert s[1] < 0.2 * s[0]


def test_published_solver_is_a_transformer_like_the_others(table):
    X, Y = table
    model = DistanceCorrelationReduction(2, solver="published").fit(X, Y)
    exact = DistanceCorrelationReduction(2).fit(X, Y)
    assert model.objective_ < exact.objective_
    assert model.transform(X).shape == (60, 2)


def test_semi_at_exponent_two_is_the_exact_solution(table):
    X, Y = table
    semi = semi_reduction(X, Y, 0.3, 2.0, 3)
    exact = exact_reduction(joint_table(X, Y, 0.3), 3)
    assert_allclose(semi.values, exact.values, rtol=1e-9)
    assert_allclose(np.abs(semi.Z), np.abs(exact.Z), atol=1e-8)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_semi_is_the_maximum_of_its_objective(table, rng, exponent):
    X, Y = table

    def value(Z):
        Z = Z - Z.mean(axis=0)
        shares = ((X, 0.6), (Y, 1.4))
        return sum(w * semi_correlation(side, Z, exponent) for side, w in shares)

    found = semi_reduction(X, Y, 0.7, exponent, 2)
    assert_allclose(value(found.Z), found.values[0], rtol=1e-9)
    for size in (1e-3, 0.1, 10.0):
        other = found.Z + size * rng.normal(size=found.Z.shape)
        assert value(other) < found.values[0]


def test_semi_sees_what_the_exact_one_does_not(table):
    X, Y = table  # the output is a square, which no correlation shows
    semi = DistanceCorrelationReduction(1, solver="semi", y_weight=0.8).fit(X, Y)
    exact = DistanceCorrelationReduction(1, solver="exact", y_weight=0.8).fit(X, Y)
    assert not hasattr(semi, "components_")
    with pytest.raises(AttributeError, match="solver='semi', mapping='auto': take transform"):
        semi.components_  # noqa: B018
    assert semi.objective_ > 0
    tie = [distance_correlation(Y, m.embedding_) for m in (semi, exact)]
    assert min(tie) > 0.9
    assert semi.x_correlation_ > semi_correlation(X, exact.embedding_, 1.0)
    assert semi.transform(X).shape == (60, 1)


def test_the_gram_matrix_of_distances_is_positive(table):
    for exponent in EXPONENTS:
        K = distance_gram(table[0], exponent)
        assert np.linalg.eigvalsh(K)[0] > -1e-9
        assert_allclose(K.sum(axis=0), 0, atol=1e-9)


def test_semi_refuses_exponent_two():
    with pytest.raises(ValueError, match="solver='semi'"):
        DistanceCorrelationReduction(1, solver="semi", exponent=2.0).fit(
            np.arange(12.0).reshape(6, 2) ** 1.5, np.arange(6.0)
        )
