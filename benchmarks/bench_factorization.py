"""Non-negative factorisations, against scikit-learn and spams."""

import time
import warnings
from bisect import bisect_left
from functools import cache

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import DataNotAvailable, load_ap_text, load_cbcl_faces
from isthmus.sparse import ConvexFactorization, NonnegativeFactorization, nonnegative_least_squares

LEVEL = 1e-3  # "the same objective": within this share of the best of long runs of both
MAX_ITER = 800


def _mixtures(n, d, k, seed=0):
    """Noisy sums of few parts; every part covers a quarter of the features."""
    rng = np.random.default_rng(seed)
    parts = rng.gamma(1.0, size=(k, d)) * (rng.uniform(size=(k, d)) < 0.25)
    codes = rng.gamma(0.5, size=(n, k))
    return np.maximum(codes @ parts + 0.3 * rng.normal(size=(n, d)), 0)


def _counts(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.5, size=(n, k)) @ (rng.gamma(0.3, size=(k, d)) + 0.01)
    return rng.poisson(rates).astype(float)


def _faces():
    try:
        return load_cbcl_faces().X.astype(float)
    except DataNotAvailable:
        raise Unavailable("the faces are not in the data folder") from None


def _texts():
    try:
        return csr_array(load_ap_text().X)
    except DataNotAvailable:
        raise Unavailable("the articles are not in the data folder") from None


def _objective(X, W, H, divergence):
    if divergence == "euclidean":
        if issparse(X):
            cross = np.vdot(X @ H.T, W)
            return 0.5 * (np.vdot(X.data, X.data) - 2 * cross + np.vdot(W.T @ W, H @ H.T))
        return 0.5 * np.sum((X - W @ H) ** 2)
    if issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        fit = np.einsum("ij,ij->i", W[rows], H.T[X.indices])
        logs = np.sum(X.data * np.log(X.data / fit))
        return logs - X.data.sum() + W.sum(axis=0) @ H.sum(axis=1)
    fit = W @ H
    positive = X > 0
    logs = np.sum(X[positive] * np.log(X[positive] / fit[positive]))
    return logs - X.sum() + fit.sum()


class _Race:
    """Both sides from one start: the fewest iterations, on a grid, to the same objective."""

    def __init__(self, X, k, divergence):
        self.X, self.k, self.divergence = X, k, divergence
        rng = np.random.default_rng(0)
        scale = np.sqrt(X.sum() / np.prod(X.shape) / k)
        self.start = tuple(
            scale * np.abs(rng.normal(size=shape)) for shape in ((X.shape[0], k), (k, X.shape[1]))
        )
        # Neither side is stopped early: what counts is the time to the objective.
        self.grid = np.unique(np.geomspace(10, MAX_ITER, 25).astype(int)).tolist()
        runs = {who: self.objective(run(200)) for who, run in self.sides.items()}
        self.level = min(runs.values()) * (1 + LEVEL)
        self.needed = {who: self._needed(run) for who, run in self.sides.items()}

    @property
    def sides(self):
        return {"ours": self.ours, "peer": self.peer}

    def ours(self, n_iter):
        model = NonnegativeFactorization(
            self.k, divergence=self.divergence, init=self.start, tol=0.0, max_iter=n_iter
        )
        return self._run(model, {})

    def peer(self, n_iter):
        plain = self.divergence == "euclidean"
        model = NMF(
            self.k,
            init="custom",
            solver="cd" if plain else "mu",
            beta_loss="frobenius" if plain else self.divergence,
            tol=0.0,
            max_iter=n_iter,
        )
        W, H = self.start
        return self._run(model, {"W": W.copy(), "H": H.copy()})

    def _run(self, model, start):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            W = model.fit_transform(self.X, **start)
        return W, model.components_

    def objective(self, factors):
        return float(_objective(self.X, *factors, self.divergence))

    def _needed(self, run):
        # Objectives never rise with the number of iterations, so halving finds the first.
        first = bisect_left(
            self.grid, True, key=lambda n_iter: self.objective(run(n_iter)) <= self.level
        )
        return self.grid[min(first, len(self.grid) - 1)]

    def contest(self):
        return Contest(
            lambda: self.ours(self.needed["ours"]),
            lambda: self.peer(self.needed["peer"]),
            lambda factors: {"objective": self.objective(factors)},
        )


