"""Twin Gaussian processes: criteria, gradients, limiting cases, variants, bad input."""

import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold

from isthmus.dependence import hsic
from isthmus.kernels import Gaussian, HistogramIntersection, Precomputed, Transformed
from isthmus.linalg.spectrum import inverse_root
from isthmus.regression import Selection
from isthmus.structured import TwinGaussianProcess, TwinKernelLearner, TwinSearch
from isthmus.structured.twin.bridge import TwinSides, exact_bridge, hsic_bridge
from isthmus.structured.twin.inverse import positive_inverse
from isthmus.structured.twin.landmarks import feature_root, landmark_bridge
from isthmus.structured.twin.neighbors import NeighborBridge
from isthmus.structured.twin.tuning import most_likely_parameters, negative_log_likelihood

CRITERIA = ("kl", "inverse_kl", "hsic")
SIDES = TwinSides(Gaussian(1.0), Gaussian(0.7), 0.02, 0.05)


def fixed(**parameters):
    """A process with nothing left to choose."""
    settings = {
        "x_kernel": Gaussian(1.0),
        "y_kernel": Gaussian(0.7),
        "alpha_x": 0.02,
        "alpha_y": 0.05,
    }
    return TwinGaussianProcess(**(settings | parameters))


def bordered(kernel, noise, old, new):
    both = np.vstack([old, new])
    return kernel(both) + noise * np.eye(len(both))


def gauss_divergence(A, B):
    logs = np.linalg.slogdet(B)[1] - np.linalg.slogdet(A)[1]
    return 0.5 * (np.trace(np.linalg.solve(B, A)) - len(A) + logs)


def bridges(pairs):
    X, Y = pairs
    every = np.arange(len(X))
    return {
        "exact": exact_bridge("kl", SIDES, X, Y),
        "inverse": exact_bridge("inverse_kl", SIDES, X, Y),
        "hsic": hsic_bridge(SIDES, X, Y),
        "landmarks": landmark_bridge("kl", SIDES, X, Y, every[::2]),
        "landmarks inverse": landmark_bridge("inverse_kl", SIDES, X, Y, every[::2]),
        "neighbours": NeighborBridge(SIDES, "kl", X, Y, 15),
        "neighbours inverse": NeighborBridge(SIDES, "inverse_kl", X, Y, 15),
        "neighbours hsic": NeighborBridge(SIDES, "hsic", X, Y, 15),
    }


NAMES = tuple(bridges((np.eye(20, 2), np.eye(20, 3))))


def values_of(bridge, X, trials):
    query, kernel = bridge.query(X), bridge.sides.y_kernel
    g = kernel.gram(trials, bridge.outputs)
    found = query.criterion(g, kernel.diag(trials) + bridge.sides.y_noise, np.arange(len(X)))
    return query, found


# Criteria against what they stand for -------------------------------------------------------


def test_kl_values_are_divergences_of_the_bordered_gaussians(pairs, new, rng):
    X, Y = pairs
    trials = rng.normal(size=(6, 3))
    query, found = values_of(exact_bridge("kl", SIDES, X, Y), new, trials)
    before = gauss_divergence(
        SIDES.y_kernel(Y) + 0.05 * np.eye(40), SIDES.x_kernel(X) + 0.02 * np.eye(40)
    )
    added = [
        gauss_divergence(
            bordered(SIDES.y_kernel, 0.05, Y, y[None]), bordered(SIDES.x_kernel, 0.02, X, x[None])
        )
        - before
        for x, y in zip(new, trials, strict=True)
    ]
    assert_allclose(query.to_nats(found.value), added, rtol=1e-8)
    assert min(added) > 0


