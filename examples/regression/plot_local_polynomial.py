"""
Constant, line or parabola around every point
=============================================

Three local regressions of the same noisy data, each with the bandwidth that leave-one-out
chooses. The weighted mean (degree 0) turns flat at the border, where all neighbours lie on one
side, and must keep its bandwidth narrow; the line (degree 1) goes on straight; the parabola
(degree 2) affords a wider bandwidth. Below: the leave-one-out error against the bandwidth.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.plotting import PALETTE, style
from isthmus.regression import LocalPolynomialRegression

rng = np.random.default_rng(3)


def truth(x):
    return np.sin(2 * np.pi * (0.4 + 1.6 * x) ** 2 / 2) + 1.5 * x


x = np.sort(rng.uniform(0, 1, size=60))
y = truth(x) + 0.15 * rng.normal(size=60)
grid = np.linspace(0, 1, 400)
names = {0: "weighted mean", 1: "line", 2: "parabola"}
bandwidths = np.geomspace(0.012, 0.5, 30)

with style():
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained", sharey="row")
    for degree, (top, bottom) in enumerate(axes.T):
        model = LocalPolynomialRegression(degree).fit(x[:, None], y)
        fitted = model.predict(grid[:, None])
        error = np.sqrt(np.mean((fitted - truth(grid)) ** 2))
        top.scatter(x, y, s=8, color="#9aa3b0", label="data")
        top.plot(grid, truth(grid), color="black", lw=1, ls="--", label="truth")
        top.plot(grid, fitted, color=PALETTE[5], lw=2, label="fit")
        top.set(title=f"degree {degree}, {names[degree]}: error {error:.3f}", xlabel="input")

        errors = [
            LocalPolynomialRegression(degree, bandwidth=h).fit(x[:, None], y).loo_error_
            for h in bandwidths
        ]
        bottom.plot(bandwidths, errors, color=PALETTE[0])
        bottom.plot(model.bandwidth_, model.loo_error_, "o", color=PALETTE[5], label="chosen")
        bottom.set(xscale="log", yscale="log", xlabel="bandwidth")
        print(f"degree {degree}: bandwidth {model.bandwidth_[0]:.3f}, error {error:.3f}")
    axes[0, 0].set_ylabel("output")
    axes[1, 0].set_ylabel("leave-one-out error")
    lines = axes[0, 0].get_legend_handles_labels(), axes[1, 0].get_legend_handles_labels()
    handles, labels = (above + below for above, below in zip(*lines, strict=True))
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
