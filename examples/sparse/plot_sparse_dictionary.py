"""
Atoms for handwritten digits
============================

A dictionary is learned from 8 × 8 images of digits, so that each image is a sum of few atoms. The
codes are exact optima under an L1 penalty; how few atoms are enough is the choice of that penalty.
Principal components, as many as an average code has non-zeros, serve all digits alike and blur
them; atoms are chosen for each digit. The last row of the first figure shows, for one image, the
atoms of its code in the order of their weight.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from isthmus.plotting import PALETTE, image_grid, style
from isthmus.sparse import SparseDictionary, feature_sign_search

images = load_digits().data / 16.0
mean = images[:1200].mean(axis=0)
train, test = images[:1200] - mean, images[1200:] - mean

# %%
# Learn the atoms
# ---------------
#
# No sweep raises the objective. Mini-batches would be faster on many signals.

model = SparseDictionary(128, alpha=0.3, max_iter=15, random_state=0).fit(train)
codes = model.transform(test)
n_used = round(np.count_nonzero(codes, axis=1).mean())
print(f"{n_used} of 128 atoms for an image on average, {model.n_iter_} sweeps")

pca = PCA(n_used).fit(train)
restored = {
    "sparse code": model.inverse_transform(codes),
    f"{n_used} principal components": pca.inverse_transform(pca.transform(test)),
}
for name, guess in restored.items():
    print(f"{name}: mean squared error of a pixel {np.mean((guess - test) ** 2):.4f}")

# %%
# One image and its atoms
# -----------------------

shown = [3, 14, 25, 31, 42, 58]
rows = [[(test[i] + mean).reshape(8, 8) for i in shown]]
rows += [[(guess[i] + mean).reshape(8, 8) for i in shown] for guess in restored.values()]
heavy = np.argsort(-np.abs(codes[shown[0]]))[: len(shown)]
weights = codes[shown[0]][heavy]
atoms = np.sign(weights)[:, None] * model.components_[heavy]
rows.append([(0.5 + 1.2 * atom).reshape(8, 8) for atom in atoms])
figure = image_grid(
    rows,
    row_titles=("image", "sparse code", "principal", "atoms of\nthe first"),
)

# %%
# The penalty is the choice of how many
# -------------------------------------
#
# Along falling penalties codes gain atoms and lose error. At equal numbers the sparse codes are
# ahead of the best linear subspace, since each image chooses its own.

counts, errors = [], []
for alpha in (1.0, 0.6, 0.3, 0.15, 0.08):
    found = feature_sign_search(test, model.components_, alpha=alpha)
    counts.append(np.count_nonzero(found, axis=1).mean())
    errors.append(np.mean((found @ model.components_ - test) ** 2))
dimensions = np.arange(1, 33)
axes_of = PCA(32).fit(train).components_
linear = [np.mean((test - test @ axes_of[:k].T @ axes_of[:k]) ** 2) for k in dimensions]

with style():
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(counts, errors, "o-", color=PALETTE[0], label="sparse codes")
    ax.plot(dimensions, linear, "-", color=PALETTE[1], label="principal components")
    ax.set(xlabel="numbers for an image", ylabel="mean squared error of a pixel", yscale="log")
    ax.legend()
