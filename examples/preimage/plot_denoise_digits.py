"""
Five ways back from feature space
=================================

Noise has no place on the first principal axes of clean images. So a noisy image is mapped to its
coordinates on these axes, and the coordinates are mapped back to an image: the pre-image. The
five solvers get the same coordinates and differ only in the way back.
"""

import numpy as np

from isthmus.datasets import load_noisy_digits
from isthmus.features import KernelPCA
from isthmus.plotting import image_grid
from isthmus.preimage import (
    CandidatePreimage,
    FixedPointPreimage,
    GradientPreimage,
    LearnedPreimage,
    NeighborPreimage,
)

digits = load_noisy_digits(noise=0.3, n_train=700)
clean, noisy = digits.clean_test[:200], digits.noisy_test[:200]

features = KernelPCA(32, kernel="gaussian").fit(digits.clean_train)
coordinates = features.transform(noisy)

solvers = {
    "gradient": GradientPreimage(bounds=(0, 1)),
    "fixed point": FixedPointPreimage(),
    "neighbours": NeighborPreimage(),
    "learned": LearnedPreimage(),
    "candidates": CandidatePreimage(),
}
found = {"noisy": noisy}
for name, solver in solvers.items():
    found[name] = solver.fit(digits.clean_train, features).solve(coordinates)

# %%
# Each of them removes about half of the noise; which one to take is a matter of taste and of
# time. The last one can only return images it has seen, which are sharp but may show another
# digit.

errors = {name: np.sqrt(np.mean((images - clean) ** 2)) for name, images in found.items()}
for name, error in errors.items():
    print(f"{name:12s} RMSE {error:.3f}")

columns = {**found, "clean": clean}
figure = image_grid(
    [[images[i].reshape(8, 8) for images in columns.values()] for i in (3, 8, 13, 22, 35)],
    titles=[f"{name}\n{errors[name]:.3f}" if name in errors else name for name in columns],
    size=1.15,
)
figure

# %%
# The same coordinates, no kernel on the images
# ---------------------------------------------
#
# Where the kernel is known by its Gram matrix alone there is no formula to iterate. Two of the
# solvers do without: one learns the way back, one learns how distances correspond.

gram = KernelPCA(32, kernel="precomputed").fit(features.kernel_(digits.clean_train))
rows = features.kernel_(noisy, digits.clean_train)
for solver in (LearnedPreimage(), NeighborPreimage()):
    images = solver.fit(digits.clean_train, gram).solve(gram.transform(rows))
    print(f"{type(solver).__name__:17s} RMSE {np.sqrt(np.mean((images - clean) ** 2)):.3f}")
