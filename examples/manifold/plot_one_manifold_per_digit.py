"""
One manifold per digit
======================

Each class of handwritten digits gets a plane of its own by unsupervised kernel regression, and a
new digit belongs to the manifold that reconstructs it best. The reconstructions show why: the
manifold of the right class returns the digit almost unchanged, the others draw the nearest digit
of theirs. Principal components with as many dimensions are the flat comparison.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from isthmus.manifold import ManifoldClassifier, UnsupervisedKernelRegression
from isthmus.plotting import decoded_plane, image_grid

X, y = load_digits(n_class=5, return_X_y=True)
X = X / 16
train, test = np.arange(len(X)) % 3 > 0, np.arange(len(X)) % 3 == 0

curved = ManifoldClassifier(
    UnsupervisedKernelRegression(2, init="isomap", tol=3e-2, random_state=0)
).fit(X[train], y[train])
flat = ManifoldClassifier(PCA(2)).fit(X[train], y[train])
for name, model in {"kernel regression": curved, "principal components": flat}.items():
    print(f"{name}: {100 * model.score(X[test], y[test]):.1f} % of new digits right")

# %%
# A new digit, and what each manifold makes of it; the smallest error decides.

chosen = [np.flatnonzero(test & (y == digit))[3] for digit in range(5)]
errors = curved.reconstruction_errors(X[chosen])
made = [manifold.reconstruct(X[chosen]) for manifold in curved.manifolds_]
rows = [
    [X[i].reshape(8, 8), *(images[row].reshape(8, 8) for images in made)]
    for row, i in enumerate(chosen)
]
titles = ["new digit", *(f"manifold of {digit}" for digit in range(5))]
figure = image_grid(
    rows, titles=titles, row_titles=[f"nearest: {k}" for k in errors.argmin(axis=1)]
)

# %%
# The plane of the twos: what lies between them.

twos = curved.manifolds_[2]
low, high = np.quantile(twos.embedding_, [0.02, 0.98], axis=0)
plane = decoded_plane(
    twos.inverse_transform,
    x=np.linspace(low[0], high[0], 12),
    y=np.linspace(low[1], high[1], 8),
    image_shape=(8, 8),
    valid=lambda Z: twos.latent_density(Z) >= twos.density_floor_,
)
