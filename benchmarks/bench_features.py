"""Kernel principal components, exact and with landmarks."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from benchmarks._harness import Contest, benchmark
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.linalg import center_gram

N_COMPONENTS = 50
N_NEW = 1000
GAMMA = 0.05  # one over the number of features, scikit-learn's default


def _exact_contest(n, eigen_solver):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 20)), rng.normal(size=(N_NEW, 20))

    def ours():
        pca = KernelPCA(N_COMPONENTS, kernel=Gaussian(GAMMA)).fit(X)
        pca.transform(new)
        return pca.eigenvalues_, pca.dual_ * np.sqrt(pca.eigenvalues_)

    def peer():
        pca = SklearnKernelPCA(
            N_COMPONENTS, kernel="rbf", gamma=GAMMA, eigen_solver=eigen_solver, random_state=0
        ).fit(X)
        pca.transform(new)
        return pca.eigenvalues_, pca.eigenvectors_

    def quality(pairs):
        """Variance held, and the largest residual ‖Kv - λv‖ relative to the largest λ."""
        eigenvalues, U = pairs
        K, _ = center_gram(rbf_kernel(X, gamma=GAMMA), overwrite=True)
        residual = np.linalg.norm(K @ U - U * eigenvalues, axis=0).max() / eigenvalues[0]
        return {"eigenvalue sum": eigenvalues.sum(), "residual": residual}

    return Contest(ours, peer, quality)


@benchmark(
    "kernel-pca",
    work="KernelPCA fit, transform 1000 new rows; Gaussian, 20 features, 50 components",
    peer="sklearn KernelPCA (its default, the dense solver)",
    cases=(1000, 2000, 4000, 8000),
    quick=(500, 1000, 1500),
    goal="at least as fast at every size, 3 times at 8000",
)
def kernel_pca(n):
    return _exact_contest(n, "auto")


@benchmark(
    "kernel-pca-arpack",
    work="the same work",
    peer='sklearn KernelPCA(eigen_solver="arpack"), its best option here',
    cases=(1000, 2000, 4000, 8000),
    quick=(500, 1000, 1500),
    why="at 2000 rows over half of ours are products with few columns, too short to be shared "
    "among threads, and a fifth small eigenvalue problems; with one thread ours is the faster",
)
def kernel_pca_arpack(n):
    return _exact_contest(n, "arpack")


@benchmark(
    "kernel-pca-randomized",
    work="the same work",
    peer='sklearn KernelPCA(eigen_solver="randomized"), which is not exact: see the residuals',
    cases=(1000, 2000, 4000, 8000),
    quick=(500, 1000, 1500),
)
def kernel_pca_randomized(n):
    return _exact_contest(n, "randomized")


@benchmark(
    "kernel-pca-landmarks",
    work="KernelPCA with 300 landmarks, fit_transform; Gaussian, 20 features, 50 components",
    peer="sklearn make_pipeline(Nystroem(300), PCA(50))",
    cases=(10_000, 20_000, 50_000),
    quick=(1000, 2000, 4000),
)
def landmarks(n):
    X = np.random.default_rng(0).normal(size=(n, 20))
    some = X[:2000]
    total = 1 - rbf_kernel(some, gamma=GAMMA).mean()  # variance in feature space

    def ours():
        return KernelPCA(
            N_COMPONENTS, kernel=Gaussian(GAMMA), n_landmarks=300, random_state=0
        ).fit_transform(X)

    def peer():
        nystroem = Nystroem(gamma=GAMMA, n_components=300, random_state=0)
        return make_pipeline(nystroem, PCA(N_COMPONENTS, random_state=0)).fit_transform(X)

    def quality(coordinates):
        return {"share of variance": coordinates.var(axis=0).sum() / total}

    return Contest(ours, peer, quality)
