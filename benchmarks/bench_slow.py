"""Slow feature analysis: whole signals, and a stream."""

import numpy as np
from scipy.signal import lfilter

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.features import SlowFeatureAnalysis

N_FEATURES, N_COMPONENTS, BLOCK = 20, 2, 1000


def _mixture(n):
    """A slow sine among noises of different colour, mixed."""
    rng = np.random.default_rng(0)
    source = np.sin(2 * np.pi * np.arange(n) / (n / 4))
    noises = [lfilter([1], [1, -a], rng.normal(size=n)) for a in np.linspace(0, 0.9, 19)]
    return np.column_stack([source, *noises]) @ rng.normal(size=(20, 20)), source


def _slowest(source):
    def quality(features):
        return {"correlation": abs(np.corrcoef(features[:, 0], source)[0, 1])}

    return quality


def _ours(X):
    return lambda: SlowFeatureAnalysis(N_COMPONENTS).fit_transform(X)


@benchmark(
    "slow-tica",
    work="slow feature analysis of 20 channels, 2 features, fit and transform",
    peer="deeptime TICA(lagtime=1, dim=2)",
    cases=(20_000, 80_000, 320_000),
    quick=(2000, 4000, 8000),
    goal="equal",
)
def tica(n):
    X, source = _mixture(n)

    def peer():
        try:
            from deeptime.decomposition import TICA
        except ImportError as error:
            raise Unavailable("deeptime is not installed") from error
        return TICA(lagtime=1, dim=N_COMPONENTS).fit(X).fetch_model().transform(X)

    return Contest(_ours(X), peer, _slowest(source))


@benchmark(
    "slow-sksfa",
    work="the same work",
    peer="sklearn-sfa SFA(n_components=2)",
    cases=(20_000, 80_000, 320_000),
    quick=(2000, 4000, 8000),
    goal="4 times as fast",
)
def sksfa(n):
    X, source = _mixture(n)

    def peer():
        try:
            from sksfa import SFA
        except ImportError as error:
            raise Unavailable("sklearn-sfa is not installed") from error
        return SFA(n_components=N_COMPONENTS).fit_transform(X)

    return Contest(_ours(X), peer, _slowest(source))


@benchmark(
    "slow-quadratic",
    work="quadratic slow features of 8 channels (44 functions)",
    peer="sklearn-sfa make_pipeline(PolynomialFeatures(2), SFA(2))",
    cases=(20_000, 80_000),
    quick=(2000, 4000),
    goal="4 times as fast",
)
def quadratic(n):
    X = _mixture(n)[0]
    X = X[:, :8] / X.std(axis=0)[:8]

    def ours():
        return SlowFeatureAnalysis(N_COMPONENTS, expansion=2).fit_transform(X)

    def peer():
        try:
            from sksfa import SFA
        except ImportError as error:
            raise Unavailable("sklearn-sfa is not installed") from error
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures

        expansion = PolynomialFeatures(2, include_bias=False)
        return make_pipeline(expansion, SFA(n_components=N_COMPONENTS)).fit_transform(X)

    def quality(features):
        Y = features / features.std(axis=0)
        return {"slowness": np.mean(np.diff(Y[:, 0]) ** 2)}

    return Contest(ours, peer, quality)


@benchmark(
    "slow-stream",
    work="a stream of 20 channels in blocks of 1000 rows, exact; blocks are made beforehand",
    peer="deeptime TICA.partial_fit on the same blocks",
    cases=(10_000, 100_000, 1_000_000),
    quick=(3000, 6000, 12_000),
    unit="rows",
    goal="1.5 times as fast, memory that does not grow",
    why="of few blocks, the first fit with its checks and the axes at the end cost as much as all "
    "sums",
)
def stream(n):
    rng = np.random.default_rng(0)
    M = np.random.default_rng(1).normal(size=(20, 20))
    X = rng.normal(size=(n, 20))
    X[:, 0] = np.sin(np.arange(n) / 300)
    blocks = np.split(X @ M, n // BLOCK)

    def ours():
        model = SlowFeatureAnalysis(N_COMPONENTS)
        for block in blocks:
            model.partial_fit(block)
        return model.transform

    def peer():
        try:
            from deeptime.decomposition import TICA
        except ImportError as error:
            raise Unavailable("deeptime is not installed") from error
        model = TICA(lagtime=1, dim=N_COMPONENTS)
        for block in blocks:
            model.partial_fit(block)
        return model.fetch_model().transform

    def quality(transform):
        slow = transform(blocks[0])[:, 0]
        return {"correlation": abs(np.corrcoef(slow, X[:BLOCK, 0])[0, 1])}

    return Contest(ours, peer, quality)
