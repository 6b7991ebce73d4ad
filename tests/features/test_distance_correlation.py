"""Reduction by distance correlation: the closed form, its rivals, maps for new rows, bad input."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.datasets import is_available, load_boston
from isthmus.dependence import distance_correlation
from isthmus.features import DistanceCorrelationReduction
from isthmus.features.distance_correlation.formulas import (
    block_factors,
    column_products,
    column_ties,
    exact_of_products,
    exact_reduction,
    joint_table,
    largest_spread,
    monotone_reduction,
    objective,
    ties_of_weights,
)
from isthmus.features.distance_correlation.relevance import (
    GAUSSIANS,
    RelevanceRidge,
    column_weights,
)
from isthmus.features.distance_correlation.tables import standardize
from isthmus.regression import KernelRidgeCV


@pytest.fixture
def table(rng):
    """Eighty rows of five inputs and two outputs that depend on them, centred and read-only."""
    X = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2]] + 0.1 * rng.normal(size=(80, 2))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def both(X, Z, Y, exponent=2):
    return sum(distance_correlation(side, Z, exponent=exponent, squared=True) for side in (X, Y))


# The closed form ------------------------------------------------------------------------


def test_objective_is_the_sum_of_two_squared_distance_correlations(table, rng):
    X, Y = table
    Z = rng.normal(size=(80, 3))
    value = objective(joint_table(X, Y, 0.5), Z - Z.mean(axis=0))
    assert_allclose(value, both(X, Z, Y), rtol=1e-12)


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.9])
def test_weight_is_the_share_of_the_outputs(table, rng, weight):
    X, Y = table
    Z = rng.normal(size=(80, 2))
    of_x, of_y = (distance_correlation(t, Z, exponent=2, squared=True) for t in table)
    value = objective(joint_table(X, Y, weight), Z - Z.mean(axis=0))
    assert_allclose(value, 2 * (1 - weight) * of_x + 2 * weight * of_y, rtol=1e-12)


def test_value_of_one_component_is_the_largest_eigenvalue(table):
    A = joint_table(*table, 0.5)
    assert_allclose(exact_reduction(A, 1).values[-1], np.linalg.norm(A, 2) ** 2, rtol=1e-12)


def test_all_components_reach_the_bound(table):
    X, Y = table
    found = exact_reduction(joint_table(X, Y, 0.5), 7)
    rv = distance_correlation(X, Y, exponent=2, squared=True)
    assert_allclose(found.values[-1], np.sqrt(2 * (1 + rv)), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3])
def test_no_random_search_or_quasi_newton_method_gets_above_the_closed_form(table, rng, d):
    A = joint_table(*table, 0.5)
    best = exact_reduction(A, d).values[-1]

    def negative(z):
        Z = z.reshape(-1, d)
        Z = Z - Z.mean(axis=0)
        N, M = np.sum((A.T @ Z) ** 2), Z.T @ Z
        h = np.linalg.norm(M)
        return -N / h, -(2 * A @ (A.T @ Z) / h - 2 * N / h**3 * Z @ M).ravel()

    options = {"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-10}
    start = rng.normal(size=80 * d)
    found = minimize(negative, start, jac=True, method="L-BFGS-B", options=options)
    assert best >= -found.fun - 1e-12
    assert_allclose(-found.fun, best, rtol=1e-9)


def test_monotone_iteration_never_descends_and_reaches_the_closed_form(table, rng):
    A = joint_table(*table, 0.5)
    found = monotone_reduction(A, 3, rng, tol=1e-14)
    assert np.all(np.diff(found.values) > -1e-14)
    assert_allclose(found.values[-1], exact_reduction(A, 3).values[-1], rtol=1e-8)
    assert_allclose(objective(A, found.Z), found.values[-1], rtol=1e-10)


def test_wide_and_long_tables_take_different_paths_to_the_same_coordinates(rng):
    X, Y = rng.normal(size=(30, 40)), rng.normal(size=(30, 1))
    A = joint_table(X - X.mean(axis=0), Y - Y.mean(axis=0), 0.5)
    wide = exact_reduction(A, 4)
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    assert_allclose(np.abs(wide.Z), np.abs(U[:, :4] * s[:4]), atol=1e-10)
    padded = np.vstack([A, np.zeros((60, A.shape[1]))])  # rows of zeros change no product
    assert_allclose(exact_reduction(padded, 4).Z[:30], wide.Z, atol=1e-8)


def test_products_of_columns_give_the_closed_form_without_another_pass(table):
    X, Y = table
    products = column_products(X, Y)
    A = joint_table(X, Y, 0.3)
    assert_allclose(joint_table(X, Y, 0.3, products), A)
    f = np.repeat(block_factors(X, Y, 0.3, products), (X.shape[1], Y.shape[1]))
    assert_allclose(f[:, None] * products.all * f, A.T @ A, atol=1e-12)
    wide = column_products(X[:5], Y[:5])  # fewer rows than columns: norms alone
    assert wide.all is None
    assert_allclose(wide.norms[0], np.linalg.norm(X[:5].T @ X[:5]))


def test_closed_form_without_the_joint_table_is_that_of_the_table(table):
    X, Y = table
    products = column_products(X, Y)
    slow = exact_reduction(joint_table(X, Y, 0.3), 3)
    found = exact_of_products(X, Y, 0.3, 3, products)
    assert_allclose(found.Z, slow.Z, atol=1e-10)
    assert_allclose(found.loadings, slow.loadings, atol=1e-10)
    assert_allclose(found.values, slow.values)
    scatters = X.T @ X, Y.T @ Y
    assert_allclose(column_products(X, Y, scatters).all, products.all, atol=1e-12)
    factors = np.repeat(block_factors(X, Y, 0.3), (X.shape[1], Y.shape[1]))
    W = factors[:, None] * slow.loadings
    ties = ties_of_weights(W, X.shape[1], products)
    assert_allclose(ties, [column_ties(X, slow.Z), column_ties(Y, slow.Z)], atol=1e-10)
    assert_allclose(largest_spread(slow.Z + 3), slow.Z.std(axis=0).max())


def test_standardized_columns_come_with_their_products(rng):
    X = rng.normal(size=(40, 5)) * [1, 10, 0, 0.1, 1e-3] + 100
    table = standardize(None, X, "X", scale=True)
    kept = [0, 1, 3, 4]
    slow = StandardScaler().fit_transform(X[:, kept])
    assert_allclose(table.values[:, kept], slow, atol=1e-8)
    assert not table.values[:, 2].any()
    assert_allclose(table.scatter, table.values.T @ table.values, atol=1e-8)
    wide = standardize(None, X[:4], "X", scale=True)
    assert wide.scatter is None
    assert_allclose(wide.values[:, kept], StandardScaler().fit_transform(X[:4, kept]), atol=1e-8)


def test_equal_eigenvalues_are_announced():
    X = np.kron(np.eye(2), np.array([[1.0], [-1.0]]))
    with pytest.warns(UserWarning, match="not unique: components 1 and 2"):
        exact_reduction(X, 1)


def test_order_of_rows_and_units_of_columns_do_not_matter(table, rng):
    X, Y = table
    order = rng.permutation(80)
    one = DistanceCorrelationReduction(3).fit(X, Y)
    shuffled = DistanceCorrelationReduction(3).fit(X[order] * 3 + 7, Y[order] * 0.1 - 2)
    assert_allclose(shuffled.objective_, one.objective_, rtol=1e-10)
    assert_allclose(shuffled.embedding_, one.embedding_[order], atol=1e-7)


def test_no_other_coordinates_are_better(table):
    X, Y = table
    best = DistanceCorrelationReduction(2, standardize=False).fit(X, Y).objective_
    for peer in (PCA(2).fit_transform(X), PLSRegression(2).fit(X, Y).transform(X)):
        assert both(X, peer, Y) < best


def test_weight_zero_is_principal_components(table):
    X, Y = table
    ours = DistanceCorrelationReduction(2, y_weight=0.0, standardize=False).fit(X, Y)
    Z = PCA(2).fit_transform(X)
    assert_allclose(np.abs(ours.transform(X)), np.abs(Z) / Z.std(axis=0).max(), atol=1e-8)


@pytest.mark.skipif(not is_available("boston"), reason="needs Boston housing of ISTHMUS_DATA")
def test_values_on_boston_housing_are_the_known_ones():
    data = load_boston()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    A = joint_table(X, data.y[:, None] - data.y.mean(), 0.5)
    found = [exact_reduction(A, d).values[-1] for d in (2, 3, 5, 7, 9, 11, 14)]
    assert_allclose(found, [1.6451, 1.6582, 1.6693, 1.6743, 1.6768, 1.6776, 1.6780], atol=5e-5)


# Maps -----------------------------------------------------------------------------------


class Oracle(LinearRegression):
    """Knows the outputs of the rows it is asked about: they are its last inputs."""

    def fit(self, X, y):
        self.n_outputs = 1 if y.ndim == 1 else y.shape[1]
        return self

    def predict(self, X):
        return X[:, -self.n_outputs :]


def test_analytic_map_with_true_outputs_gives_the_optimal_coordinates(table):
    X, Y = table
    XY = np.c_[X, Y]
    reduction = DistanceCorrelationReduction(3, regressor=Oracle()).fit(XY, Y)
    assert_allclose(reduction.transform(XY), reduction.embedding_, atol=1e-10)


def test_monotone_iteration_has_the_analytic_map_too(table):
    X, Y = table
    XY = np.c_[X, Y]
    mm = DistanceCorrelationReduction(
        3, solver="mm", regressor=Oracle(), tol=1e-13, random_state=0
    ).fit(XY, Y)
    assert_allclose(mm.transform(XY), mm.embedding_, atol=1e-8)
    exact = DistanceCorrelationReduction(3, regressor=Oracle()).fit(XY, Y)
    assert_allclose(mm.objective_, exact.objective_, rtol=1e-8)


def test_fewer_components_are_the_first_of_more(table):
    X, Y = table
    five = DistanceCorrelationReduction(5).fit(X, Y)
    two = DistanceCorrelationReduction(2).fit(X, Y)
    cut = five.at_components(2)
    assert_allclose(cut.transform(X[:9]), two.transform(X[:9]), atol=1e-8)
    assert_allclose(cut.objective_, two.objective_, rtol=1e-10)
    assert five.transform(X[:9]).shape == (9, 5)


def test_only_nested_solutions_are_cut(table):
    learned = DistanceCorrelationReduction(3, mapping="learned").fit(*table)
    with pytest.raises(ValueError, match="Only exact solutions with an analytic map are nested"):
        learned.at_components(2)


def test_cross_fitted_coordinates_do_not_know_the_outputs_of_their_fold(table, rng):
    X, _ = table
    noise = rng.normal(size=80)  # nothing to learn
    reduction = DistanceCorrelationReduction(2, crossfit=5)
    honest = reduction.fit_transform(X, noise)
    assert np.abs(np.corrcoef(reduction.embedding_.T, noise)[2, :2]).max() > 0.5
    assert np.abs(np.corrcoef(honest.T, noise)[2, :2]).max() < 0.35


def test_cross_fitting_predicts_each_fold_from_the_others(table):
    X, Y = table
    reduction = DistanceCorrelationReduction(2, regressor=LinearRegression(), crossfit=4)
    Z = reduction.fit_transform(X, Y)
    scaled = [(t - t.mean(axis=0)) / t.std(axis=0) for t in (X, Y)]
    predicted = np.empty_like(Y)
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        model = LinearRegression().fit(scaled[0][train], scaled[1][train])
        predicted[test] = model.predict(scaled[0][test])
    expected = scaled[0] @ reduction.components_.T + predicted @ reduction.output_components_.T
    assert_allclose(Z, expected, atol=1e-10)


def test_columns_that_were_constant_have_no_say_later(table):
    X, Y = table
    widened = np.c_[X, np.full(80, 3.0)]
    reduction = DistanceCorrelationReduction(2).fit(widened, Y)
    new = widened[:5].copy()
    new[:, -1] = 1e6
    assert_array_equal(reduction.transform(new), reduction.transform(widened[:5]))


def test_many_rows_are_handled_by_landmarks(monkeypatch, table):
    from isthmus.features.distance_correlation import relevance

    X, Y = table
    reduction = DistanceCorrelationReduction(2)
    all_rows = reduction.fit_transform(X, Y)
    monkeypatch.setattr(relevance, "MAX_ROWS", 60)
    monkeypatch.setattr(relevance, "N_LANDMARKS", 40)
    Z = reduction.fit_transform(X, Y)
    assert reduction.regressor_.model_.n_landmarks == 40
    assert np.corrcoef(Z[:, 0], all_rows[:, 0])[0, 1] > 0.9


def test_regression_inside_finds_the_column_that_matters(rng):
    X = rng.normal(size=(150, 25))
    y = np.cos(2 * X[:, 3]) + 0.1 * rng.normal(size=150)
    model = DistanceCorrelationReduction(2).fit(X[:100], y[:100])
    assert model.regressor_.scale_.argmax() == 3
    t = (y - y[:100].mean()) / y[:100].std()
    scaled = (X - X[:100].mean(axis=0)) / X[:100].std(axis=0)
    alike = RelevanceRidge(powers=(0.0,)).fit(scaled[:100], t[:100])
    ours, theirs = (m.score(scaled[100:], t[100:]) for m in (model.regressor_, alike))
    assert ours > 0.8 > theirs


def test_without_a_power_the_regression_inside_is_plain_kernel_ridge(rng):
    X = rng.normal(size=(50, 3))
    plain = KernelRidgeCV(GAUSSIANS, alpha=RelevanceRidge().alpha).fit(X, X[:, 0])
    ours = RelevanceRidge(powers=(0.0,)).fit(X, X[:, 0])
    assert_allclose(ours.predict(X), plain.predict(X))
    assert_allclose(ours.settled().fit(X, X[:, 0]).predict(X), plain.predict(X))


def test_columns_without_any_tie_count_alike(rng):
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    weights, tied = column_weights(X, np.ones(4))
    assert_allclose(weights, 1.0)
    assert not tied.any()


def test_labels_count_as_equal_or_different():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    words = DistanceCorrelationReduction(2).fit(X, names)
    numbers = DistanceCorrelationReduction(2, labels=True).fit(X, y)
    one_hot = DistanceCorrelationReduction(2).fit(X, np.eye(3)[y])
    assert_array_equal(words.classes_, np.unique(names))
    assert_allclose(words.embedding_, numbers.embedding_)
    assert_allclose(words.embedding_, one_hot.embedding_, atol=1e-6)  # classes of equal size
    assert DistanceCorrelationReduction(2).fit(X, y).classes_ is None


def test_works_in_a_pipeline_under_cross_validation(rng):
    X = rng.normal(size=(150, 4))
    y = np.cos(2 * X[:, 0]) + 0.1 * rng.normal(size=150)  # hardly a line in it
    model = make_pipeline(DistanceCorrelationReduction(3), LinearRegression())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.5
    assert cross_val_score(LinearRegression(), X, y, cv=3).mean() < 0.1


def test_model_comes_back_from_disk(table, tmp_path):
    X, Y = table
    model = DistanceCorrelationReduction(2).fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    again = joblib.load(tmp_path / "model")
    assert_array_equal(again.transform(X), model.transform(X))
    assert list(again.get_feature_names_out()) == [
        "distancecorrelationreduction0",
        "distancecorrelationreduction1",
    ]


# Bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_components": 8},
            r"'n_components' .* int in \[1, 7\] \(columns of X and y, rows - 1\)",
        ),
        ({"n_components": 0}, r"'n_components' .* Got 0 instead"),
        ({"solver": "best"}, "'solver' .* one of 'exact', 'semi', 'mm', 'gradient', 'published'"),
        ({"y_weight": 1.5}, "'y_weight' .* Got 1.5 instead"),
        ({"solver": "gradient", "exponent": 2}, "closed form"),
        ({"solver": "gradient", "exponent": 0}, "'exponent'"),
        ({"mapping": "linear"}, "'linear' needs 'gradient'"),
        ({"solver": "gradient", "mapping": "analytic"}, "'analytic' needs 'exact' or 'mm'"),
        ({"labels": "yes"}, "'labels' .* True or False or 'auto'"),
        ({"solver": "published", "n_components": 1}, "at least 2"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_fitted(table, parameters, message):
    model = DistanceCorrelationReduction(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*table)
    assert not hasattr(model, "embedding_")
    assert not hasattr(model, "regressor_")


def test_folds_are_checked(table):
    with pytest.raises(ValueError, match=r"'crossfit' .* Got 1 instead"):
        DistanceCorrelationReduction(crossfit=1).fit_transform(*table)


@pytest.mark.parametrize("side", [0, 1])
def test_constant_side_is_refused(table, side):
    sides = list(table)
    sides[side] = np.full_like(sides[side], 0.1)
    with pytest.raises(ValueError, match=f"needs {'Xy'[side]} to vary"):
        DistanceCorrelationReduction().fit(*sides)


def test_labels_of_another_length_are_refused(table):
    with pytest.raises(ValueError, match="expected 80, got 2"):
        DistanceCorrelationReduction().fit(table[0], ["a", "b"])


def test_too_few_steps_are_announced(table):
    with pytest.warns(ConvergenceWarning, match="solver='mm' did not reach tol=1e-15 in 2 iter"):
        DistanceCorrelationReduction(solver="mm", max_iter=2, tol=1e-15, random_state=0).fit(*table)
