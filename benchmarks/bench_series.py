"""Elastic distances and alignment kernels, against aeon, tslearn and dtaidistance."""

import numpy as np

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.kernels import GlobalAlignment
from isthmus.series import (
    alignment_matrix,
    dtw_matrix,
    elastic_matrix,
    nearest_series,
    sliding_window_check,
)

LENGTH = 200


def _walks(n, length=LENGTH, channels=None):
    shape = (n, length) if channels is None else (n, length, channels)
    return np.random.default_rng(0).normal(size=shape).cumsum(axis=1)


def _difference(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def _threads():
    import numba

    return numba.get_num_threads()


def _jobs():
    """What tslearn takes: None runs in the process itself."""
    return None if _threads() == 1 else _threads()


def _import(module, name):
    try:
        return getattr(__import__(module, fromlist=[name]), name)
    except ImportError as missing:
        raise Unavailable(f"{module.split('.')[0]} is not installed") from missing


@benchmark(
    "dtw-aeon",
    work=f"All distances of n random walks of {LENGTH} steps",
    peer="aeon dtw_pairwise_distance",
    cases=(50, 100, 200),
    quick=(10, 20, 40),
    goal="1.5 times faster than the fastest of the three",
)
def aeon(n):
    X = _walks(n)

    def peer():
        return _import("aeon.distances", "dtw_pairwise_distance")(X, n_jobs=_threads())

    return Contest(lambda: dtw_matrix(X), peer, None, _difference)


@benchmark(
    "dtw-tslearn",
    work=f"All distances of n random walks of {LENGTH} steps",
    peer="tslearn cdist_dtw, squared",
    cases=(50, 100, 200),
    quick=(10, 20, 40),
    goal="1.5 times faster than the fastest of the three",
)
def tslearn(n):
    X = _walks(n)

    def peer():
        return _import("tslearn.metrics", "cdist_dtw")(X, n_jobs=_jobs()) ** 2

    return Contest(lambda: dtw_matrix(X), peer, None, _difference)


@benchmark(
    "dtw-dtaidistance",
    work=f"All distances of n random walks of {LENGTH} steps",
    peer="dtaidistance distance_matrix_fast (C), squared",
    cases=(50, 100, 200),
    quick=(10, 20, 40),
    goal="1.5 times faster than the fastest of the three",
)
def dtaidistance(n):
    X = _walks(n)

    def peer():
        fast = _import("dtaidistance.dtw", "distance_matrix_fast")
        return fast(X, parallel=_threads() > 1) ** 2

    return Contest(lambda: dtw_matrix(X), peer, None, _difference)


@benchmark(
    "dtw-band",
    work=f"All distances of n random walks of {LENGTH} steps, band of a tenth",
    peer="aeon dtw_pairwise_distance, window=0.1",
    cases=(100, 200, 400),
    quick=(10, 20, 40),
    goal="1.5 times faster",
)
def band(n):
    X = _walks(n)

    def peer():
        return _import("aeon.distances", "dtw_pairwise_distance")(X, window=0.1, n_jobs=_threads())

    return Contest(lambda: dtw_matrix(X, window=0.1), peer, None, _difference)


@benchmark(
    "dtw-multivariate",
    work="All distances of n walks of 100 to 200 steps in three channels",
    peer="aeon dtw_pairwise_distance",
    cases=(50, 100, 200),
    quick=(10, 20, 40),
)
def multivariate(n):
    lengths = np.random.default_rng(1).integers(100, 201, n)
    X = [x[:m] for x, m in zip(_walks(n, channels=3), lengths, strict=True)]

    def peer():
        pairwise = _import("aeon.distances", "dtw_pairwise_distance")
        return pairwise([x.T for x in X], n_jobs=_threads())

    return Contest(lambda: dtw_matrix(X), peer, None, _difference)


@benchmark(
    "dtw-nearest",
    work=f"Nearest of n walks of {LENGTH} steps to 50 others, band of a twentieth",
    peer="the smallest of the row of aeon's matrix",
    cases=(200, 400, 800),
    quick=(20, 40, 80),
)
def nearest(n):
    Z = _walks(n)
    X = Z[:50] + np.random.default_rng(1).normal(size=(min(n, 50), LENGTH))

    def peer():
        pairwise = _import("aeon.distances", "dtw_pairwise_distance")
        return pairwise(X, Z, window=0.05, n_jobs=_threads()).min(axis=1)

    def ours():
        return nearest_series(X, Z, window=0.05).distances[:, 0]

    return Contest(ours, peer, None, _difference)


@benchmark(
    "alignment-kernel",
    work=f"Gram matrix of n random walks of {LENGTH} steps",
    peer="tslearn cdist_gak",
    cases=(25, 50, 100),
    quick=(5, 10, 20),
    goal="5 times faster",
)
def alignment(n):
    return _alignment_contest(_walks(n))


@benchmark(
    "alignment-kernel-long",
    work="Gram matrix of ten random walks of many steps",
    peer="tslearn cdist_gak",
    cases=(250, 500, 1000),
    quick=(50, 100, 200),
    unit="steps",
    goal="5 times faster",
)
def alignment_long(length):
    return _alignment_contest(_walks(10, length))


def _alignment_contest(X):
    kernel = GlobalAlignment().resolve(X)

    def peer():
        gram = _import("tslearn.metrics", "cdist_gak")
        return gram(X, sigma=1 / np.sqrt(2 * kernel.gamma), n_jobs=_jobs())

    return Contest(lambda: kernel(X), peer, None, _difference)


# Ours and aeon's words for one distance with the same prices.
ELASTIC = {
    "lcss": ({"width": 1.0}, {"epsilon": 1.0}),
    "edr": ({"width": 1.0}, {"epsilon": 1.0}),
    "msm": ({"cost": 1.0}, {"c": 1.0}),
    "twe": ({"cost": 1.0, "stiffness": 0.001}, {"lmbda": 1.0, "nu": 0.001}),
    "soft_dtw": ({"smoothness": 1.0}, {"gamma": 1.0}),
}


@benchmark(
    "elastic-aeon",
    work=f"All distances of 60 random walks of {LENGTH} steps, by name",
    peer="aeon's pairwise distance of that name; its edr and erp have other sums at the borders",
    cases=(*ELASTIC, "erp"),
    quick=("msm", "erp"),
    unit="distance",
    goal="the same distances, faster",
)
def elastic(name):
    X = _walks(60)
    our_prices, their_prices = ELASTIC.get(name, ({}, {}))

    def ours():
        if name == "erp":
            return alignment_matrix(X)
        return elastic_matrix(X, distance=name, **our_prices)

    def peer():
        pairwise = _import("aeon.distances", f"{name}_pairwise_distance")
        return pairwise(X, n_jobs=_threads(), **their_prices)

    # Its smooth warping of a series with itself is set to zero.
    upper = np.triu_indices(len(X), 1)
    same = None if name in ("edr", "erp") else lambda a, b: _difference(a[upper], b[upper])
    return Contest(ours, peer, None, same)


@benchmark(
    "soft-dtw-tslearn",
    work=f"Smooth minima over all warps of n random walks of {LENGTH} steps",
    peer="tslearn cdist_soft_dtw",
    cases=(10, 20, 40),
    quick=(5, 10, 20),
    goal="the same values, faster",
)
def soft_dtw(n):
    X = _walks(n)

    def peer():
        return _import("tslearn.metrics", "cdist_soft_dtw")(X, gamma=1.0)

    return Contest(lambda: elastic_matrix(X, distance="soft_dtw"), peer, None, _difference)


@benchmark(
    "window-check",
    work="Whether clusters of windows of 32 steps tell a signal of n steps from noise, 2 x 5 runs",
    peer="those runs of sklearn KMeans alone, on standardised windows",
    cases=(1000, 3000, 10_000),
    quick=(500,),
    goal="as cheap as the clusters it judges",
    why="nearly all is the same runs of KMeans on both sides",
)
def window_check(n):
    from numpy.lib.stride_tricks import sliding_window_view
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import scale

    noise, signal = np.random.default_rng(0).normal(size=(2, n))
    signal += 5 * np.sin(np.arange(n) / 7)

    def ours():
        return sliding_window_check(signal, noise, length=32, random_state=0)

    def peer():
        for x in (signal, noise):
            windows = scale(sliding_window_view(x, 32), axis=1)
            for seed in range(5):
                KMeans(3, init="random", n_init=1, random_state=seed).fit(windows)

    def quality(found):
        return {} if found is None else {"ratio of distances": found.ratio}

    return Contest(ours, peer, quality)
