"""Gaussian processes: parameters from the likelihood, predictions of many rows, low rank."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as SklearnClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, WhiteKernel
from sklearn.linear_model import BayesianRidge

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.kernels import ARD, Gaussian, SpectralMixture
from isthmus.regression import (
    BayesianLinearRegression,
    GaussianProcess,
    GaussianProcessClassifier,
    Inducing,
)

N_COLUMNS = 4
SIZES, QUICK = (1_000, 2_000, 4_000), (250, 500, 1_000)
ARD_SIZES = (500, 1000, 2000)  # the peers take a quarter of an hour at 4000
START_NOISE = 0.01


def _waves(n, n_test=0):
    """Two columns that matter, one a little and one not; outputs of mean 0 and variance 1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + n_test, N_COLUMNS))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.3 * X[:, 2] + 0.2 * rng.normal(size=len(X))
    y = (y - y[:n].mean()) / y[:n].std()
    return (X, y) if not n_test else (X[:n], y[:n], X[n:], y[n:])


def _ours(X, y, *, ard):
    """From length scales and amplitude of one and noise of variance 0.01, as the peers do."""
    kernel = ARD(Gaussian(0.5), length_scales=(1.0,) * N_COLUMNS) if ard else Gaussian(0.5)
    model = GaussianProcess(kernel, n_init=1, random_state=0)
    return model.fit(X, y).log_marginal_likelihood_


