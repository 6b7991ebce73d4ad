"""
Clusters of sliding windows mean little
=======================================

A machine changes between two states. Cutting its signal into overlapping windows and clustering
them looks like a way to find the two, but the centres are slopes and waves that differ from run to
run more than half as much as from those of a random walk: `sliding_window_check` says so. A hidden
Markov model of the steps knows that states follow each other: decoding it finds when the machine
was in which, and drawing from it gives signals of the same kind.
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
# The check.

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    check = sliding_window_check(signal, other, length=32, n_clusters=5, random_state=0)
print(f"centres of two runs differ {check.ratio:.2f} times as much as those of two signals")
print(*(str(warning.message) for warning in said))

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
        [["signal", "signal"], ["centres", "drawn"]], figsize=(9.6, 5), layout="constrained"
    )
    axes["signal"].plot(signal, color=PALETTE[6], lw=0.8)
    axes["signal"].plot(2 * state, color=PALETTE[0], lw=2.5, label="true state")
    axes["signal"].plot(2 * found, color=PALETTE[1], lw=1.2, label="decoded")
    axes["signal"].legend(loc="upper right", ncols=2)
    axes["signal"].set_title("a signal of two states")
    for centre, color in zip(check.centers, PALETTE, strict=False):
        axes["centres"].plot(centre, color=color)
    axes["centres"].set_title("centres of its windows")
    axes["drawn"].plot(np.ravel(drawn), color=PALETTE[2], lw=0.8)
    axes["drawn"].set_title("drawn from the model")
