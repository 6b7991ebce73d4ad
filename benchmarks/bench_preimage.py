"""Pre-images: learned against scikit-learn's, batched against one at a time."""

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from benchmarks._harness import Contest, benchmark
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.preimage import FixedPointPreimage, GradientPreimage, LearnedPreimage, NeighborPreimage

GAMMA = 0.02
ALPHA = 5e-3
N_COMPONENTS = 50
QUERIES = (100, 300, 1000)
QUICK_QUERIES = (10, 30, 100)


@benchmark(
    "preimage-learned",
    work="KernelPCA fit with LearnedPreimage, denoise 1000 rows; 64 features, 50 components",
    peer="sklearn KernelPCA(fit_inverse_transform=True), the same widths and penalty",
    cases=(1000, 2000, 4000),
    quick=(200, 400, 800),
)
def learned(n):
    rng = np.random.default_rng(0)
    clean = np.tanh(rng.normal(size=(n + 1000, 4)) @ rng.normal(size=(4, 64)) / 2)
    noisy = clean + 0.3 * rng.normal(size=clean.shape)
    X, new, truth = noisy[:n], noisy[n:], clean[n:]

    def ours():
        learned = LearnedPreimage(kernel=Gaussian(GAMMA), alpha=ALPHA)
        pca = KernelPCA(N_COMPONENTS, kernel=Gaussian(GAMMA), preimage=learned).fit(X)
        return pca.inverse_transform(pca.transform(new))

    def peer():
        pca = SklearnKernelPCA(
            N_COMPONENTS, kernel="rbf", gamma=GAMMA, fit_inverse_transform=True, alpha=ALPHA
        ).fit(X)
        return pca.inverse_transform(pca.transform(new))

    return Contest(ours, peer, lambda Z: {"RMSE": np.sqrt(np.mean((Z - truth) ** 2))})


def _digits_map(n_queries):
    """Kernel PCA of 797 digits, and coordinates of others as queries."""
    X = load_digits().data / 16
    pca = KernelPCA(N_COMPONENTS, kernel=Gaussian(GAMMA)).fit(X[:797])
    return X[:797], pca, pca.transform(X[797 : 797 + n_queries])


def _batch_contest(solver, n_queries):
    X, pca, queries = _digits_map(n_queries)
    solver.fit(X, pca)

    def one_at_a_time():
        return np.concatenate([solver.solve(queries[i : i + 1]) for i in range(len(queries))])

    return Contest(
        lambda: solver.solve(queries),
        one_at_a_time,
        lambda Z: {"mean objective": solver.full_objective(queries, Z).mean()},
    )


@benchmark(
    "preimage-gradient",
    work="GradientPreimage of digits, all queries at once",
    peer="itself, one query at a time",
    cases=QUERIES,
    quick=QUICK_QUERIES,
    unit="queries",
)
def gradient(n_queries):
    return _batch_contest(GradientPreimage(), n_queries)


@benchmark(
    "preimage-gradient-scipy",
    work="GradientPreimage of digits, all queries at once",
    peer="scipy minimize (L-BFGS-B) a query: same objective, gradient, starts and tolerance",
    cases=QUERIES,
    quick=QUICK_QUERIES,
    unit="queries",
)
def gradient_scipy(n_queries):
    X, pca, queries = _digits_map(n_queries)
    solver = GradientPreimage().fit(X, pca)
    distances = ((queries[:, None] - pca.coordinates_) ** 2).sum(axis=2)
    starts = np.argsort(distances, axis=1)[:, : solver.n_init]

    def objective(z, a):
        K = np.exp(-GAMMA * ((X - z) ** 2).sum(axis=1))
        weights = a * K
        return 1 - 2 * weights.sum(), -4 * GAMMA * (weights @ X - weights.sum() * z)

    def peer():
        found = np.empty((len(queries), X.shape[1]))
        for i, a in enumerate(pca.expand(queries)):
            gtol = solver.tol * max(np.abs(objective(X[j], a)[1]).max() for j in starts[i])
            options = {"gtol": gtol, "ftol": 0.0, "maxiter": solver.max_iter}
            results = [
                minimize(objective, X[j], args=(a,), jac=True, method="L-BFGS-B", options=options)
                for j in starts[i]
            ]
            found[i] = min(results, key=lambda result: result.fun).x
        return found

    return Contest(
        lambda: solver.solve(queries),
        peer,
        lambda Z: {"mean objective": solver.full_objective(queries, Z).mean()},
    )


@benchmark(
    "preimage-fixed-point",
    work="FixedPointPreimage of digits, all queries at once",
    peer="itself, one query at a time",
    cases=QUERIES,
    quick=QUICK_QUERIES,
    unit="queries",
)
def fixed_point(n_queries):
    return _batch_contest(FixedPointPreimage(), n_queries)


@benchmark(
    "preimage-neighbor",
    work="NeighborPreimage of digits, all queries at once",
    peer="itself, one query at a time",
    cases=QUERIES,
    quick=QUICK_QUERIES,
    unit="queries",
)
def neighbor(n_queries):
    return _batch_contest(NeighborPreimage(), n_queries)
