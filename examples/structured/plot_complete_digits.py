"""
Complete a digit from its upper half
====================================

Given the upper half of an image, predict the lower one: 32 outputs that belong together. The lower
half of the most similar training image is sharp and often wrong. Kernel ridge regression predicts
each pixel for itself. A Gaussian kernel on the *outputs* compares lower halves as wholes: the
predictions are a little nearer the truth, with the same kind of regression.
"""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from isthmus.datasets import load_digits_completion
from isthmus.features import KernelPCA
from isthmus.plotting import image_grid
from isthmus.structured import DependencyEstimator

digits = load_digits_completion("bottom")
X, Y, X_new, Y_new = digits.X[:800], digits.Y[:800], digits.X[800:1200], digits.Y[800:1200]

models = {
    "nearest": KNeighborsRegressor(1),
    "kernel ridge": DependencyEstimator(),  # a linear output kernel
    "dependency": DependencyEstimator(y_features=KernelPCA(0.95, kernel="gaussian")),
}
lower = {name: model.fit(X, Y).predict(X_new) for name, model in models.items()}

# %%
# The error of a pixel, and for how many images the prediction is nearer than that of kernel ridge.


def rmse(Z):
    return np.sqrt(np.mean((Z - Y_new) ** 2))


def distances(Z):
    return np.linalg.norm(Z - Y_new, axis=1)


for name, Z in lower.items():
    nearer = np.mean(distances(Z) < distances(lower["kernel ridge"]))
    print(f"{name:13s} RMSE {rmse(Z):.3f}   nearer than kernel ridge: {nearer:.0%}")

# %%
# Where the upper half leaves several digits possible, no method can know which was meant.


def whole(i, lower_half):
    image = digits.images[800 + i].copy()
    image[digits.hidden] = lower_half
    return image


shown = (0, 11, 23, 37, 42, 58)
columns = {"given": np.full_like(Y_new, 0.5), **lower, "true": Y_new}
figure = image_grid(
    [[whole(i, Z[i]) for Z in columns.values()] for i in shown],
    titles=[f"{name}\n{rmse(Z):.3f}" if name in lower else name for name, Z in columns.items()],
    size=1.15,
)
figure
