"""
What drives a chaotic signal
============================

A logistic map whose parameter changes slowly looks like noise. Slow feature analysis of short
windows of it finds the parameter, without being told that there is one: of all quadratic functions
of a window it takes the one whose output changes least. Cubic functions are even slower on
the data they were fitted to, but worse on new data.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.features import SlowFeatureAnalysis
from isthmus.plotting import PALETTE, style

n = 6000
time = np.arange(n) / n
force = sum(np.sin(2 * np.pi * f * time) for f in (5, 11, 13))
signal = np.empty(n)
signal[0] = 0.6
for i in range(n - 1):
    signal[i + 1] = (3.6 + 0.13 * force[i]) * signal[i] * (1 - signal[i])

windows = np.lib.stride_tricks.sliding_window_view(signal, 10)
truth = force[4 : 4 + len(windows)]
truth = (truth - truth.mean()) / truth.std()

# %%
# The first half is learned from, the second only looked at.

half = len(windows) // 2
learned = {}
for degree in (1, 2, 3):
    model = SlowFeatureAnalysis(1, expansion=degree).fit(windows[:half])
    slowest = model.transform(windows)[:, 0]
    learned[degree] = slowest * np.sign(slowest[:half] @ truth[:half])
    correlation = np.corrcoef(slowest[half:], truth[half:])[0, 1]
    print(
        f"degree {degree}: slowness {model.slowness_[0]:.1e}, on the second half "
        f"{model.slowness(windows[half:])[0]:.1e}; correlation there {abs(correlation):.3f}"
    )

# %%

with style():
    figure, axes = plt.subplots(3, 1, figsize=(9, 5.4), sharex=True, layout="constrained")
    axes[0].plot(signal[: len(windows)], ".", markersize=1.5, color="0.4")
    axes[0].set(ylabel="signal", title="What is seen")
    for ax, degree in zip(axes[1:], (1, 2), strict=True):
        ax.plot(learned[degree], color=PALETTE[0], linewidth=1, label="slowest feature")
        ax.plot(truth, color=PALETTE[1], linewidth=1.5, linestyle="--", label="the driving force")
        ax.axvspan(half, len(windows), color="0.5", alpha=0.12, linewidth=0)
        ax.set(ylabel=f"degree {degree}", ylim=(-3.2, 3.2))
    axes[1].set_title("What is found (grey: not used for training)")
    axes[2].set(xlabel="step", xlim=(0, len(windows)))
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
