"""
Words that were never seen
==========================

The right answer to a new word need not be among the training outputs. Here words are spelt by a
small rule (letters are doubled, ``c`` before ``e`` becomes ``s``), and the map is learned from
pairs alone. With ``loss="edit"`` the answer is the word of least expected edit distance: it starts
at a training output and is changed letter by letter as long as that helps. The best training
output, the only answer without that search, is hardly ever right.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import NGrams, Normalized
from isthmus.losses import EditDistance
from isthmus.plotting import style
from isthmus.structured import DependencyEstimator


def spell(word):
    """Letters are doubled, except that c before e becomes s."""
    pairs = zip(word, f"{word[1:]}.", strict=True)
    return "".join("s" if a == "c" and b == "e" else 2 * a for a, b in pairs)


rng = np.random.default_rng(0)
words = list({"".join(rng.choice(list("abcde"), size=n)) for n in rng.integers(3, 7, size=420)})
words.sort()
rng.shuffle(words)
X, new = words[:200], words[200:260]
Y, truth = [spell(word) for word in X], [spell(word) for word in new]
print("outputs of new words among the training outputs:", sum(word in Y for word in truth))

# %%
# The same regression, with and without the search.

kernel = Normalized(NGrams(3))
losses = {"best training output": EditDistance(search=False), "median string": EditDistance()}
costs = {}
for name, loss in losses.items():
    model = DependencyEstimator(x_features=kernel, loss=loss).fit(X, Y)
    answers = model.predict(new)
    costs[name] = EditDistance().paired(answers, truth)
    print(
        f"{name}: {np.mean(costs[name] == 0):.0%} right, {np.mean(costs[name]):.2f} edits per word"
    )
for word, answer, right in list(zip(new, answers, truth, strict=True))[:5]:
    print(f"{word:8} {answer:14} {right}")

# %%
# How many edits the answers are away from the truth.

with style():
    fig, ax = plt.subplots(figsize=(5, 3))
    most = int(max(cost.max() for cost in costs.values()))
    for shift, cost in zip((-0.2, 0.2), costs.values(), strict=True):
        ax.bar(np.arange(most + 1) + shift, np.bincount(cost.astype(int), minlength=most + 1), 0.4)
    ax.legend(list(costs))
    ax.set_xlabel("edits")
    ax.set_ylabel("new words")
