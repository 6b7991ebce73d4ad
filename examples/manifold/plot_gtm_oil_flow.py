"""
A map of an oil pipeline, with likelihoods
==========================================

Twelve gamma-ray readings of a pipeline depend on two quantities and on how oil, water and gas flow
in it, in one of three regimes. A generative topographic mapping puts the readings on a square
without being told of the regimes. It also has a density, so readings may be missing; it can say how
much it stretches; and any property of the rows becomes a landscape over it.

If the data of the pipeline are not on this machine, similar readings are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import DataNotAvailable, load_oilflow
from isthmus.manifold import GenerativeTopographicMapping
from isthmus.plotting import PALETTE, style


def made_up(n, seed):
    """Three bent sheets in twelve dimensions."""
    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(0).normal(size=(3, 2, 12))
    label = rng.integers(3, size=n)
    Z = rng.uniform(size=(n, 2))
    X = np.sin(np.einsum("nq,nqd->nd", 1.5 * Z, shapes[label])) + 0.8 * shapes[label, 0]
    return X + 0.05 * rng.normal(size=X.shape), label


try:
    data = load_oilflow()
    X, regime = data.X_train, data.y_train
    test, test_regime = data.X_test, data.y_test
except DataNotAvailable:
    X, regime = made_up(1000, 1)
    test, test_regime = made_up(1000, 2)

gtm = GenerativeTopographicMapping(2).fit(X)
print(f"basis functions of width {gtm.width_}, noise {gtm.noise_:.3f}, prior {gtm.alpha_:.2g}")
print(f"log-likelihood of a new row: {gtm.score_samples(test).mean():.2f}")

# %%
# The posterior means of new rows, over the logarithm of how much the map stretches: dark ridges
# are gaps between clusters. On the right, the probability of the likeliest regime at every node,
# paler where no row has landed.

landscape = gtm.landscape(X, regime)
right = np.mean(landscape.predict(test) == test_regime)
print(f"regimes of new rows that the landscape names: {right:.1%}")

side = round(np.sqrt(len(gtm.nodes_)))
box = {"origin": "lower", "extent": (-1, 1, -1, 1), "aspect": "auto"}
with style():
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
    stretch = np.log10(gtm.magnification(gtm.nodes_)).reshape(side, side).T
    axes[0].imshow(stretch, cmap="Greys", alpha=0.6, **box)
    colours = np.array([plt.matplotlib.colors.to_rgb(PALETTE[k]) for k in range(3)])
    sheet = 1 - (landscape.values @ (1 - colours)).reshape(side, side, 3).transpose(1, 0, 2)
    seen = np.clip(landscape.density, 0.05, 1.0).reshape(side, side).T[..., None]
    axes[1].imshow(1 - seen * (1 - sheet), **box)
    Z = gtm.transform(test)
    for k, name in enumerate(landscape.classes):
        rows = test_regime == name
        axes[0].plot(*Z[rows].T, ".", color=PALETTE[k], markersize=5, markeredgewidth=0)
    axes[1].plot(*Z.T, ".", color="black", markersize=3, markeredgewidth=0)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    axes[0].set_title("new rows, and where the map stretches")
    axes[1].set_title(f"regimes as a landscape: {right:.1%} of new rows right")

# %%
# Half of every new row is hidden, and expected from the other half.

rng = np.random.default_rng(0)
hidden = rng.permuted(np.tile(np.arange(X.shape[1]) < X.shape[1] // 2, (len(test), 1)), axis=1)
filled = gtm.complete(np.where(hidden, np.nan, test))
lost = np.mean((filled - test)[hidden] ** 2) / np.mean((X.mean(axis=0) - test)[hidden] ** 2)
print(f"variance of hidden readings that is lost: {lost:.1%}")
