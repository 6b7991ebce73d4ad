"""
How many edits apart two molecules are
======================================

The graph edit distance counts the atoms and bonds that have to be inserted, deleted or renamed
to turn one molecule into another. Left: all pairs of seventeen molecules. Right: a molecule is
predicted from two numbers, the number of carbons and of oxygens, and the answer is the one with
the least expected number of edits. Every molecule was left out of the training set before it was
predicted, and most answers are as close to it as the most similar of the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import LabelledGraph
from isthmus.losses import GraphEditDistance
from isthmus.plotting import PALETTE, style
from isthmus.structured import DependencyEstimator


def alcohol(n_carbon, n_oxygen):
    """A chain of carbons with one oxygen on each of the first ones."""
    edges = [(i, i + 1) for i in range(n_carbon - 1)]
    edges += [(i, n_carbon + i) for i in range(n_oxygen)]
    return LabelledGraph(["C"] * n_carbon + ["O"] * n_oxygen, edges)


counts = np.array([(c, o) for c in range(2, 8) for o in range(1, 4) if o <= c])
molecules = [alcohol(c, o) for c, o in counts]
names = [f"C{c}O{o}" for c, o in counts]
distances = GraphEditDistance().cost(molecules, molecules)

# %%
# Every molecule is left out once, in one of three folds, and predicted from its two numbers.

edits, answers = np.zeros(len(names)), [""] * len(names)
wishes = counts.astype(float)
for fold in range(3):
    out = np.arange(len(names)) % 3 == fold
    known = [molecules[i] for i in np.flatnonzero(~out)]
    model = DependencyEstimator(loss=GraphEditDistance()).fit(wishes[~out], known)
    for i, answer in zip(np.flatnonzero(out), model.predict(wishes[out]), strict=True):
        edits[i] = GraphEditDistance().cost([molecules[i]], [answer])[0, 0]
        labels = list(answer.labels)
        answers[i] = f"C{labels.count('C')}O{labels.count('O')}"
print(f"edits between answer and truth: {np.mean(edits):.1f} on average")
print(f"between two molecules drawn at random: {distances[distances > 0].mean():.1f}")

with style():
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 5), layout="constrained", width_ratios=(5, 4)
    )
    picture = left.imshow(distances, cmap="viridis")
    left.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    left.set_yticks(range(len(names)), names, fontsize=8)
    left.set_title("edits between two molecules")
    figure.colorbar(picture, ax=left, shrink=0.8)
    nearest = np.where(distances > 0, distances, np.inf).min(axis=1)
    place = np.arange(len(names))
    right.barh(place, edits, color=PALETTE[0], label="from the answer to the truth")
    right.plot(
        nearest, place, "|", ms=12, mew=2, color=PALETTE[5], label="from the most similar molecule"
    )
    pairs = [f"{name} → {answer}" for answer, name in zip(answers, names, strict=True)]
    right.set_yticks(place, pairs, fontsize=8)
    right.invert_yaxis()
    right.set(xlabel="edits", title="left out → predicted")
    right.legend(loc="lower right", fontsize=9)
