"""
Strands in, strands out
=======================

Every strand of DNA has its counterpart: read it backwards and exchange A with T and C with G.
The rule is not told, only pairs are shown. Inputs and outputs are strings, compared by
:class:`~isthmus.kernels.MarginalizedSequence`; predicted points are turned into strings by
:class:`~isthmus.preimage.SequencePreimage`, letter by letter, so answers need not have been seen.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import MarginalizedSequence
from isthmus.plotting import PALETTE, style
from isthmus.preimage import CandidatePreimage, SequencePreimage
from isthmus.structured import DependencyEstimator


def counterpart(strand):
    """Backwards, with A and T, and C and G exchanged."""
    return strand[::-1].translate(str.maketrans("ACGT", "TGCA"))


rng = np.random.default_rng(0)
strands = ["".join(rng.choice(list("ACGT"), rng.integers(6, 9))) for _ in range(240)]
train, test = strands[:220], strands[220:]
kernel = MarginalizedSequence(0.3)
model = DependencyEstimator(x_features=kernel, y_features=kernel, preimage=SequencePreimage())
model.fit(train, [counterpart(s) for s in train])
built = model.predict(test)

# %%
# No strand of the test was among the training outputs, so that choosing among them is always wrong.

truth = np.array([counterpart(s) for s in test], dtype=object)
chosen = CandidatePreimage().fit([counterpart(s) for s in train], model.y_features_)
stored = chosen.solve(model.predict_coordinates(test))
print(f"built: {np.mean(built == truth):.0%} right, chosen: {np.mean(stored == truth):.0%} right")

# %%
# The first strands of the test; a frame marks letters that are wrong.

with style():
    figure, axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained", sharey=True)
    columns = {"given": test, "built": built, "chosen among known ones": stored}
    for ax, (title, words) in zip(axes, columns.items(), strict=True):
        for row, word in enumerate(words[:10]):
            for place, letter in enumerate(word):
                right = title == "given" or truth[row][place : place + 1] == letter
                box = {
                    "boxstyle": "square,pad=0.3",
                    "facecolor": PALETTE["ACGT".index(letter)],
                    "edgecolor": "#1c2330" if not right else "none",
                    "linewidth": 2,
                }
                ax.text(place, row, letter, bbox=box, color="white", ha="center", va="center")
        ax.set(xlim=(-0.8, 7.8), ylim=(9.7, -0.7), title=title, xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
