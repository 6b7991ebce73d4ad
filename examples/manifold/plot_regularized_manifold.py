"""
A smooth sheet from any kernel
==============================

A regularised principal manifold is the sheet that is nearest to the rows, among those that a kernel
makes smooth. Three regularisers say what smooth means: the norm of the kernel's space, the length
of the curve, or as few nodes as possible. The stiffness is chosen with left-out rows.

If the data of the oil pipeline are not on this machine, similar readings are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import DataNotAvailable, load_oilflow, make_noisy_spiral
from isthmus.manifold import RegularizedPrincipalManifold
from isthmus.plotting import PALETTE, style


def made_up(n, seed):
    """Three bent sheets in twelve dimensions."""
    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(0).normal(size=(3, 2, 12))
    label = rng.integers(3, size=n)
    Z = rng.uniform(size=(n, 2))
    X = np.sin(np.einsum("nq,nqd->nd", 1.5 * Z, shapes[label])) + 0.8 * shapes[label, 0]
    return X + 0.05 * rng.normal(size=X.shape), label


Y, _ = make_noisy_spiral(300, random_state=0)
curves = {
    name: RegularizedPrincipalManifold(1, regularizer=name).fit(Y)
    for name in ("kernel", "length", "sparse")
}
for name, curve in curves.items():
    nodes = int(np.any(curve.weights_ != 0, axis=1).sum())
    error = np.mean(curve.reconstruction_error(Y))
    print(f"{name}: stiffness {curve.alpha_:.1g}, {nodes} nodes, squared distance {error:.4f}")

# %%
# On the left the curves, with the images of the nodes that have a weight. On the right 600 readings
# of an oil pipeline on a square, coloured by flow regimes that the sheet was not told of.

try:
    data = load_oilflow()
    X, regime = data.X_train[:600], data.y_train[:600]
except DataNotAvailable:
    X, regime = made_up(600, 1)
sheet = RegularizedPrincipalManifold(2, init="pca").fit(X)
lost = np.mean(sheet.reconstruction_error(X)) / np.sum(X.var(axis=0))
print(f"variance of the readings that the sheet loses: {lost:.1%}")

with style():
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
    axes[0].plot(*Y.T, ".", color="0.7", markersize=5, markeredgewidth=0)
    for k, (name, curve) in enumerate(curves.items()):
        line = curve.inverse_transform(np.linspace(-1, 1, 400)[:, None])
        used = np.any(curve.weights_ != 0, axis=1)
        axes[0].plot(*line.T, color=PALETTE[k], linewidth=1.5, label=name)
        axes[0].plot(*curve.inverse_transform(curve.nodes_[used]).T, "o", color=PALETTE[k], ms=3)
    axes[0].legend(loc="upper left")
    axes[0].set_title("a spiral with three regularisers")
    for k, name in enumerate(np.unique(regime)):
        rows = regime == name
        axes[1].plot(*sheet.embedding_[rows].T, ".", color=PALETTE[k], ms=5, markeredgewidth=0)
    axes[1].set_title("an oil pipeline on a square")
    for ax in axes:
        ax.set(xticks=[], yticks=[])
