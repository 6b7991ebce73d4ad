import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

from isthmus.kernels import (
    ARD,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    LabelledGraph,
    Linear,
    MarginalizedGraph,
    Matern,
    NeuralNetwork,
    Normalized,
    Polynomial,
    Precomputed,
    Spectrum,
)
from isthmus.reduction import compress
from isthmus.regression import Committee, GaussianProcess, Inducing
from isthmus.regression.gaussian_process.formulas import (
    cholesky,
    likelihood,
    loo_likelihood,
    mirror_lower,
)
from isthmus.regression.gaussian_process.inducing import RowsInMemory, inducing_score
from isthmus.regression.gaussian_process.search import SearchCoordinates
from isthmus.structured import DependencyEstimator

KERNELS = [
    Gaussian(0.7),
    ARD(Matern(1.5, length_scale=1.0), length_scales=(0.5, 2.0)),
    2.0 * Gaussian(1.0) + Linear(),
    ARD(NeuralNetwork(0.7, bias=0.4), length_scales=(0.5, 2.0)),
]


def waves(rng, n=40, noise=0.2):
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + noise * rng.normal(size=n)


def fixed(kernel=None, **parameters):
    kernel = Gaussian(0.7) if kernel is None else kernel
    return GaussianProcess(
        kernel, learn_kernel=False, **{"noise": 0.2, "amplitude": 1.5, **parameters}
    )


# Formulas -----------------------------------------------------------------------------


def test_posterior_is_that_of_the_formula(rng):
    X, y = waves(rng)
    T = rng.uniform(-3, 3, size=(7, 2))
    model = fixed(center=False).fit(X, y)
    k = Gaussian(0.7)
    inverse = np.linalg.inv(1.5**2 * k(X) + 0.04 * np.eye(40))
    K = 1.5**2 * k(T, X)
    mean, C = model.predict(T, return_cov=True, latent=True)
    assert_allclose(mean, K @ inverse @ y, atol=1e-10)
    expected = 1.5**2 * k(T) - K @ inverse @ K.T
    assert_allclose(C, expected, atol=1e-10)
    assert_allclose(model.predict(T, return_std=True, latent=True)[1] ** 2, np.diag(expected))
    assert_allclose(model.predict(T, return_std=True)[1] ** 2, np.diag(expected) + 0.04)
    assert_allclose(model.predict(T, return_cov=True)[1], expected + 0.04 * np.eye(7), atol=1e-10)


def test_likelihood_is_the_density_of_the_outputs(rng):
    X, y = waves(rng)
    model = fixed().fit(X, y)
    cov = 1.5**2 * Gaussian(0.7)(X) + 0.04 * np.eye(40)
    expected = multivariate_normal(np.full(40, y.mean()), cov).logpdf(y)
    assert model.log_marginal_likelihood_ == pytest.approx(expected)
    assert model.log_marginal_likelihood() == pytest.approx(expected)
    other = 4.0 * Matern(1.5, length_scale=0.8)(X) + 0.09 * np.eye(40)
    got = model.log_marginal_likelihood(Matern(1.5, length_scale=0.8), amplitude=2.0, noise=0.3)
    assert got == pytest.approx(multivariate_normal(np.full(40, y.mean()), other).logpdf(y))


def test_mean_is_kernel_ridge_with_the_noise_as_penalty(rng):
    X, y = waves(rng)
    model = fixed(center=False, amplitude=1.0).fit(X, y)
    ridge = KernelRidge(alpha=0.04, kernel="rbf", gamma=0.7).fit(X, y)
    assert_allclose(model.predict(X), ridge.predict(X), atol=1e-10)


