"""Four pre-images of the same predicted coordinates, measured on one set of faces."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import laplace, zoom
from scipy.spatial.distance import pdist

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.preimage import FixedPointPreimage, GradientPreimage, LearnedPreimage, NeighborPreimage
from isthmus.regression import StiefelRegression
from isthmus.structured import DependencyEstimator
from isthmus_experiments.measure import rmse, timed

METHODS = {
    "gradient": lambda: GradientPreimage(n_init=2),
    "fixed point": lambda: FixedPointPreimage(n_init=2),
    "MDS": lambda: NeighborPreimage(n_neighbors=3),
    "learned": lambda: LearnedPreimage(),
}


@dataclass(frozen=True)
class Comparison:
    """Pictures and measures; all mappings are by the name of the method."""

    source: str
    n_train: int
    n_components: int
    rank: int
    inputs: np.ndarray
    truth: np.ndarray
    shown: dict[str, np.ndarray]  # bicubic interpolation and the four methods
    error: dict[str, float]
    outside: dict[str, float]
    unseen: dict[str, float]
    roughness: dict[str, float]
    seconds_to_fit: dict[str, float]
    seconds_to_solve: dict[str, float]


def comparison(source, images, n_test, seed, progress):
    """Return what becomes of ``n_test`` of the images (n, size, size), made half as large.

    Kernel PCA on both sides keeps 95 % of the variance, with Gaussian kernels as wide as the
    mean distance; a map whose rank is chosen by cross-validation joins the coordinates.
    """
    n, size, _ = images.shape
    small = images.reshape(n, size // 2, 2, size // 2, 2).mean(axis=(2, 4))
    X, Y = small.reshape(n, -1), images.reshape(n, -1)
    order = np.random.default_rng(seed).permutation(n)
    test, train = order[:n_test], order[n_test:]

    progress(0.0, "kernel PCA and regression")
    model = DependencyEstimator(
        x_features=KernelPCA(0.95, kernel=_as_wide_as_the_mean_distance(X[train])),
        y_features=KernelPCA(0.95, kernel=_as_wide_as_the_mean_distance(Y[train])),
        regressor=StiefelRegression("cv", alpha=0.0, cv=5),
    ).fit(X[train], Y[train])
    coordinates = model.predict_coordinates(X[test])

    bicubic = [zoom(image, 2, order=3, grid_mode=True, mode="nearest") for image in small[test]]
    shown, to_fit, to_solve = {"bicubic": np.stack(bicubic)}, {}, {}
    for i, (name, method) in enumerate(METHODS.items()):
        progress(0.2 + 0.2 * i, f"pre-images: {name}")
        fit = lambda method=method: method().fit(Y[train], model.y_features_)  # noqa: E731
        solver, to_fit[name] = timed(fit, at_least=0)
        flat, to_solve[name] = timed(lambda solver=solver: solver.solve(coordinates))
        shown[name] = flat.reshape(-1, size, size)

    truth, found = images[test], {name: shown[name] for name in METHODS}
    grey_level = 1 / 256  # a constant background is not left by a rounding error
    low, high = images[train].min(axis=0) - grey_level, images[train].max(axis=0) + grey_level
    return Comparison(
        source=source,
        n_train=len(train),
        n_components=model.y_features_.n_components_,
        rank=model.regressor_.rank_,
        inputs=small[test],
        truth=truth,
        shown=shown,
        error={name: rmse(truth, z) for name, z in shown.items()},
        outside={name: float(np.mean((z < 0) | (z > 1))) for name, z in found.items()},
        unseen={name: float(np.mean((z < low) | (z > high))) for name, z in found.items()},
        roughness={name: float(np.mean(laplace(z, axes=(1, 2)) ** 2)) for name, z in found.items()},
        seconds_to_fit=to_fit,
        seconds_to_solve=to_solve,
    )


def _as_wide_as_the_mean_distance(X):
    return Gaussian.from_width(pdist(X).mean())
