"""
Series in, words out
====================

The inputs are time series of unequal length, drawn at uneven speed; the outputs are words. A kernel
on each side is all the estimator needs: :class:`~isthmus.kernels.GlobalAlignment` compares series
by all of their alignments, and :class:`~isthmus.kernels.Spectrum` compares words by common pairs of
letters.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_warped_shapes
from isthmus.kernels import GlobalAlignment, Normalized, Spectrum
from isthmus.plotting import PALETTE, style
from isthmus.series import barycenter, dtw_path
from isthmus.structured import DependencyEstimator

series, words = make_warped_shapes(60, warp=0.8, random_state=0)
new, meant = make_warped_shapes(80, warp=0.8, random_state=1)
print(f"lengths from {min(map(len, series))} to {max(map(len, series))}")

# %%
# The estimator takes the lists as they are.

model = DependencyEstimator(x_features=GlobalAlignment(), y_features=Normalized(Spectrum(2)))
read = model.fit(series, words).predict(new)
print(f"{np.mean(read == np.array(meant)):.1%} of {len(new)} new series named right")

# %%
# Above, the training series of each word and their average under dynamic time warping, which keeps
# bumps that a mean at equal times would smear. Below, two series of one word and what the best
# alignment pairs; the second is shifted down.

kinds = list(dict.fromkeys(words))
with style():
    figure = plt.figure(figsize=(8.5, 5), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1])
    axes = top.subplots(1, len(kinds), sharey=True)
    for ax, kind in zip(axes, kinds, strict=True):
        members = [s[:, 0] for s, word in zip(series, words, strict=True) if word == kind]
        for member in members:
            ax.plot(np.linspace(0, 1, len(member)), member, color="#c3c9d2", linewidth=0.8)
        centre = barycenter(members)[:, 0]
        ax.plot(np.linspace(0, 1, len(centre)), centre, color=PALETTE[0], linewidth=2)
        right = np.mean([r == m for r, m in zip(read, meant, strict=True) if m == kind])
        ax.set(title=f"{kind}: {right:.0%} right", xticks=[])
    axes[0].set_ylabel("value")
    ax = bottom.subplots()
    first, second = (
        [s[:, 0] for s, word in zip(series, words, strict=True) if word == "double"][i]
        for i in (0, 1)
    )
    for i, j in dtw_path(first, second)[1]:
        ax.plot([i, j], [first[i], second[j] - 2], color="#c3c9d2", linewidth=0.8)
    ax.plot(first, color=PALETTE[0], linewidth=2, label="one series")
    ax.plot(second - 2, color=PALETTE[1], linewidth=2, label="another of the same word")
    ax.set(xlabel="time step", yticks=[], title="what the best alignment pairs")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
