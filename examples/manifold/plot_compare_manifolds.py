"""
Which manifold for which data
=============================

The same Swiss roll with a hole, laid flat by all manifolds of the library and by the usual ones.
Colours show the true place along the roll; the number is the share of the variance of the true
coordinates that is an affine function of those found. ``python -m benchmarks.manifolds`` compares
them on ten sets by the variance of new rows that they lose, the neighbours they keep, and time.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding

from isthmus.datasets import make_noisy_swiss_roll
from isthmus.features import KernelPCA
from isthmus.manifold import (
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    MaximumVarianceUnfolding,
    RegularizedPrincipalManifold,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)
from isthmus.plotting import style

X, truth = make_noisy_swiss_roll(400, noise=0.2, height=15, random_state=0)
middle, reach = truth.mean(axis=0), 0.2 * np.ptp(truth, axis=0)
kept = np.any(np.abs(truth - middle) > reach, axis=1)
X, truth = X[kept], truth[kept]

METHODS = {
    "UKR": UnsupervisedKernelRegression(2, random_state=0),
    "GTM": GenerativeTopographicMapping(2, n_nodes=15),
    "regularised sheet": RegularizedPrincipalManifold(2),
    "SmoothPSOM": SmoothPSOM((7, 7), random_state=0),
    "charts": Charting(2),
    "Sammon": SammonMapping(2, random_state=0),
    "curvilinear": CurvilinearComponents(2, random_state=0),
    "unfolding": MaximumVarianceUnfolding(2, n_landmarks=150, random_state=0),
    "PCA": PCA(2),
    "kernel PCA": KernelPCA(2, kernel="gaussian"),
    "Isomap": Isomap(n_components=2, n_neighbors=8),
    "LLE": LocallyLinearEmbedding(n_components=2, n_neighbors=8, random_state=0),
    "t-SNE": TSNE(random_state=0, max_iter=500),
}


def recovery(Z):
    """Share of the true coordinates that is an affine function of those found."""
    A = np.column_stack([np.ones(len(Z)), Z])
    gaps = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return np.mean(1 - gaps.var(axis=0) / truth.var(axis=0))


with style():
    figure, axes = plt.subplots(3, 5, figsize=(11, 6.2), layout="constrained")
    for ax in axes.flat:
        ax.axis("off")
    axes.flat[0].scatter(X[:, 0], X[:, 2], c=truth[:, 0], s=5, cmap="viridis")
    axes.flat[0].set_title("the data, from the side")
    for ax, (name, method) in zip(axes.flat[1:], METHODS.items(), strict=False):
        Z = method.fit_transform(X)
        Z = getattr(method, "embedding_", Z)
        print(f"{name:20s} {recovery(Z):.2f}")
        ax.scatter(*Z.T, c=truth[:, 0], s=5, cmap="viridis")
        ax.set_title(f"{name}: {recovery(Z):.2f}")
    figure.suptitle("Share of the true coordinates that is recovered")
