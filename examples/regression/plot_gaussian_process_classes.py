"""
Gaussian processes: probabilities that know where the data end
==============================================================

Two classes that wind around each other. Left, a Gaussian process: the boundary is sharp where rows
of both classes are near, and far from all rows the probability returns to a half, because nothing
is known there. Right, logistic regression on products of up to three columns: away from the rows it
becomes ever more certain, wherever its boundary happens to run.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from isthmus.plotting import PALETTE, style
from isthmus.regression import GaussianProcessClassifier

X, y = make_moons(120, noise=0.2, random_state=0)
process = GaussianProcessClassifier(random_state=0).fit(X, y)
logistic = make_pipeline(PolynomialFeatures(3), LogisticRegression(max_iter=1000)).fit(X, y)
print(
    f"amplitude {process.amplitude_:.1f}, log-likelihood {process.log_marginal_likelihood_:.1f}, "
    f"{process.n_iter_} evaluations of it"
)

# %%
# Probabilities on a square that is twice as wide as the data.

side = np.linspace(-3, 4, 120)
grid = np.column_stack([part.ravel() for part in np.meshgrid(side, side)])

with style():
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
    titles = ("Gaussian process", "Logistic regression of cubic terms")
    for ax, model, title in zip(axes, (process, logistic), titles, strict=True):
        P = model.predict_proba(grid)[:, 1].reshape(len(side), -1)
        picture = ax.pcolormesh(side, side, P, cmap="RdBu_r", vmin=0, vmax=1, rasterized=True)
        ax.contour(
            side, side, P, levels=[0.1, 0.5, 0.9], colors="black", linewidths=[0.7, 1.6, 0.7]
        )
        for label, colour in ((0, PALETTE[0]), (1, PALETTE[1])):
            ax.plot(*X[y == label].T, "o", color=colour, ms=5, mec="white", label=f"class {label}")
        ax.set(title=title, xlabel="first column")
    axes[0].set_ylabel("second column")
    axes[0].legend(loc="upper left")
    figure.colorbar(picture, ax=axes, label="probability of class 1")
plt.show()
