"""
Error against rank, with collinear inputs
=========================================

Thirty outputs depend on three hidden causes; the scales of forty inputs fall off
exponentially. Linear methods squeeze the map through a narrow bridge: reduced rank regression
looks for the inputs that *predict* best, partial least squares for those that *covary* most,
principal components for those that *vary* most; ridge regression has no bridge at all. Then one
wild output shows what a robust loss is for.
"""

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline

from isthmus.optimize import haar_sample
from isthmus.plotting import curves, rank_curves
from isthmus.regression import ReducedRankRegression, StiefelRegression, compare_ranks

rng = np.random.default_rng(0)
n, d, o, rank = 300, 40, 30, 3
scales = np.exp(-np.arange(d) / 16)
X = (rng.normal(size=(n, d)) * scales) @ haar_sample(d, d, rng).T
F = rng.normal(size=(o, rank)) @ rng.normal(size=(rank, d))
Y = X @ F.T + 4 * rng.normal(size=(n, o))

models = {
    "reduced rank": ReducedRankRegression(alpha=1.0),
    "partial least squares": PLSRegression(scale=False),
    "principal components": make_pipeline(PCA(), LinearRegression()),
    "ridge": RidgeCV(np.logspace(-3, 3, 13)),
}
table = compare_ranks(X, Y, models, ranks=range(1, 16), cv=5)
figure = rank_curves(table)
print(table.groupby(["estimator", "rank"]).rmse.mean().unstack()[[1, 3, 6, 15]].round(3))

# %%
# Reduced rank regression is at its best at the true rank, and below ridge; the others need more
# directions, and never get there. The data can tell which rank it is:

chosen = ReducedRankRegression(rank="cv", alpha=np.logspace(-2, 2, 5)).fit(X, Y)
print("rank", chosen.rank_, "with penalty", chosen.alpha_)

# %%
# One output of one row is made grossly wrong. The squared loss follows it, the absolute loss does
# not.

sizes = np.logspace(0, 4, 5)
losses = ("squared", "huber", "absolute")
errors = {loss: [] for loss in losses}
for size in sizes:
    wild = Y.copy()
    wild[0, 0] += size
    for loss in losses:
        model = StiefelRegression(rank, loss=loss, alpha=0.1, tol=1e-4).fit(X, wild)
        errors[loss].append(np.linalg.norm(model.coef_ - F) / np.linalg.norm(F))

robust = curves(
    {"error of the map": {loss: (sizes, values) for loss, values in errors.items()}},
    xlabel="size of the outlier",
    ylabel="relative error",
    log="xy",
    marker="o",
)
for loss, values in errors.items():
    print(f"{loss}: {values[0]:.3f} at size 1, {values[-1]:.3f} at size 10 000")
