"""
In units of their covariance
============================

The points of a ring are mixed by a matrix. White coordinates undo this up to a rotation, and come
from a stream of blocks as well as from all rows at once. What is measured in them does not depend
on the units of the columns: the plain distance correlation with the height of a point on the ring
changes with the unit of one column, the affine-invariant one does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.dependence import distance_correlation
from isthmus.features import Whitening
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 600)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(600, 2))
mixed = ring @ np.array([[3.0, 1.2], [0.0, 1.0]])
height = ring[:, 1]

# %%
# In one go, and in blocks.

white = Whitening().fit(mixed)
stream = Whitening()
for block in np.split(mixed, 6):
    stream.partial_fit(block)
Z = white.transform(mixed)
print("covariance of the coordinates:\n", np.cov(Z.T, bias=True).round(6))
print("blocks differ by", f"{np.abs(Z - stream.transform(mixed)).max():.0e}")

# %%
# One column in other and other units.

units = np.logspace(-2, 2, 17)
tables = [mixed * [unit, 1.0] for unit in units]
plain = [distance_correlation(table, height) for table in tables]
invariant = [distance_correlation(table, height, affine_invariant=True) for table in tables]

with style():
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for axis, points, title in zip(axes, (mixed, Z), ("rows", "white coordinates"), strict=False):
        axis.scatter(*points.T, c=angle, cmap="twilight", s=8)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_title(title)
    axes[2].semilogx(units, plain, color=PALETTE[0], label="plain")
    axes[2].semilogx(units, invariant, color=PALETTE[1], label="affine-invariant")
    axes[2].set_xlabel("unit of the first column")
    axes[2].set_title("distance correlation with the height")
    axes[2].set_ylim(0, None)
    axes[2].legend()
