"""
Factorising counts, with known parts
====================================

A table of counts is a mixture of four profiles. Two things decide how well they are found: the
divergence, which should suit the noise (the variance of counts grows with their mean), and what is
known beforehand. With known profiles that stay ``fixed``, only the codes of new rows are sought.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from isthmus.plotting import style
from isthmus.sparse import NonnegativeFactorization

rng = np.random.default_rng(0)
places = np.arange(60)
profiles = np.exp(-0.5 * ((places - np.array([[10], [24], [36], [50]])) / 5) ** 2)
codes = rng.gamma(0.6, size=(150, 4)) * [60, 15, 5, 2]  # the last ones are faint
counts = rng.poisson(codes @ profiles).astype(float)


def likeness(components):
    """Cosines of the true profiles with the found ones that belong to them."""
    unit = [T / np.linalg.norm(T, axis=1, keepdims=True) for T in (profiles, components)]
    cosines = unit[0] @ unit[1].T
    rows, columns = linear_sum_assignment(-cosines)
    return cosines[rows, columns], columns


with style():
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
    axes[0].plot(places, profiles.T)
    axes[0].set(title="true profiles", xlabel="place")
    for ax, divergence in zip(axes[1:], ("euclidean", 1.0), strict=True):
        model = NonnegativeFactorization(4, divergence=divergence, n_init=3, random_state=0)
        found = model.fit(counts).components_
        cosines, order = likeness(found)
        ax.plot(places, (found / found.max(axis=1, keepdims=True))[order].T)
        ax.set(title=f"divergence {divergence}: cosine {cosines.min():.3f}", xlabel="place")
        print(f"divergence {divergence}: cosines {np.round(cosines, 3)}")

# %%
# Colours are those of the true profiles; the cosine is that of the worst one. To find the codes
# of new rows from known profiles is a problem of its own, and a convex one: the components stay
# as they are.

new = rng.gamma(0.6, size=(100, 4)) * [60, 15, 5, 2]
rows = rng.poisson(new @ profiles).astype(float)
known = NonnegativeFactorization(4, divergence=1.0, init=(None, profiles), fixed="components")
error = np.linalg.norm(known.fit_transform(rows) - new) / np.linalg.norm(new)
print(f"codes of new rows behind known profiles: relative error {error:.3f}")
