"""
Inputs that bend with the output
================================

Supervised reduction looks for coordinates of the inputs on which the output depends. At exponent 2
both sides count by squares, and only what is linear in the output is seen. With ``solver="semi"``
inputs count by squares and outputs by distances: whatever the mean of the inputs does along the
output is seen, and the coordinates still come from decompositions. Here the output is an angle, and
the two columns it belongs to are its cosine and sine.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.features import DistanceCorrelationReduction
from isthmus.plotting import style

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 10))
w = np.zeros((2, 10))
w[0, 0] = w[1, 1] = 1.0
angle = np.arctan2(X[:, 1], X[:, 0]) + 0.2 * rng.normal(size=400)
circle = np.column_stack([np.cos(angle), np.sin(angle)])

with style():
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for ax, (name, solver, Y) in zip(
        axes,
        (
            ("closed form from the angle", "exact", angle % (2 * np.pi)),
            ("semi-nonlinear from the angle", "semi", angle % (2 * np.pi)),
            ("semi-nonlinear from points of the circle", "semi", circle),
        ),
        strict=True,
    ):
        model = DistanceCorrelationReduction(2, solver=solver).fit(X, Y)
        Z = model.transform(X)
        Q = np.linalg.qr(np.linalg.lstsq(X - X.mean(axis=0), Z - Z.mean(axis=0))[0])[0]
        kept = np.linalg.norm(w @ Q) ** 2 / 2  # share of the true plane
        ax.scatter(*Z.T, c=angle, s=10, cmap="twilight")
        ax.set_title(f"{name}:\n{100 * kept:.0f} % of the plane", fontsize=11)
        ax.set(xticks=[], yticks=[])
        print(f"{name}: {100 * kept:.1f} % of the true plane")

# %%
# Colours are angles. The percentage is the share of the true plane that the two found columns span.
