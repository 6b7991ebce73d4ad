"""
What correlation cannot see
===========================

In seven of these eight clouds of points y depends on x. Below each stand Pearson's correlation,
the distance correlation at exponents 2 and 1, and the p-values of two tests of independence: by
distance correlation, and by HSIC with Gaussian kernels. Exponent 2 *is* the absolute value of
Pearson's correlation: it sees lines and nothing else. Exponent 1 sees all seven and leaves the
eighth alone. HSIC misses the wave, for which a Gaussian of median width is too wide; half of that
width finds it.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.dependence import dependence_matrix, distance_correlation, independence_test
from isthmus.kernels import Gaussian
from isthmus.plotting import PALETTE, heat_map, style

rng = np.random.default_rng(0)
n = 300
t = rng.uniform(-1, 1, size=n)
noise = rng.normal(size=n)
turn = rng.uniform(0, 2 * np.pi, size=n)
sign = rng.choice([-1, 1], size=n)

shapes = {
    "line": (t, t + 0.3 * noise),
    "parabola": (t, t**2 + 0.08 * noise),
    "wave": (t, np.cos(2 * np.pi * t) + 0.3 * noise),
    "circle": (np.cos(turn) + 0.08 * noise, np.sin(turn) + 0.08 * rng.normal(size=n)),
    "cross": (t, sign * t + 0.08 * noise),
    "wedge": (t, (t + 1) * noise),
    "four spots": (sign + 0.25 * noise, rng.choice([-1, 1], n) * (1 + sign / 2) + 0.2 * t),
    "independent": (t, noise),
}

with style():
    figure, axes = plt.subplots(2, 4, figsize=(10.5, 6.2), layout="constrained")
    for ax, (name, (x, y)) in zip(axes.flat, shapes.items(), strict=True):
        dcor = {exponent: distance_correlation(x, y, exponent=exponent) for exponent in (1, 2)}
        p = {
            statistic: independence_test(x, y, statistic=statistic, random_state=0).pvalue
            for statistic in ("dcor", "hsic")
        }
        seen = p["dcor"] <= 0.01
        ax.plot(x, y, ".", color=PALETTE[0] if seen else PALETTE[6], markersize=4)
        ax.set(title=name, xticks=[], yticks=[])
        ax.set_xlabel(
            f"Pearson {np.corrcoef(x, y)[0, 1]:+.2f}, exponent 2 {dcor[2]:.2f}\n"
            f"exponent 1 {dcor[1]:.2f}, p {p['dcor']:.3f}\nHSIC p {p['hsic']:.3f}",
            fontsize=10,
        )

# %%
# The width of a kernel is a choice
# ---------------------------------

narrow = Gaussian(width_factor=0.5)
wave = independence_test(
    *shapes["wave"], x_kernel=narrow, y_kernel=narrow, n_permutations=999, random_state=0
)
print(f"HSIC of the wave at half of the median width: p = {wave.pvalue:.3f}")

# %%
# Which columns depend on each other
# ----------------------------------
#
# A matrix of all pairs shows structure that a correlation matrix misses: here the two coordinates
# of the circle, and the wave and the parabola with the number they are made of.

columns = {
    "t": t,
    "parabola": shapes["parabola"][1],
    "wave": shapes["wave"][1],
    "circle x": shapes["circle"][0],
    "circle y": shapes["circle"][1],
    "noise": rng.normal(size=n),
}
matrix = dependence_matrix(np.column_stack(list(columns.values())), names=list(columns))
figure = heat_map(matrix, label="distance correlation")
