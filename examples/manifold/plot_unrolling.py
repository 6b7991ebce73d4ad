"""
Three ways to flatten a roll
============================

A Swiss roll has two coordinates, along the roll and across it. Sammon's mapping keeps all distances
and squashes it; curvilinear components keep those between places near each other and unroll it, as
does maximum variance unfolding, which pulls rows apart as far as neighbours allow. All three go
both ways: the last line prints how much of the data is lost on the way there and back.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_noisy_swiss_roll
from isthmus.manifold import CurvilinearComponents, MaximumVarianceUnfolding, SammonMapping
from isthmus.plotting import style

Y, T = make_noisy_swiss_roll(200, noise=0.0, random_state=1)
models = {
    "Sammon": SammonMapping(2, random_state=0),
    "curvilinear, along the graph": CurvilinearComponents(2, random_state=0),
    "maximum variance": MaximumVarianceUnfolding(2, max_iter=6000, tol=1e-3, random_state=0),
}
for name, model in models.items():
    lost = -model.fit(Y).score(Y) / np.sum(Y.var(axis=0))
    print(f"{name}: {lost:.2%} of the variance is lost there and back")

with style():
    figure = plt.figure(figsize=(11, 3.4), layout="constrained")
    ax = figure.add_subplot(1, 4, 1, projection="3d")
    ax.scatter(*Y.T, c=T[:, 0], s=8)
    ax.set(title="the roll", xticks=[], yticks=[], zticks=[])
    for i, (name, model) in enumerate(models.items()):
        ax = figure.add_subplot(1, 4, i + 2)
        ax.scatter(*model.embedding_.T, c=T[:, 0], s=8)
        ax.set(title=name, aspect="equal", xticks=[], yticks=[])
plt.show()
