"""
Ten sets, laid out by every manifold
====================================

A picture for each set of ``python -m benchmarks.manifolds``, which has the numbers of each method:
curves show the rows in the colour of the coordinate found, sheets the places found in the colour of
what is known of the rows. Sets that are not on this machine are left out.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding

from isthmus import datasets
from isthmus.features import KernelPCA
from isthmus.manifold import (
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    MaximumVarianceUnfolding,
    PrincipalCurve,
    RegularizedPrincipalManifold,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)
from isthmus.plotting import style

N_ROWS = 150


def methods(q):
    """All methods for q dimensions by name, ours first."""
    found = {
        "UKR": UnsupervisedKernelRegression(q, random_state=0),
        "GTM": GenerativeTopographicMapping(q, random_state=0),
        "regularised": RegularizedPrincipalManifold(q, random_state=0),
        "SmoothPSOM": SmoothPSOM((12,) if q == 1 else (7, 7), random_state=0),
        "principal curve" if q == 1 else "charts": (
            PrincipalCurve(random_state=0) if q == 1 else Charting(q, random_state=0)
        ),
        "Sammon": SammonMapping(q, random_state=0),
        "curvilinear": CurvilinearComponents(q, random_state=0),
        "unfolding": MaximumVarianceUnfolding(q, random_state=0),
        "PCA": PCA(q),
        "kernel PCA": KernelPCA(q, kernel="gaussian"),
        "Isomap": Isomap(n_components=q, n_neighbors=8),
        "LLE": LocallyLinearEmbedding(n_components=q, n_neighbors=8, random_state=0),
        "t-SNE": TSNE(q, random_state=0, max_iter=500),
    }
    return found


def some(X, known):
    """As many rows as are shown, chosen at random."""
    chosen = np.random.default_rng(0).permutation(len(X))[:N_ROWS]
    return np.asarray(X[chosen], dtype=float), np.asarray(known)[chosen]


def roll_with_a_hole():
    X, T = datasets.make_noisy_swiss_roll(600, noise=0.2, height=12, random_state=0)
    kept = np.any(np.abs(T - T.mean(axis=0)) > 0.25 * np.ptp(T, axis=0), axis=1)
    return X[kept][: 2 * N_ROWS], T[kept, 0][: 2 * N_ROWS]


def swiss_roll():
    X, T = datasets.make_noisy_swiss_roll(2 * N_ROWS, noise=0.2, height=12, random_state=0)
    return X, T[:, 0]


def fish_bowl():
    X, _ = datasets.make_fish_bowl(N_ROWS, random_state=0)
    return X, X[:, 2]


def faces():
    data = datasets.load_olivetti()
    small = data.images.reshape(-1, 16, 4, 16, 4).mean(axis=(2, 4))
    return some(small.reshape(len(small), -1), data.subject)


def spectra():
    data = datasets.load_unmixing()
    return some(data.X, data.abundance.reshape(len(data.X), -1).argmax(axis=1))


def oil_flow():
    data = datasets.load_oilflow()
    return some(data.X_train, data.y_train)


def usps():
    data = datasets.load_usps()
    return some(data.X_train, data.y_train)


SETS = {
    "half circle": lambda: datasets.make_half_circle(N_ROWS, noise=0.5, random_state=0),
    "spiral": lambda: datasets.make_noisy_spiral(N_ROWS, noise=0.05, random_state=0),
    "Swiss roll": swiss_roll,
    "roll with a hole": roll_with_a_hole,
    "fish bowl": fish_bowl,
    "oil flow": oil_flow,
    "digits": lambda: some(*load_digits(return_X_y=True)),
    "USPS": usps,
    "Olivetti faces": faces,
    "spectra": spectra,
}


def picture(name, X, known):
    """One figure: a panel for every method."""
    q = 1 if X.shape[1] == 2 else 2
    figure, axes = plt.subplots(2, 7, figsize=(11, 3.6), layout="constrained")
    shown = {"s": 5, "cmap": "viridis" if len(np.unique(known)) > 40 or q == 1 else "tab10"}
    for ax in axes.flat:
        ax.axis("off")
    for ax, (title, method) in zip(axes.flat, methods(q).items(), strict=False):
        Z = method.fit_transform(X)
        Z = getattr(method, "embedding_", Z)
        if q == 1:
            ax.scatter(*X.T, c=Z[:, 0], **shown)
        else:
            ax.scatter(*Z.T, c=known, **shown)
        ax.set_title(title, fontsize=8)
    figure.suptitle(name)
    return figure


with style(), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, load in SETS.items():
        try:
            X, known = load()
        except datasets.DataNotAvailable:
            print(f"{name}: not on this machine")
            continue
        figure = picture(name, X, known)
