"""
Label sets: name the loss
=========================

The same regression is decoded for three losses. Hamming's loss asks of each label by itself whether
it is more likely than not, F1 wants a set that overlaps with the right one, and the 0/1 loss wants
the most likely whole set. ``DependencyEstimator(loss=...)`` finds the best answer for each, and
chooses width and penalty by it.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.losses import as_task_loss
from isthmus.plotting import style
from isthmus.structured import DependencyEstimator

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(600, 2))
centres = rng.uniform(-2, 2, size=(8, 2))
nearness = np.exp(-((X[:, None] - centres) ** 2).sum(axis=2))
Y = (rng.random((600, 8)) < 0.8 * nearness).astype(int)
train, test = slice(0, 400), slice(400, 600)

LOSSES = ("f1", "hamming", "zero_one")
table = np.empty((3, 3))
for i, named in enumerate(LOSSES):
    model = DependencyEstimator(loss=named).fit(X[train], Y[train])
    answers = model.predict(X[test])
    for j, judged in enumerate(LOSSES):
        table[i, j] = as_task_loss(judged).paired(answers, Y[test]).mean()
    print(f"{named}: {answers.sum(axis=1).mean():.2f} labels in an answer")

# %%
# Rows: the loss that was named. Columns: the loss by which the answers are judged. The smallest
# number of each column stands where both agree, or close to it; a cell is the darker the further it
# lies above that number.

with style():
    figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    excess = table / table.min(axis=0) - 1  # above the best of the column
    ax.imshow(excess, cmap="Blues", vmin=0, vmax=0.5)
    for (i, j), value in np.ndenumerate(table):
        colour = "white" if excess[i, j] > 0.25 else "black"
        ax.text(j, i, f"{value:.3f}", ha="center", va="center", color=colour)
    ax.set(xticks=range(3), yticks=range(3), xlabel="loss on new rows", ylabel="loss named in fit")
    ax.set_xticklabels(LOSSES)
    ax.set_yticklabels(LOSSES)

plt.show()
