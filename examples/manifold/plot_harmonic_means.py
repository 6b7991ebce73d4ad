"""
Clusters that do not depend on the start
========================================

Nine clouds lie on a grid. K-means from random rows often leaves two centres in one cloud and one
centre between two clouds, and cannot move them apart. K-harmonic means give more weight to rows far
from all centres, so that centres move to where they are missing. Left and middle: the seed that is
worst for k-means. Right: how many of the nine clouds have a centre of their own, over forty random
starts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from isthmus.manifold import KHarmonicMeans
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
places = np.array([[a, b] for a in range(3) for b in range(3)]) * 4.0
X = np.concatenate([rng.normal(place, 0.5, size=(40, 2)) for place in places])


def n_found(centres):
    """Number of clouds with a centre within one unit of their middle."""
    return int((np.linalg.norm(places[:, None] - centres, axis=2).min(axis=1) < 1).sum())


# %%
# Forty random starts, one run from each.

found = {"k-means": [], "K-harmonic means": []}
centres = {}
for seed in range(40):
    plain = KMeans(9, init="random", n_init=1, random_state=seed).fit(X).cluster_centers_
    harmonic = KHarmonicMeans(9, random_state=seed).fit(X).cluster_centers_
    found["k-means"].append(n_found(plain))
    found["K-harmonic means"].append(n_found(harmonic))
    if found["k-means"][-1] == min(found["k-means"]):
        centres = {"k-means": plain, "K-harmonic means": harmonic}
for name, counts in found.items():
    print(f"{name}: all nine clouds in {counts.count(9)} of 40 starts")

with style():
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for ax, (name, points) in zip(axes, centres.items(), strict=False):
        ax.plot(*X.T, ".", ms=3, color=PALETTE[6], alpha=0.6)
        ax.plot(*points.T, "X", ms=11, color=PALETTE[5], mec="white")
        ax.set(title=name, aspect="equal")
    bins = np.arange(4.5, 10)
    axes[2].hist(list(found.values()), bins, label=list(found), color=[PALETTE[0], PALETTE[5]])
    axes[2].set(xlabel="clouds found, of nine", ylabel="starts")
    axes[2].legend(fontsize=9, loc="upper left")