@pytest.mark.parametrize("n_neighbors", [None, 15])
def test_the_inverse_criterion_is_the_divergence_that_a_pair_adds(pairs, new, n_neighbors):
    X, Y = pairs
    model = fixed(criterion="inverse_kl", n_neighbors=n_neighbors).fit(X, Y)
    details = model.predict_details(new)

    def divergence(A, B):
        _, a = np.linalg.slogdet(A)
        _, b = np.linalg.slogdet(B)
        return 0.5 * (np.trace(np.linalg.solve(B, A)) - len(A) + b - a)

    for x, y, value in zip(new, details.outputs, details.criterion, strict=True):
        near = np.argsort(-Gaussian(1.0)(x[None], X)[0])[: n_neighbors or len(X)]
        K, G = (
            bordered(k, s, Z[near], z[None])
            for k, s, Z, z in ((Gaussian(1.0), 0.02, X, x), (Gaussian(0.7), 0.05, Y, y))
        )
        added = divergence(K, G) - divergence(K[:-1, :-1], G[:-1, :-1])
        assert value == pytest.approx(added, abs=1e-8)


@pytest.mark.parametrize("n_landmarks", [None, 20])
@pytest.mark.parametrize("n_neighbors", [None, 15])
def test_a_shift_of_the_outputs_shifts_the_predictions(pairs, new, n_landmarks, n_neighbors):
    if n_landmarks and n_neighbors:
        return
    X, Y = pairs
    model = TwinGaussianProcess(
        tune=None,
        search=TwinSearch(n_init=1),
        n_landmarks=n_landmarks,
        n_neighbors=n_neighbors,
    )
    here, there = model.fit(X, Y).predict(new), model.fit(X, Y + 1000.0).predict(new)
    assert_allclose(there - 1000.0, here, atol=1e-4)


def test_inverse_kl_values_are_divergences_but_for_a_constant(pairs, new, rng):
    X, Y = pairs
    bridge = exact_bridge("inverse_kl", SIDES, X, Y)
    offsets = []
    for _ in range(3):
        y = rng.normal(size=(1, 3))
        query, found = values_of(bridge, new[:1], y)
        K, G = bordered(SIDES.x_kernel, 0.02, X, new[:1]), bordered(SIDES.y_kernel, 0.05, Y, y)
        offsets.append(gauss_divergence(K, G) - query.to_nats(found.value)[0])
    assert_allclose(offsets, offsets[0], rtol=1e-7)


