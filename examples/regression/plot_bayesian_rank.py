"""
A map of low rank with error bars
=================================

Five outputs depend on eight inputs through two combinations of them, and a few rows are grossly
wrong. Draws from the posterior give every coefficient an interval. With Gaussian noise the
outliers drag the coefficients away and widen all intervals; with Laplace noise they hardly
matter. The dashed line is a perfect estimate.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.plotting import PALETTE, style
from isthmus.regression import BayesianStiefelRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 8))
truth = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 8))
Y = X @ truth.T + rng.laplace(scale=0.5, size=(150, 5))
Y[:6] += rng.normal(scale=40.0, size=(6, 5))

# %%
# The same model under both laws of the noise; 90 % of the draws lie within each bar.

models = {
    name: BayesianStiefelRegression(2, likelihood=name, n_samples=100, random_state=0).fit(X, Y)
    for name in ("gaussian", "laplace")
}
intervals = {}
for name, model in models.items():
    draws = model.samples_
    maps = (draws["V"] * draws["s"][:, None]) @ np.swapaxes(draws["W"], 1, 2)
    intervals[name] = np.quantile(maps, [0.05, 0.95], axis=0)
    low, high = intervals[name]
    held = np.mean((low <= truth) & (truth <= high))
    off = np.abs(model.coef_ - truth).mean()
    print(f"{name}: mean error of a coefficient {off:.2f}, {100 * held:.0f} % within their bars")

# %%
# Every coefficient, estimated against true.

with style():
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
    for ax, (name, model), colour in zip(axes, models.items(), PALETTE, strict=False):
        low, high = intervals[name]
        bars = np.array([model.coef_ - low, high - model.coef_]).reshape(2, -1)
        ax.axline((0, 0), slope=1, color=PALETTE[6], ls="--", lw=1.2)
        ax.errorbar(
            truth.ravel(),
            model.coef_.ravel(),
            np.maximum(bars, 0),
            fmt="o",
            ms=4,
            lw=1,
            color=colour,
        )
        ax.set(title=f"{name} noise", xlabel="true coefficient")
    axes[0].set_ylabel("estimated, with 90 % of the draws")