@benchmark(
    "nmf-frobenius",
    work="Euclidean factorisation to the same objective, 300 features, 20 components",
    peer="sklearn NMF, cd, same start",
    cases=(1000, 3000, 10_000),
    quick=(300, 600, 1200),
    goal="2 times faster",
)
def frobenius(n):
    return _Race(_mixtures(n, 300, 20), 20, "euclidean").contest()


@benchmark(
    "nmf-kl",
    work="Kullback-Leibler factorisation to the same objective, 300 features, 20 components",
    peer="sklearn NMF, mu, same start",
    cases=(500, 1000, 2000),
    quick=(200, 400, 800),
    goal="2 times faster",
)
def kullback_leibler(n):
    return _Race(_counts(n, 300, 20), 20, "kullback-leibler").contest()


REAL = {
    "faces, euclidean": (lambda: _faces()[:1000], 25, "euclidean"),
    "faces, kullback-leibler": (lambda: _faces()[:1000], 25, "kullback-leibler"),
    "articles, euclidean": (_texts, 20, "euclidean"),
    "articles, kullback-leibler": (lambda: _texts()[:500], 10, "kullback-leibler"),
}


@benchmark(
    "nmf-real",
    work="Factorisation of CBCL faces and of word counts to the same objective",
    peer="sklearn NMF, cd or mu, same start",
    cases=tuple(REAL),
    quick=("articles, euclidean",),
    unit="data",
    goal="2 times faster",
)
def real(case):
    load, k, divergence = REAL[case]
    return _Race(load(), k, divergence).contest()


@benchmark(
    "nmf-default",
    work="fit with default settings, 300 features, 20 components",
    peer="sklearn NMF, init='nndsvda', max_iter=1000",
    cases=(1000, 3000, 10_000),
    quick=(300, 600, 1200),
    goal="a lower objective, 1.5 times as fast",
)
def default(n):
    X = _mixtures(n, 300, 20)

    def ours():
        model = NonnegativeFactorization(20, random_state=0)
        return model.fit_transform(X), model.components_

    def peer():
        model = NMF(20, init="nndsvda", max_iter=1000, random_state=0)
        return model.fit_transform(X), model.components_

    return Contest(
        ours, peer, lambda factors: {"objective": float(_objective(X, *factors, "euclidean"))}
    )


@benchmark(
    "nmf-missing",
    work="Half of the entries missing: error on those left out, 60 features, 5 components",
    peer="sklearn IterativeImputer, max_iter=3 (NMF refuses NaN)",
    cases=(200, 400, 800),
    quick=(100, 200, 400),
    goal="an error of no more in a tenth of the time",
)
def missing(n):
    X = _mixtures(n, 60, 5)
    hidden = np.random.default_rng(1).uniform(size=X.shape) < 0.5
    holes = np.where(hidden, np.nan, X)

    def ours():
        model = NonnegativeFactorization(5, random_state=0)
        return model.inverse_transform(model.fit_transform(holes))

    def peer():
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        return IterativeImputer(max_iter=3, min_value=0.0, random_state=0).fit_transform(holes)

    def error(filled):
        return {"hidden error": float(np.sqrt(np.mean((filled - X)[hidden] ** 2)))}

    return Contest(ours, peer, error)


