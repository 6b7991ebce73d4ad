"""
Similar outputs for similar inputs: twin Gaussian processes
===========================================================

An S-shaped curve is read the wrong way round: in the middle, three outputs belong to one input.
Kernel ridge regression answers with their mean, which lies on no branch. A twin process looks
instead for the output that is as similar to the training outputs as the new input is to the
training inputs. Its criterion has a valley along each branch, and the prediction settles in one of
them.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_s_shape
from isthmus.kernels import Gaussian
from isthmus.plotting import style
from isthmus.regression import KernelRidgeCV
from isthmus.structured import TwinGaussianProcess, TwinSearch

X, Y = make_s_shape(300, random_state=0)
X_new = np.linspace(X.min(), X.max(), 150)[:, None]

ridge = KernelRidgeCV(Gaussian(30.0)).fit(X, Y)
twin = TwinGaussianProcess(
    x_kernel=Gaussian(100.0),
    y_kernel=Gaussian(30.0),
    alpha_x=0.1,
    alpha_y=0.1,
    search=TwinSearch(n_init=5),
).fit(X, Y)
details = twin.predict_details(X_new)


def off_the_curve(inputs, outputs):
    """Distance of predictions from the nearest point of the curve."""
    t = np.linspace(0, 1, 2000)
    curve = np.c_[t + 0.3 * np.sin(2 * np.pi * t), t]
    points = np.c_[inputs, outputs]
    return np.sqrt(((points[:, None] - curve) ** 2).sum(axis=2).min(axis=1)).mean()


for name, Z in {"kernel ridge": ridge.predict(X_new), "twin process": details.outputs}.items():
    print(f"{name:13s} mean distance from the curve {off_the_curve(X_new, Z):.3f}")

# %%
# The criterion itself, for every input and every output: what a pair would add to the divergence of
# the two processes, in nats. Searching a fixed set of outputs gives it as a table.

trials = np.linspace(-0.1, 1.1, 31)
nats = np.array(
    [
        TwinGaussianProcess(**{**twin.get_params(deep=False), "candidates": [[y]]})
        .fit(X, Y)
        .predict_details(X_new)
        .criterion
        for y in trials
    ]
)

with style():
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    for ax in axes:
        ax.plot(X[:, 0], Y[:, 0], ".", color="0.75" if ax is axes[0] else "white", markersize=3)
        ax.set_xlabel("input $r$")
    axes[0].plot(X_new, ridge.predict(X_new), color="#E69F00", linewidth=2, label="kernel ridge")
    axes[0].plot(X_new, details.outputs, ".", color="#0072B2", markersize=6, label="twin process")
    axes[0].set(ylabel="output $y$", title="Predictions")
    axes[0].legend(loc="upper left")
    drawn = axes[1].contourf(X_new[:, 0], trials, np.log10(nats + 0.01), 20, cmap="cividis")
    axes[1].plot(X_new, details.outputs, ".", color="#D55E00", markersize=4)
    axes[1].set(title="Criterion of all pairs, and its minima", ylim=(-0.1, 1.1))
    figure.colorbar(drawn, ax=axes[1], label="log₁₀ nats added")

# %%
# The value at the minimum says how well the best output fits. It is large where the new input is
# unlike all others, and where what was learned of inputs and outputs disagrees.

for i in (0, 75, 149):
    print(
        f"input {X_new[i, 0]:.2f}: output {details.outputs[i, 0]:.2f}, "
        f"{details.criterion[i]:.2f} nats"
    )