def _scikit_learn(X, y, *, ard):
    kernel = ConstantKernel(1.0) * RBF([1.0] * N_COLUMNS if ard else 1.0)
    kernel += WhiteKernel(START_NOISE, noise_level_bounds=(1e-8, 1e5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a column that says nothing
        return GaussianProcessRegressor(kernel).fit(X, y).log_marginal_likelihood_value_


def _gpy(X, y, *, ard):
    try:
        import GPy
    except ImportError as error:
        raise Unavailable(f"GPy: {error}") from None
    model = GPy.models.GPRegression(X, y[:, None], GPy.kern.RBF(N_COLUMNS, ARD=ard))
    model.Gaussian_noise.variance = START_NOISE
    model.optimize()
    return float(model.log_likelihood())


def _fit_contest(n, peer, *, ard):
    X, y = _waves(n)
    if peer is _gpy:
        _gpy(X[:50], y[:50], ard=ard)  # say early that it is not there
    return Contest(
        lambda: _ours(X, y, ard=ard),
        lambda: peer(X, y, ard=ard),
        lambda value: {"log likelihood": value},
    )


WORK = "Parameters of largest likelihood from the same start, 4 columns, "
GOAL = "3 times faster to the same likelihood"


@benchmark(
    "gp-fit-ard",
    work=WORK + "a length scale for each",
    peer="sklearn GaussianProcessRegressor",
    cases=ARD_SIZES,
    quick=QUICK,
    goal=GOAL,
)
def fit_ard(n):
    return _fit_contest(n, _scikit_learn, ard=True)


@benchmark(
    "gp-fit",
    work=WORK + "one length scale",
    peer="sklearn GaussianProcessRegressor",
    cases=SIZES,
    quick=QUICK,
    goal=GOAL,
)
def fit(n):
    return _fit_contest(n, _scikit_learn, ard=False)


@benchmark(
    "gp-fit-ard-gpy",
    work=WORK + "a length scale for each",
    peer="GPy GPRegression",
    cases=ARD_SIZES,
    quick=QUICK,
    goal=GOAL,
)
def fit_ard_gpy(n):
    return _fit_contest(n, _gpy, ard=True)


@benchmark(
    "gp-fit-gpy",
    work=WORK + "one length scale",
    peer="GPy GPRegression",
    cases=SIZES,
    quick=QUICK,
    goal=GOAL,
)
def fit_gpy(n):
    return _fit_contest(n, _gpy, ard=False)


@benchmark(
    "gp-spectral",
    work="A series of two periods, three fifths learned and the rest continued, one start each",
    peer="sklearn, Gaussian times periodic",
    cases=(200, 400, 800),
    quick=(100, 200),
    goal="a smaller error on the rest",
    why="a mixture of frequencies has more parameters than the peer's one period, and of few rows "
    "the search for them is most of the time; the peer's error is many times larger",
)
def spectral(n):
    t = np.linspace(0, 20, n)[:, None]
    rng = np.random.default_rng(0)
    truth = np.sin(2 * np.pi * 0.45 * t[:, 0]) + 0.6 * np.sin(2 * np.pi * 1.1 * t[:, 0])
    y, first = truth + 0.1 * rng.normal(size=n), 3 * n // 5

    def theirs():
        kernel = ConstantKernel(1.0) * RBF(5.0) * ExpSineSquared(1.0, 2.0) + WhiteKernel(
            START_NOISE
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return GaussianProcessRegressor(kernel).fit(t[:first], y[:first])

    return Contest(
        lambda: GaussianProcess(SpectralMixture(5), n_init=1, random_state=0).fit(
            t[:first], y[:first]
        ),
        theirs,
        lambda model: {
            "error": float(np.sqrt(np.mean((model.predict(t[first:]) - truth[first:]) ** 2)))
        },
    )


@benchmark(
    "gp-predict",
    work="Means and deviations of rows by a process fitted on 500",
    peer="sklearn GaussianProcessRegressor",
    cases=(10_000, 30_000, 100_000),
    quick=(1_000, 3_000, 10_000),
    goal="memory of blocks and results alone",
)
def predict(n):
    X, y, T, _ = _waves(500, n)
    ours = GaussianProcess(Gaussian(0.5), noise=0.2, amplitude=1.0, learn_kernel=False).fit(X, y)
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.04)
    theirs = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y - y.mean())
    return Contest(
        lambda: ours.predict(T, return_std=True),
        lambda: theirs.predict(T, return_std=True),
        None,
        lambda a, b: float(np.abs(a[1] - b[1]).max()),
    )


@benchmark(
    "gp-inducing",
    work="A process through 200 inducing objects, its parameters learned on 1000 rows (default)",
    peer="an exact process on 1000 of the rows",
    cases=(5_000, 20_000, 80_000),
    quick=(1_000, 2_000, 4_000),
    goal="as fast, linear in n, and no larger an error",
    why="two passes over all rows take most of the time, where the peer has 1000 alone; with 100 "
    "inducing objects ours has the peer's error sooner (`gp-inducing-100`)",
)
def inducing(n):
    return _inducing_contest(n, Inducing(200))


@benchmark(
    "gp-inducing-100",
    work="The same through 100 inducing objects, which are enough for the error of the peer",
    peer="an exact process on 1000 of the rows",
    cases=(5_000, 20_000, 80_000),
    quick=(1_000, 2_000, 4_000),
    goal="as fast at no larger an error",
)
def inducing_fewer(n):
    return _inducing_contest(n, Inducing(100))


@benchmark(
    "gp-inducing-all",
    work="As gp-inducing with Inducing(200, n_search=None): parameters learned on all rows",
    peer="an exact process on 1000 of the rows",
    cases=(5_000, 20_000, 80_000),
    quick=(2_000, 4_000),
    goal="linear in n, and a smaller error",
    why="every step of the search for parameters goes over all rows, where the peer has 1000 alone",
)
def inducing_all(n):
    return _inducing_contest(n, Inducing(200, n_search=None))


def _inducing_contest(n, approximation):
    X, y, T, truth = _waves(n, 2_000)
    settings = {"n_init": 1, "random_state": 0}
    return Contest(
        lambda: GaussianProcess("ard", approximation=approximation, **settings).fit(X, y),
        lambda: GaussianProcess("ard", **settings).fit(X[:1000], y[:1000]),
        lambda model: {"test error": float(np.mean((model.predict(T) - truth) ** 2))},
    )


@benchmark(
    "bayesian-linear",
    work="Bayesian linear regression of 50 columns, noise and prior learned",
    peer="sklearn BayesianRidge",
    cases=(10_000, 40_000, 160_000),
    quick=(1_000, 4_000, 16_000),
    goal="as fast; linear in n",
)
def bayesian_linear(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    y = X @ rng.normal(size=50) + rng.normal(size=n)
    return Contest(
        lambda: BayesianLinearRegression().fit(X, y),
        lambda: BayesianRidge().fit(X, y),
        None,
        lambda a, b: float(np.abs(a.coef_ - b.coef_).max()),
    )


@benchmark(
    "gp-classes",
    work="Kernel and amplitude of largest likelihood of two classes from the same start, 4 columns",
    peer="sklearn GaussianProcessClassifier",
    cases=(500, 1_000, 2_000),
    quick=(250, 500),
    goal="no slower to the same likelihood",
)
def classes(n):
    X, y = _waves(n)
    marks = y + 0.5 * np.random.default_rng(1).normal(size=n) > 0

    def ours():
        model = GaussianProcessClassifier(Gaussian(0.5), n_init=1, random_state=0)
        return model.fit(X, marks).log_marginal_likelihood_

    def theirs():
        model = SklearnClassifier(ConstantKernel(1.0) * RBF(1.0), random_state=0)
        return model.fit(X, marks).log_marginal_likelihood_value_

    return Contest(ours, theirs, lambda value: {"log likelihood": value})