@benchmark(
    "nmf-gaps",
    work="Shares of the entries missing: error on those left out, 200 x 60, 5 parts, mean of 5",
    peer="ourselves with alpha_W=0",
    cases=("10 %", "30 %", "50 %", "70 %"),
    quick=("50 %",),
    goal="an error of no more than 1.02 times the other, where nothing runs away",
    why="the same descent without the choice of a penalty, which takes more steps than it saves; "
    "at 70 % there are too few entries for leverages, and up to three paths of eight strengths are "
    "judged by hidden ones",
)
def gaps(case):
    share, tables = float(case.split()[0]) / 100, [_mixtures(200, 60, 5, seed) for seed in range(5)]
    hidden = [np.random.default_rng(1).uniform(size=X.shape) < share for X in tables]

    def errors(alpha_W):
        found = []
        for X, away in zip(tables, hidden, strict=True):
            model = NonnegativeFactorization(5, alpha_W=alpha_W, random_state=0)
            filled = model.fit_transform(np.where(away, np.nan, X)) @ model.components_
            found.append(float(np.sqrt(np.mean((filled - X)[away] ** 2))))
        return found

    return Contest(
        lambda: errors("auto"),
        lambda: errors(0.0),
        lambda found: {"hidden error": float(np.mean(found)), "worst": max(found)},
    )


@cache
def _spams():
    try:
        import spams
    except ImportError:
        raise Unavailable("spams-bin is not installed") from None
    return spams


@benchmark(
    "nmf-spams",
    work="Euclidean factorisation, 300 features, 20 components, in the time we take",
    peer="spams.nmf, one thread, given 1 second or our time, whichever is more",
    cases=(1000, 3000, 10_000),
    quick=(300, 600, 1200),
    goal="a lower objective",
)
def against_spams(n):
    X = _mixtures(n, 300, 20)

    def ours():
        return NonnegativeFactorization(20, random_state=0).fit(X).components_

    clock = time.perf_counter()
    ours()
    # Its budget is in whole seconds, negative: at least one, at least as long as we took.
    seconds = -max(1, int(np.ceil(time.perf_counter() - clock)))

    def peer():
        Xt = np.asfortranarray(X.T)
        U, _ = _spams().nmf(Xt, return_lasso=True, K=20, numThreads=1, iter=seconds)
        return np.ascontiguousarray(U.T)

    def quality(H):
        W = nonnegative_least_squares(X, H)
        return {"objective": float(_objective(X, W, H, "euclidean"))}

    return Contest(ours, peer, quality)


@benchmark(
    "archetypes-hull",
    work="Archetypes of 10 columns, 5 corners: hull candidates against all rows",
    peer="ourselves with candidates='all'",
    cases=(1000, 10_000, 100_000),
    quick=(300, 1000, 3000),
    goal="10 times faster at 100 000 rows, error within 5 %",
)
def hull(n):
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.full(5, 0.5), size=n) @ rng.normal(size=(5, 10))
    X += 0.02 * rng.normal(size=X.shape)

    def run(candidates):
        model = ConvexFactorization(5, candidates=candidates, random_state=0).fit(X)
        return model.reconstruction_err_ / np.linalg.norm(X - X.mean(axis=0))

    return Contest(
        lambda: run("hull"), lambda: run("all"), lambda error: {"relative error": float(error)}
    )


@benchmark(
    "nmf-beta",
    work="factorisation under the beta divergence 1.5, 10 components, 500 by 200 counts",
    peer='sklearn NMF(solver="mu", beta_loss=1.5)',
    cases=(50, 100, 200),
    quick=(10, 20),
    unit="iterations",
    goal="a smaller objective after as many iterations",
)
def beta(n_iter):
    X = _counts(500, 200, 10)
    rng = np.random.default_rng(0)
    W, H = rng.uniform(0.5, 1, size=(500, 10)), rng.uniform(0.5, 1, size=(10, 200))

    def ours():
        model = NonnegativeFactorization(10, divergence=1.5, init=(W, H), tol=0.0, max_iter=n_iter)
        return model.fit_transform(X) @ model.components_

    def theirs():
        model = NMF(10, solver="mu", beta_loss=1.5, init="custom", tol=0.0, max_iter=n_iter)
        return model.fit_transform(X, W=W.copy(), H=H.copy()) @ model.components_

    def quality(Y):
        Y = np.maximum(Y, 1e-12)
        total = np.sum(X**1.5 + 0.5 * Y**1.5 - 1.5 * X * np.sqrt(Y)) / 0.75
        return {"divergence": float(total)}

    def quiet(fit):
        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return fit()

        return run

    return Contest(quiet(ours), quiet(theirs), quality)