def test_without_noise_it_interpolates_and_is_sure_there(rng):
    X, y = waves(rng, 15)
    model = fixed(Gaussian(2.0), noise=0.0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert_allclose(mean, y, atol=1e-6)
    assert_allclose(std, 0, atol=1e-4)


def test_far_away_nothing_is_known_but_the_prior(rng):
    X, y = waves(rng)
    model = fixed().fit(X, y)
    mean, std = model.predict([[1e3, 1e3]], return_std=True, latent=True)
    assert_allclose(mean, y.mean())
    assert_allclose(std, 1.5)


def test_long_length_scale_gives_a_constant(rng):
    X, y = waves(rng)
    guesses = fixed(Gaussian(1e-9)).fit(X, y).predict(X)
    assert np.ptp(guesses) < 1e-3


@pytest.mark.parametrize("function", [likelihood, loo_likelihood])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("noise_and_amplitude", [(None, None), (0.3, None), (None, 0.9)])
def test_gradient_of_the_criteria(function, kernel, noise_and_amplitude, rng, assert_gradient):
    factors = rng.uniform(0.5, 2.0, size=25) if noise_and_amplitude == (None, None) else 1.0
    X, y = waves(rng, 25)
    Y = np.column_stack([y, np.cos(X[:, 1]) * 3])
    noise, amplitude = noise_and_amplitude
    at = SearchCoordinates(
        kernel, learn_kernel=True, noise=noise, amplitude=amplitude, output_variances=Y.var(axis=0)
    )

    def score(theta):
        found = at.found(theta)
        K = found.kernel(X)
        s = function([K.copy()], [Y], [found.alpha * factors], found.variances)
        by_kernel = found.kernel.parameter_gradient(X, X, s.weights[0], K)
        e = type("E", (), {**s._asdict(), "by_kernel": by_kernel})
        return s.value, at.gradient(e)

    assert_gradient(
        lambda t: score(t)[0], lambda t: score(t)[1], np.array(at.start) + np.log(3), rng
    )


@pytest.mark.parametrize("bound", [True, False])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("noise_and_amplitude", [(None, None), (0.3, None)])
def test_gradient_of_the_bound(bound, kernel, noise_and_amplitude, rng, assert_gradient):
    X, y = waves(rng, 30)
    Y = np.column_stack([y, np.cos(X[:, 1]) * 3])
    noise, amplitude = noise_and_amplitude
    at = SearchCoordinates(
        kernel, learn_kernel=True, noise=noise, amplitude=amplitude, output_variances=Y.var(axis=0)
    )
    Z = X[:8]

    def score(theta):
        e = inducing_score(at.found(theta), RowsInMemory(X, Y), Z, bound=bound)
        return e.value, at.gradient(e)

    assert_gradient(
        lambda t: score(t)[0], lambda t: score(t)[1], np.array(at.start) + np.log(3), rng
    )


def test_leaving_one_out_in_closed_form_is_refitting_without_it(rng):
    X, y = waves(rng, 12)
    model = fixed(center=False).fit(X, y)
    mean, std = model.loo_predict(return_std=True)
    total = 0.0
    for i in range(12):
        rest = np.arange(12) != i
        m, s = fixed(center=False).fit(X[rest], y[rest]).predict(X[[i]], return_std=True)
        assert_allclose((mean[i], std[i]), (m[0], s[0]), rtol=1e-8)
        total += -0.5 * ((y[i] - m[0]) / s[0]) ** 2 - np.log(s[0]) - 0.5 * np.log(2 * np.pi)
    assert model.loo_log_likelihood() == pytest.approx(total)


# Learning -----------------------------------------------------------------------------


def test_it_reaches_the_likelihood_of_scikit_learn(rng):
    X, y = waves(rng, 80)
    start = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.01)
    theirs = GaussianProcessRegressor(start).fit(X, y - y.mean())
    ours = GaussianProcess(ARD(Gaussian(0.5)), n_init=1).fit(X, y)
    assert ours.log_marginal_likelihood_ >= theirs.log_marginal_likelihood_value_ - 1e-3
    T = rng.uniform(-2, 2, size=(20, 2))
    assert_allclose(ours.predict(T), theirs.predict(T) + y.mean(), atol=1e-2)


def test_the_closed_form_of_the_amplitude_is_where_the_likelihood_is_largest(rng):
    X, y = waves(rng)
    model = GaussianProcess(random_state=0).fit(X, y)
    a, s = model.amplitude_, model.noise_
    for factor in (0.95, 1.05):
        for change in ({"amplitude": factor * a}, {"noise": factor * s}):
            at = {"amplitude": a, "noise": s, **change}
            assert model.log_marginal_likelihood(**at) < model.log_marginal_likelihood_
    apart = GaussianProcess(noise=model.noise_, random_state=0).fit(X, y)
    assert apart.log_marginal_likelihood_ == pytest.approx(model.log_marginal_likelihood_, abs=1e-3)


def test_levels_of_rows_end_where_all_rows_do(rng):
    X, y = waves(rng, 1000)
    coarse = GaussianProcess("ard", n_init=1, random_state=0).fit(X, y)
    single = GaussianProcess("ard", n_init=1, coarse=False).fit(X, y)
    assert coarse.n_iter_ < single.n_iter_
    assert coarse.log_marginal_likelihood_ == pytest.approx(
        single.log_marginal_likelihood_, abs=5e-3
    )


def test_a_column_that_says_nothing_gets_a_long_scale(rng):
    X, y = waves(rng, 80)
    X = np.column_stack([X, rng.normal(size=80)])
    scales = np.array(GaussianProcess("ard", random_state=0).fit(X, y).kernel_.length_scales)
    assert scales[2] > 20 * scales[0]


