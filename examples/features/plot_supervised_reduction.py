"""
Directions that correlation cannot see
======================================

Ten inputs of which two matter: y = x1² + x2, with noise. Principal components know nothing of y,
partial least squares finds x2 and misses the square, since x1 and y are uncorrelated. Projections
of largest distance correlation at exponent 1, a measure of every kind of dependence, find both.

The closed form at exponent 2 is different: its coordinates are not a projection, but contain a
prediction of y. The last panel shows them for rows that were not seen in training.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA

from isthmus.features import DistanceCorrelationReduction
from isthmus.plotting import style

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 10))
y = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=700)
train, test = slice(0, 400), slice(400, None)

projection = DistanceCorrelationReduction(2, solver="gradient", mapping="linear", y_weight=0.9)
methods = {
    "principal components": PCA(2),
    "partial least squares": PLSRegression(2),
    "distance correlation,\nprojection": projection,
    "distance correlation,\nclosed form": DistanceCorrelationReduction(2),
}

with style():
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.7), layout="constrained")
    for ax, (name, method) in zip(axes, methods.items(), strict=True):
        Z = method.fit(X[train], y[train]).transform(X[test])
        points = ax.scatter(*Z.T, c=y[test], s=14, cmap="viridis", vmin=-2, vmax=6)
        ax.set(title=name, xlabel="first coordinate", xticks=[], yticks=[])
    axes[0].set_ylabel("second coordinate")
    figure.colorbar(points, ax=axes, label="y of test rows", shrink=0.9)

# %%
# What the directions are made of
# -------------------------------
# Weights of the ten inputs in the plane that each projection keeps: 1 where the plane holds the
# whole input. Only the first two matter.


def held(directions):
    """Length of each input axis within the span of the rows."""
    Q = np.linalg.qr(np.asarray(directions).T)[0]
    return np.linalg.norm(Q, axis=1)


shares = {
    "principal components": held(methods["principal components"].components_),
    "partial least squares": held(methods["partial least squares"].x_rotations_.T),
    "distance correlation": held(projection.components_),
}
with style():
    weights, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for i, (name, share) in enumerate(shares.items()):
        ax.bar(np.arange(10) + 0.27 * (i - 1), share, width=0.25, label=name)
    ax.set(xticks=range(10), xticklabels=[f"x{i + 1}" for i in range(10)])
    ax.set(ylabel="share held by the plane", ylim=(0, 1.05))
    ax.legend(fontsize=10, loc="upper right")
