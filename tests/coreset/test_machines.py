"""Core vector machines: equal to the machines they approximate, and honest about the gap."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR, OneClassSVM

from isthmus.coreset import (
    BallVectorSolver,
    CoreSetSolver,
    CoreVectorClassifier,
    CoreVectorOutlierDetector,
    CoreVectorRanker,
    CoreVectorRegressor,
    ImplicitSurface,
    MinimumEnclosingBall,
    solve_simplex,
)
from isthmus.coreset.regressor import _find_weight, _tube_bounds
from isthmus.kernels import Delta, DTWKernel, Gaussian, Spectrum, SpectrumRepair
from isthmus.reduction import compress

EXACT = {"solver": CoreSetSolver(epsilon=1e-10, max_core=None), "random_state": 0}


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(150, 4))
    return X, np.sign(X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=150))


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_a_linear_classifier_is_the_squared_hinge_machine(two_classes, C):
    X, y = two_classes
    ours = CoreVectorClassifier("linear", C=C, **EXACT).fit(X, y)
    theirs = LinearSVC(C=C / 2, intercept_scaling=1, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    # The optimum of the dual is one over twice that of the primal.
    slack = np.maximum(0, 1 - y * ours.decision_function(X))
    norm = theirs.coef_[0] @ theirs.coef_[0] + theirs.intercept_[0] ** 2
    assert ours.objective_[0] == pytest.approx(1 / (norm + C * slack @ slack), rel=1e-5)


@pytest.mark.parametrize("stop", ["relative", "radius"])
def test_the_gap_bounds_what_is_left(two_classes, stop):
    X, y = two_classes
    best = CoreVectorClassifier(Gaussian(0.2), **EXACT).fit(X, y).objective_[0]
    for epsilon in (0.5, 0.05, 0.005):
        solver = CoreSetSolver(epsilon=epsilon, stop=stop)
        near = CoreVectorClassifier(Gaussian(0.2), solver=solver, random_state=0).fit(X, y)
        assert -1e-12 <= near.objective_[0] - best <= near.gap_[0] + 1e-12
        if stop == "relative":
            assert near.gap_[0] <= epsilon * near.objective_[0] + 1e-12


def test_a_sampled_search_ends_as_accurate_as_an_exact_one(rng):
    X = rng.normal(size=(3000, 2))
    y = X[:, 0] * X[:, 1] > 0
    found = [
        CoreVectorClassifier(
            Gaussian(0.5), solver=CoreSetSolver(search=search), random_state=0
        ).fit(X, y)
        for search in ("exact", "sample")
    ]
    assert found[0].objective_[0] == pytest.approx(found[1].objective_[0], rel=0.06)
    assert found[1].gap_[0] <= 0.05 * found[1].objective_[0] + 1e-12
    assert found[1].score(X, y) > 0.97


def test_the_ball_vector_machine_comes_near_the_exact_ball(two_classes):
    X, y = two_classes
    radius = CoreSetSolver(stop="radius", epsilon=1e-6)
    exact = CoreVectorClassifier(Gaussian(0.2), solver=radius, random_state=0)
    small_steps = BallVectorSolver(epsilon=1e-3)
    ball = CoreVectorClassifier(Gaussian(0.2), solver=small_steps, random_state=0)
    agreement = np.mean(exact.fit(X, y).predict(X) == ball.fit(X, y).predict(X))
    assert agreement > 0.9
    with pytest.raises(ValueError, match="knows the radius beforehand only where"):
        CoreVectorClassifier("linear", solver="ball").fit(X, y)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_ball_vector_machine_separates_two_moons_at_its_default(seed):
    X, y = make_moons(400, noise=0.2, random_state=seed)
    model = CoreVectorClassifier(solver="ball", random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.9
    # Every point at 0.45 of the squared length or more: a gap of 1.1 times that length.
    assert model.gap_[0] <= 1.1 * model.objective_[0] * (1 + 1e-9)


def test_a_ball_too_coarse_for_a_machine_says_so():
    X, y = make_moons(400, noise=0.2, random_state=0)
    coarse = CoreVectorClassifier(solver=BallVectorSolver(epsilon=0.05), random_state=0)
    with pytest.warns(ConvergenceWarning, match="on the wrong side of their own machine"):
        coarse.fit(X, y)


def test_several_classes_are_told_apart_and_share_their_objects():
    X, y = load_iris(return_X_y=True)
    names = np.array(["s", "ve", "vi"])[y]
    model = CoreVectorClassifier(random_state=0).fit(X, names)
    assert model.score(X, names) > 0.95
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.decision_function(X).shape == (150, 3)
    calibrated = CalibratedClassifierCV(CoreVectorClassifier(random_state=0), cv=3).fit(X, names)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_weights_of_classes_move_the_boundary(rng):
    X = np.concatenate([rng.normal(size=(190, 1)), rng.normal(1.5, 1, size=(10, 1))])
    y = np.repeat([0, 1], [190, 10])
    plain = CoreVectorClassifier(C=1.0, random_state=0).fit(X, y)
    balanced = CoreVectorClassifier(C=1.0, class_weight="balanced", random_state=0).fit(X, y)
    assert np.mean(balanced.predict(X[y == 1])) > np.mean(plain.predict(X[y == 1]))


def test_objects_that_are_not_vectors_are_classified():
    words = ["up", "down", "up", "left", "down", "up"] * 3
    y = [word == "up" for word in words]
    assert CoreVectorClassifier(Delta(), random_state=0).fit(words, y).score(words, y) == 1


def test_a_gram_matrix_gives_what_its_kernel_gives(two_classes):
    X, y = two_classes
    kernel = Gaussian(0.2)
    one = CoreVectorClassifier(kernel, **EXACT).fit(X, y)
    other = CoreVectorClassifier("precomputed", **EXACT).fit(kernel(X), y)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(kernel(X)), atol=1e-5
    )


def test_a_linear_regressor_is_the_machine_with_its_tube(rng):
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=120)
    t = (y - y.mean()) / y.std()
    ours = CoreVectorRegressor("linear", C=5.0, **EXACT).fit(X, y)
    assert 0 < ours.tube_ <= 0.1 * y.std() + 1e-9
    theirs = LinearSVR(
        loss="squared_epsilon_insensitive",
        epsilon=ours.tube_ / y.std(),
        C=2.5,
        tol=1e-8,
        max_iter=1_000_000,
    ).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X) * y.std() + y.mean(), atol=2e-3)


@pytest.mark.parametrize("tube", [0.02, 0.3, 1.0])
def test_weights_that_are_surely_wrong_are_left_early_and_the_same_one_is_taken(
    rng, tube, monkeypatch
):
    X = rng.normal(size=(400, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=400)
    model = CoreVectorRegressor(tube=tube, solver=CoreSetSolver(epsilon=1e-4), random_state=0)
    early = clone(model).fit(X, y)
    monkeypatch.setattr("isthmus.coreset.regressor._is_decided", lambda *_: False)
    full = clone(model).fit(X, y)
    assert early.weight_ == full.weight_
    assert early.tube_ == pytest.approx(full.tube_, rel=0.02)
    assert early.objective_ == pytest.approx(full.objective_, abs=early.gap_ + full.gap_)
    np.testing.assert_allclose(early.predict(X), full.predict(X), atol=0.02 * y.std())


def test_the_tube_lies_within_its_bounds(rng):
    A = rng.normal(size=(30, 30))
    M, v, weight = A @ A.T / 30, rng.normal(size=30), 3.0

    def parts(alpha):
        quadratic, linear = alpha @ M @ alpha, v @ alpha
        slopes = 2 * M @ alpha + v
        return quadratic, quadratic + linear, float(slopes @ alpha - slopes.min())

    def width(quadratic, objective):
        return -0.5 * weight * (objective + quadratic)

    best = width(*parts(solve_simplex(M, v, tol=1e-13)[0])[:2])
    spans = []
    for tol in (1e6, 1.0, 0.1, 1e-3, 1e-8):
        found = parts(solve_simplex(M, v, tol=tol)[0])
        least, most = _tube_bounds(weight, *found)
        assert least - 1e-9 <= best <= most + 1e-9
        assert least <= width(*found[:2]) <= most
        spans.append(most - least)
    assert spans[-1] < 1e-2 * spans[0]


@pytest.mark.parametrize("search", ["exact", "sample"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_values_at_the_training_objects_are_those_of_the_function(rng, search, fit_intercept):
    X = rng.normal(size=(1200, 2))
    solver = CoreSetSolver(search=search, cache_size=0.1)
    model = CoreVectorRegressor(fit_intercept=fit_intercept, solver=solver, random_state=0)
    values = model._fitted_values(X, np.sin(X[:, 0]) + 2)
    np.testing.assert_allclose(values, model.predict(X), atol=1e-10)
    np.testing.assert_array_equal(
        model.predict(X), clone(model).fit(X, np.sin(X[:, 0]) + 2).predict(X)
    )


def test_where_no_weight_has_the_tube_the_last_program_is_solved_to_the_end():
    asked = []

    def solve(weight, wanted=None):
        asked.append((weight, wanted))
        return weight, 5.0 if weight < 10 else -1.0  # it jumps

    weight, found, _ = _find_weight(solve, 0.1, 1.0)
    assert found == weight
    assert asked[-1] == (weight, None)
    assert all(wanted == 0.1 for _, wanted in asked[:-1])


def test_without_a_tube_it_is_kernel_ridge_regression(rng):
    X = np.sort(rng.uniform(-3, 3, size=(60, 1)), axis=0)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    ours = CoreVectorRegressor(Gaussian(1.0), C=50.0, tube=0.0, **EXACT).fit(X, y)
    assert ours.tube_ < 0.01 * y.std()
    K = Gaussian(1.0)(X) + 1
    t = (y - y.mean()) / y.std()
    ridge = KernelRidge(alpha=1 / 50, kernel="precomputed").fit(K, t)
    assert np.abs(ours.predict(X) - (ridge.predict(K) * y.std() + y.mean())).max() < 0.05


def test_the_published_weight_cannot_follow_large_targets(rng):
    X = np.linspace(-3, 3, 50)[:, None]
    y = np.sinc(X[:, 0])
    published = CoreVectorRegressor(Gaussian(1.0), C=50.0, tube=None, weight=1.0, **EXACT)
    chosen = CoreVectorRegressor(Gaussian(1.0), C=50.0, **EXACT)
    assert published.fit(X, y).score(X, y) < 0.6 < 0.97 < chosen.fit(X, y).score(X, y)


def test_outliers_are_ranked_as_a_one_class_machine_ranks_them(rng):
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = 2 * np.c_[np.cos(angle), np.sin(angle)] + 0.1 * rng.normal(size=(300, 2))
    far = rng.uniform(-4, 4, size=(300, 2))
    truth = np.repeat([1, 0], 300)
    ours = CoreVectorOutlierDetector(Gaussian(1.0), random_state=0).fit(ring)
    theirs = OneClassSVM(gamma=1.0, nu=0.1).fit(ring)
    both = np.vstack([ring, far])
    mine = roc_auc_score(truth, ours.score_samples(both))
    assert mine > roc_auc_score(truth, theirs.score_samples(both)) - 0.01
    assert np.mean(ours.predict(ring) == -1) == pytest.approx(0.1, abs=0.01)


def test_the_published_offset_marks_all_support_vectors(rng):
    X = rng.normal(size=(200, 2))
    detector = CoreVectorOutlierDetector(Gaussian(0.5), contamination="auto", **EXACT).fit(X)
    marked = detector.predict(X) == -1
    assert marked[detector.support_].all()
    assert marked.sum() == len(detector.support_)


def test_a_small_cost_is_a_parzen_estimate(rng):
    X = rng.normal(size=(50, 2))
    detector = CoreVectorOutlierDetector(Gaussian(0.5), C=1e-6, **EXACT).fit(X)
    np.testing.assert_allclose(detector.dual_coef_, 1 / 50, rtol=1e-3)


def test_ranks_are_learned_within_groups(rng):
    X = rng.uniform(-1, 1, size=(60, 2))
    grades = np.round(3 * X[:, 0] + X[:, 1])
    groups = np.arange(60) % 3
    ranker = CoreVectorRanker(random_state=0).fit(X, grades + 10 * groups, groups=groups)
    new = rng.uniform(-1, 1, size=(200, 2))
    assert ranker.score(new, 3 * new[:, 0] + new[:, 1]) > 0.8
    with pytest.raises(ValueError, match="two objects of one group whose grades differ"):
        CoreVectorRanker().fit(X, np.ones(60))


def test_a_surface_is_zero_at_its_points_and_not_elsewhere():
    angles = np.linspace(0, 2 * np.pi, 150, endpoint=False)
    ellipse = np.c_[2 * np.cos(angles), np.sin(angles)]
    surface = ImplicitSurface(random_state=0).fit(ellipse)
    assert np.abs(surface.decision_function(ellipse)).max() < 0.1
    assert surface.decision_function([[4.0, 4.0]])[0] < -0.9
    with pytest.raises(ValueError, match="'widths' parameter of ImplicitSurface"):
        ImplicitSurface(widths=(1.0, -1.0)).fit(ellipse)


def test_core_vector_machines_can_be_compressed_further():
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = CoreVectorClassifier(random_state=0).fit(X, y)
    small = compress(model, 12)
    assert isinstance(small, CoreVectorClassifier)
    assert small.score(X, y) > model.score(X, y) - 0.03
    line = CoreVectorRegressor(random_state=0).fit(X, X[:, 0])
    assert compress(line, 10).predict(X).shape == (200,)


def test_comes_back_from_disk(two_classes, tmp_path):
    X, y = two_classes
    model = CoreVectorClassifier(random_state=0).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (CoreVectorClassifier(C=0.0), [0, 1, 0], "'C' parameter of CoreVectorClassifier"),
        (CoreVectorClassifier(), [1, 1, 1], "objects of at least 2 classes. Got 1 class"),
        (
            CoreVectorClassifier(solver=CoreSetSolver(epsilon=-1.0)),
            [0, 1, 0],
            "'epsilon' parameter of CoreSetSolver",
        ),
        (
            CoreVectorClassifier(solver=BallVectorSolver(max_iter=0)),
            [0, 1, 0],
            "'max_iter' parameter of BallVectorSolver",
        ),
        (CoreVectorClassifier(solver="qp"), [0, 1, 0], "'solver' parameter of CoreVectorCl"),
        (CoreVectorRegressor(solver="ball"), [0, 1, 0], "'solver' parameter of CoreVectorRe"),
        (CoreVectorRegressor(), [0, np.inf, 0], "inf"),
        (CoreVectorRegressor(tube=-1.0), [0, 1, 0], "'tube' parameter of CoreVectorRegressor"),
        (CoreVectorOutlierDetector(contamination=0.9), None, "'contamination' parameter"),
    ],
)
def test_refuses_by_name(model, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0], [2.0]], y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.parametrize("solver", ["core", "ball"])
def test_an_indefinite_gram_matrix_is_refused_with_a_cure(solver):
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    model = CoreVectorClassifier("precomputed", solver=solver, random_state=0)
    with pytest.raises(ValueError, match=r"CoreVectorClassifier is not positive.*SpectrumRepair"):
        model.fit(K, [0, 1, 1])
    assert not hasattr(model, "dual_coef_")


def test_a_kernel_of_series_that_is_none_is_refused_and_its_repair_taken(rng):
    series = [rng.normal(size=5 + i % 4) for i in range(40)]
    y = np.array([s.mean() for s in series])
    with pytest.raises(ValueError, match=r"CoreVectorRegressor is not positive semi-definite"):
        CoreVectorRegressor(DTWKernel(0.1), random_state=0).fit(series, y)
    repaired = CoreVectorRegressor(SpectrumRepair(DTWKernel(0.1)), random_state=0)
    assert repaired.fit(series, y).score(series, y) > 0.5


MACHINES = [
    CoreVectorClassifier(solver=CoreSetSolver(), random_state=0),
    CoreVectorRegressor(solver=CoreSetSolver(), random_state=0),
    CoreVectorOutlierDetector(solver=CoreSetSolver(), random_state=0),
    CoreVectorRanker(solver=CoreSetSolver(), random_state=0),
    MinimumEnclosingBall(solver=CoreSetSolver(), random_state=0),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
class TestEveryMachine:
    def test_names_what_is_wrong_with_its_objects(self, machine):
        y = np.arange(6) % 2
        with pytest.raises(ValueError, match="contains NaN"):
            clone(machine).fit(np.where(np.eye(6), np.nan, 1.0), y)
        with pytest.raises(ValueError, match="square Gram matrix"):
            clone(machine).set_params(kernel="precomputed").fit(np.ones((6, 2)), y)
        with pytest.raises(ValueError, match=r"got text, but its kernel .* compares vectors"):
            clone(machine).fit(["ab", "cd", "ab", "cd", "ab", "cd"], y)
        with pytest.raises(ValueError, match="'cache_size' parameter"):
            clone(machine).set_params(solver__cache_size=0.0).fit(np.ones((6, 2)), y)

    def test_its_values_are_those_of_its_expansion(self, machine, rng):
        X = rng.normal(size=(40, 2))
        fitted = clone(machine).fit(X, X[:, 0] > 0)
        value = np.asarray(fitted.expansion_(X))
        assert value.shape == (40, 1)
        K = fitted.kernel_(X, fitted.objects_)
        constant = getattr(fitted, "intercept_", 0.0)
        np.testing.assert_allclose(value[:, 0], K @ np.ravel(fitted.dual_coef_) + constant)
        assert "vectors" in fitted.provides
        twice = fitted.with_expansion(fitted.expansion_.then(2 * np.eye(1)))
        assert type(twice) is type(fitted)
        np.testing.assert_allclose(twice.dual_coef_, 2 * fitted.dual_coef_)
        np.testing.assert_allclose(fitted.expansion_(X), value)

    def test_takes_identical_points_and_text_with_a_kernel_for_it(self, machine):
        y = np.arange(6) % 2
        clone(machine).fit(np.ones((6, 2)), y)
        clone(machine).set_params(kernel=Spectrum(1)).fit(["aab", "bba"] * 3, y)

    def test_finds_the_same_with_little_memory(self, machine, rng):
        X = rng.normal(size=(300, 2))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        accurate = clone(machine).set_params(solver__epsilon=1e-6, solver__max_core=None)
        rich = clone(accurate).fit(X, y)
        poor = clone(accurate).set_params(solver__cache_size=0.01, solver__search="exact")
        poor.fit(X, y)
        objective = "radius_" if isinstance(machine, MinimumEnclosingBall) else "objective_"
        np.testing.assert_allclose(getattr(poor, objective), getattr(rich, objective), rtol=1e-3)


def test_a_pool_that_changes_ends_as_accurate_as_all_points(rng):
    X = rng.normal(size=(4000, 2))
    y = X[:, 0] * X[:, 1] > 0
    # Room for a thousand points at a time.
    little, exact = CoreSetSolver(cache_size=1.0, search="sample"), CoreSetSolver(search="exact")
    small = CoreVectorClassifier(Gaussian(0.5), solver=little, random_state=0).fit(X, y)
    every = CoreVectorClassifier(Gaussian(0.5), solver=exact, random_state=0).fit(X, y)
    assert small.gap_[0] <= 0.05 * small.objective_[0] + 1e-12
    assert small.objective_[0] == pytest.approx(every.objective_[0], rel=0.06)


def test_a_full_core_set_is_not_made_of_wrong_labels_alone(rng):
    X = rng.normal(size=(6000, 2))
    y = X[:, 0] * X[:, 1] > 0
    noisy = y ^ (rng.uniform(size=len(y)) < 0.05)
    model = CoreVectorClassifier(Gaussian(0.5), solver=CoreSetSolver(max_core=150), random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_core=150"):
        model.fit(X, noisy)
    assert model.score(X, y) > 0.85


def test_one_warning_tells_of_all_classes(rng):
    X = rng.normal(size=(300, 2))
    y = rng.integers(3, size=300)
    with pytest.warns(ConvergenceWarning, match="So have 2 other machines") as caught:
        CoreVectorClassifier(solver=CoreSetSolver(max_core=10), random_state=0).fit(X, y)
    assert len(caught) == 1


def test_ranks_of_a_few_hundred_rows_need_no_settings(rng):
    X = rng.normal(size=(300, 3))
    worth = np.sin(X[:, 0]) + X[:, 1]
    grades = np.digitize(worth + 0.3 * rng.normal(size=300), [-1, 0, 1])
    assert CoreVectorRanker(random_state=0).fit(X, grades).score(X, worth) > 0.7


def test_a_surface_knows_inside_from_outside_in_spite_of_noise(rng):
    def sphere(size):
        points = rng.normal(size=(size, 3))
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    cloud = sphere(800) * (1 + 0.01 * rng.normal(size=(800, 1)))
    new = sphere(1000) * rng.uniform(0.8, 1.2, size=(1000, 1))
    inside = np.linalg.norm(new, axis=1) < 1
    surface = ImplicitSurface(random_state=0).fit(cloud)
    assert np.mean((surface.decision_function(new) > 0) == inside) > 0.95


def test_the_regressor_and_the_surface_work_in_units_of_the_data(rng):
    X = rng.uniform(-2, 2, size=(80, 1))
    y = np.sin(2 * X[:, 0])
    here = CoreVectorRegressor(random_state=0).fit(X, y).predict(X)
    for scale in (1e-60, 1e60):
        there = CoreVectorRegressor(random_state=0).fit(X, scale * y).predict(X)
        np.testing.assert_allclose(there / scale, here, atol=1e-3)  # the accuracy of the solver
    angles = np.linspace(0, 2 * np.pi, 60)
    circle = np.c_[np.cos(angles), np.sin(angles)]
    values = ImplicitSurface(random_state=0).fit(circle).decision_function(circle)
    moved = 1e-60 * circle
    again = ImplicitSurface(random_state=0).fit(moved).decision_function(moved)
    np.testing.assert_allclose(again, values, atol=1e-3)


@pytest.mark.parametrize(
    ("scale", "lost"), [(1e7, "1/C vanishes"), (1e60, "1/C and the constant vanish")]
)
def test_a_linear_regression_tells_when_its_columns_are_too_large(rng, scale, lost):
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=200)
    model = CoreVectorRegressor("linear", random_state=0)
    # Raised as an error: what would follow takes long, and tells nothing.
    with pytest.raises(UserWarning, match=f"{lost} in rounding.*StandardScaler"):
        model.fit(scale * X, y)
    scaled = make_pipeline(StandardScaler(), model)
    assert scaled.fit(scale * X, y).score(scale * X, y) > 0.99
