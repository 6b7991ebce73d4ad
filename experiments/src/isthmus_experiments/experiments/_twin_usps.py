"""What the two experiments on digits by twin processes share."""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from isthmus.datasets import load_usps_roweis
from isthmus.plotting import image_grid
from isthmus.structured import TwinSearch
from isthmus_experiments.experiments._kernel_ridge import kernel_ridge
from isthmus_experiments.experiments._twin import RIDGE, errors_of, predictions, shuffled_folds

LARGE = {"kl": {}, "hsic": {"n_neighbors": 300}}  # settings above 1500 training images


def usps_images(n, seed):
    """``n`` random images without the zeros, pixels in [-1, 1]."""
    digits = load_usps_roweis()
    images = digits.X[digits.y != 0].astype(float) / 127.5 - 1
    return images[np.random.default_rng(seed).permutation(len(images))[:n]]


def compare_variants(variants, X, Y, n, settings, measure, progress):
    """Predictions and errors of the twin processes and their rivals, by name."""
    train_x, train_y, new, truth = X[:n], Y[:n], X[n:], Y[n:]
    found = {
        "1-nearest neighbour": KNeighborsRegressor(1).fit(train_x, train_y).predict(new),
        RIDGE: kernel_ridge().fit(train_x, train_y).predict(new),
    }
    few = {"cv": shuffled_folds(settings), "search": TwinSearch(n_init=1)}
    for criterion in ("kl", "hsic"):
        of_it = [v for v in variants if v.criterion == criterion]
        size = {} if n <= 1500 else LARGE[criterion]
        if of_it:
            found |= predictions(of_it, train_x, train_y, new, progress, **few, **size)
    return found, errors_of(found, truth, measure)


def digit_grid(images, hidden, found):
    """A picture of what each method filled in where ``hidden`` is true."""

    def whole(image, part):
        filled = image.copy()
        filled[hidden] = part
        return filled.reshape(16, 16)

    shown = {name: z for name, z in found.items() if z is not None and "tuned" not in name}
    rows = [
        [whole(image, 0.0), *(whole(image, z[i]) for z in shown.values()), image.reshape(16, 16)]
        for i, image in enumerate(images)
    ]
    return image_grid(rows, titles=("given", *shown, "true"), limits=(-1.0, 1.0), size=1.25)