def test_restarts_find_the_better_of_two_optima():
    # Seven points of a smooth function under noise: short scales without noise, or long with it.
    better = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-7, 7, size=(7, 1))
        y = fixed(Gaussian(0.5), amplitude=1.0).sample_prior(X, random_state=seed)[0]
        y = y + 0.1 * rng.normal(size=7)
        once, often = (
            GaussianProcess(
                Gaussian(0.5), amplitude=1.0, center=False, n_init=k, random_state=0
            ).fit(X, y)
            for k in (1, 10)
        )
        gain = often.log_marginal_likelihood_ - once.log_marginal_likelihood_
        assert gain > -1e-6
        better += gain > 0.1
    assert better >= 1


def test_leave_one_out_criterion_beats_the_likelihood_on_its_own_ground(rng):
    X, y = waves(rng, 60)
    loo, ml = (
        GaussianProcess(criterion=c, random_state=0).fit(X, y) for c in ("loo", "likelihood")
    )
    assert loo.loo_log_likelihood() >= ml.loo_log_likelihood()
    assert loo.log_marginal_likelihood_ <= ml.log_marginal_likelihood_


def test_parallel_starts_find_the_same(rng):
    X, y = waves(rng, 30)
    with joblib.parallel_config("threading"):
        one, two = (GaussianProcess(n_jobs=k, random_state=0).fit(X, y) for k in (None, 2))
    assert_allclose(one.kernel_.gamma, two.kernel_.gamma, rtol=1e-6)


# Outputs, objects ------------------------------------------------------------------------


def test_several_outputs_have_amplitudes_of_their_own(rng):
    X, y = waves(rng)
    Y = np.column_stack([y, 100 * y + 5])
    model = GaussianProcess(random_state=0).fit(X, Y)
    alone = GaussianProcess(random_state=0).fit(X, y)
    assert_allclose(model.amplitude_[1] / model.amplitude_[0], 100, rtol=1e-6)
    assert_allclose(model.predict(X)[:, 0], alone.predict(X), atol=1e-3)
    mean, std = model.predict(X[:5], return_std=True)
    assert mean.shape == std.shape == (5, 2)
    assert model.predict(X[:5], return_cov=True)[1].shape == (5, 5, 2)
    assert model.sample(X[:5], 3).shape == (3, 5, 2)


def test_words_and_gram_matrices_and_functions(rng):
    words = ["aab", "aba", "bbb", "abb", "aaa", "bab", "baa", "bba"]
    y = np.array([w.count("b") for w in words], dtype=float)
    kernel = Normalized(Spectrum(1)) + Normalized(Spectrum(2))
    model = GaussianProcess(kernel, random_state=0).fit(words[:6], y[:6])
    gram = kernel(words)
    settings = {"noise": model.noise_, "amplitude": model.amplitude_}
    by_index = GaussianProcess(Precomputed(gram), **settings).fit(np.arange(6), y[:6])
    by_rows = GaussianProcess("precomputed", **settings).fit(gram[:6, :6], y[:6])
    by_function = GaussianProcess(FunctionKernel(lambda a, b: kernel(a, b)), **settings)
    by_function.fit(words[:6], y[:6])
    expected = model.predict(words[6:], return_std=True)
    assert_allclose(by_index.predict([6, 7], return_std=True), expected, atol=1e-8)
    assert_allclose(by_function.predict(words[6:], return_std=True), expected, atol=1e-8)
    assert_allclose(by_rows.predict(gram[6:, :6]), expected[0], atol=1e-8)
    with pytest.raises(ValueError, match="only for the training objects"):
        by_rows.predict(gram[6:, :6], return_std=True)


def test_graphs_and_series_of_unequal_length_are_learned(rng):
    chains = ["".join(rng.choice(list("ab"), rng.integers(3, 7))) for _ in range(24)]
    graphs = [LabelledGraph(w, [(i, i + 1) for i in range(len(w) - 1)]) for w in chains]
    share = np.array([w.count("a") / len(w) for w in chains])
    model = GaussianProcess(Normalized(MarginalizedGraph(0.3)), random_state=0)
    assert model.fit(graphs[:18], share[:18]).score(graphs[18:], share[18:]) > 0.8
    mean, std = model.predict(graphs[18:], return_std=True)
    assert np.all(std > 0)
    series = [np.sin(np.arange(len(w)) * (1 + s)) for w, s in zip(chains, share, strict=True)]
    by_time = GaussianProcess(GlobalAlignment(), approximation=Inducing(10))
    assert by_time.fit(series, share).predict(series[:3]).shape == mean[:3].shape


