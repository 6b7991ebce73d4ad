"""Twin Gaussian processes against regressions that predict each output for itself."""

import numpy as np
from scipy.stats import spearmanr
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
    why="every new row is a search of its own over outputs, with both Gram matrices of the process "
    "in each step, where a peer predicts by one product; at the smallest error",
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
    why="the peer is ours without the kernels that are learned: trials of degrees come on top, and "
    "cross-validation then keeps degree one",
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


def _smooth(X):
    return np.column_stack([np.sin(3 * X[:, 0]), np.cos(2 * X[:, 1]) + X[:, 0]])


def _half_outside(rng):
    """Half of the queries lie beyond the data."""
    X, inside = rng.uniform(-1, 1, size=(150, 2)), rng.uniform(-1, 1, size=(60, 2))
    far = rng.uniform(1, 3, size=(60, 2)) * rng.choice([-1, 1], size=(60, 2))
    new = np.concatenate([inside, far])
    return X, _smooth(X) + 0.05 * rng.normal(size=X.shape), new, _smooth(new)


def _all_inside(rng):
    X, new = rng.uniform(-1, 1, size=(150, 2)), rng.uniform(-1, 1, size=(120, 2))
    return X, _smooth(X) + 0.05 * rng.normal(size=X.shape), new, _smooth(new)


def _sparse_edges(rng):
    X, new = rng.normal(size=(150, 2)), 1.3 * rng.normal(size=(120, 2))
    return X, _smooth(X) + 0.05 * rng.normal(size=X.shape), new, _smooth(new)


def _several_answers(rng):
    """An S on its side: up to three outputs for one input."""

    def inputs(t):
        return (t + 0.3 * np.sin(2 * np.pi * t))[:, None]

    t, q = rng.uniform(size=200), rng.uniform(size=120)
    return inputs(t) + 0.05 * rng.normal(size=(200, 1)), t[:, None], inputs(q), q[:, None]


def _noisy_half(rng):
    """Outputs are noisy where the input is positive."""

    def outputs(X):
        clean = np.column_stack([np.sin(3 * X), np.cos(3 * X)])
        return clean + (0.02 + 0.5 * (X > 0)) * rng.normal(size=clean.shape)

    X, new = rng.uniform(-1, 1, size=(200, 1)), rng.uniform(-1, 1, size=(120, 1))
    return X, outputs(X), new, outputs(new)


REGIMES = {
    "half of the queries outside": _half_outside,
    "all inside": _all_inside,
    "sparse edges": _sparse_edges,
    "several answers": _several_answers,
    "noise in one half": _noisy_half,
}


@benchmark(
    "twin-reliability",
    work="Rank correlation with the error of 120 queries, mean of 5 draws, of what is known "
    "about each prediction (under the divergence and its inverse)",
    peer="sklearn GaussianProcessRegressor, its standard deviation against its own errors",
    cases=tuple(REGIMES),
    quick=("all inside",),
    goal="`uncertainty` above 0.2 in every row",
    why="every query is a search over outputs, under two criteria, where the peer has the standard "
    "deviation in closed form",
)
def reliability(case):
    draws = [REGIMES[case](np.random.default_rng(seed)) for seed in range(5)]

    def correlation(known, outputs, truth):
        error = np.abs(np.reshape(outputs, truth.shape) - truth).mean(axis=1)
        return spearmanr(known, error)[0]

    def ours():
        found = {}
        for name, criterion in (("", "kl"), (" (inverse)", "inverse_kl")):
            for X, Y, new, truth in draws:
                details = TwinGaussianProcess(criterion=criterion).fit(X, Y).predict_details(new)
                for kind in ("uncertainty", "input_variance", "criterion"):
                    known = getattr(details, kind)
                    rank = correlation(known, details.outputs, truth)
                    found.setdefault(kind.replace("_", " ") + name, []).append(rank)
        return {name: float(np.mean(ranks)) for name, ranks in found.items()}

    def peer():
        ranks = []
        for X, Y, new, truth in draws:
            kernel = RBF(1.0, (0.03, 30)) + WhiteKernel(0.1, (1e-6, 10.0))
            model = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, Y)
            outputs, deviation = model.predict(new, return_std=True)
            ranks.append(correlation(deviation.reshape(len(new), -1).mean(axis=1), outputs, truth))
        return {"standard deviation": float(np.mean(ranks))}

    return Contest(ours, peer, lambda found: found)
