"""
Two things with a common cause
==============================

Ice cream and sunburn go together, because both follow the weather. Whether two things depend on
each other at all is one question; whether they still do once a third is known is another. A test
of independence answers the first; ``partial_independence_test`` answers the second, from the
residuals of both sides.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.dependence import independence_test, partial_independence_test
from isthmus.plotting import style
from isthmus.regression import KernelRidgeCV


def draw(tie, seed, n=100):
    """Two quantities that bend with a third, with or without a tie of their own."""
    z, e, f = np.random.default_rng(seed).normal(size=(3, n))
    return z + 0.5 * np.sin(3 * z) + 0.4 * e, z + 0.3 * z**2 + 0.4 * f + 0.4 * tie * e, z


with style():
    figure, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained")
    names = ("a common cause alone", "tied beyond it")
    for row, name, tie in zip(axes, names, (0.0, 1.0), strict=True):
        x, y, z = draw(tie, seed=0)
        plain = independence_test(x, y, n_permutations=199, random_state=0)
        given = partial_independence_test(x, y, z, n_permutations=99, random_state=0)
        left = [t - KernelRidgeCV().fit(z[:, None], t).predict(z[:, None]) for t in (x, y)]
        row[0].scatter(x, y, c=z, s=12, cmap="viridis")
        row[0].set(title=f"{name}: p = {plain.pvalue:.3f}", xlabel="x", ylabel="y")
        row[1].scatter(*left, c=z, s=12, cmap="viridis")
        row[1].set(title=f"the same, given z: p = {given.pvalue:.3f}")
        row[1].set(xlabel="residual of x", ylabel="residual of y")
        print(f"tie {tie:g}: p = {plain.pvalue:.3f} as they are, {given.pvalue:.3f} given z")

# %%
# Colours show the common cause z. In the upper row there is nothing else; in the lower one x and y
# are tied beyond it. The plain test rejects independence in both.
