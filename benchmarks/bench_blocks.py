"""Rows in blocks from disk against the same rows in memory, and against what others do."""

import atexit
import shutil
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy import linalg
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.linear_model import LinearRegression

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.blocks import fold, map_block, merge
from isthmus.features import KernelPCA, SlowFeatureAnalysis
from isthmus.kernels import Gaussian
from isthmus.manifold import SmoothPSOM
from isthmus.regression import BayesianLinearRegression, KernelRidgeCV, ReducedRankRegression
from isthmus.sparse import NonnegativeFactorization, SparseDictionary

N_FEATURES, N_OUTPUTS = 50, 5
CHUNK = 100_000  # rows in a chunk of a Dask array, 40 MB


@cache
def _folder():
    """A folder that lasts as long as the process."""
    path = tempfile.mkdtemp(prefix="isthmus-blocks-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def _rows(n):
    """Rows on disk, outputs in memory, and the map between them."""
    path = _folder() / f"rows-{n}"
    rng = np.random.default_rng(0)
    F = rng.normal(size=(N_OUTPUTS, 2)) @ rng.normal(size=(2, N_FEATURES))
    if not path.exists():
        X = np.memmap(path, dtype=float, mode="w+", shape=(n, N_FEATURES))
        for start in range(0, n, 50_000):
            block = X[start : start + 50_000]
            block[:] = rng.normal(size=block.shape)
        X.flush()
    X = np.memmap(path, dtype=float, mode="r", shape=(n, N_FEATURES))
    noise = np.random.default_rng(1).normal(size=(n, N_OUTPUTS))
    Y = np.concatenate([X[i : i + 50_000] @ F.T for i in range(0, n, 50_000)])
    return X, Y + noise, F


def _fits(X, Y):
    """What is fitted to inputs that are on disk or in memory."""
    Z = Y[:, :2]
    return {
        "ReducedRankRegression": lambda X: ReducedRankRegression(2).fit(X, Y).coef_,
        "BayesianLinearRegression": lambda X: BayesianLinearRegression().fit(X, Y).coef_,
        "SlowFeatureAnalysis": lambda X: SlowFeatureAnalysis(3).fit(X).slowness_,
        "SmoothPSOM": lambda X: SmoothPSOM((8, 8)).fit(X, latent=Z).inverse_transform(Z[:100]),
        "SparseDictionary": lambda X: _dictionary().fit(X).components_,
        "NonnegativeFactorization": lambda X: _factors(X),
        "KernelPCA": lambda X: KernelPCA(10, **_landmarks()).fit(X).eigenvalues_,
        "KernelRidgeCV": lambda X: KernelRidgeCV(**_landmarks()).fit(X, Y).dual_coef_,
    }


def _landmarks():
    return {"kernel": Gaussian(0.01), "n_landmarks": 100, "random_state": 0}


def _dictionary():
    # From given atoms: of many rows in blocks, others are drawn than of the same in memory, and the
    # problem has many minima.
    atoms = np.random.default_rng(2).normal(size=(20, N_FEATURES))
    return SparseDictionary(20, alpha=4.0, max_iter=2, init=atoms, random_state=0)


def _factors(X):
    """The objective: in blocks the codes are solved anew in each pass, which is another path."""
    blocks = (lambda: (np.abs(b) for b in _cut(X))) if isinstance(X, np.memmap) else np.abs(X)
    return NonnegativeFactorization(5, tol=1e-3, random_state=0).fit(blocks).objective_


def _relative(a, b):
    return float(np.max(np.abs(np.asarray(a) - np.asarray(b))) / np.max(np.abs(b)))


def _cut(X):
    return (X[i : i + 40_000] for i in range(0, len(X), 40_000))


@benchmark(
    "blocks-memory",
    work="a fit to 100 000 rows of 50 columns on disk, block by block",
    peer="the same fit to the rows in memory",
    cases=tuple(_fits(None, np.zeros((1, 2)))),
    quick=("ReducedRankRegression", "SlowFeatureAnalysis"),
    unit="estimator",
    goal="at most 1.3 times the time",
)
def memory(name):
    X, Y, _ = _rows(100_000)
    fit, whole = _fits(X, Y)[name], np.array(X)

    return Contest(lambda: fit(X), lambda: fit(whole), difference=_relative)


@benchmark(
    "blocks-linear",
    work="linear regression of 5 outputs on 50 columns on disk, without a penalty",
    peer="scikit-learn LinearRegression of the rows in memory, which are read in its time",
    cases=(100_000, 300_000, 1_000_000),
    quick=(10_000, 20_000, 40_000),
    goal="equal",
)
def linear(n):
    X, Y, F = _rows(n)

    def ours():
        return ReducedRankRegression(N_OUTPUTS, alpha=0.0).fit(X, Y).coef_

    def peer():
        return LinearRegression().fit(np.array(X), Y).coef_

    def quality(coef):
        return {"error": float(np.linalg.norm(coef - F) / np.linalg.norm(F))}

    return Contest(ours, peer, quality, lambda a, b: float(np.abs(a - b).max()))


@benchmark(
    "blocks-moments",
    work="mean and covariance of 50 columns on disk",
    peer="scikit-learn IncrementalPCA with blocks of 10 000 rows",
    cases=(100_000, 300_000, 1_000_000),
    quick=(20_000, 40_000, 80_000),
    goal="equal",
)
def moments(n):
    X, _, _ = _rows(n)

    def peer():
        return IncrementalPCA(batch_size=10_000).fit(X).get_covariance()

    def ours():
        found = fold(X, map_block, merge)
        return found.scatter / (found.count - 1)

    return Contest(ours, peer, difference=lambda a, b: float(np.abs(a - b).max()))


def _collections(X, *others):
    """Rows as Dask arrays that hold them in memory."""
    try:
        import dask.array as da
    except ImportError as error:
        raise Unavailable("dask is not installed") from error
    return [da.from_array(np.array(A), chunks=(CHUNK, *A.shape[1:])) for A in (X, *others)]


def _dask_ml(module, name):
    """A class of dask-ml."""
    try:
        return getattr(import_module(f"dask_ml.{module}"), name)
    except ImportError as error:
        raise Unavailable("dask-ml is not installed") from error


def _alone(work):
    """Work that one thread does, as one worker would."""

    def run():
        import dask

        with dask.config.set(scheduler="synchronous"):
            return work()

    return run


@benchmark(
    "blocks-one-worker",
    work="a fit to 500 000 rows of 50 columns in five chunks of a Dask array, on one worker thread",
    peer="the same fit to the rows in memory",
    cases=(
        "ReducedRankRegression",
        "BayesianLinearRegression",
        "SlowFeatureAnalysis",
        "KernelPCA",
        "KernelRidgeCV",
    ),
    quick=("ReducedRankRegression",),
    unit="estimator",
    goal="at most 1.3 times the time",
    why="the same fit, with chunks that Dask hands over one by one",
)
def one_worker(name):
    X, Y, _ = _rows(500_000)
    fit, whole = _fits(X, Y)[name], np.array(X)
    (blocks,) = _collections(X)
    return Contest(_alone(lambda: fit(blocks)), lambda: fit(whole), difference=_relative)


@benchmark(
    "blocks-dask-ml",
    work="linear regression of one output on 50 columns of a Dask array",
    peer="dask-ml LinearRegression(solver='lbfgs', penalty='l2', C=1e10)",
    cases=(30_000, 100_000, 300_000),
    quick=(10_000, 20_000, 40_000),
    goal="equal",
)
def dask_ml(n):
    X, Y, F = _rows(n)
    blocks, y = _collections(X, Y[:, 0])

    def peer():
        parallel = _dask_ml("linear_model", "LinearRegression")
        return parallel(solver="lbfgs", penalty="l2", C=1e10).fit(blocks, y).coef_

    def ours():
        return ReducedRankRegression(1, alpha=0.0).fit(blocks, y).coef_[0]

    def quality(coef):
        return {"error": float(np.linalg.norm(coef - F[0]) / np.linalg.norm(F[0]))}

    return Contest(_alone(ours), _alone(peer), quality)


def _principal(X):
    """Variances along the principal axes, and the axes, from moments of rows in blocks."""
    found = fold(X, map_block, merge)
    variances, axes = linalg.eigh(found.scatter / (found.count - 1))
    return variances[::-1], axes[:, ::-1].T


@benchmark(
    "blocks-pca",
    work="all principal components of 50 columns on disk, from their moments",
    peer="scikit-learn PCA of the rows in memory, which are read in its time",
    cases=(100_000, 300_000, 1_000_000),
    quick=(20_000, 40_000, 80_000),
    goal="equal",
    why="rows are read from the disk's cache, centred and multiplied block by block, where the "
    "peer's one product of all rows in memory has all threads",
)
def pca(n):
    X, _, _ = _rows(n)

    def peer():
        found = PCA(N_FEATURES).fit(np.array(X))
        return found.explained_variance_, found.components_

    return Contest(lambda: _principal(X), peer, difference=lambda a, b: _relative(a[0], b[0]))


@benchmark(
    "blocks-dask-ml-pca",
    work="all principal components of 50 columns of a Dask array, from its moments",
    peer="dask-ml PCA(svd_solver='tsqr')",
    cases=(100_000, 300_000, 1_000_000),
    quick=(20_000, 40_000, 80_000),
    goal="equal",
)
def dask_ml_pca(n):
    (blocks,) = _collections(_rows(n)[0])

    def peer():
        found = _dask_ml("decomposition", "PCA")(N_FEATURES, svd_solver="tsqr").fit(blocks)
        return found.explained_variance_, found.components_

    return Contest(
        _alone(lambda: _principal(blocks)),
        _alone(peer),
        difference=lambda a, b: _relative(a[0], b[0]),
    )


@benchmark(
    "blocks-dask-ml-incremental",
    work="all principal components of 50 columns of a Dask array, from its moments",
    peer="dask-ml IncrementalPCA with blocks of 10 000 rows",
    cases=(30_000, 100_000),
    quick=(10_000, 20_000),
    goal="equal",
)
def dask_ml_incremental(n):
    (blocks,) = _collections(_rows(n)[0])

    def peer():
        # By default it takes 250 rows at a time, which is several times as slow.
        incremental = _dask_ml("decomposition", "IncrementalPCA")
        found = incremental(N_FEATURES, batch_size=10_000).fit(blocks)
        return found.explained_variance_, found.components_

    return Contest(
        _alone(lambda: _principal(blocks)),
        _alone(peer),
        difference=lambda a, b: _relative(a[0], b[0]),
    )
