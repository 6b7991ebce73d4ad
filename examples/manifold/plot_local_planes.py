"""
Local planes, joined to one chart
=================================

Local principal components follow a curved sheet with flat pieces. Their coordinates have nothing to
do with each other until the planes are turned and shifted to agree on the rows they share: then a
Swiss roll lies flat.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_noisy_spiral, make_noisy_swiss_roll
from isthmus.manifold import Charting, LocalPCA
from isthmus.plotting import PALETTE, style

Y, _ = make_noisy_spiral(300, random_state=0)
for method in ("kmeans", "reconstruction", "mixture"):
    model = LocalPCA(1, n_models=14, method=method).fit(Y)
    blended = LocalPCA(1, n_models=14, method=method, blend=True).fit(Y)
    print(f"{method}: squared distance {-model.score(Y):.4f}, blended {-blended.score(Y):.4f}")

roll, truth = make_noisy_swiss_roll(800, random_state=0)
chart = Charting(2).fit(roll)
lost = -chart.score(roll) / np.sum(roll.var(axis=0))
print(f"{len(chart.maps_)} planes of a Swiss roll lose {lost:.2%} of its variance")

# %%
# On the left the pieces of a mixture of probabilistic components, as long as two standard
# deviations of their rows. On the right the roll in common coordinates, coloured by the true place
# along it, with the centres of the planes.

with style():
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    for k in range(len(model.means_)):
        rows = model.labels_ == k
        reach = 2 * np.sqrt(model.variances_[k, 0]) * model.components_[k, 0]
        piece = np.stack([model.means_[k] - reach, model.means_[k] + reach])
        colour = PALETTE[k % len(PALETTE)]
        axes[0].plot(*Y[rows].T, ".", color=colour, markersize=4, markeredgewidth=0)
        axes[0].plot(*piece.T, color=colour, linewidth=2)
    axes[0].set_title("a spiral in pieces")
    axes[1].scatter(*chart.embedding_.T, c=truth[:, 0], s=6, cmap="viridis")
    axes[1].plot(*chart.maps_[:, 0].T, "+", color="black", markersize=7)
    axes[1].set_title("one chart of a Swiss roll")
    axes[1].set_aspect("equal")
    for ax in axes:
        ax.set(xticks=[], yticks=[])
