"""
Means, variances, slopes: four ways to the plane that matters
=============================================================

Ten inputs of which two matter: y = x1² + x2, with noise. Slices of y differ in the mean of x2,
which sliced inverse regression sees, and in the variance of x1, which it does not. Sliced variances
see the latter, the likelihood of normal slices both, and so do the slopes of a kernel regression.

The bars show how much of each input the plane of two directions holds; 1 is all of it.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.features import (
    GradientKernelReduction,
    LikelihoodAcquiredDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
)
from isthmus.plotting import style

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 10))
y = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=700)

methods = {
    "means (SIR)": SlicedInverseRegression(2),
    "variances (SAVE)": SlicedAverageVariance(2),
    "likelihood (LAD)": LikelihoodAcquiredDirections(2),
    "slopes (gKDR)": GradientKernelReduction(2, random_state=0),
}


def held(directions):
    """Length of each input axis within the span of the rows."""
    Q = np.linalg.qr(directions.T)[0]
    return np.linalg.norm(Q, axis=1)


with style():
    figure, axes = plt.subplots(1, 4, figsize=(12, 3), sharey=True, layout="constrained")
    for ax, (name, method) in zip(axes, methods.items(), strict=True):
        share = held(method.fit(X, y).components_)
        ax.bar(range(1, 11), share)
        ax.set(title=name, xlabel="input", xticks=range(1, 11))
    axes[0].set_ylabel("share held by the plane")

# %%
# How strong a direction is
# -------------------------
# The eigenvalues tell where to stop: here two directions stand out for the variances.

strengths = SlicedAverageVariance(10).fit(X, y).strengths_
print(np.round(strengths, 3))
