"""
Rankings from features
======================

Every person orders seven items. The order depends on two traits of the person. Kendall's distance
counts pairs in the wrong order; its best answer is a weighted Kemeny ranking, found exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.losses import Kendall
from isthmus.plotting import PALETTE, style
from isthmus.structured import DependencyEstimator

rng = np.random.default_rng(0)
traits = rng.uniform(-1, 1, size=(300, 2))
angles = np.linspace(0, 2 * np.pi, 7, endpoint=False)
taste = traits @ np.array([np.cos(angles), np.sin(angles)]) + 0.15 * rng.normal(size=(300, 7))
ranks = np.argsort(np.argsort(-taste, axis=1), axis=1)  # 0: the favourite

model = DependencyEstimator(loss="kendall").fit(traits[:200], ranks[:200])
found = model.decode(traits[200:])
wrong = Kendall().paired(found.outputs, ranks[200:])
print(f"pairs in the wrong order: {wrong.mean():.1%}, proved best: {found.exact.mean():.0%}")

# %%
# The favourite item at every place in the square of traits: a wheel, as the data were made.

steps = np.linspace(-1, 1, 40)
grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
favourite = model.predict(grid).argmin(axis=1)
with style():
    figure, ax = plt.subplots(figsize=(6.2, 4.5), layout="constrained")
    for item in range(7):
        where = grid[favourite == item]
        ax.scatter(*where.T, color=PALETTE[item], marker="s", s=28, label=f"item {item + 1}")
    ticks = [-1, -0.5, 0, 0.5, 1]
    ax.set(xlabel="first trait", ylabel="second trait", xticks=ticks, yticks=ticks, aspect="equal")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), title="favourite")

plt.show()
