"""Unsupervised kernel regression: a step of training, embeddings with inverse, projections."""

import warnings

import numpy as np
from scipy.optimize import least_squares
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import trustworthiness
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neural_network import MLPRegressor

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import DataNotAvailable, load_usps
from isthmus.linalg.threads import one_pool
from isthmus.losses import Squared
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.manifold.ukr.objective import reconstruction_error
from isthmus.smoothers import density_kernel
from isthmus.smoothers.local_polynomial import LocalSmoother

N_FEATURES = 16
NEIGHBORS = 20.0  # that a kernel of compact support reaches, at every size


def _step_contest(kernel, n):
    """Value and gradient of the leave-one-out error at places spread evenly in a square."""
    rng = np.random.default_rng(0)
    side = np.sqrt(np.pi * n / NEIGHBORS)
    X, Y = side * rng.uniform(size=(n, 2)), rng.normal(size=(n, N_FEATURES))
    smoother = LocalSmoother(density_kernel(kernel))
    itself = np.arange(n)[:, None]

    def ours():
        with one_pool():  # as in every fit, the only place where steps are taken
            found = reconstruction_error(X, None, Y, Y, smoother, Squared(), excluded=itself)
        return found.value, found.by_point + found.by_centre

    def peer():
        sizes = np.sum(X**2, axis=1)
        squared = np.maximum(sizes[:, None] + sizes - 2 * X @ X.T, 0)
        mask = 1 - np.eye(n)
        K, H = smoother.kernel.profile(squared) * mask, smoother.kernel.slope(squared) * mask
        S = K.sum(axis=0)
        S[S == 0] = np.inf
        B, P = K / S, H / S
        F = B.T @ Y
        R = F - Y
        A = Y @ (2 * R).T - np.sum(2 * R * F, axis=1)
        T = P * A
        T = T + T.T
        return np.sum(R**2) / n, (T @ X - T.sum(axis=1)[:, None] * X) / n

    def difference(one, other):
        return float(np.abs(one[1] - other[1]).max() / np.abs(other[1]).max())

    return Contest(ours, peer, None, difference)


@benchmark(
    "manifold-step-gaussian",
    work="leave-one-out error and gradient, Gaussian kernel, 2 latent dimensions, 16 features",
    peer="the formula in plain NumPy",
    cases=(500, 1000, 2000),
    quick=(300, 600, 1200),
    goal="6 times at every size, with one thread and with all",
)
def step_gaussian(n):
    return _step_contest("gaussian", n)


@benchmark(
    "manifold-step-quartic",
    work="the same with the quartic kernel, which reaches 20 neighbours",
    peer="the formula in plain NumPy",
    cases=(1000, 2000, 4000),
    quick=(500, 1000, 2000),
    goal="5 times at 2000; growth below n^1.3",
)
def step_quartic(n):
    return _step_contest("quartic", n)


def _rows(name):
    """Training and held-out rows; 500 held out."""
    if name == "digits":
        Y = load_digits().data
        rng = np.random.default_rng(0)
        Y = Y[rng.permutation(len(Y))]
        return Y[:1297], Y[1297:]
    try:
        X = load_usps().X_train
    except DataNotAvailable as missing:
        raise Unavailable(str(missing)) from missing
    Y = X[np.random.default_rng(0).permutation(len(X))]
    return Y[:5000], Y[5000:5500]


def _ours(train, new, n_components=2):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = UnsupervisedKernelRegression(n_components, random_state=0).fit(train)
    return model.embedding_, model.reconstruct(new)


def _umap(train, new):
    try:
        import umap
    except ImportError as missing:
        raise Unavailable(str(missing)) from missing
    model = umap.UMAP(random_state=0, n_jobs=1).fit(train)
    return model.embedding_, model.inverse_transform(model.transform(new))


def _kernel_pca(train, new):
    gamma = 1.0 / (train.shape[1] * train.var())
    model = SklearnKernelPCA(
        2, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=1e-2, random_state=0
    )
    Z = model.fit_transform(train)
    return Z, model.inverse_transform(model.transform(new))


