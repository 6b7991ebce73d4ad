"""
What each kernel finds similar
==============================

The kernel decides which objects are neighbours. Each panel shows the similarity of all points of
the plane to one of them (the cross), with contours at equal steps: the kernel of the inner product
looks along a direction, that of a distance around a point, and sums and products combine the two.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import (
    Exponential,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
)
from isthmus.plotting import style

kernels = {
    "Linear()": Linear(),
    "Polynomial(3)": Polynomial(3),
    "Exponential(2)": Exponential(2.0),
    "Gaussian(8)": Gaussian(8.0),
    "Laplacian(3)": Laplacian(3.0),
    "HistogramIntersection()": HistogramIntersection(),
    "Normalized(Linear())": Normalized(Linear()),
    "Linear() + Gaussian(8)": Linear() + Gaussian(8.0),
    "Linear() * Gaussian(8)": Linear() * Gaussian(8.0),
}

side = np.linspace(0.01, 1.5, 120)
plane = np.array(np.meshgrid(side, side)).reshape(2, -1).T
point = np.array([[0.9, 0.5]])

with style():
    figure, axes = plt.subplots(3, 3, figsize=(8.5, 8.5), layout="constrained")
    for ax, (name, kernel) in zip(axes.flat, kernels.items(), strict=True):
        similarity = kernel(plane, point).reshape(len(side), len(side))
        ax.contourf(side, side, similarity, levels=14, cmap="cividis")
        ax.plot(*point[0], "+", color="white", markersize=11, markeredgewidth=2)
        ax.set(title=name, aspect="equal", xticks=[], yticks=[])

# %%
# Kernels have gradients
# ----------------------
#
# With respect to the first argument, where there is one; pre-images descend along it. Sums,
# products and normalised kernels inherit it.

coarse = np.linspace(0.1, 1.4, 13)
places = np.array(np.meshgrid(coarse, coarse)).reshape(2, -1).T
shape = kernels["Linear() * Gaussian(8)"]
arrows = shape.weighted_gradient(places, point, np.ones((len(places), 1)))

with style():
    figure, ax = plt.subplots(figsize=(4.2, 4.2), layout="constrained")
    values = shape(plane, point).reshape(len(side), len(side))
    ax.contourf(side, side, values, levels=14, cmap="cividis")
    ax.quiver(*places.T, *arrows.T, color="white", angles="xy")
    ax.set(title="Linear() * Gaussian(8)", aspect="equal", xticks=[], yticks=[])
