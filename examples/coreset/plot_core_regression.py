"""
Regression from a few of many rows
==================================

Twenty thousand noisy points of a wave. A core set holds the few points that stand for all: the
machine grows it until no point outside changes the answer by more than the accuracy that was
asked for. The tube has the width that you name, in units of the standard deviation of the
targets. A narrower tube needs more points.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.coreset import CoreSetSolver, CoreVectorRegressor
from isthmus.kernels import Gaussian
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
X = rng.uniform(-4, 4, size=(20_000, 1))
y = np.sinc(X[:, 0]) + 0.05 * rng.normal(size=len(X))
grid = np.linspace(-4, 4, 400)[:, None]

# %%
# The same data with two widths of the tube.

models = {
    tube: CoreVectorRegressor(
        Gaussian(1.0), tube=tube, solver=CoreSetSolver(epsilon=0.05), random_state=0
    ).fit(X, y)
    for tube in (0.45, 0.6)
}
for tube, model in models.items():
    off = np.sqrt(np.mean((model.predict(grid) - np.sinc(grid[:, 0])) ** 2))
    print(f"tube {tube}: {model.n_core_} of {len(X)} points, error of the curve {off:.3f}")

with style():
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    shown = rng.choice(len(X), 1500, replace=False)
    for ax, (tube, model) in zip(axes, models.items(), strict=True):
        curve = model.predict(grid)
        core = model.support_
        ax.plot(X[shown, 0], y[shown], ".", ms=2, color=PALETTE[6], alpha=0.4)
        ax.fill_between(
            grid[:, 0],
            curve - model.tube_,
            curve + model.tube_,
            color=PALETTE[0],
            alpha=0.2,
            lw=0,
            label="tube",
        )
        ax.plot(grid[:, 0], curve, color=PALETTE[0], lw=2, label="prediction")
        ax.plot(X[core, 0], y[core], "o", ms=4, mfc="none", color=PALETTE[5], label="core set")
        ax.set(title=f"tube of {tube}: core set of {model.n_core_} points", xlabel="x")
        ax.legend(loc="upper right", fontsize=9)
    axes[0].set_ylabel("y")