def test_hsic_values_are_dependences_but_for_a_constant(pairs, new, rng):
    X, Y = pairs
    bridge = hsic_bridge(SIDES, X, Y)
    offsets = []
    for _ in range(3):
        y = rng.normal(size=(1, 3))
        query, found = values_of(bridge, new[:1], y)
        whole = hsic(
            np.vstack([X, new[:1]]),
            np.vstack([Y, y]),
            x_kernel=Gaussian(1.0),
            y_kernel=Gaussian(0.7),
        )
        offsets.append(whole + query.to_nats(found.value)[0])
    assert_allclose(offsets, offsets[0], rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_of_every_criterion(name, pairs, new, rng, assert_gradient):
    bridge = bridges(pairs)[name]
    query, kernel = bridge.query(new), Transformed(Gaussian(0.7), (0.6, 0.4))
    rows = np.arange(len(new))

    def judged(trials):
        g = kernel.gram(trials, bridge.outputs)
        return g, query.criterion(g, kernel.diag(trials) + 0.05, rows)

    def slope(trials):
        g, found = judged(trials)
        along = kernel.weighted_gradient(trials, bridge.outputs, found.by_row, g)
        return along + found.by_diagonal[:, None] * kernel.diag_gradient(trials)

    trials = rng.normal(size=(6, 3))
    assert_gradient(lambda Z: judged(Z)[1].value.sum(), slope, trials, rng)


@pytest.mark.parametrize("name", NAMES)
def test_derivative_by_the_diagonal(name, pairs, new, rng, assert_gradient):
    bridge = bridges(pairs)[name]
    query, rows = bridge.query(new), np.arange(len(new))
    g = Gaussian(0.7).gram(rng.normal(size=(6, 3)), bridge.outputs)
    assert_gradient(
        lambda d: query.criterion(g, d, rows).value.sum(),
        lambda d: query.criterion(g, d, rows).by_diagonal,
        rng.uniform(1.0, 1.5, size=6),
        rng,
    )


@pytest.mark.parametrize("name", NAMES)
def test_table_holds_the_values_of_all_pairs(name, pairs, new, rng):
    bridge = bridges(pairs)[name]
    query, kernel = bridge.query(new), bridge.sides.y_kernel
    trials = rng.normal(size=(4, 3))
    g, g_yy = kernel.gram(trials, bridge.outputs), kernel.diag(trials) + 0.05
    table = query.table(g, g_yy)
    for j in range(4):
        one = query.criterion(
            np.repeat(g[j : j + 1], 6, axis=0), np.repeat(g_yy[j], 6), np.arange(6)
        )
        assert_allclose(table[:, j], one.value, rtol=1e-9)


def test_inverse_is_the_inverse_across_blocks(rng):
    A = rng.normal(size=(1600, 40))
    G = A @ A.T / 40
    product = positive_inverse(G.copy(), 0.1) @ (G + 0.1 * np.eye(1600))
    assert_allclose(product, np.eye(1600), atol=1e-10)


# Limiting cases -----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
def test_without_noise_a_training_input_gives_its_output(criterion, pairs):
    X, Y = pairs
    model = fixed(criterion=criterion, alpha_x=1e-7, alpha_y=1e-7).fit(X, Y)
    assert_allclose(model.predict(X[:5]), Y[:5], atol=1e-3)


def test_the_first_start_is_kernel_ridge_regression(pairs, new):
    X, Y = pairs
    mean = Y.mean(axis=0)
    ridge = mean + KernelRidge(kernel="rbf", gamma=1.0, alpha=0.02).fit(X, Y - mean).predict(new)
    assert_allclose(exact_bridge("kl", SIDES, X, Y).query(new).start, ridge, atol=1e-10)


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
def test_all_pairs_as_landmarks_is_the_exact_process(criterion, pairs, new):
    X, Y = pairs
    exact = exact_bridge(criterion, SIDES, X, Y)
    low_rank = landmark_bridge(criterion, SIDES, X, Y, np.arange(40))
    trials = np.random.default_rng(1).normal(size=(6, 3))
    (one, a), (other, b) = (values_of(bridge, new, trials) for bridge in (exact, low_rank))
    assert_allclose(one.to_nats(a.value), other.to_nats(b.value), rtol=1e-5)
    assert_allclose(one.input_variance, other.input_variance, rtol=1e-6)
    assert_allclose(one.start, other.start, atol=1e-6)


def test_root_by_cholesky_is_that_of_the_spectrum(rng):
    Z = rng.normal(size=(50, 3))
    Z = np.concatenate([Z, Z[:10]])  # landmarks that repeat each other
    k = Gaussian(0.5)(rng.normal(size=(20, 3)), Z)
    root, slow = feature_root(Gaussian(0.5), Z).full(60), inverse_root(Gaussian(0.5)(Z))[0]
    assert root.shape == slow.shape == (60, 50)
    assert_allclose(root.T @ Gaussian(0.5)(Z) @ root, np.eye(50), atol=1e-8)
    assert_allclose(k @ root @ root.T @ k.T, k @ slow @ slow.T @ k.T, atol=1e-8)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_all_pairs_as_neighbours_is_the_exact_process(criterion, pairs, new, rng):
    X, Y = pairs
    whole = NeighborBridge(SIDES, criterion, X, Y, 40)
    exact = (
        hsic_bridge(SIDES, X, Y) if criterion == "hsic" else exact_bridge(criterion, SIDES, X, Y)
    )
    trials = rng.normal(size=(6, 3))
    (one, a), (other, b) = (values_of(bridge, new, trials) for bridge in (exact, whole))
    assert_allclose(one.to_nats(a.value), other.to_nats(b.value), rtol=1e-7)
    assert_allclose(one.start, other.start, atol=1e-8)


# Learned kernels -----------------------------------------------------------------------------


def test_degrees_of_one_change_nothing(pairs, new):
    plain = fixed().fit(*pairs).predict(new)
    learner = TwinKernelLearner(x_degree=1, y_degree=1)
    assert_allclose(fixed(learner=learner).fit(*pairs).predict(new), plain, atol=1e-6)


def test_learned_powers_are_a_process_with_sums_of_gaussians(pairs, new):
    model = fixed(learner=TwinKernelLearner(x_degree=2, y_degree=3)).fit(*pairs)
    a, b = model.learner_.x_coefficients_, model.learner_.y_coefficients_
    x_kernel = a[0] * Gaussian(1.0) + a[1] * Gaussian(2.0)
    y_kernel = b[0] * Gaussian(0.7) + b[1] * Gaussian(1.4) + b[2] * Gaussian(2.1)
    explicit = fixed(x_kernel=x_kernel, y_kernel=y_kernel).fit(*pairs)
    assert_allclose(model.predict(new), explicit.predict(new), atol=1e-4)


def test_degrees_are_chosen_by_the_error_of_prediction(pairs):
    learner = TwinKernelLearner(x_degree=(1, 2), y_degree=(1, 3))
    model = fixed(learner=learner).fit(*pairs)
    assert model.learner_.x_degree_ in (1, 2)
    assert model.cv_error_ > 0
    assert learner.x_degree == (1, 2)


# Use -----------------------------------------------------------------------------------------


def test_defaults_are_good_at_the_first_try(pairs, new):
    X, Y = pairs
    model = TwinGaussianProcess().fit(X, Y)
    truth = np.column_stack([np.sin(2 * new[:, 0]), new[:, 1] ** 2, new.sum(axis=1)])
    assert np.abs(model.predict(new) - truth).mean() < 0.05
    assert model.score(X, Y) > 0.98


def test_likelihood_is_a_way_to_choose_the_input_side(pairs, new):
    model = TwinGaussianProcess(tune="ml").fit(*pairs)
    assert model.cv_error_ is None
    assert model.alpha_x_ < 1e-2  # there is no noise
    assert model.alpha_y_ == 1.0


def test_folds_are_short_for_a_selection(pairs, new):
    shuffled = KFold(3, shuffle=True, random_state=0)
    for short, long in ((None, Selection(shuffled)), (2, Selection(KFold(2)))):
        one, other = (TwinGaussianProcess(cv=cv).fit(*pairs) for cv in (short, long))
        assert one.cv_error_ == other.cv_error_
        assert_allclose(one.predict(new), other.predict(new))


def test_parameters_are_chosen_on_some_pairs(pairs):
    class Counted(KFold):
        def split(self, X, y=None, groups=None):
            sizes.append(len(X))
            return super().split(X)

    sizes = []
    TwinGaussianProcess(cv=Selection(Counted(2), max_rows=20)).fit(*pairs)
    assert sizes == [20]


def test_likelihood_and_its_gradient(rng, assert_gradient):
    X, Y = rng.normal(size=(15, 2)), rng.normal(size=(15, 3))
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    theta = np.log([0.6, 0.1])
    assert_gradient(
        lambda t: negative_log_likelihood(t, D, Y)[0],
        lambda t: negative_log_likelihood(t, D, Y)[1],
        theta,
        rng,
    )
    K = np.exp(-0.6 * D) + 0.1 * np.eye(15)
    fit = np.trace(Y.T @ linalg.solve(K, Y))
    expected = 1.5 * np.linalg.slogdet(K)[1] + 22.5 * np.log(fit)
    assert negative_log_likelihood(theta, D, Y)[0] == pytest.approx(expected)


def test_likelihood_finds_the_noise_it_was_given(rng):
    X = rng.uniform(0, 10, size=(150, 1))
    K = np.exp(-0.5 * (X - X.T) ** 2) + 0.1 * np.eye(150)
    Y = np.linalg.cholesky(K) @ rng.normal(size=(150, 8))
    gamma, noise = most_likely_parameters(X, Y)
    assert gamma == pytest.approx(0.5, rel=0.2)
    assert noise == pytest.approx(0.1, rel=0.3)
    assert most_likely_parameters(X, np.ones((150, 1)))[1] == 1e-2


def test_inputs_may_be_indices_into_a_gram_matrix(pairs):
    X, Y = pairs
    gram = Gaussian(1.0)(X)
    by_index = (
        fixed(x_kernel=Precomputed(gram)).fit(np.arange(30), Y[:30]).predict(np.arange(30, 40))
    )
    assert_allclose(by_index, fixed().fit(X[:30], Y[:30]).predict(X[30:]), atol=1e-6)


def test_one_output_a_row_may_be_flat(pairs, new):
    X, Y = pairs
    assert fixed().fit(X, Y[:, 0]).predict(new).shape == (6,)


def test_searching_cloning_and_storing(pairs, new, tmp_path):
    X, Y = pairs
    grid = GridSearchCV(fixed(), {"alpha_y": [0.01, 0.1], "y_kernel__gamma": [0.7]}, cv=KFold(2))
    model = grid.fit(X, Y).best_estimator_
    assert repr(clone(model)) == repr(model)
    joblib.dump(model, tmp_path / "model")
    assert_allclose(joblib.load(tmp_path / "model").predict(new), model.predict(new))


def test_single_precision_is_computed_in_double(pairs, new):
    X, Y = (part.astype(np.float32) for part in pairs)
    assert_allclose(fixed().fit(X, Y).predict(new), fixed().fit(*pairs).predict(new), atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"criterion": "mi"}, ValueError, "'criterion' parameter of TwinGaussianProcess"),
        ({"tune": "map"}, ValueError, "'tune' parameter of TwinGaussianProcess"),
        ({"alpha_x": 0.0}, ValueError, "'alpha_x' parameter of TwinGaussianProcess"),
        ({"alpha_y": -1.0}, ValueError, "'alpha_y' parameter of TwinGaussianProcess"),
        ({"n_neighbors": 0}, ValueError, "'n_neighbors' parameter of TwinGaussianProcess"),
        ({"search": TwinSearch(n_init=0)}, ValueError, "'n_init' parameter of TwinSearch"),
        ({"search": TwinSearch(max_iter=0)}, ValueError, "'max_iter' parameter of TwinSearch"),
        ({"search": 5}, TypeError, "'search' parameter of TwinGaussianProcess"),
        ({"n_landmarks": 5, "criterion": "hsic"}, ValueError, 'None with criterion="hsic"'),
        ({"n_landmarks": 5, "n_neighbors": 5}, ValueError, "None with n_neighbors"),
        ({"learner": "svd"}, TypeError, "'learner' parameter of TwinGaussianProcess"),
        ({"x_kernel": Precomputed()}, ValueError, r"x_kernel=Precomputed\(matrix\)"),
        ({"y_kernel": HistogramIntersection()}, TypeError, "has no gradient"),
        ({"cv": 1, "alpha_x": None}, ValueError, "'cv' parameter of TwinGaussianProcess"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_behind(parameters, error, message, pairs):
    model = fixed(**parameters)
    X, Y = pairs
    with pytest.raises(error, match=message):
        model.fit(X, np.abs(Y))
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_an_output_kernel_that_is_none_is_named(pairs):
    loose = Transformed(Gaussian(4.0), (0.0, 1.0), basis="gegenbauer", lam=0.51, validity="ignore")
    with pytest.raises(ValueError, match="matrix of the outputs is not positive"):
        fixed(y_kernel=loose, alpha_y=1e-6).fit(*pairs)


def test_memory_that_cannot_be_had_is_refused_before_it_is_taken(pairs, monkeypatch):
    monkeypatch.setattr("isthmus._memory.GIBIBYTE", 1)
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"Gram matrices of 40 pairs.*n_landmarks or n_neighbors"):
        fixed().fit(*pairs)
    fixed(n_landmarks=5).fit(*pairs)


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl", "hsic"])
def test_asking_does_not_change_what_was_fitted(rng, criterion):
    X = rng.normal(size=(40, 3))
    model = TwinGaussianProcess(criterion=criterion, tune=None).fit(X, X[:, :2] ** 2)
    before = joblib.hash(model.__getstate__())
    answers = model.predict(X[:5])
    assert joblib.hash(model.__getstate__()) == before
    again = pickle.loads(pickle.dumps(model)).predict(X[:5])
    np.testing.assert_array_equal(again, answers)
