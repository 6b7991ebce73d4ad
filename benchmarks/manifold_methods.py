"""The methods that :mod:`benchmarks.manifolds` compares, each as one function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding
from sklearn.neural_network import MLPRegressor

from isthmus.features import KernelPCA
from isthmus.manifold import (
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    LocalPCA,
    MaximumVarianceUnfolding,
    PrincipalCurve,
    RegularizedPrincipalManifold,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)


@dataclass
class Fitted:
    """Places of the training rows, and what the model does with new ones; None where it cannot."""

    places: np.ndarray | None
    transform: Callable[[Any], Any] | None = None
    reconstruct: Callable[[Any], Any] | None = None


def both_ways(model, X):
    """A model with ``fit_transform``, ``transform`` and ``inverse_transform``."""
    Z = model.fit_transform(X)
    return Fitted(Z, model.transform, lambda Y: model.inverse_transform(model.transform(Y)))


def manifold(make):
    """A method of ours, made of a number of dimensions and a seed."""

    def fit(q, seed, X):
        model = make(q, seed).fit(X)
        return Fitted(model.embedding_, model.transform, model.reconstruct)

    return fit


def curve(q, seed, X):
    if q > 1:
        return None
    return manifold(lambda q, seed: PrincipalCurve(random_state=seed))(q, seed, X)


def local_planes(q, seed, X):
    model = LocalPCA(q, random_state=seed).fit(X)
    return Fitted(None, None, model.reconstruct)


def without_inverse(make):
    """A method of scikit-learn that places new rows, but has no way back."""

    def fit(q, seed, X):
        model = make(q, seed)
        return Fitted(model.fit_transform(X), model.transform)

    return fit


def t_sne(q, seed, X):
    return Fitted(TSNE(q, random_state=seed).fit_transform(X))


def umap(q, seed, X):
    from umap import UMAP

    model = UMAP(n_components=q, random_state=seed, n_jobs=1)
    places = model.fit_transform(X)

    def back(rows):
        return model.inverse_transform(model.transform(rows))

    # Its inverse needs two dimensions.
    return Fitted(places, model.transform, back if q > 1 else None)


def autoencoder(q, seed, X):
    """Units 64-q-64 of scikit-learn's network, in units of the data; tanh in the middle, too."""
    mean, spread = X.mean(axis=0), float(np.sqrt(np.mean(X.var(axis=0))))
    net = MLPRegressor(
        hidden_layer_sizes=(64, q, 64), activation="tanh", max_iter=1000, random_state=seed
    )
    Y = (X - mean) / spread
    net.fit(Y, Y if Y.shape[1] > 1 else Y.ravel())

    def encode(rows):
        Z = (rows - mean) / spread
        for W, b in zip(net.coefs_[:2], net.intercepts_[:2], strict=True):
            Z = np.tanh(Z @ W + b)
        return Z

    def reconstruct(rows):
        return mean + spread * net.predict((rows - mean) / spread).reshape(rows.shape)

    return Fitted(encode(X), encode, reconstruct)


def psom(q, seed):
    return SmoothPSOM((12,) if q == 1 else (7,) * q, random_state=seed)


METHODS: dict[str, Callable[[int, int, Any], Fitted | None]] = {
    "UnsupervisedKernelRegression": manifold(
        lambda q, seed: UnsupervisedKernelRegression(q, random_state=seed)
    ),
    "GenerativeTopographicMapping": manifold(
        lambda q, seed: GenerativeTopographicMapping(q, random_state=seed)
    ),
    "RegularizedPrincipalManifold": manifold(
        lambda q, seed: RegularizedPrincipalManifold(q, random_state=seed)
    ),
    "SmoothPSOM": manifold(psom),
    "PrincipalCurve": curve,
    "LocalPCA": local_planes,
    "Charting": manifold(lambda q, seed: Charting(q, random_state=seed)),
    "SammonMapping": manifold(lambda q, seed: SammonMapping(q, random_state=seed)),
    "CurvilinearComponents": manifold(lambda q, seed: CurvilinearComponents(q, random_state=seed)),
    "MaximumVarianceUnfolding": manifold(
        lambda q, seed: MaximumVarianceUnfolding(q, random_state=seed)
    ),
    "KernelPCA": lambda q, seed, X: both_ways(KernelPCA(q, kernel="gaussian"), X),
    "PCA": lambda q, seed, X: both_ways(PCA(q), X),
    "Isomap": without_inverse(lambda q, seed: Isomap(n_components=q, n_neighbors=8)),
    "LLE": without_inverse(
        lambda q, seed: LocallyLinearEmbedding(n_components=q, n_neighbors=8, random_state=seed)
    ),
    "UMAP": umap,
    "t-SNE": t_sne,
    "autoencoder": autoencoder,
}
