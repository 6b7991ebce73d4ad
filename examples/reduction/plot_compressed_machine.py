"""
A support vector machine with a tenth of its kernels
====================================================

A support vector machine evaluates as many kernels as it has support vectors, and most of them add
little to the others. The figures show the boundary of a machine with all of them, of one with the
few that are needed, and of one with too few; and the errors on new data along the whole path.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from isthmus.plotting import PALETTE, style
from isthmus.reduction import compress

X, y = make_moons(1600, noise=0.25, random_state=0)
X, y, X_new, y_new = X[:800], y[:800], X[800:], y[800:]
full = SVC(C=1.0, gamma=1.0).fit(X, y)
n_full = len(full.support_)

sizes = [2, 3, 4, 6, 8, 12, 16, 24, 40, 80, n_full]
errors = [1 - compress(full, n).score(X_new, y_new) for n in sizes]
chosen = compress(full, X=X, y=y)
print(f"all {n_full} support vectors: {1 - full.score(X_new, y_new):.1%} errors on new data")
print(
    f"{chosen.n_points_} points, chosen to lose at most 0.5 % on the training data: "
    f"{1 - chosen.score(X_new, y_new):.1%}"
)

# %%

side = np.linspace(-2, 3, 160), np.linspace(-1.6, 2, 120)
grid = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)
few = compress(full, 3)

with style():
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    for ax, name, machine, points in (
        (axes[0], "all", full, full.support_vectors_),
        (axes[1], "enough", chosen, chosen.expansion_.objects),
        (axes[2], "too few", few, few.expansion_.objects),
    ):
        values = machine.decision_function(grid).reshape(len(side[1]), -1)
        ax.plot(*X.T, ".", color="0.85", markersize=3, zorder=0)
        ax.contour(*side, values, levels=[0], colors=[PALETTE[1]], linewidths=2)
        ax.plot(*points.T, "o", color=PALETTE[0], markersize=4)
        error = 1 - machine.score(X_new, y_new)
        ax.set(xticks=[], yticks=[], title=f"{name}: {len(points)} points, {error:.1%} errors")
    axes[3].semilogx(sizes, errors, "o-", label="compressed")
    axes[3].axhline(errors[-1], color="0.5", linestyle="--", label="all support vectors")
    axes[3].set(xlabel="points kept", ylabel="errors on new data", title="The whole path")
    axes[3].legend()
