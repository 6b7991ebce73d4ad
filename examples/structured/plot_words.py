"""
Words in, words out
===================

Nothing here is a vector: the inputs are misspelt words, the outputs the words that were meant. A
kernel on each side is all the estimator needs. The output kernel says which mistakes are small:
under :class:`~isthmus.kernels.Delta` every wrong word is equally wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from isthmus.datasets import make_strings
from isthmus.kernels import Delta, FunctionKernel, Normalized
from isthmus.plotting import style
from isthmus.preimage import CandidatePreimage
from isthmus.structured import DependencyEstimator


def shared_pairs(a, b):
    """How many pairs of adjacent letters two words have in common, ends included."""
    first, second = ({f"^{w}$"[i : i + 2] for i in range(len(w) + 1)} for w in (a, b))
    return len(first & second)


alike = Normalized(FunctionKernel(shared_pairs, pairwise_calls=True))
print(alike(["manifold", "manyfold", "robot"], ["manifold"]).round(2).ravel())

# %%
# With every second letter spoilt, some words are beyond repair.

noisy, clean = make_strings(120, noise=0.5, random_state=0)
model = DependencyEstimator(x_features=alike, y_features=Delta(), preimage=CandidatePreimage())
model.fit(noisy, clean)

spelt, meant = make_strings(200, noise=0.5, random_state=1)
read = model.predict(spelt)
wrong = read != np.array(meant)
print(f"{wrong.mean():.1%} of {len(spelt)} new words misread")

# %%
# What the pre-image sees: the distance of the predicted point from the image of every word it may
# choose. The answer is the nearest one, marked; doubt shows as a row of similar shades.

words = sorted(set(clean))
shown = [*np.flatnonzero(~wrong)[:9], *np.flatnonzero(wrong)[:3]]
points = model.predict_coordinates([spelt[i] for i in shown])
distances = np.column_stack(
    [model.preimage_.objective(points, [word] * len(points)) for word in words]
)

with style():
    figure, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
    drawn = ax.imshow(distances, cmap="cividis_r", aspect="auto")
    for row, i in enumerate(shown):
        ax.plot(words.index(read[i]), row, "x" if wrong[i] else "o", color="#1c2330", markersize=7)
    ax.set_xticks(range(len(words)), words, rotation=40, ha="right")
    ax.set_yticks(range(len(shown)), [spelt[i] for i in shown])
    ax.set_title("distance to every word (o right, x wrong)")
    figure.colorbar(drawn, ax=ax)

# %%
# Lists of objects go through scikit-learn's tools as arrays do. Here the regression judges two
# output kernels: the nearest word is a matter of what counts as near.

for name, kernel in {"Delta": Delta(), "shared pairs": alike}.items():
    guessed = cross_val_predict(model.set_params(y_features=kernel), noisy, clean, cv=3)
    print(f"{name:13s} {np.mean(guessed != np.array(clean)):.1%} wrong in cross-validation")
