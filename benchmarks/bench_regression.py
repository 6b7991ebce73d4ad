"""Regression of limited rank: closed form, robust, on a stream."""

from functools import cache

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.multioutput import MultiOutputRegressor

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.losses import Huber
from isthmus.optimize import FixedRank, Slope, minimize_fixed_rank
from isthmus.regression import ReducedRankRegression, SequentialStiefelRegression, StiefelRegression

RANK, ALPHA = 20, 1.0
N_TEST = 2000
# The planted problem.
N, D, Q, R = 2000, 50, 30, 3
DELTA = 0.5
BLOCK = 1000


def planted(n, d, o, rank, noise, *, collinear=False):
    """Inputs, outputs and the map of the given rank between them.

    Scales of collinear inputs fall from 1 to exp(-5).
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if collinear:
        X = X * np.exp(-np.linspace(0, 5, d))
    F = rng.normal(size=(o, rank)) @ rng.normal(size=(rank, d))
    return X, X @ F.T + noise * rng.normal(size=(n, o)), F


def _wide(n):
    """Training and test rows with 200 inputs, 100 outputs and 20 causes."""
    X, Y, _ = planted(n + N_TEST, 200, 100, RANK, noise=10.0)
    test = slice(n, None)

    def quality(model):
        return {"test RMSE": np.sqrt(np.mean((model.predict(X[test]) - Y[test]) ** 2))}

    return X[:n], Y[:n], quality


@benchmark(
    "rank-pls",
    work="200 inputs, 100 outputs, rank 20: fit",
    peer="sklearn PLSRegression(20, scale=False)",
    cases=[2_000, 10_000, 50_000],
    quick=[500, 1_000, 2_000],
    goal="10 times faster at no worse test error; linear in n",
)
def rank_pls(n):
    X, Y, quality = _wide(n)
    return Contest(
        lambda: ReducedRankRegression(RANK, alpha=0.0).fit(X, Y),
        lambda: PLSRegression(RANK, scale=False).fit(X, Y),
        quality,
    )


@benchmark(
    "rank-ridge",
    work="200 inputs, 100 outputs: ridge regression; what all 100 ranks take, a spectrum of the "
    "size of the outputs, is put off until another rank is asked for",
    peer="sklearn Ridge, at one rank (the full one)",
    cases=[2_000, 10_000, 50_000],
    quick=[500, 1_000, 2_000],
    goal="as fast; the same map at full rank",
    why="2000 rows take milliseconds, of which a second thread takes off nothing here",
)
def rank_ridge(n):
    X, Y, quality = _wide(n)
    return Contest(
        lambda: ReducedRankRegression(100, alpha=ALPHA).fit(X, Y),
        lambda: Ridge(alpha=ALPHA).fit(X, Y),
        quality,
        lambda ours, peer: np.abs(ours.coef_ - peer.coef_).max(),
    )


@benchmark(
    "rank-planted",
    work="50 inputs, 30 outputs, a map of rank 3: its relative error",
    peer="sklearn PLSRegression(3, scale=False)",
    cases=[N],
    goal="error far below",
)
def rank_planted(n):
    X, Y, F = planted(n, D, Q, R, noise=0.5)
    return Contest(
        lambda: ReducedRankRegression(R, alpha=0.0).fit(X, Y),
        lambda: PLSRegression(R, scale=False).fit(X, Y),
        lambda model: {"relative error": np.linalg.norm(model.coef_ - F) / np.linalg.norm(F)},
    )


@cache
def _pymanopt():
    try:
        import pymanopt
        import pymanopt.manifolds
        import pymanopt.optimizers
    except ImportError:
        raise Unavailable("pymanopt is not installed") from None
    return pymanopt


def _fixed_rank_minimum(value_and_gradient):
    """What pymanopt's conjugate gradients reach on matrices of fixed rank."""
    pymanopt = _pymanopt()
    manifold = pymanopt.manifolds.FixedRankEmbedded(Q, D, R)

    @pymanopt.function.numpy(manifold)
    def cost(u, s, vt):
        return value_and_gradient((u * s) @ vt)[0]

    @pymanopt.function.numpy(manifold)
    def gradient(u, s, vt):
        G = value_and_gradient((u * s) @ vt)[1]
        GW = G @ vt.T
        return GW * s, np.einsum("or,or->r", u, GW), s[:, None] * (u.T @ G)

    rng = np.random.default_rng(0)
    start = (
        np.linalg.qr(rng.normal(size=(Q, R)))[0],
        np.arange(R, 0.0, -1),
        np.linalg.qr(rng.normal(size=(D, R)))[0].T,
    )
    optimizer = pymanopt.optimizers.ConjugateGradient(
        verbosity=0, max_iterations=2000, min_gradient_norm=1e-4
    )
    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    u, s, vt = optimizer.run(problem, initial_point=start).point
    return (u * s) @ vt


