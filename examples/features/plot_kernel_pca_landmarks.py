"""
Kernel PCA on landmarks
=======================

Exact kernel PCA of *n* objects needs their *n × n* Gram matrix. With *m* landmarks the axes lie in
the span of *m* objects, and the matrix is read row block by row block. The figure shows
the price: the variance that 30 axes miss, and the time, as the number of landmarks grows.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import load_digits_completion
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.plotting import PALETTE, style

images = load_digits_completion().images
# The digits, and the same moved by a pixel: 3594 images.
X = np.concatenate([images, np.roll(images, 1, axis=2)]).reshape(-1, 64)
kernel = Gaussian().resolve(X)


def fitted(n_landmarks):
    start = perf_counter()
    model = KernelPCA(30, kernel=kernel, n_landmarks=n_landmarks, random_state=0).fit(X)
    return model, perf_counter() - start


exact, exact_time = fitted(None)
total = exact.eigenvalues_.sum() / exact.explained_variance_ratio_.sum()

numbers = (60, 120, 240, 480, 960)
missed, times = [], []
for m in numbers:
    model, seconds = fitted(m)
    missed.append(1 - model.eigenvalues_.sum() / total)
    times.append(seconds)
    print(f"{m:4d} landmarks: {missed[-1]:.1%} of the variance missed")
exact_missed = 1 - exact.explained_variance_ratio_.sum()
print(f"all {len(X)} images: {exact_missed:.1%} missed")

# %%

with style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.semilogx(numbers, missed, "o-", label="landmarks")
    left.axhline(exact_missed, color=PALETTE[1], linestyle="--", label="all images")
    left.set(xlabel="landmarks", ylabel="variance not on the 30 axes")
    right.loglog(numbers, times, "o-", label="landmarks")
    right.axhline(exact_time, color=PALETTE[1], linestyle="--", label="all images")
    right.set(xlabel="landmarks", ylabel="seconds to fit")
    for ax in (left, right):
        ax.set_xticks(numbers, numbers)
        ax.minorticks_off()
        ax.legend()

# %%
# The pre-image of a landmark map is the same call: coordinates become an expansion over the
# landmarks, and what follows does not know the difference.

model, _ = fitted(480)
back = model.inverse_transform(model.transform(X[:5]))
print("RMSE of five reconstructions:", np.sqrt(np.mean((back - X[:5]) ** 2)).round(3))