def test_it_fits_the_slot_of_a_regressor(rng):
    X, _ = waves(rng, 50)
    Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 1]), X[:, 0]])
    model = DependencyEstimator(regressor=GaussianProcess(n_init=1)).fit(X[:40], Y[:40])
    assert np.mean((model.predict(X[40:]) - Y[40:]) ** 2) < 0.05


def test_predictions_are_the_same_in_blocks(rng, monkeypatch):
    X, y = waves(rng)
    model = fixed().fit(X, y)
    T = rng.normal(size=(50, 2))
    whole = model.predict(T, return_std=True)
    monkeypatch.setattr("isthmus.blocks.slices.BLOCK_BYTES", 8 * 80 * 7)
    assert_allclose(model.predict(T, return_std=True), whole)


# Draws and intervals ----------------------------------------------------------------------


def test_draws_have_the_moments_that_are_predicted(rng):
    X, y = waves(rng, 10)
    T = rng.uniform(-2, 2, size=(4, 2))
    model = fixed().fit(X, y)
    for latent in (True, False):
        mean, C = model.predict(T, return_cov=True, latent=latent)
        Y = model.sample(T, 20_000, random_state=0, latent=latent)
        assert_allclose(Y.mean(axis=0), mean, atol=0.03)
        assert_allclose(np.cov(Y.T), C, atol=0.06)
    prior = model.sample_prior(T, 20_000, random_state=0)
    assert_allclose(np.cov(prior.T), 1.5**2 * Gaussian(0.7)(T), atol=0.08)
    unfitted = fixed().sample_prior(T, 20_000, random_state=0)
    assert_allclose(np.cov(unfitted.T), 1.5**2 * Gaussian(0.7)(T), atol=0.08)
    assert abs(unfitted.mean()) < 0.03


def test_intervals_hold_as_many_outputs_as_they_say():
    rng = np.random.default_rng(0)
    X = rng.uniform(-4, 4, size=(400, 1))
    f = fixed(Gaussian(0.5), amplitude=1.0).sample_prior(X, 20, random_state=1)
    for latent in (True, False):
        held = []
        for values in f:
            y = values + 0.2 * rng.normal(size=400)
            model = fixed(Gaussian(0.5), amplitude=1.0, center=False).fit(X[:30], y[:30])
            low, high = model.predict_interval(X[30:], 0.8, latent=latent)
            truth = values[30:] if latent else y[30:]
            held.append(np.mean((low < truth) & (truth < high)))
        assert abs(np.mean(held) - 0.8) < 0.05


# Numerical care, bad input -----------------------------------------------------------------


def test_cholesky_grows_its_jitter_and_then_refuses(rng):
    K = np.ones((20, 20))
    L, jitter = cholesky(K.copy())
    assert 0 < jitter <= 1e-8
    assert_allclose(L @ L.T, K, atol=1e-7)
    A = rng.normal(size=(30, 30))
    A = A @ A.T
    assert_allclose(cholesky(A.copy())[0], np.linalg.cholesky(A), rtol=1e-8)
    with pytest.raises(ValueError, match=r"not positive semi-definite \(eigenvalue ratio -1"):
        cholesky(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="covariance is singular"):
        cholesky(np.zeros((2, 2)))


def test_mirror_copies_the_lower_triangle(rng):
    A = rng.normal(size=(600, 600))
    B = A.copy(order="F")
    mirror_lower(B)
    assert_allclose(B, np.tril(A) + np.tril(A, -1).T)


def test_equal_rows_without_noise_are_survived_by_jitter(rng):
    X, y = waves(rng, 10)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    model = fixed(noise=0.0).fit(X, y)
    assert_allclose(model.predict(X), y, atol=1e-3)


def test_an_indefinite_kernel_is_refused():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        GaussianProcess(Precomputed(K)).fit([0, 1, 2], [0.0, 1.0, 2.0])