@benchmark(
    "rank-squared",
    work="50 inputs, 30 outputs, rank 3, 2000 rows, squared loss to its minimum",
    peer="pymanopt FixedRankEmbedded, ConjugateGradient, on precomputed moments",
    cases=["closed form", "riemannian", "closed form, collinear", "riemannian, collinear"],
    goal="10 times faster to the same objective; see rank-descent for the iteration alone",
)
def rank_squared(case):
    X, Y, _ = planted(N, D, Q, R, noise=0.5, collinear="collinear" in case)
    solver = "auto" if "closed" in case else "riemannian"

    def ours():
        # Not from the closed form, which would leave nothing to do.
        model = StiefelRegression(R, alpha=0.0, solver=solver, init="identity", fit_intercept=False)
        return model.fit(X, Y).coef_

    def peer():
        S_xx, S_yx, yy = X.T @ X, Y.T @ X, np.sum(Y**2)

        def value_and_gradient(F):
            FS = F @ S_xx
            return yy + np.vdot(F, FS - 2 * S_yx), 2 * (FS - S_yx)

        return _fixed_rank_minimum(value_and_gradient)

    return Contest(ours, peer, lambda F: {"objective": np.sum((Y - X @ F.T) ** 2)})


@benchmark(
    "rank-descent",
    work="the iteration of rank-squared alone, from the moments and the same kind of start",
    peer="pymanopt FixedRankEmbedded, ConjugateGradient, from the same moments",
    cases=["plain inputs", "collinear inputs"],
    goal="10 times faster to the same objective; the rest of a fit is checks, moments and scores",
)
def rank_descent(case):
    X, Y, _ = planted(N, D, Q, R, noise=0.5, collinear="collinear" in case)
    S_xx, S_yx, yy = X.T @ X, Y.T @ X, np.sum(Y**2)

    def ours():
        root = np.linalg.cholesky(S_xx)  # in white inputs the loss is a sphere about C
        C = solve_triangular(root, S_yx.T, lower=True).T
        least = yy - np.vdot(C, C)

        def slope_at(point):
            gap = (point.V * point.s) @ point.W.T - C
            return Slope(
                least + np.vdot(gap, gap), 2 * gap @ point.W, 2 * gap.T @ point.V, np.zeros(0)
            )

        start = FixedRank(np.eye(Q, R), np.ones(R), np.eye(D, R), np.zeros(0))
        found = minimize_fixed_rank(slope_at, start, curvature=2.0, sphere=True).point
        return solve_triangular(root, (found.W * found.s) @ found.V.T, lower=True, trans="T").T

    def peer():
        def value_and_gradient(F):
            FS = F @ S_xx
            return yy + np.vdot(F, FS - 2 * S_yx), 2 * (FS - S_yx)

        return _fixed_rank_minimum(value_and_gradient)

    return Contest(ours, peer, lambda F: {"objective": np.sum((Y - X @ F.T) ** 2)})


@benchmark(
    "rank-huber",
    work="the same under the Huber loss, with one output in fifty wild",
    peer="pymanopt FixedRankEmbedded, ConjugateGradient, on the rows",
    cases=["plain inputs", "collinear inputs"],
    goal="10 times faster to the same objective",
)
def rank_huber(case):
    X, Y, _ = planted(N, D, Q, R, noise=0.5, collinear="collinear" in case)
    rng = np.random.default_rng(1)
    Y = np.where(rng.random(Y.shape) < 0.02, Y + 100 * rng.normal(size=Y.shape), Y)
    loss = Huber(delta=DELTA)

    def value_and_gradient(F):
        value, slope = loss.evaluate(Y, X @ F.T)
        return value.sum(), slope.T @ X

    def ours():
        return StiefelRegression(R, loss=loss, fit_intercept=False).fit(X, Y).coef_

    return Contest(
        ours,
        lambda: _fixed_rank_minimum(value_and_gradient),
        lambda F: {"objective": value_and_gradient(F)[0]},
    )


def _stream_contest(n, peer):
    """The same blocks of rows for both; ``peer`` makes a map of a generator of blocks."""
    X, Y, F = planted(n, D, Q, R, noise=0.5)

    def blocks():
        for start in range(0, n, BLOCK):
            yield X[start : start + BLOCK], Y[start : start + BLOCK]

    def ours():
        stream = SequentialStiefelRegression(R, alpha=0.0)
        for block in blocks():
            stream.partial_fit(*block)
        return stream.coef_

    return Contest(
        ours,
        lambda: peer(blocks()),
        lambda found: {"relative error": np.linalg.norm(found - F) / np.linalg.norm(F)},
    )


@benchmark(
    "rank-stream",
    work=f"50 inputs, 30 outputs, partial_fit of n rows in blocks of {BLOCK}",
    peer="sklearn MultiOutputRegressor(SGDRegressor).partial_fit",
    cases=[10_000, 30_000, 100_000],
    quick=[2_000, 5_000, 10_000],
    goal="more rows a second, smaller error; linear in n",
)
def rank_stream(n):
    def peer(blocks):
        model = MultiOutputRegressor(SGDRegressor(random_state=0))
        for block in blocks:
            model.partial_fit(*block)
        return np.array([one.coef_ for one in model.estimators_])

    return _stream_contest(n, peer)


@benchmark(
    "rank-stream-rls",
    work=f"50 inputs, 30 outputs, partial_fit of n rows in blocks of {BLOCK}",
    peer="recursive least squares, row by row in NumPy",
    cases=[10_000, 30_000, 100_000],
    quick=[2_000, 5_000, 10_000],
    goal="more rows a second, smaller error; linear in n",
)
def rank_stream_rls(n):
    def peer(blocks):
        P, F = 1e6 * np.eye(D), np.zeros((Q, D))
        for X, Y in blocks:
            for x, y in zip(X, Y, strict=True):
                Px = P @ x
                gain = Px / (1 + x @ Px)
                F += np.outer(y - F @ x, gain)
                P -= np.outer(gain, Px)
        return F

    return _stream_contest(n, peer)
