"""Twin Gaussian processes against regressions that predict each output for itself."""

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Contest, benchmark
from isthmus.datasets import load_digits_completion
from isthmus.kernels import Gaussian
from isthmus.regression import Selection
from isthmus.structured import TwinGaussianProcess, TwinKernelLearner, TwinSearch
from isthmus.structured.twin.learner_formulas import term_products

N_GP = 1500  # rows for exact Gaussian process regression, whose likelihood costs O(n³) a step
N_SELECTION = 1000  # rows on which both sides choose widths and noises


def _median_gamma(X):
    return Gaussian().resolve(X).gamma


def _kernel_ridge(X, folds):
    """Width and penalty by cross-validation on as many rows as ours, then all rows."""
    few = np.sort(np.random.default_rng(0).permutation(len(X))[:N_SELECTION])
    gamma = _median_gamma(X)

    def predicted(X, Y, new):
        grid = {"gamma": [gamma * 4.0**i for i in range(-1, 3)], "alpha": [1e-3, 1e-2, 1e-1]}
        scoring = "neg_mean_absolute_error"
        search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=folds, scoring=scoring)
        chosen = search.fit(X[few], Y[few] - Y.mean(axis=0)).best_estimator_
        return chosen.fit(X, Y - Y.mean(axis=0)).predict(new) + Y.mean(axis=0)

    return predicted


def _gaussian_process(X):
    few = np.sort(np.random.default_rng(0).permutation(len(X))[:N_GP])
    width = np.sqrt(0.5 / _median_gamma(X))

    def predicted(X, Y, new):
        kernel = RBF(width, (width / 30, width * 30)) + WhiteKernel(0.1, (1e-6, 10.0))
        model = GaussianProcessRegressor(kernel, normalize_y=True).fit(X[few], Y[few])
        return model.predict(new)

    return predicted


def _forest(X, Y, new):
    return RandomForestRegressor(100, max_features=0.33, random_state=0).fit(X, Y).predict(new)


def _network(X, Y, new):
    targets = StandardScaler().fit(Y)
    model = make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(200, 200), early_stopping=True, random_state=0),
    )
    return targets.inverse_transform(model.fit(X, targets.transform(Y)).predict(new))


def _peers(X, folds):
    return {
        "kernel ridge": _kernel_ridge(X, folds),
        "Gaussian process": _gaussian_process(X),
        "random forest": _forest,
        "neural network": _network,
    }


PEERS = ("kernel ridge", "Gaussian process", "random forest", "neural network")


def contest(name, task, folds, **parameters):
    X, Y, new, truth = task

    def ours():
        model = TwinGaussianProcess(cv=Selection(folds, max_rows=N_SELECTION), **parameters)
        return model.fit(X, Y).predict(new)

    peer = _peers(X, folds)[name]
    return Contest(
        ours,
        lambda: peer(X, Y, new),
        lambda Z: {"MAE": np.abs(Z - truth).mean(), "RMSE": np.sqrt(np.mean((Z - truth) ** 2))},
    )


@benchmark(
    "twin-digits",
    work="1347 digits, 16 centre pixels from 48, 450 new",
    peer="scikit-learn, width and penalty tuned",
    cases=PEERS,
    quick=("kernel ridge",),
    unit="peer",
    goal="the smallest MAE",
    shared=True,
)
def digits(name):
    data = load_digits_completion("center")
    order = np.random.default_rng(0).permutation(len(data.X))
    train, test = order[:1347], order[1347:]
    return contest(name, (data.X[train], data.Y[train], data.X[test], data.Y[test]), 3)


@benchmark(
    "twin-batch",
    work="predictions of 200 new points, 16 outputs, optimised together",
    peer="SciPy L-BFGS-B on the same criterion, one point after the other",
    cases=(250, 500, 1000),
    quick=(100, 200, 400),
)
def batch(n):
    from scipy.optimize import minimize

    data = load_digits_completion("center")
    X, Y, new = data.X[:n], data.Y[:n], data.X[1500:1700]
    model = TwinGaussianProcess(tune=None, search=TwinSearch(n_init=1)).fit(X, Y)
    bridge, kernel, box = model._bridge_, model.y_kernel_, model._box
    noise = bridge.sides.y_noise

    def value_and_slope(query, y):
        y = y[None]
        g = kernel.gram(y, bridge.outputs)
        found = query.criterion(g, kernel.diag(y) + noise, np.zeros(1, dtype=int))
        return found.value[0], kernel.weighted_gradient(y, bridge.outputs, found.by_row, g)[0]

    def peer():
        answers = []
        for x in new:
            query = bridge.query(x[None])
            fun = lambda y, query=query: value_and_slope(query, y)  # noqa: E731
            bounds = list(zip(box.low, box.high, strict=True))
            answers.append(minimize(fun, query.start[0], jac=True, bounds=bounds).x)
        return np.array(answers)

    truth = data.Y[1500:1700]
    return Contest(
        lambda: model.predict(new),
        peer,
        lambda Z: {"MAE": np.abs(Z - truth).mean()},
        lambda a, b: float(np.median(np.abs(a - b))),
    )


@benchmark(
    "twin-terms",
    work="dependences of all pairs of 11 powers of two Gaussian kernels",
    peer="numpy, a centred matrix a term and a product a pair",
    cases=(500, 1000, 2000),
    quick=(100, 200, 400),
)
def terms(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    K, G = rbf_kernel(X), rbf_kernel(X**2)

    def peer():
        centred = []
        for i in range(1, 12):
            P = K**i
            P = P - P.mean(axis=0)
            centred.append(P - P.mean(axis=1, keepdims=True))
        return np.array([[np.sum(P * G**j) for j in range(1, 12)] for P in centred]) / n**2

    return Contest(
        lambda: term_products(K, G, 11, 11, None, None)[:11, 11:],
        peer,
        None,
        lambda a, b: float(np.abs(a - b).max()),
    )


@benchmark(
    "twin-learned",
    work="digits with powers of both kernels learned, degrees by cross-validation",
    peer="the same process with plain Gaussian kernels, tuned",
    cases=(500, 1347),
    quick=(300,),
)
def learned(n):
    data = load_digits_completion("center")
    order = np.random.default_rng(0).permutation(len(data.X))
    train, test = order[:n], order[1347:]
    X, Y, new, truth = data.X[train], data.Y[train], data.X[test], data.Y[test]
    learner = TwinKernelLearner(x_degree=(1, 5, 11), y_degree=(1, 5, 11))
    return Contest(
        lambda: TwinGaussianProcess(learner=learner).fit(X, Y).predict(new),
        lambda: TwinGaussianProcess().fit(X, Y).predict(new),
        lambda Z: {"MAE": np.abs(Z - truth).mean()},
    )
