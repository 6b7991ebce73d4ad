"""
Unfolding a bowl
================

Points of a sphere with an opening are given, and nothing else. PSOM+ starts from their principal
plane and lets its stiffness fall step by step; rows held out tell it when to stop. The plane
bulges, and becomes the bowl, so that every point of it has two coordinates, and every pair of
coordinates a point. Its corners, which the bowl does not have, are folded at the opening.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.manifold import SmoothPSOM
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(1)
c, phi = rng.uniform(-0.6, 1, 400), rng.uniform(0, 2 * np.pi, 400)
ring = np.sqrt(1 - c**2)
X = np.column_stack([ring * np.cos(phi), ring * np.sin(phi), c]) + 0.02 * rng.normal(size=(400, 3))

# %%
# Fits that stop early show the way; the last one stops by itself.

models = {f"smoothness {lam:g}": SmoothPSOM((9, 9), smoothness=lam).fit(X) for lam in (3.0, 0.3)}
chosen = SmoothPSOM((9, 9), random_state=0).fit(X)
models[f"smoothness {chosen.smoothness_:.1g}, chosen"] = chosen
for name, model in models.items():
    print(f"{name}: mean squared distance {-model.score(X):.5f}")

# %%
# What is missing can be recalled. Two coordinates of a point allow two heights on a sphere; the one
# that is found makes a point of the bowl.

gaps = X[:5].copy()
gaps[:, 2] = np.nan
found, squared = chosen.complete(gaps, return_error=True)
for point, off in zip(found, np.sqrt(squared), strict=True):
    print(
        f"completed {point.round(2)}: radius {np.linalg.norm(point):.3f}, off the known {off:.0e}"
    )

# %%

fine, coarse = np.linspace(-1, 1, 80), np.linspace(-1, 1, 11)
with style():
    figure = plt.figure(figsize=(11, 4), layout="constrained")
    for k, (name, model) in enumerate(models.items()):
        ax = figure.add_subplot(1, 3, k + 1, projection="3d")
        ax.plot(*X.T, ".", color="0.65", markersize=2)
        for value in coarse:
            for line in (
                np.column_stack([fine, np.full(80, value)]),
                np.column_stack([np.full(80, value), fine]),
            ):
                ax.plot(*model.inverse_transform(line).T, color=PALETTE[k], linewidth=0.9)
        ax.set_title(name)
        ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
        ax.view_init(elev=-28, azim=40)
        ax.set_axis_off()
