"""Checks that every pre-image passes, then what is particular to each."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import KNeighborsRegressor

from isthmus.features import KernelPCA
from isthmus.kernels import Delta, Exponential, Gaussian, Laplacian, Linear, Polynomial
from isthmus.preimage import (
    AnalyticPreimage,
    CandidatePreimage,
    ConstrainedPreimage,
    FixedPointPreimage,
    GradientPreimage,
    LearnedPreimage,
    NeighborPreimage,
)
from isthmus.preimage.vectors.fixed_point import (
    _gaussian_sums,
    _weighted_sums,
    weighted_mean_iteration,
)
from isthmus.preimage.vectors.gradient import coordinate_distance, full_distance


class IntoUnitSquare:
    """A projection whose name is the same in every process."""

    def __call__(self, Z):
        return np.clip(Z, 0.0, 1.0)

    def __repr__(self):
        return "IntoUnitSquare()"


# Each with a kernel that it can invert.
CASES = [
    (GradientPreimage(), Gaussian(20.0)),
    (GradientPreimage(), Polynomial(3)),
    (GradientPreimage("coord"), Gaussian(20.0)),
    (FixedPointPreimage(), Gaussian(20.0)),
    (FixedPointPreimage(criterion="full"), Gaussian(10.0) + Gaussian(30.0)),
    (NeighborPreimage(), Gaussian(20.0)),
    (NeighborPreimage(3), Polynomial(3)),
    (NeighborPreimage(5, distance="coordinates"), Gaussian(20.0)),
    (LearnedPreimage(), Gaussian(20.0)),
    (LearnedPreimage(alpha=1e-12), Laplacian(1.0)),
    (CandidatePreimage(), Gaussian(20.0)),
    (CandidatePreimage(criterion="full"), Gaussian(20.0)),
    (ConstrainedPreimage(), Gaussian(20.0)),
    (ConstrainedPreimage((0.0, 1.0)), Polynomial(3)),
    (ConstrainedPreimage(IntoUnitSquare()), Gaussian(20.0)),
    (AnalyticPreimage(), Linear()),
    (AnalyticPreimage(), Polynomial(3)),
    (AnalyticPreimage(), Exponential(1.0)),
]
EXACT = [c for c in CASES if not isinstance(c[0], LearnedPreimage)]


@pytest.mark.parametrize(("preimage", "kernel"), CASES, ids=repr)
class TestEveryPreimage:
    def test_the_preimage_of_a_training_object_is_that_object(self, preimage, kernel, points):
        pca = KernelPCA(kernel=kernel).fit(points)
        found = clone(preimage).fit(points, pca).solve(pca.transform(points))
        assert_allclose(found, points, atol=1e-3)

    def test_many_at_once_are_the_same_as_one_by_one(self, preimage, kernel, points, rng):
        pca = KernelPCA(4, kernel=kernel) if kernel != Linear() else KernelPCA(kernel=kernel)
        C = pca.fit_transform(points)
        solver = clone(preimage).fit(points, pca)
        # Points between images of training objects: no exact pre-image exists.
        queries = 0.5 * (C[:6] + C[6:12])
        together = solver.solve(queries)
        alone = np.vstack([solver.solve(q[None]) for q in queries])
        assert_allclose(together, alone, atol=2e-4)

    def test_blocks_of_queries_change_nothing(self, preimage, kernel, points, monkeypatch):
        pca = KernelPCA(kernel=kernel).fit(points)
        solver = clone(preimage).fit(points, pca)
        queries = pca.transform(points)
        whole = solver.solve(queries)
        monkeypatch.setattr("isthmus.preimage.base.QUERY_BYTES", 1)
        assert_allclose(solver.solve(queries), whole, atol=1e-6)

    def test_objective_is_small_at_the_solution(self, preimage, kernel, points):
        pca = KernelPCA(kernel=kernel).fit(points)
        solver = clone(preimage).fit(points, pca)
        C = pca.transform(points[:5])
        assert solver.objective(C, solver.solve(C)).max() < 1e-4
        assert solver.objective(C, points[5:10]).min() > 1e-4

    def test_single_precision_is_enough(self, preimage, kernel, points):
        if getattr(preimage, "alpha", None) == 1e-12:
            return  # a penalty below the rounding errors of single precision
        X = points.astype(np.float32)
        pca = KernelPCA(4, kernel=kernel) if kernel != Linear() else KernelPCA(kernel=kernel)
        C = pca.fit_transform(X)
        # Not halfway, where both ends are equally near and rounding says which is the nearest.
        queries = 0.6 * C[:6] + 0.4 * C[6:12]
        single = clone(preimage).fit(X, pca).solve(queries)
        assert single.dtype == np.float32
        double = clone(preimage).fit(points, clone(pca).fit(points)).solve(queries.astype(float))
        assert_allclose(single, double, atol=5e-2)

    def test_copies_and_the_disk_change_nothing(self, preimage, kernel, points):
        pca = KernelPCA(kernel=kernel).fit(points)
        solver = clone(preimage).fit(points, pca)
        C = pca.transform(points[:3])
        copy = pickle.loads(pickle.dumps(solver))
        assert_allclose(copy.solve(C), solver.solve(C))

    def test_bad_queries_are_named(self, preimage, kernel, points):
        with pytest.raises(NotFittedError):
            clone(preimage).solve(np.zeros((1, 2)))
        pca = KernelPCA(2, kernel=kernel).fit(points)
        solver = clone(preimage).fit(points, pca)
        with pytest.raises(ValueError, match="fitted with 2 coordinates per object"):
            solver.solve(np.zeros((1, 3)))
        with pytest.raises(ValueError, match="NaN"):
            solver.solve(np.array([[np.nan, 0.0]]))
        with pytest.raises(ValueError, match="as many objects as coordinates: expected 1, got 2"):
            solver.objective(np.zeros((1, 2)), points[:2])

    def test_bad_objects_leave_nothing_half_fitted(self, preimage, kernel, points):
        pca = KernelPCA(2, kernel=kernel).fit(points)
        solver = clone(preimage)
        with pytest.raises(ValueError, match="as many coordinates as objects"):
            solver.fit(points, pca, np.zeros((3, 2)))
        with pytest.raises(NotFittedError):
            solver.solve(np.zeros((1, 2)))


@pytest.mark.parametrize(("preimage", "kernel"), EXACT, ids=repr)
def test_landmark_maps_are_inverted_too(preimage, kernel, points):
    # Narrow kernels leave isolated points far from every landmark, and so without an image.
    kernel = Gaussian(5.0) if isinstance(kernel, Gaussian) else kernel
    pca = KernelPCA(kernel=kernel, n_landmarks=45, random_state=0).fit(points)
    found = clone(preimage).fit(points, pca).solve(pca.transform(points))
    assert np.sqrt(np.mean((found - points) ** 2)) < 0.05


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Polynomial(2), Laplacian(2.0)], ids=repr)
@pytest.mark.parametrize("objective", [full_distance, coordinate_distance])
def test_gradients_of_both_objectives(kernel, objective, points, rng, assert_gradient):
    pca = KernelPCA(4, kernel=kernel).fit(points[:20])
    beta = pca.transform(points[20:23])
    fun = objective(pca, beta)
    rows = np.arange(3)
    Z = points[40:43] + 1.5 if isinstance(kernel, Laplacian) else points[40:43]
    assert_gradient(lambda Z: fun(Z, rows)[0].sum(), lambda Z: fun(Z, rows)[1], np.array(Z), rng)


def test_full_objective_is_the_distance_in_feature_space(points):
    k = Gaussian(3.0)
    pca = KernelPCA(3, kernel=k).fit(points)
    beta, Z = pca.transform(points[:4]), points[10:14]
    a = pca.expand(beta)
    K = k(points)
    expected = 1 - 2 * np.einsum("ij,ij->i", a, k(Z, points)) + np.einsum("ij,jk,ik->i", a, K, a)
    solver = GradientPreimage().fit(points, pca)
    assert_allclose(solver.objective(beta, Z), expected, atol=1e-10)


class TestGradient:
    def test_result_is_never_worse_than_the_best_start(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        C = pca.coordinates_
        queries = 0.5 * (C[:10] + C[10:20])
        gradient = GradientPreimage().fit(points, pca)
        nearest = CandidatePreimage().fit(points, pca).solve(queries)
        after = gradient.objective(queries, gradient.solve(queries))
        assert (after <= gradient.objective(queries, nearest) + 1e-12).all()

    def test_bounds_are_kept(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        C = 3 * pca.coordinates_[:10]  # outside the cloud
        found = GradientPreimage(bounds=(0.2, 0.8)).fit(points, pca).solve(C)
        assert found.min() >= 0.2
        assert found.max() <= 0.8

    def test_stopping_early_warns(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        C = pca.coordinates_
        solver = GradientPreimage(max_iter=1).fit(points, pca)
        with pytest.warns(ConvergenceWarning, match="problems converged in 1 iterations"):
            solver.solve(0.5 * (C[:10] + C[10:20]))

    def test_bad_bounds_are_named(self, points):
        pca = KernelPCA(2).fit(points)
        with pytest.raises(ValueError, match="'bounds' parameter of GradientPreimage"):
            GradientPreimage(bounds=(1, 0)).fit(points, pca)


class TestFixedPoint:
    def test_solutions_are_stationary(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        C = pca.coordinates_
        queries = 0.5 * (C[:10] + C[10:20])
        found = FixedPointPreimage(tol=1e-12, max_iter=5000).fit(points, pca).solve(queries)
        gradient = full_distance(pca, queries)(found, np.arange(10))[1]
        assert np.abs(gradient).max() < 1e-6

    def test_all_starts_at_once_are_the_starts_one_by_one(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        queries = 0.5 * (pca.coordinates_[:10] + pca.coordinates_[10:20])
        solver = FixedPointPreimage(3).fit(points, pca)
        found = solver.solve(queries)
        alone = np.stack(
            [
                FixedPointPreimage(1).fit(points, pca).solve(queries, points[near])
                for near in solver.nearest(queries, 3)[1].T
            ]
        )
        costs = [solver.objective(queries, one) for one in alone]
        assert_allclose(found, alone[np.argmin(costs, axis=0), np.arange(10)], atol=1e-9)

    @pytest.mark.parametrize("gamma", [0.5, 5.0, 50.0])
    def test_leaps_end_where_plain_steps_do(self, points, gamma):
        pca = KernelPCA(5, kernel=Gaussian(gamma)).fit(points)
        a = pca.expand(0.5 * (pca.coordinates_[:20] + pca.coordinates_[20:40]))
        starts = points[:20, None]
        options = {"tol": 1e-12, "max_iter": 5000}
        leaps, plain = (
            weighted_mean_iteration(pca.kernel_, points, a, starts, depth=depth, **options)[0]
            for depth in (2, 0)
        )
        value, other = (np.einsum("ij,ij->i", a, pca.kernel_(z, points)) for z in (leaps, plain))
        same = np.abs(value - other) < 1e-10  # else in another maximum
        assert same.mean() >= 0.9
        assert_allclose(leaps[same], plain[same], atol=1e-6)

    @pytest.mark.parametrize("gamma", [0.1, 3.0])
    def test_many_rows_in_single_precision_first_are_the_rows_in_pieces(self, gamma):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(400, 6))
        pca = KernelPCA(20, kernel=Gaussian(gamma)).fit(X)
        queries = pca.transform(rng.normal(size=(400, 6)))
        solver = FixedPointPreimage().fit(X, pca)
        whole = solver.solve(queries)
        pieces = np.concatenate([solver.solve(part) for part in np.split(queries, 20)])
        off = np.abs(whole - pieces).max(axis=1) > 1e-6  # of several maxima, another one
        assert off.mean() < 0.05
        assert solver.objective(queries, whole).mean() < 1.001 * np.mean(
            solver.objective(queries, pieces)
        )

    def test_wide_kernels_give_the_weighted_mean(self, points, rng):
        a = rng.uniform(size=(3, 60))
        found, _ = weighted_mean_iteration(
            Gaussian(1e-8), points, a, points[None, :1].repeat(3, axis=0), tol=1e-12, max_iter=100
        )
        assert_allclose(found, a @ points / a.sum(axis=1)[:, None], atol=1e-6)

    def test_positive_weights_climb_monotonically(self, points, rng):
        k, a = Gaussian(5.0), rng.uniform(size=(4, 60))
        starts = points[None, :1].repeat(4, axis=0)
        values = [
            np.einsum(
                "ij,ij->i",
                a,
                k(weighted_mean_iteration(k, points, a, starts, tol=1e-12, max_iter=t)[0], points),
            )
            for t in range(1, 12)
        ]
        assert (np.diff(values, axis=0) >= -1e-10).all()

    def test_vanishing_denominators_fall_back_on_a_training_object(self, points):
        # All weights zero: the mean is 0/0 at every start.
        starts = points[None, :4]
        found, _ = weighted_mean_iteration(
            Gaussian(5.0), points, np.zeros((1, 60)), starts, tol=1e-8, max_iter=50
        )
        assert_allclose(found[0], points[0])

    def test_stopping_early_warns(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        solver = FixedPointPreimage(max_iter=1).fit(points, pca)
        with pytest.warns(ConvergenceWarning, match="20 of 20 iterations did not converge in 1"):
            solver.solve(0.5 * (pca.coordinates_[:10] + pca.coordinates_[10:20]))

    def test_results_lie_in_the_affine_span_of_the_data(self, rng):
        X = np.column_stack([rng.uniform(size=(40, 2)), np.full(40, 7.0)])
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(X)
        C = pca.coordinates_
        assert_allclose(FixedPointPreimage().fit(X, pca).solve(C[:5] + C[5:10])[:, 2], 7.0)

    def test_other_kernels_are_refused(self, points):
        pca = KernelPCA(2, kernel=Polynomial(2)).fit(points)
        with pytest.raises(TypeError, match=r"KernelPCA.*does not provide 'radial'"):
            FixedPointPreimage().fit(points, pca)


class TestNeighbor:
    def test_new_points_are_found_exactly(self, points, rng):
        pca = KernelPCA(kernel=Gaussian(20.0)).fit(points)
        # Inside the cloud its image is all but in the span of the training images.
        New = 0.25 + 0.5 * rng.uniform(size=(10, 2))
        found = NeighborPreimage(4).fit(points, pca).solve(pca.transform(New))
        assert_allclose(found, New, atol=5e-3)

    def test_contradicting_distances_do_not_throw_a_point_far_off(self, rng, monkeypatch):
        # A surface: its neighbours' cloud is narrow across it, where errors would be magnified.
        T = rng.uniform(size=(60, 2))
        X = np.column_stack([T, 0.5 + 0.4 * T[:, 0] * T[:, 1]])
        pca = KernelPCA(15, kernel=Gaussian(2.0)).fit(X)
        noisy = pca.coordinates_ + 0.05 * rng.normal(size=pca.coordinates_.shape)
        solver = NeighborPreimage(6).fit(X, pca)
        error = np.abs(solver.solve(noisy) - X).max()
        assert error < 0.1
        monkeypatch.setattr("isthmus.preimage.vectors.neighbor.WIDEST", np.inf)
        assert np.abs(solver.solve(noisy) - X).max() > 5 * error

    def test_results_lie_in_the_affine_span_of_the_neighbours(self, rng):
        X = np.column_stack([rng.uniform(size=(40, 2)), np.full(40, 7.0)])
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(X)
        C = pca.coordinates_
        assert_allclose(NeighborPreimage(3).fit(X, pca).solve(C[:5] + C[5:10])[:, 2], 7.0)

    def test_translation_moves_the_result_along(self, points):
        C = KernelPCA(5, kernel=Gaussian(5.0)).fit_transform(points)
        queries = 0.5 * (C[:5] + C[5:10])
        found = [
            NeighborPreimage(4)
            .fit(points + shift, KernelPCA(5, kernel=Gaussian(5.0)).fit(points + shift))
            .solve(queries)
            - shift
            for shift in (0.0, 100.0)
        ]
        assert_allclose(found[0], found[1], atol=1e-5)

    def test_isotonic_distances_need_no_kernel(self, points):
        pca = KernelPCA(20, kernel="precomputed").fit(Gaussian(10.0)(points))
        solver = NeighborPreimage(6).fit(points, pca)
        assert solver.distance_ == "isotonic"
        found = solver.solve(pca.coordinates_)
        assert np.sqrt(np.mean((found - points) ** 2)) < 0.05
        linear = PCA(2).fit(points)
        assert_allclose(
            NeighborPreimage(6).fit(points, linear).solve(linear.transform(points)),
            points,
            atol=0.03,
        )

    def test_a_formula_is_needed_where_one_is_asked_for(self, points):
        with pytest.raises(TypeError, match="does not provide 'distances'"):
            NeighborPreimage(distance="angle").fit(points, PCA(2).fit(points))
        pca = KernelPCA(2, kernel=Laplacian(1.0)).fit(points)
        with pytest.raises(TypeError, match="does not provide 'distances'"):
            NeighborPreimage(distance="angle").fit(points, pca)

    def test_too_many_neighbours_are_named(self, points):
        with pytest.raises(ValueError, match=r"int in \[1, 60\] \(number of objects\). Got 61"):
            NeighborPreimage(61).fit(points, KernelPCA(2).fit(points))


class TestLearned:
    def test_little_penalty_interpolates(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points)
        solver = LearnedPreimage(Gaussian(100.0), alpha=1e-10).fit(points, pca)
        assert_allclose(solver.solve(pca.coordinates_), points, atol=1e-6)

    def test_linear_maps_get_their_exact_inverse(self, rng):
        X = rng.normal(size=(40, 4))
        pca = KernelPCA(kernel="linear").fit(X)
        New = rng.normal(size=(5, 4))
        solver = LearnedPreimage().fit(X, pca)
        assert solver.regressor_.kernel_ == Linear()
        assert_allclose(solver.solve(pca.transform(New)), New, atol=1e-5)

    def test_any_regressor_and_any_transformer(self, points):
        pca = PCA(2).fit(points)
        solver = LearnedPreimage(regressor=KNeighborsRegressor(1)).fit(points, pca)
        assert_allclose(solver.solve(pca.transform(points)), points)

    def test_gram_matrices_are_inverted(self, points):
        pca = KernelPCA(10, kernel="precomputed").fit(Gaussian(5.0)(points))
        found = LearnedPreimage().fit(points, pca).solve(pca.coordinates_)
        assert np.sqrt(np.mean((found - points) ** 2)) < 0.02

    def test_more_objects_than_the_map_was_fitted_on(self, points):
        pca = KernelPCA(5, kernel=Gaussian(5.0)).fit(points[:30])
        found = LearnedPreimage().fit(points, pca).solve(pca.transform(points[30:]))
        assert np.sqrt(np.mean((found - points[30:]) ** 2)) < 0.02

    def test_words_are_refused_with_a_hint(self):
        words = ["a", "b", "c"]
        pca = KernelPCA(kernel=Delta()).fit(words)
        with pytest.raises(TypeError, match="CandidatePreimage takes any"):
            LearnedPreimage().fit(words, pca)


class TestCandidate:
    def test_candidates_may_be_given(self, points):
        pca = KernelPCA(kernel=Gaussian(5.0)).fit(points)
        solver = CandidatePreimage(points[:5]).fit(points, pca)
        assert_allclose(solver.solve(pca.transform(points[:5])), points[:5])
        assert (solver.solve(pca.coordinates_)[:, None] == points[:5]).all(axis=2).any(axis=1).all()

    def test_full_criterion_is_the_distance_of_images(self, points, rng):
        pca = KernelPCA(3, kernel=Gaussian(20.0)).fit(points)
        queries = rng.normal(size=(5, 3)) * 0.3
        solver = CandidatePreimage(criterion="full").fit(points, pca)
        every = np.stack(
            [solver.full_objective(queries, np.repeat(points[[j]], 5, axis=0)) for j in range(60)]
        )
        assert_allclose(solver.solve(queries), points[every.argmin(axis=0)])

    def test_objects_come_back_as_they_are(self):
        series = [np.arange(3.0), np.arange(5.0), np.arange(4.0)]
        # Equal length means equal here.
        kernel = Delta()
        lengths = [len(s) for s in series]
        pca = KernelPCA(kernel=kernel).fit(lengths)
        found = (
            CandidatePreimage().fit(series, pca, pca.transform(lengths)).solve(pca.transform([5]))
        )
        assert found.dtype == object
        assert_allclose(found[0], np.arange(5.0))


class TestAnalytic:
    @pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Exponential(0.5)], ids=repr)
    def test_images_of_new_objects_come_back(self, kernel, rng):
        X = rng.normal(size=(80, 2))
        pca = KernelPCA(kernel=kernel).fit(X)
        New = 0.5 * rng.normal(size=(5, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = AnalyticPreimage().fit(X, pca).solve(pca.transform(New))
        assert_allclose(found, New, atol=1e-3)

    def test_even_degrees_are_refused(self, points):
        pca = KernelPCA(2, kernel=Polynomial(2)).fit(points)
        with pytest.raises(TypeError, match="f\\(x'z\\) with an invertible f"):
            AnalyticPreimage().fit(points, pca)


def test_a_kernel_map_is_asked_for_by_name(points):
    for solver in (
        GradientPreimage(),
        FixedPointPreimage(),
        AnalyticPreimage(),
        ConstrainedPreimage(),
    ):
        with pytest.raises(TypeError, match=r"PCA.*does not provide 'expansion'"):
            solver.fit(points, PCA(2).fit(points))


@pytest.mark.parametrize(
    "preimage",
    [
        FixedPointPreimage(),
        GradientPreimage(),
        GradientPreimage("coord"),
        NeighborPreimage(),
        LearnedPreimage(),
        ConstrainedPreimage(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("unit", [2.0**30, 2.0**-30])
def test_the_unit_of_the_objects_changes_nothing(preimage, unit, rng):
    t = rng.uniform(0, 3, size=60)
    Y = np.column_stack([np.cos(t), np.sin(t), t]) + 0.05 * rng.normal(size=(60, 3))
    found = []
    for u in (1.0, unit):
        pca = KernelPCA(5, kernel="gaussian").fit(u * Y[:50])
        found.append(clone(preimage).fit(u * Y[:50], pca).solve(pca.transform(u * Y[50:])) / u)
    assert_allclose(found[1], found[0], atol=1e-6)


def test_restarts_that_tie_up_to_rounding_give_the_nearest_start():
    X = np.linspace(0.1, 1.0, 20)[:, None] ** [1, 2, 3]
    found = []
    for shift in (0.0, 100.0):
        features = KernelPCA(2).fit(X + shift)
        solver = ConstrainedPreimage(n_init=3).fit(X + shift, features)
        found.append(solver.solve(0.9 * features.transform(X + shift)) - shift)
    assert_allclose(found[1], found[0], atol=1e-8)


def test_fixed_points_keep_their_digits_far_from_the_origin():
    X = np.linspace(0.1, 1.0, 20)[:, None] ** [1, 2]
    found = []
    for shift in (0.0, 1e7):
        features = KernelPCA(2).fit(X + shift)
        points = 0.9 * features.transform(X + shift)
        found.append(FixedPointPreimage().fit(X + shift, features).solve(points) - shift)
    assert_allclose(found[1], found[0], atol=1e-6)


def test_candidates_from_sparse_rows_come_back_as_rows():
    X = np.linspace(0.1, 1.0, 20)[:, None] ** [1, 2]
    features = KernelPCA(2).fit(X)
    solver = CandidatePreimage().fit(csr_array(X), features)
    assert_allclose(solver.solve(features.transform(X[:3])), X[:3])


def test_sums_of_a_gaussian_are_those_of_any_radial_kernel(rng):
    X, Z, a = rng.normal(size=(30, 3)), rng.normal(size=(8, 3)), rng.normal(size=(8, 30))
    a[2] = 0.0  # defines no mean
    Z[3] = 40.0  # all weights have vanished
    with_one = np.column_stack([X, np.ones(30)])
    kernel = Gaussian(0.7)
    slow = _weighted_sums(kernel, kernel.against(X), Z, with_one, a)
    fast = _gaussian_sums(kernel(Z, X), with_one, a, np.abs(a).sum(axis=1))
    assert_allclose(fast[0], slow[0], atol=1e-14)
    assert np.array_equal(fast[2], slow[2])
    assert not fast[2][2]
    assert fast[2][[0, 1, 4]].all()
    means = [found[3][fast[2]] / found[1][fast[2], None] for found in (fast, slow)]
    assert_allclose(*means, rtol=1e-10)
