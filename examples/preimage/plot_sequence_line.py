"""
Halfway between two words
=========================

Between two vectors lies a line of vectors. Between two sequences there is nothing, unless they are
mapped to a space that has lines: here that of :class:`~isthmus.kernels.MarginalizedSequence`. Each
point of the line is brought back to a sequence by
:class:`~isthmus.preimage.SequencePreimage`; it is nearer to the point than any training sequence.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.features import KernelPCA
from isthmus.kernels import MarginalizedSequence
from isthmus.plotting import PALETTE, style
from isthmus.preimage import CandidatePreimage, SequencePreimage

rng = np.random.default_rng(3)


def walk(transitions):
    """Letters of a random walk over four states."""
    state, word = rng.integers(4), ""
    for _ in range(rng.integers(14, 20)):
        word += "abcd"[state]
        state = rng.choice(4, p=transitions[state])
    return word


# %%
# Two languages: the first likes to go round a, b, c, d; the second stays where it is.

onwards = 0.85 * np.roll(np.eye(4), 1, axis=1) + 0.05 * (1 - np.roll(np.eye(4), 1, axis=1))
staying = 0.7 * np.eye(4) + 0.1 * (1 - np.eye(4))
words = [walk(onwards) for _ in range(80)] + [walk(staying) for _ in range(80)]
features = KernelPCA(8, kernel=MarginalizedSequence(0.1)).fit(words)
ends = features.transform([words[0], words[-1]])
shares = np.linspace(0, 1, 9)
line = (1 - shares[:, None]) * ends[0] + shares[:, None] * ends[1]

build = SequencePreimage().fit(words, features)
nearest = CandidatePreimage().fit(words, features)
answers = {"nearest training word": nearest.solve(line), "built": build.solve(line)}
distances = {name: np.sqrt(build.objective(line, found)) for name, found in answers.items()}

# %%
# Left: how far the answers are from the points of the line. Right: the words that were built,
# with one colour for each letter. From top to bottom rounds of a, b, c, d give way to runs.

with style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for colour, (name, values) in zip(PALETTE, distances.items(), strict=False):
        left.plot(shares, values, "o-", color=colour, label=name)
    left.set(xlabel="share of the second word", ylabel="distance from the line", ylim=(0, None))
    left.legend()

    for row, word in enumerate(answers["built"]):
        for place, letter in enumerate(word):
            colour = PALETTE["abcd".index(letter)]
            box = {"boxstyle": "square,pad=0.25", "linewidth": 0, "facecolor": colour}
            right.text(place, row, letter, bbox=box, color="white", ha="center", va="center")
    right.set(xlim=(-1, max(map(len, words))), ylim=(len(shares) - 0.5, -0.5))
    right.set_yticks(range(len(shares)), [f"{share:.0%}" for share in shares])
    right.set_xticks([])
    right.set_ylabel("share of the second word")
    right.set_title("words on the line")
    right.spines[:].set_visible(False)

# %%
# The gain is largest in the middle, where there was no word.

nearer = distances["built"][1:-1] / distances["nearest training word"][1:-1]
print("distance over that of the nearest word:", " ".join(f"{v:.2f}" for v in nearer))
