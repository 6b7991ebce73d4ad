"""
Two right answers: the mean is wrong
====================================

A point of a circle is seen from the side: only its horizontal coordinate is known, so there are two
right answers, one above and one below. Regression gives their mean, a point inside the circle,
which is no answer at all. A narrow kernel on the outputs keeps both answers apart in feature space,
and the pre-image settles for one of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.datasets import make_circle_map
from isthmus.kernels import Gaussian
from isthmus.plotting import style
from isthmus.preimage import GradientPreimage
from isthmus.structured import DependencyEstimator

X, Y = make_circle_map(300, random_state=0)
X_new = np.linspace(-0.98, 0.98, 60)[:, None]

models = {
    "linear output kernel\n(kernel ridge)": DependencyEstimator(),
    "wide Gaussian, γ = 0.3": DependencyEstimator(y_features=Gaussian(0.3)),
    "narrow Gaussian, γ = 8": DependencyEstimator(y_features=Gaussian(8.0)),
}
answers = {name: model.fit(X, Y).predict(X_new) for name, model in models.items()}
for name, Z in answers.items():
    off = np.abs(np.linalg.norm(Z, axis=1) - 1).mean()
    print(f"{name.splitlines()[0]:24s} mean distance from the circle {off:.3f}")

# %%

with style():
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), sharey=True, layout="constrained")
    for ax, (name, Z) in zip(axes, answers.items(), strict=True):
        ax.plot(*Y.T, ".", color="0.8", markersize=4, label="training outputs")
        ax.plot(*Z.T, "o", markersize=4, label="predictions")
        ax.set(title=name, aspect="equal", xlabel="$y_1$")
    axes[0].set_ylabel("$y_2$")
    axes[0].legend(loc="center", fontsize=9, bbox_to_anchor=(0.5, 0.72))

# %%
# What the pre-image sees
# -----------------------
#
# The predicted point of feature space is near two images of objects, so the pre-image objective
# has two valleys. Which one is taken depends on the start. The map shows the objective for the
# abscissa 0.3.

model = models["narrow Gaussian, γ = 8"]
point = model.predict_coordinates([[0.3]])
side = np.linspace(-1.5, 1.5, 121)
grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
objective = GradientPreimage().fit(Y, model.y_features_)
values = objective.objective(np.repeat(point, len(grid), axis=0), grid)

with style():
    figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
    drawn = ax.contourf(side, side, values.reshape(len(side), -1), levels=20, cmap="cividis")
    ax.plot(*Y.T, ".", color="white", markersize=2)
    ax.plot(*model.predict([[0.3]]).T, "*", color="#D55E00", markersize=14, label="pre-image")
    ax.axvline(0.3, color="white", linewidth=1, linestyle=":")
    ax.set(aspect="equal", xlabel="$y_1$", ylabel="$y_2$", title="distance to the predicted point")
    ax.legend(loc="lower left")
    figure.colorbar(drawn, ax=ax, label=r"$\|\varphi(y)-\Psi\|^2$")
