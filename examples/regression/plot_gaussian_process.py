"""
Gaussian processes: error bars, and which columns matter
========================================================

Left: forty noisy points with a gap. The process learns the length scale, the amplitude and the
noise from the points alone. The dark band contains the function and the pale one new outputs, each
with probability 0.9: both open in the gap and beyond the ends, where there are no data. Right: the
inverse length scales of six columns, on a logarithmic axis. Columns without information end many
times lower than those that matter. It is how fast the outputs vary that counts, not how much: a
straight line, as in column 2, is slow.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import ARD, Gaussian
from isthmus.plotting import PALETTE, style
from isthmus.regression import GaussianProcess

rng = np.random.default_rng(3)
X = np.concatenate([rng.uniform(-4, -0.5, 22), rng.uniform(1.5, 4, 18)])[:, None]


def function(x):
    return np.sin(1.8 * x) + 0.3 * x


y = function(X[:, 0]) + 0.2 * rng.normal(size=40)
model = GaussianProcess(random_state=0).fit(X, y)
grid = np.linspace(-5.5, 5.5, 300)[:, None]
mean = model.predict(grid)
latent = model.predict_interval(grid, 0.9, latent=True)
outputs = model.predict_interval(grid, 0.9)
print(f"noise {model.noise_:.2f} (0.20 was used), amplitude {model.amplitude_:.2f}")

# %%
# Six columns: a wave along the first, a line along the second, a bowl along the third.

Z = rng.normal(size=(200, 6))
t = np.sin(2 * Z[:, 0]) + 0.8 * Z[:, 1] + 0.3 * Z[:, 2] ** 2 + 0.1 * rng.normal(size=200)
relevant = GaussianProcess(ARD(Gaussian(0.5)), n_init=1).fit(Z, t)
relevance = 1 / np.array(relevant.kernel_.length_scales)

with style():
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4), layout="constrained", width_ratios=(2, 1)
    )
    x = grid[:, 0]
    left.fill_between(x, *outputs, color=PALETTE[0], alpha=0.13, lw=0, label="new outputs, 90 %")
    left.fill_between(x, *latent, color=PALETTE[0], alpha=0.3, lw=0, label="function, 90 %")
    left.plot(x, mean, color=PALETTE[0], lw=2, label="mean")
    left.plot(x, function(x), color=PALETTE[6], ls="--", lw=1.3, label="truth")
    left.plot(X[:, 0], y, "o", color=PALETTE[5], ms=5, mec="white", label="data")
    left.set(xlabel="x", ylabel="y", title="Where data are, it is sure", xlim=(-5.5, 5.5))
    left.legend(ncols=3, fontsize=9, loc="upper left")
    left.set_ylim(-3.6, 5.2)
    colours = [PALETTE[0]] * 3 + [PALETTE[6]] * 3
    right.bar(range(1, 7), relevance, color=colours)
    right.set_yscale("log")
    right.set(xlabel="column (4 to 6 are noise)", ylabel="1 / length scale")
    right.set_title("Which columns matter")
