"""
When clusters of sliding windows mean little
============================================

A machine changes between two states. Cutting its signal into overlapping windows and clustering
them looks like a way to find the two. `sliding_window_check` compares how much the centres differ
from run to run with how much they differ from those of a random walk: with as many clusters as
states they are the same in every run, with many they are slopes and waves that come out anew each
time. A hidden Markov model of the steps knows that states follow each other: decoding it finds
when the machine was in which, and drawing from it gives signals of the same kind.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from isthmus.plotting import PALETTE, style
from isthmus.series import HiddenMarkovModel, sliding_window_check

rng = np.random.default_rng(2)
state = np.repeat(rng.permutation([0, 1] * 6), rng.integers(30, 80, 12))
signal = np.array([0.0, 2.0])[state] + 0.4 * rng.normal(size=len(state))
other = rng.normal(size=len(state)).cumsum()

# %%
# The check, which warns where the centres of two runs differ half as much as those of two signals.

numbers = [2, 3, 4, 5, 6, 8, 10]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    checks = [
        sliding_window_check(signal, other, length=32, n_clusters=k, random_state=0)
        for k in numbers
    ]
for k, check in zip(numbers, checks, strict=True):
    print(f"{k} clusters: two runs differ {check.ratio:.2f} times as much as two signals")

# %%
# The states.

model = HiddenMarkovModel(2, random_state=0).fit([signal])
found = model.decode([signal])[0]
if model.means_[0, 0] > model.means_[1, 0]:
    found = 1 - found
print(f"steps whose state is found: {np.mean(found == state):.3f}")
drawn = model.sample(1, length=300, random_state=0)[0]

with style():
    figure, axes = plt.subplot_mosaic(
        [["signal"] * 3, ["ratio", "centres", "drawn"]], figsize=(9.6, 5), layout="constrained"
    )
    axes["signal"].plot(signal, color=PALETTE[6], lw=0.8)
    axes["signal"].plot(2 * state, color=PALETTE[0], lw=2.5, label="true state")
    axes["signal"].plot(2 * found, color=PALETTE[1], lw=1.2, label="decoded")
    axes["signal"].legend(loc="upper right", ncols=2)
    axes["signal"].set_title("a signal of two states")
    axes["ratio"].plot(numbers, [check.ratio for check in checks], "o-", color=PALETTE[0])
    axes["ratio"].axhline(0.5, color=PALETTE[6], ls="--", lw=1)
    axes["ratio"].set(xlabel="clusters", ylim=(0, 1), title="runs against signals")
    for centre, color in zip(checks[5].centers, PALETTE, strict=False):
        axes["centres"].plot(centre, color=color)
    axes["centres"].set_title(f"{numbers[5]} centres of windows")
    axes["drawn"].plot(np.ravel(drawn), color=PALETTE[2], lw=0.8)
    axes["drawn"].set_title("drawn from the model")