def _pca(train, new):
    model = PCA(2, random_state=0)
    Z = model.fit_transform(train)
    return Z, model.inverse_transform(model.transform(new))


def _autoencoder(train, new):
    mean, scale = train.mean(axis=0), train.std()
    model = MLPRegressor(
        hidden_layer_sizes=(128, 2, 128), max_iter=200, early_stopping=True, random_state=0
    )
    inputs = (train - mean) / scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(inputs, inputs)
    hidden = inputs
    for W, b in zip(model.coefs_[:2], model.intercepts_[:2], strict=True):
        hidden = np.maximum(hidden @ W + b, 0)
    return hidden, model.predict((new - mean) / scale) * scale + mean


PEERS = {
    "umap-learn": _umap,
    "KernelPCA": _kernel_pca,
    "PCA": _pca,
    "autoencoder": _autoencoder,
}
WORK = "fit 2 dimensions, project and reconstruct 500 held-out rows"
AGAINST = (
    "umap-learn with inverse_transform, sklearn KernelPCA(rbf, "
    "fit_inverse_transform=True), PCA, MLPRegressor 128-2-128"
)
GOAL = "least variance lost of all; trustworthiness within 0.01 of UMAP; faster than UMAP"
WHY = (
    "ours finds several embeddings to start from and trains by hundreds of steps from the best of "
    "them, where these peers solve one linear problem or train a network that stops early, and "
    "lose far more variance"
)


def _embedding_contest(rows, peer):
    train, new = rows
    variance = np.mean(np.sum((new - train.mean(axis=0)) ** 2, axis=1))

    def quality(found):
        embedding, back = found
        lost = np.mean(np.sum((back - new) ** 2, axis=1)) / variance
        some = slice(0, 2000)
        trust = trustworthiness(train[some], embedding[some], n_neighbors=5)
        return {"variance lost": lost, "trustworthiness": trust}

    return Contest(lambda: _ours(train, new), lambda: PEERS[peer](train, new), quality)


@benchmark(
    "manifold-digits",
    work=f"{WORK}, 1297 digits",
    peer=AGAINST,
    cases=tuple(PEERS),
    quick=("PCA",),
    unit="peer",
    goal=GOAL,
    why=WHY,
    shared=True,
)
def digits(peer):
    return _embedding_contest(_rows("digits"), peer)


@benchmark(
    "manifold-usps",
    work=f"{WORK}, 5000 USPS digits",
    peer=AGAINST,
    cases=tuple(PEERS),
    quick=("PCA",),
    unit="peer",
    goal=GOAL,
    why=WHY,
    shared=True,
)
def usps(peer):
    return _embedding_contest(_rows("usps"), peer)


def _lifted_roll(n, seed):
    """A noisy Swiss roll turned into ten columns."""
    rng = np.random.default_rng(seed)
    t, height = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n)), 21 * rng.uniform(size=n)
    Y = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(10, 10)))[0][:3]
    return Y @ turn + 0.3 * rng.normal(size=(n, 10))


