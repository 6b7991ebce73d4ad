"""
Classes, probabilities and what a mistake costs
===============================================

``DependencyClassifier`` chooses kernel, width and penalty by the mistakes on rows left out, and
calibrates its probabilities on the same rows. Where mistakes differ in price, a cost matrix moves
the border; the probabilities stay what they are.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.losses import CostMatrix
from isthmus.plotting import style
from isthmus.structured import DependencyClassifier

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, size=400)
ill = rng.random(400) < 0.4
X = np.column_stack([np.cos(angle) + ill, np.sin(angle) * (1 - 2 * ill) + 0.4 * ill])
X += 0.35 * rng.normal(size=X.shape)
y = np.where(ill, "ill", "healthy")
train, test = slice(0, 250), slice(250, 400)

# %%
# To miss an ill person costs five times a false alarm.
plain = DependencyClassifier().fit(X[train], y[train])
careful = DependencyClassifier(loss=CostMatrix([[0, 5], [1, 0]], classes=["healthy", "ill"]))
careful.fit(X[train], y[train])
missed = [np.mean(model.predict(X[test])[ill[test]] == "healthy") for model in (plain, careful)]
print(f"missed among the ill: {missed[0]:.2f} and, with costs, {missed[1]:.2f}")
print(f"gap of probability and frequency on left-out rows: {plain.calibration_.error:.3f}")

# %%
# The borders of both, over the probability of being ill.
a, b = np.meshgrid(np.linspace(-2.2, 3.2, 120), np.linspace(-2.2, 2.4, 110))
grid = np.column_stack([a.ravel(), b.ravel()])
probability = plain.predict_proba(grid)[:, 1].reshape(a.shape)
with style():
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    shown = left.contourf(a, b, probability, levels=np.linspace(0, 1, 11), cmap="PuOr_r", alpha=0.7)
    fig.colorbar(shown, ax=left, label="probability of ill")
    for model, line, name in (
        (plain, "-", "equal costs"),
        (careful, "--", "a missed case costs 5"),
    ):
        says = (model.predict(grid) == "ill").reshape(a.shape).astype(float)
        left.contour(a, b, says, levels=[0.5], colors="black", linestyles=line)
        left.plot([], [], "k", linestyle=line, label=name)
    left.scatter(*X[test].T, c=np.where(ill[test], "C1", "C0"), s=8)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2)
    left.set(xticks=[], yticks=[], title="two borders for two losses")

    # How often rows with this probability are ill.
    P = plain.predict_proba(X[test])[:, 1]
    bins = np.clip((5 * P).astype(int), 0, 4)
    means = [
        (P[bins == k].mean(), ill[test][bins == k].mean()) for k in range(5) if (bins == k).any()
    ]
    right.plot([0, 1], [0, 1], color="0.7")
    right.plot(*np.transpose(means), "o-")
    right.set(
        xlabel="predicted probability", ylabel="share of ill", title="calibration on new rows"
    )
plt.show()
