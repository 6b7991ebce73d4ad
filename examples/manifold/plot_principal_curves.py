"""
A line through the middle
=========================

Four kinds of principal curve, on data that are easy, long and closed. The first row starts from
the principal axis, as the curves were published: half a circle is followed, a spiral is not. The
second row starts, by default, from the embedding that predicts left-out rows best, here one of the
neighbour graph. Nothing else is set: stiffness and number of segments are those for which the tube
around left-out rows is thinnest.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_half_circle, make_noisy_spiral
from isthmus.manifold import PrincipalCurve
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, size=200)
radius = 1 + 0.3 * np.cos(3 * angle)
clover = (radius * [np.cos(angle), np.sin(angle)]).T + 0.05 * rng.normal(size=(200, 2))
half = make_half_circle(120, noise=0.6, random_state=0)[0]
spiral = make_noisy_spiral(250, noise=0.04, law="gaussian", random_state=0)[0]

# %%
# Latent coordinates are arc lengths, so the length of the curve is the last of them.

panels = {}
for name, Y in (("half circle", half), ("spiral", spiral)):
    for start in ("pca", "auto"):
        for method in ("spline", "polygonal"):
            panels[name, start, method] = Y, PrincipalCurve(method, init=start).fit(Y)
for method in ("spline", "generative"):
    panels["clover", "auto", method] = clover, PrincipalCurve(method, closed=True).fit(clover)
for (name, start, method), (_, curve) in panels.items():
    print(f"{name:12s}{start:6s}{method:10s} length {curve.arc_lengths_[-1]:6.2f}")

# %%
# A row whose second column is missing: every place of the clover that has this first column.

closed = panels["clover", "auto", "spline"][1]
ends = closed.project([[0.3, np.nan]]).ends[0]
print(
    "second column may be", np.round(closed.inverse_transform(ends[~np.isnan(ends[:, 0])])[:, 1], 2)
)

with style():
    figure, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
    shown = [("half circle", "pca"), ("spiral", "pca"), ("clover", "auto")]
    shown += [("half circle", "auto"), ("spiral", "auto"), ("clover", "auto")]
    for i, (ax, (name, start)) in enumerate(zip(axes.flat, shown, strict=True)):
        methods = ("spline", "polygonal") if name != "clover" else ("spline", "generative")
        drawn = methods if name != "clover" else (methods[i // 3],)
        for method in drawn:
            Y, curve = panels[name, start, method]
            colour = PALETTE[("spline", "polygonal", "generative").index(method)]
            if method == drawn[0]:
                ax.scatter(*Y.T, s=8, color="0.75")
            ax.plot(*curve.vertices_.T, color=colour, lw=2, label=method)
        title = {"pca": "from the principal axis", "auto": "best start"}[start]
        ax.set(title=f"{name}, {title if name != 'clover' else 'closed'}", aspect="equal")
        ax.set(xticks=[], yticks=[])
        ax.legend(fontsize=8)
plt.show()
