"""
Words made of words
===================

A pursuit needs inner products alone, and a kernel gives them for any objects. Here atoms are
fourteen words under a kernel of common letter sequences, and new words are written as sums of few
atoms in its feature space. The path shows which atoms were taken, in which order, and how much of a
word each of them explains: first the parts of a compound, and next to nothing of a word that has
none among the atoms.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import Normalized, Subsequence
from isthmus.plotting import PALETTE, style
from isthmus.sparse import gram_pursuit

atoms = ["sun", "flower", "light", "house", "water", "fall", "moon", "boat", "rain", "bow", "tree",
         "top", "fire", "fly"]  # fmt: skip
words = ["sunflower", "lighthouse", "waterfall", "moonlight", "houseboat", "rainbow", "umbrella"]
kernel = Normalized(Subsequence(2, decay=0.5))

path = gram_pursuit(kernel(atoms), kernel(words, atoms), squares=kernel.diag(words), n_nonzero=4)
for word, support in zip(words, path.support, strict=True):
    print(f"{word:12s}", *(atoms[k] for k in support if k >= 0))

# %%
# The share of the squared norm of a word that each atom explains, when it is taken.

gains = -np.diff(path.squared_errors, axis=1)
with style():
    figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for row, (support, gain) in enumerate(zip(path.support, gains, strict=True)):
        edges = np.concatenate([[0.0], np.cumsum(gain)])
        axis.barh(row, gain, left=edges[:-1], color=PALETTE[:4], edgecolor="white")
        for k, low, width in zip(support, edges, gain, strict=False):
            if width > 0.1:
                axis.text(low + width / 2, row, atoms[k], ha="center", va="center", color="white")
    axis.set_yticks(range(len(words)), words)
    axis.invert_yaxis()
    axis.set_xlim(0, 1)
    axis.set_xlabel("share explained")
