"""
Parts of digits, and a digit with holes
=======================================

Components of handwritten digits by four codes. Principal components have positive and negative
places (shown by their modulus) and cover the whole picture; cluster centres are whole digits.
Non-negative components can only add, so they become strokes; asked for sparseness 0.8, they become
dots and short strokes. Below, a non-negative factorisation that was fitted to digits of
which 40 % of the pixels are unknown fills them in.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from isthmus.plotting import style
from isthmus.sparse import NonnegativeFactorization, hoyer_sparseness

X = load_digits().data[:800] / 16
k = 10
atoms = {
    "principal components": PCA(k, random_state=0).fit(X).components_,
    "cluster centres": KMeans(k, n_init=1, random_state=0).fit(X).cluster_centers_,
    "non-negative": NonnegativeFactorization(k, tol=1e-3, random_state=0).fit(X).components_,
    "sparseness 0.8": NonnegativeFactorization(k, sparsity=0.8, tol=1e-2, random_state=0)
    .fit(X)
    .components_,
}

with style():
    figure, axes = plt.subplots(4, k, figsize=(10, 4.6), layout="constrained")
    for row, (name, A) in zip(axes, atoms.items(), strict=True):
        for ax, atom in zip(row, A, strict=True):
            ax.imshow(np.abs(atom).reshape(8, 8) / np.abs(atom).max(), vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
        mean = np.mean(hoyer_sparseness(A))
        row[0].set_ylabel(
            f"{name}\nmean sparseness {mean:.2f}", rotation=0, ha="right", va="center"
        )
    figure.suptitle("Ten atoms of each code")

# %%
# Holes
# -----
#
# Pixels that are NaN do not count in the fit; the model explains the others and fills the gaps. A
# small penalty keeps codes from explaining the few known pixels of a digit too well.

rng = np.random.default_rng(0)
holes = np.where(rng.uniform(size=X.shape) < 0.4, np.nan, X)
model = NonnegativeFactorization(16, alpha_W=3e-3, tol=1e-3, random_state=0)
filled = model.inverse_transform(model.fit_transform(holes))
hidden = np.isnan(holes)
rms = {
    "filled": np.sqrt(np.mean((filled - X)[hidden] ** 2)),
    "column means": np.sqrt(np.mean((np.nanmean(holes, axis=0) - X)[hidden] ** 2)),
}
print(", ".join(f"error on hidden pixels, {name}: {value:.3f}" for name, value in rms.items()))

with style():
    figure, axes = plt.subplots(3, 10, figsize=(10, 3.6), layout="constrained")
    pictures = {"true": X, "40 % unknown (red)": holes, "filled": np.where(hidden, filled, X)}
    grey = plt.get_cmap("gray").with_extremes(bad="#D55E00")
    for row, (name, images) in zip(axes, pictures.items(), strict=True):
        for ax, image in zip(row, images, strict=False):
            ax.imshow(image.reshape(8, 8), cmap=grey, vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(name, rotation=0, ha="right", va="center")