def test_constant_outputs_are_predicted():
    with pytest.warns(UserWarning, match="outputs that are all the same"):
        model = GaussianProcess(random_state=0).fit(np.arange(9.0)[:, None], np.full(9, 3.0))
    assert_allclose(model.predict([[4.5]]), 3.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": -1.0}, r"'noise' parameter of GaussianProcess must be a float in \[0, "),
        ({"amplitude": 0.0}, "'amplitude' parameter of GaussianProcess"),
        ({"criterion": "cv"}, "'criterion' parameter of GaussianProcess must be one of"),
        (
            {"approximation": "fitc"},
            "'approximation' parameter of GaussianProcess must be None, one of",
        ),
        ({"approximation": "dtc", "noise": 0.0}, "few inducing objects cannot interpolate"),
        ({"approximation": "dtc", "criterion": "loo"}, "must be 'likelihood' for"),
        ({"approximation": Committee(0)}, "'n_members' parameter of Committee must be an int in"),
        ({"kernel": "gausian"}, "Did you mean 'gaussian'"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_fitted(parameters, message, rng):
    model = GaussianProcess(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*waves(rng, 10))
    assert not [name for name in vars(model) if name.endswith("_")]


def test_bad_data_are_refused(rng):
    X, y = waves(rng, 10)
    with pytest.raises(ValueError, match="y contains NaN"):
        GaussianProcess().fit(X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="expected 10, got 9"):
        GaussianProcess().fit(X, y[:9])
    model = fixed().fit(X, y)
    with pytest.raises(ValueError, match="not both"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match=r"outputs of 1 columns as in fit\. Got 2"):
        model.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(TypeError, match="rows of a Gram matrix lack the columns"):
        fixed("precomputed").fit(np.eye(10), y).partial_fit(np.eye(10), y)
    with pytest.raises(TypeError, match="need a process without approximation"):
        fixed(approximation="committee").fit(X, y).loo_predict()


def test_too_few_steps_warn(rng):
    with pytest.warns(ConvergenceWarning, match="ended after max_iter = 1 iterations"):
        GaussianProcess("ard", max_iter=1, n_init=1).fit(*waves(rng))


def test_it_goes_to_disk_and_comes_back(rng, tmp_path):
    X, y = waves(rng, 20)
    for name in ("exact", "inducing", "committee"):
        model = GaussianProcess(approximation=name, n_init=1, random_state=0).fit(X, y)
        joblib.dump(model, tmp_path / "model")
        back = joblib.load(tmp_path / "model")
        assert_allclose(back.predict(X, return_std=True), model.predict(X, return_std=True))


def test_compress_keeps_the_mean(rng):
    X, y = waves(rng, 80)
    model = fixed().fit(X, y)
    small = compress(model, 25)
    assert small.n_points_ == 25
    full = model.predict(X)
    assert np.mean((small.predict(X) - full) ** 2) < 0.01 * np.var(full)
    with pytest.raises(TypeError, match="was compressed"):
        small.predict(X, return_std=True)
    with pytest.raises(TypeError, match=r"with an expansion_ .* Got a fitted GaussianProcess"):
        compress(fixed(approximation="committee").fit(X, y), 5)


def test_polynomials_without_a_constant_are_learned_too(rng):
    X, y = waves(rng)
    model = GaussianProcess(Polynomial(2, coef0=0.0), random_state=0).fit(X, y)
    assert model.kernel_.coef0 == 0
    assert np.isfinite(model.log_marginal_likelihood_)


def test_a_given_amplitude_keeps_the_deviations_of_constant_outputs(rng):
    X = rng.normal(size=(15, 2))
    known = GaussianProcess(amplitude=1.0, noise=0.1, learn_kernel=False, n_init=1)
    assert known.fit(X, np.full(15, 3.0)).predict(X + 9, return_std=True)[1].min() > 0.5


def test_an_exact_process_that_does_not_fit_into_memory_says_so_first(monkeypatch):
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"20000 rows .* Set approximation=Inducing\(256\)"):
        GaussianProcess().fit(np.zeros((20_000, 1)), np.arange(20_000.0))


def test_a_search_of_hours_is_announced():
    from isthmus.regression.gaussian_process.approximation import Committee, Exact, announce_cost

    with pytest.warns(UserWarning, match=r"20000 rows takes some \S+ hours .*Inducing"):
        announce_cost(GaussianProcess(), 20_000, Exact())
    announce_cost(GaussianProcess(), 20_000, Committee(8))


def test_kernel_values_in_blocks_are_those_of_one_matrix(monkeypatch, rng):
    from isthmus.regression.gaussian_process import training
    from isthmus.regression.gaussian_process.search import ProcessParameters

    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    found = ProcessParameters(Gaussian(0.3), 0.1, None)
    for members in ([slice(None)], [slice(0, 30), slice(30, 60)]):
        parts = [training.rows_at(found.kernel, X[m], Y[m], None, None) for m in members]
        whole = training.exact_criterion("likelihood", parts)(found)
        monkeypatch.setattr(training, "ROWS_IN_BLOCKS", 10)
        blocks = training.exact_criterion("likelihood", parts)(found)
        monkeypatch.undo()
        for one, other in zip(whole, blocks, strict=True):
            assert_allclose(one, other, rtol=1e-9)
