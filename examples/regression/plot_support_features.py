"""
Three features among five hundred
=================================

The class is decided by three features; 497 others are noise, and there are fewer samples than
features. The support feature machine counts features and finds the three; the l1 penalty, which
only approximates counting, keeps dozens besides.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from isthmus.plotting import PALETTE, style
from isthmus.regression import SupportFeatureMachine

rng = np.random.default_rng(0)
n_samples, n_features, true = 80, 500, [0, 1, 2]
X, X_new = rng.normal(size=(n_samples, n_features)), rng.normal(size=(2000, n_features))
y, y_new = (np.sign(Z[:, true].sum(axis=1)) for Z in (X, X_new))

machines = {
    "support feature machine, means": SupportFeatureMachine("mean"),
    "support feature machine, margins": SupportFeatureMachine("margin"),
    "l1 penalty (LinearSVC, C = 0.5)": LinearSVC(penalty="l1", dual=False, C=0.5, random_state=0),
    "l2 penalty (LinearSVC)": LinearSVC(dual=True, max_iter=100_000, random_state=0),
}

with style():
    figure, axes = plt.subplots(4, 1, figsize=(8, 7), sharex=True, layout="constrained")
    for ax, (name, machine) in zip(axes, machines.items(), strict=True):
        w = machine.fit(X, y).coef_[0]
        w = w / np.abs(w).max()
        wrong = np.setdiff1d(np.flatnonzero(w), true)
        ax.vlines(wrong, 0, w[wrong], color=PALETTE[6], linewidth=1.2, label="noise")
        ax.vlines(true, 0, w[true], color=PALETTE[5], linewidth=3, label="true")
        ax.axhline(0, color="black", linewidth=0.6)
        found = f"{np.count_nonzero(w)} features, {100 * machine.score(X_new, y_new):.0f} % right"
        ax.set_title(f"{name}: {found} on new data", fontsize=11, loc="left")
        ax.set(ylim=(-1.1, 1.1), yticks=[-1, 0, 1], xlim=(-6, n_features + 4))
        print(f"{name}: {found}")
    axes[0].legend(loc="upper right", ncol=2)
    axes[-1].set_xlabel("feature")
    figure.supylabel("weight, relative to the largest", fontsize=11)
