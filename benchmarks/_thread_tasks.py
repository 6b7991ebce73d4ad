"""The tasks of ``python -m benchmarks.threads``: each prepares data and returns the work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

TASKS: dict[str, Callable[[], Callable[[], object]]] = {}
WHY: dict[str, str] = {}


def task(name: str, *, why: str = ""):
    """Register a function that prepares data and returns the work to be timed.

    ``why`` says what keeps a second thread from gaining more.
    """

    def register(prepare):
        TASKS[name] = prepare
        WHY[name] = why
        return prepare

    return register


def _data(n: int, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, np.sin(X[:, :2]).sum(axis=1) + 0.1 * X[:, 2:4].T


@task(
    "GaussianProcess fit, 1000 rows",
    why="a fifth of one thread's time are passes over matrices outside LAPACK, one after the "
    "other: the kernel, its slope, copies; a factor of 1000 rows gains 1.5",
)
def _gaussian_process():
    from isthmus.regression import GaussianProcess

    X, Y = _data(1000)
    return lambda: GaussianProcess().fit(X, Y[0])


@task(
    "KernelPCA fit, 3000 rows",
    why="three fifths of one thread's time are products of the Gram matrix with a few columns, "
    "which read its 72 megabytes each time: two threads wait for the same memory",
)
def _kernel_pca():
    from isthmus.features import KernelPCA

    X, _ = _data(3000, 20)
    return lambda: KernelPCA(20).fit(X)


@task(
    "KernelRidgeCV fit, 1500 rows",
    why="two fifths are one tridiagonal form, whose threads wait for memory; three widths are "
    "compared side by side, which takes two threads as long as two of them",
)
def _ridge():
    from isthmus.regression import KernelRidgeCV

    X, Y = _data(1500)
    return lambda: KernelRidgeCV().fit(X, Y.T)


@task(
    "DependencyEstimator fit, 1000 rows",
    why="nine tenths are three widths that are compared side by side, which takes two threads as "
    "long as two of them",
)
def _dependency():
    from isthmus.structured import DependencyEstimator

    X, Y = _data(1000)
    return lambda: DependencyEstimator().fit(X, Y.T)


@task(
    "UnsupervisedKernelRegression fit, 400 rows",
    why="three tenths are one chain of stochastic steps, a fifth 150 errors of the descent and "
    "of its starts, a fifth of a millisecond each; the rest are spectra of few rows and calls",
)
def _ukr():
    from isthmus.manifold import UnsupervisedKernelRegression

    X, _ = _data(400, 5)
    return lambda: UnsupervisedKernelRegression(2, random_state=0, max_iter=30).fit(X)


@task(
    "TwinGaussianProcess fit and predict, 500 rows",
    why="settings are tried one after the other on three folds of 333 pairs, whose searches are "
    "short calls from Python, of which the interpreter lets one thread run at a time",
)
def _twin():
    from isthmus.structured import TwinGaussianProcess

    X, Y = _data(500)
    return lambda: TwinGaussianProcess(random_state=0).fit(X, Y.T).predict(X[:50])


@task(
    "StiefelRegression fit, 4000 rows",
    why="not much more than half of one thread's time are the slopes, in four blocks of rows of a "
    "fraction of a millisecond, the first of which is done alone; the other steps of the "
    "descent follow each other",
)
def _stiefel():
    from isthmus.regression import StiefelRegression

    X, _ = _data(4000, 100)
    Y = X[:, :60] @ np.random.default_rng(1).normal(size=(60, 80))
    return lambda: StiefelRegression(10, loss="huber").fit(X, Y)


@task(
    "GenerativeTopographicMapping fit, 1000 rows",
    why="two thirds of one thread's time are shared, in eight parts of a fraction of a "
    "millisecond for each of some 370 rounds; the rest of a round are small factors and "
    "products, one after the other",
)
def _gtm():
    from isthmus.manifold import GenerativeTopographicMapping

    X, _ = _data(1000, 10)
    return lambda: GenerativeTopographicMapping(random_state=0).fit(X)


@task(
    "SlowFeatureAnalysis fit, 20000 rows, squares of 20 columns",
    why="three fifths of one thread's time are for one root that blocks of rows extend one after "
    "the other, by products of 230 columns that are too short for two threads",
)
def _slow():
    from isthmus.features import SlowFeatureAnalysis

    X = np.random.default_rng(0).normal(size=(20000, 20)).cumsum(axis=0)
    return lambda: SlowFeatureAnalysis(3, expansion=2).fit(X)


@task("dtw_matrix, 60 series")
def _warping():
    from isthmus.series import dtw_matrix

    X = list(np.random.default_rng(0).normal(size=(60, 150, 2)))
    return lambda: dtw_matrix(X)


@task(
    "distance correlation, 3000 rows, 10 and 3 columns",
    why="the whole takes a fiftieth of a second: what is prepared before the shared part, and "
    "starting it, counts",
)
def _distance_correlation():
    from isthmus.dependence import distance_correlation

    X, _ = _data(3000, 10)
    return lambda: distance_correlation(X, X[:, :3] ** 2)


@task(
    "LocalPolynomialRegression fit and predict, 1500 rows",
    why="nine blocks of rows are shared, the first of which is done alone; a block is some twenty "
    "calls from Python, many of them passes over kernel values that wait for memory",
)
def _local():
    from isthmus.regression import LocalPolynomialRegression

    X, Y = _data(1500, 3)
    return lambda: LocalPolynomialRegression().fit(X, Y[0]).predict(X[:500])


@task("KSVD, 2000 signals, 128 atoms, 5 sweeps")
def _ksvd():
    from isthmus.sparse import KSVD

    X, _ = _data(2000, 64)
    return lambda: KSVD(128, n_nonzero=4, max_iter=5, random_state=0).fit(X)


@task("SparseDictionary, 2000 signals, 100 atoms, 5 passes")
def _dictionary():
    from isthmus.sparse import SparseDictionary

    X, _ = _data(2000, 64)
    return lambda: SparseDictionary(100, max_iter=5, random_state=0).fit(X)


@task("NonnegativeFactorization, 2000 × 200, rank 20")
def _factorization():
    from isthmus.sparse import NonnegativeFactorization

    X = np.abs(_data(2000, 200)[0])
    return lambda: NonnegativeFactorization(20, max_iter=30, random_state=0).fit(X)


@task("orthogonal matching pursuit, 5000 signals, 256 atoms")
def _pursuit():
    from isthmus.sparse import orthogonal_matching_pursuit

    X, D = _data(5000, 64)[0], np.random.default_rng(1).normal(size=(256, 64))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    return lambda: orthogonal_matching_pursuit(X, D, n_nonzero=8)


@task("feature-sign search, 2000 signals, 256 atoms")
def _signs():
    from isthmus.sparse import feature_sign_search

    X, D = _data(2000, 64)[0], np.random.default_rng(1).normal(size=(256, 64))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    return lambda: feature_sign_search(X, D, alpha=0.5)


@task("inverse kinematics, 1000 poses")
def _inverse():
    from isthmus.robotics import inverse_kinematics, pa10

    arm = pa10()
    rows = np.random.default_rng(0).uniform(arm.lower, arm.upper, size=(1000, 7))
    poses = arm.forward(rows)
    return lambda: inverse_kinematics(arm, poses, random_state=0)


@task(
    "DistanceCorrelationReduction fit, 500 rows",
    why="two fifths of one thread's time are eigenvectors of 500 and of 128 rows, one matrix "
    "after the other, in steps too short for two threads; the rest is a chain of short calls "
    "from Python",
)
def _reduction():
    from isthmus.features import DistanceCorrelationReduction

    X, Y = _data(500, 10)
    return lambda: DistanceCorrelationReduction(2, random_state=0).fit(X, Y[0])


@task(
    "CoreVectorClassifier fit, 4000 rows",
    why="the core set grows round by round: each is a compiled descent, a chain of steps, and "
    "short products that keep BLAS on one thread",
)
def _core():
    from isthmus.coreset import CoreVectorClassifier

    X, Y = _data(4000)
    return lambda: CoreVectorClassifier(random_state=0).fit(X, Y[0] > 0)


@task(
    "compress a KernelRidgeCV of 1000 rows to 50 points",
    why="nine tenths of one thread's time are two hundred steps of a descent, one after the "
    "other, each of products with 50 points that take less than a tenth of a millisecond",
)
def _compress():
    from isthmus.reduction import compress
    from isthmus.regression import KernelRidgeCV

    X, Y = _data(1000)
    model = KernelRidgeCV().fit(X, Y.T)
    return lambda: compress(model, 50)


@task(
    "ReducedRankRegression fit, 5000 rows, 200 to 100",
    why="residuals of rows left out and sums of products are shared, three fifths of the work; "
    "the rest is a singular value decomposition and for each fold and penalty factors of 100 "
    "and 200 rows, too small for two threads",
)
def _reduced_rank():
    from isthmus.regression import ReducedRankRegression

    X, _ = _data(5000, 200)
    Y = X[:, :100] + np.random.default_rng(1).normal(size=(5000, 100))
    return lambda: ReducedRankRegression().fit(X, Y)


@task(
    "BayesianStiefelRegression fit, 500 rows",
    why="the Gibbs sampler is a chain of 500 sweeps, each of hundreds of calls from Python on "
    "small matrices",
)
def _bayesian():
    from isthmus.regression import BayesianStiefelRegression

    X, Y = _data(500, 20)
    return lambda: BayesianStiefelRegression(2, random_state=0).fit(X, Y.T)


@task(
    "GaussianProcessClassifier fit, 500 rows",
    why="half of one thread's time are factors and inverses of 500 rows, at which two threads of "
    "BLAS gain less than twice; the rest are passes over matrices between them, by one thread",
)
def _classifier():
    from isthmus.regression import GaussianProcessClassifier

    X, Y = _data(500)
    return lambda: GaussianProcessClassifier().fit(X, Y[0] > 0)


@task(
    "ConformalSets of KernelRidgeCV, 800 rows",
    why="three fifths of one thread's time are the eigenvectors of three widths, compared side by "
    "side, which takes two threads as long as two of them",
)
def _conformal():
    from isthmus.regression import KernelRidgeCV
    from isthmus.structured import ConformalSets

    X, Y = _data(800)
    return lambda: ConformalSets(KernelRidgeCV()).fit(X, Y[0]).predict(X[:50])


@task("PSOM projection, 1000 rows on a 7 × 7 grid")
def _psom():
    from isthmus.manifold import PSOM, grid_points

    angles = grid_points((7, 7), bounds=(0, 1.5), basis="chebyshev")
    a, b = angles.T
    hand = np.c_[np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)]
    arm = PSOM(np.c_[angles, hand], grid=(7, 7), bounds=(0, 1.5), basis="chebyshev").fit()
    X = arm.inverse_transform(np.random.default_rng(0).uniform(0, 1.5, size=(1000, 2)))
    return lambda: arm.transform(X)


@task(
    "SmoothPSOM fit, 300 rows",
    why="a chain of 120 rounds of less than a millisecond, of which a quarter is the compiled "
    "projection of the rows and most of the rest are calls for few nodes",
)
def _smooth_psom():
    from isthmus.manifold import SmoothPSOM

    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    X = np.column_stack([X, np.sin(2 * X), X[:, 0] * X[:, 1]])
    return lambda: SmoothPSOM((4, 4), random_state=0).fit(X)


@task(
    "PrincipalCurve fit, 1000 rows",
    why="three tenths are a chain of ninety rounds of less than a millisecond; the rest finds "
    "starts, by shortest paths, a fifth of the whole, and by spectra, one after the other",
)
def _curve():
    from isthmus.manifold import PrincipalCurve

    t = np.random.default_rng(0).uniform(size=1000)
    X = np.column_stack([np.cos(3 * t), np.sin(3 * t), t]) + 0.05 * _data(1000, 3)[0]
    return lambda: PrincipalCurve().fit(X)


@task(
    "SammonMapping fit, 300 rows",
    why="over a half is a chain of a hundred steps of a descent, each a sum over all pairs "
    "that takes less than half a millisecond; the rest are starts and calls",
)
def _sammon():
    from isthmus.manifold import SammonMapping

    X, _ = _data(300, 5)
    return lambda: SammonMapping(2, random_state=0, max_iter=50).fit(X)


@task(
    "HSIC test, 500 rows, 500 permutations",
    why="a quarter of one thread's time is outside of the shared part: permutations that are "
    "drawn one after the other, and two Gram matrices",
)
def _hsic():
    from isthmus.dependence import independence_test

    X, Y = _data(500, 5)
    return lambda: independence_test(X, Y.T, n_permutations=500, random_state=0)


@task(
    "Gaussian Gram matrix, 3000 rows, 20 columns",
    why="the result is 72 megabytes of fresh memory, which the system clears page by page and "
    "exponentials fill: two threads share one way to it",
)
def _gram():
    from isthmus.kernels import Gaussian

    X, _ = _data(3000, 20)
    return lambda: Gaussian(0.02)(X)


@task("Gaussian Gram matrix, 3000 rows, 784 columns")
def _wide_gram():
    from isthmus.kernels import Gaussian

    X, _ = _data(3000, 784)
    return lambda: Gaussian(0.001)(X)


@task("global alignment, 60 series")
def _alignment():
    from isthmus.kernels import GlobalAlignment

    X = list(np.random.default_rng(0).normal(size=(60, 100, 2)).cumsum(axis=1))
    kernel = GlobalAlignment().resolve(X)
    return lambda: kernel(X)
