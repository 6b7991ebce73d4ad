"""
Sets that contain the truth nine times in ten
=============================================

A conformal set contains the true output with the probability that was asked for, whatever the
model. The figures show one regression with three ways of calibration, and a case in which one
threshold is not fair to all rows: where the noise grows, it covers the quiet rows too often and the
noisy ones too rarely. A threshold for each group mends that.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import Gaussian
from isthmus.plotting import style
from isthmus.regression import KernelRidgeCV
from isthmus.structured import ConformalSets, coverage_band


def sample(n, rng):
    """A wave whose noise is three times as large on the right."""
    x = rng.uniform(0, 6, size=n)
    noise = np.where(x < 3, 0.15, 0.45)
    return x[:, None], np.sin(x) + noise * rng.normal(size=n)


rng = np.random.default_rng(0)
X, y = sample(160, rng)
X_new, y_new = sample(2000, rng)
machine = KernelRidgeCV(Gaussian(0.5), alpha=0.3)

for method in ("split", "cross", "loo"):
    sets = ConformalSets(machine, method=method).fit(X, y)
    covered = sets.covers(X_new, y_new).mean()
    width = np.mean([one.size for one in sets.predict(X_new)])
    print(f"{method:6} covers {covered:.3f}, mean width {width:.2f}; {sets.guarantee_}")
print("band of the split:", np.round(coverage_band(40, 2000, 0.9), 3))

# %%
# One threshold for all, and one for each side.

X, y = sample(600, rng)
side, side_new = (np.where(x[:, 0] < 3, "quiet", "noisy") for x in (X, X_new))
plain = ConformalSets(machine).fit(X, y)
fair = ConformalSets(machine).fit(X, y, groups=side)
for name, covered in (
    ("one threshold", plain.covers(X_new, y_new)),
    ("one for each group", fair.covers(X_new, y_new, groups=side_new)),
):
    shares = {group: covered[side_new == group].mean().round(3) for group in ("quiet", "noisy")}
    print(f"{name:19}", shares)

# %%
# The bands.

line = np.linspace(0, 6, 300)[:, None]
groups = np.where(line[:, 0] < 3, "quiet", "noisy")
with style():
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    bands = (plain.predict(line), fair.predict(line, groups=groups))
    for ax, sets, title in zip(axes, bands, ("one threshold", "one for each group"), strict=True):
        low, high = np.array([(one.low, one.high) for one in sets]).T
        ax.fill_between(line[:, 0], low, high, alpha=0.3)
        ax.plot(X_new[:400, 0], y_new[:400], ".", ms=3)
        ax.set_title(title)
        ax.set_xlabel("x")
    axes[0].set_ylabel("y")
