"""The pictures of the README and of the front page, drawn anew: ``python docs/pictures.py``."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from isthmus.datasets import load_digits_completion
from isthmus.features import KernelPCA
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.structured import DependencyEstimator

PAPER = "white"
STATIC = Path(__file__).parent / "_static"
EXAMPLES = Path(__file__).parents[1] / "examples"
# What the front page shows: a name, the example, and its variable that holds the figure.
FRONT = {
    "photograph": ("sparse/plot_denoise_image.py", "figure"),
    "writing": ("robotics/plot_writing_arm.py", "figure"),
    "molecules": ("structured/plot_molecule_graphs.py", "figure"),
    "words": ("regression/plot_gaussian_process_on_words.py", "figure"),
}


def halves(ax: plt.Axes) -> None:
    """Upper halves of unseen digits, the lower halves that are predicted, and the true ones."""
    digits = load_digits_completion("bottom")
    X, Y = digits.X, digits.Y
    model = DependencyEstimator(y_features=KernelPCA(0.95, kernel="gaussian"))
    model.fit(X[:1000], Y[:1000])
    shown = [next(i for i in range(1000, len(X)) if digits.target[i] == c) for c in range(10)]
    guess = model.predict(X[shown])
    given, empty = X[shown].reshape(-1, 4, 8), np.full((10, 4, 8), np.nan)
    rows = [
        np.concatenate([given, part.reshape(-1, 4, 8)], axis=1) for part in (empty, guess, Y[shown])
    ]
    pad = np.full((10, 8, 1), np.nan)
    lines = [np.concatenate(list(np.concatenate([row, pad], axis=2)), axis=1) for row in rows]
    gap = np.full((1, lines[0].shape[1]), np.nan)
    ax.imshow(np.vstack([lines[0], gap, lines[1], gap, lines[2]]), cmap="gray_r")
    ax.set_yticks([3.5, 12.5, 21.5], ["given", "predicted", "true"])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set_title("A map learned from pairs: half a digit to the other half", fontsize=10)


def plane(ax: plt.Axes) -> None:
    """Digits on a plane, and what the plane says lies between them."""
    X, y = load_digits(return_X_y=True)
    keep = np.isin(y, (0, 1, 4, 7))
    X, y = X[keep][:400], y[keep][:400]
    model = UnsupervisedKernelRegression(2, random_state=0).fit(X)
    Z = model.embedding_
    low, high = Z.min(axis=0), Z.max(axis=0)
    n = 10
    grid = np.array([[a, b] for b in np.linspace(1, 0, n) for a in np.linspace(0, 1, n)])
    between = model.inverse_transform(low + grid * (high - low)).reshape(n, n, 8, 8)
    picture = between.transpose(0, 2, 1, 3).reshape(8 * n, 8 * n)
    box = (low[0], high[0], low[1], high[1])
    ax.imshow(picture, cmap="gray_r", extent=box, aspect="auto", alpha=0.55)
    for label, color in zip(
        (0, 1, 4, 7), ("#c1121f", "#1d4e89", "#2a9d8f", "#e09f3e"), strict=True
    ):
        ax.scatter(*Z[y == label].T, s=9, color=color, label=str(label), linewidths=0)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title("Pictures to a plane, and back from anywhere on it", fontsize=10)


def front() -> None:
    """Write the pictures of the front page, from the examples that they link to."""
    (STATIC / "front").mkdir(exist_ok=True)
    for name, (example, variable) in FRONT.items():
        figure = runpy.run_path(str(EXAMPLES / example))[variable]
        figure.savefig(STATIC / "front" / f"{name}.png", dpi=60, facecolor=PAPER)


def first() -> None:
    """Write ``docs/_static/first.png``."""
    figure, axes = plt.subplots(
        1, 2, figsize=(11, 3.6), width_ratios=(1.75, 1), layout="constrained", facecolor=PAPER
    )
    halves(axes[0])
    plane(axes[1])
    for ax in axes:
        for side in ax.spines.values():
            side.set_visible(False)
    figure.savefig(STATIC / "first.png", dpi=110)


if __name__ == "__main__":
    first()
    front()
