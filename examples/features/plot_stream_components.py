"""
Both ends of a spectrum, from a stream
======================================

Rows of 40 columns arrive one after the other and are forgotten. Candid covariance-free updates hold
two directions of largest variance and minor components two of least, without a matrix of 40 by 40
numbers. The directions turn to the eigenvectors of the covariance, and their lengths to the
eigenvalues; at the lower end this takes longer. (By default minor components of so few columns are
exact, from a root of their scatter; ``solver="online"`` does without.)
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.features import CandidPCA, MinorComponents
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
variances = np.r_[6.0, 4.0, np.linspace(2.2, 1.6, 36), 0.6, 0.1]
axes = np.linalg.qr(rng.normal(size=(40, 40)))[0]


def next_rows(n):
    return rng.normal(size=(n, 40)) * np.sqrt(variances) @ axes


# %%
# The cosine of each direction with its eigenvector, as rows come in.

largest, least = CandidPCA(2), MinorComponents(2, solver="online", random_state=0)
seen, cosines = [], []
for _ in range(60):
    block = next_rows(200)
    largest.partial_fit(block)
    least.partial_fit(block)
    pairs = zip([*largest.components_, *least.components_], axes[[0, 1, 39, 38]], strict=True)
    seen.append(largest.n_samples_seen_)
    cosines.append([abs(found @ true) for found, true in pairs])

print("variances found:", largest.explained_variance_.round(2), least.explained_variance_.round(2))

# %%
# The curves.

with style():
    figure, axis = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    names = ("largest", "second largest", "smallest", "second smallest")
    for name, curve, color in zip(names, np.transpose(cosines), PALETTE, strict=False):
        axis.plot(seen, curve, color=color, label=name)
    axis.set_xlabel("rows seen")
    axis.set_ylabel("cosine with the eigenvector")
    axis.set_ylim(0, 1.02)
    axis.legend()
