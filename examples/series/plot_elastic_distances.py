"""
Which distance forgives what
============================

A wave is changed in four ways, a little more each time: shifted in time, stretched in its
middle, covered with noise, and given a spike. Each curve is one distance to the unchanged wave,
divided by its value for an unrelated wave, so that 1 means "nothing in common". Warping
forgives shifts and stretching best, but a spike counts. Distances that count matches (common
subsequence, edits) hardly notice the spike. Move-split-merge and time warp edit are metrics;
noise costs them most. The Euclidean distance forgives neither shifts nor spikes.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.plotting import PALETTE, style
from isthmus.series import dtw_matrix, elastic_matrix

rng = np.random.default_rng(0)
t = np.linspace(0, 1, 80)


def wave(time):
    return np.sin(2 * np.pi * 2 * time) * np.exp(-((time - 0.5) ** 2) / 0.08)


noise = rng.normal(size=len(t))
spike = (np.abs(t - 0.3) < 0.02).astype(float)
amounts = np.linspace(0, 1, 9)
changes = {
    "shifted": [wave(t - 0.15 * a) for a in amounts],
    "stretched": [wave(t + 0.8 * a * (t - 0.5) * (0.25 - (t - 0.5) ** 2) * 4) for a in amounts],
    "noisy": [wave(t) + 0.2 * a * noise for a in amounts],
    "with a spike": [wave(t) + 2 * a * spike for a in amounts],
}
unrelated = [np.cos(2 * np.pi * 5 * t)]

# %%
# One function computes them all; warping has one of its own.

distances = {
    "Euclidean": lambda X, Z: np.array([[np.linalg.norm(x - z) for z in Z] for x in X]),
    "warping (DTW)": dtw_matrix,
    "move-split-merge": lambda X, Z: elastic_matrix(X, Z, distance="msm", cost=0.1),
    "time warp edit": lambda X, Z: elastic_matrix(X, Z, distance="twe", cost=0.1),
    "common subsequence": lambda X, Z: elastic_matrix(X, Z, distance="lcss", width=0.2),
    "edits (EDR)": lambda X, Z: elastic_matrix(X, Z, distance="edr", width=0.2),
}
original = [wave(t)]
scale = {name: float(d(original, unrelated)[0, 0]) for name, d in distances.items()}

with style():
    figure, axes = plt.subplots(2, 4, figsize=(13, 5.6), layout="constrained", sharey="row")
    for column, (change, series) in enumerate(changes.items()):
        above, below = axes[:, column]
        above.plot(t, original[0], color=PALETTE[6], lw=1.2)
        above.plot(t, series[-1], color=PALETTE[5], lw=1.6)
        above.set_title(change)
        for (name, d), colour in zip(distances.items(), PALETTE, strict=False):
            below.plot(amounts, d(original, series)[0] / scale[name], color=colour, label=name)
        below.set_xlabel("how much")
    axes[1, 0].set_ylabel("distance, 1 is unrelated")
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
