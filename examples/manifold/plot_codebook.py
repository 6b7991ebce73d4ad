"""
A self-organising map becomes smooth
====================================

The units of a self-organising map are points; between them it knows nothing. One line turns its
codebook into a map with both directions: rows get coordinates between the units, and any column
is recalled from the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_fish_bowl
from isthmus.manifold import PSOM, neighborhood_scores
from isthmus.plotting import PALETTE, style

X, _ = make_fish_bowl(1000, random_state=0)

# %%
# A batch self-organising map of 7 by 7 units, from the plane of the first two columns.

side = 7
grid = np.stack(np.meshgrid(*[np.arange(side)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
apart = np.sum((grid[:, None] - grid) ** 2, axis=2)
units = np.column_stack([(grid - 3) * X[:, :2].std() / 2, np.full(side**2, X[:, 2].mean())])
for width in np.geomspace(3.0, 0.6, 40):
    nearest = np.argmin(np.sum((X[:, None] - units) ** 2, axis=2), axis=1)
    h = np.exp(-apart[:, nearest] / (2 * width**2))
    units = h @ X / h.sum(axis=1, keepdims=True)

# %%
# As a smooth map it loses less than its nearest units do, and keeps more neighbours.

smooth = PSOM.from_codebook(units.reshape(side, side, 3))
nearest = np.argmin(np.sum((X[:, None] - units) ** 2, axis=2), axis=1)
total = np.sum(X.var(axis=0))
by_units = np.mean(np.sum((units[nearest] - X) ** 2, axis=1)) / total
by_map = np.mean(smooth.reconstruction_error(X)) / total
print(f"variance lost: {by_units:.2%} by units, {by_map:.2%} by the smooth map")
areas = [neighborhood_scores(X, Z).area for Z in (grid[nearest], smooth.transform(X))]
print(f"area under R_NX: {areas[0]:.2f} by units, {areas[1]:.2f} by the smooth map")

with style():
    figure = plt.figure(figsize=(9, 4.2), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    space.scatter(*X.T, s=2, color="0.7")
    lines = units.reshape(side, side, 3)
    for line in [*lines, *lines.transpose(1, 0, 2)]:
        space.plot(*line.T, color=PALETTE[0], linewidth=1)
    space.set(xticks=[], yticks=[], zticks=[], title="units of the map")
    curves = figure.add_subplot(1, 2, 2)
    K = np.arange(1, len(X) - 1)
    for k, (name, Z) in enumerate([("units", grid[nearest]), ("smooth map", smooth.transform(X))]):
        curves.semilogx(K, neighborhood_scores(X, Z).r_nx, color=PALETTE[k], label=name)
    curves.set(xlabel="neighbours K", ylabel="$R_{NX}(K)$", title="neighbours that are kept")
    curves.legend()