def _landmark_contest(n, *, everywhere):
    """Landmarks of all rows against the full model of some, on which the others may be placed."""
    train, new = _lifted_roll(n, 0), _lifted_roll(1000, 1)
    variance = np.mean(np.sum((new - train.mean(axis=0)) ** 2, axis=1))

    def fitted(rows, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = UnsupervisedKernelRegression(2, random_state=0, **options).fit(rows)
        if everywhere and len(rows) < len(train):
            model.transform(train[len(rows) :])
        return model.reconstruct(new)

    def quality(back):
        return {"variance lost": float(np.mean(np.sum((back - new) ** 2, axis=1)) / variance)}

    return Contest(lambda: fitted(train, n_landmarks=300), lambda: fitted(train[:2000]), quality)


@benchmark(
    "manifold-landmarks",
    work="a Swiss roll in 10 columns: fit from 300 landmarks, reconstruct 1000 new rows",
    peer="the full model on 2000 of the rows, which has no places of the others",
    cases=(10_000, 30_000, 100_000),
    quick=(2000, 4000, 8000),
    unit="rows",
    goal="10^5 rows in seconds, growth below n^1.2, no more variance lost than the peer",
    why="ours places every row on the manifold, which the peer leaves out "
    "(`manifold-landmarks-places` is the same with it), and finds the landmarks in all rows",
)
def landmarks(n):
    return _landmark_contest(n, everywhere=False)


@benchmark(
    "manifold-landmarks-places",
    work="the same: places of all rows, then 1000 new ones",
    peer="the full model on 2000 of the rows, and `transform` of the others",
    cases=(10_000, 30_000, 100_000),
    quick=(2000, 4000, 8000),
    unit="rows",
    goal="at least as fast at every size, no more variance lost than the peer",
)
def landmark_places(n):
    return _landmark_contest(n, everywhere=True)


@benchmark(
    "manifold-inverse",
    work="inverse_transform of 1000 latent points, model of 1297 digits",
    peer="umap-learn's inverse_transform of 2 of the points",
    cases=(2, 3, 5),
    quick=(2,),
    unit="latent dimensions",
    goal="milliseconds",
)
def inverse(q):
    try:
        import umap
    except ImportError as missing:
        raise Unavailable(str(missing)) from missing
    train, _ = _rows("digits")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = UnsupervisedKernelRegression(q, random_state=0).fit(train)
    places = np.resize(model.embedding_, (1000, q)) + 0.01
    other = umap.UMAP(n_components=q, random_state=0, n_jobs=1).fit(train)
    some = other.embedding_[:2] + 0.01
    return Contest(lambda: model.inverse_transform(places), lambda: other.inverse_transform(some))


def _projected_digits(n):
    """A model of 1000 digits, noisy new ones, images of the training places, and a measure."""
    Y = load_digits().data
    rng = np.random.default_rng(0)
    Y = Y[rng.permutation(len(Y))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = UnsupervisedKernelRegression(random_state=0).fit(Y[:1000])
    new = np.clip(np.resize(Y[1000:], (n, 64)) + rng.normal(size=(n, 64)), 0, 16)
    images = model.inverse_transform(model.embedding_)

    def quality(places):
        back = model.inverse_transform(places)
        return {"squared distance": float(np.mean(np.sum((back - new) ** 2, axis=1)))}

    return model, new, images, quality


@benchmark(
    "manifold-projection",
    work="transform of rows, model of 1000 digits",
    peer="the nearest training reconstruction alone, where our search begins",
    cases=(1000, 3000, 10_000),
    quick=(200, 400, 800),
    unit="rows",
    goal="a third of the speed of the start alone, at a smaller distance",
    why="ours begins with what the peer does, and searches from there with the map and its slopes "
    "at every step",
)
def projection(n):
    model, new, images, quality = _projected_digits(n)

    def nearest():
        return model.embedding_[pairwise_distances_argmin(new, images)]

    return Contest(lambda: model.transform(new), nearest, quality)


@benchmark(
    "manifold-projection-refined",
    work="the same: equal distances are compared",
    peer="from there on SciPy's least_squares, row by row",
    cases=(50, 100, 200),
    quick=(20,),
    unit="rows",
    goal="100 times",
)
def projection_refined(n):
    model, new, images, quality = _projected_digits(n)

    def refined():
        starts = model.embedding_[pairwise_distances_argmin(new, images)]
        codes = model.encode(new)
        return np.array(
            [_nearest_place(model, code, z) for code, z in zip(codes, starts, strict=True)]
        )

    return Contest(lambda: model.transform(new), refined, quality)


def _nearest_place(model, code, start):
    def residual(z):
        return model.evaluate(z[None]).values[0] - code

    def slope(z):
        return model.evaluate(z[None], jacobian=True).jacobian[0]

    return least_squares(residual, start, slope, method="lm", ftol=1e-7).x
