"""CS-megapixel: how many measurements does a sparse photograph need?"""

import warnings

import numpy as np
from scipy import ndimage
from sklearn.exceptions import ConvergenceWarning

from isthmus.plotting import image_grid
from isthmus.sensing import basis_pursuit, orthonormal_basis, sensing_matrix
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

EXACT = 1e-4
RATIOS = (3.84, 5.0)


@experiment(
    "CS-megapixel",
    document="[002] 3.3, figure 19",
    title="A sparse photograph from 3.84 measurements a coefficient",
    published=(
        "An image of 10^6 pixels, reduced to its 25 000 largest wavelet coefficients, is recovered "
        "perfectly from 96 000 incoherent measurements: 3.84 measurements a coefficient."
    ),
    covers=[
        Covers("002 figure 19", way="claim"),
    ],
    in_short=(
        "a vector of smaller l1 norm explains the measurements: the truth is not what basis "
        "pursuit looks for"
    ),
    quick={"side": 64, "max_iter": 100},
    full={"side": 1000, "max_iter": 300},
)
def megapixel(settings, seed, progress):
    side = settings["side"]
    n = side * side
    sparsity = n // 40
    D = orthonormal_basis("db4", (side, side))
    photograph, source = _photograph(side, seed)
    truth = D.T @ photograph.ravel()
    truth[np.abs(truth) < np.sort(np.abs(truth))[-sparsity]] = 0
    rows, pictures = [], []
    for i, ratio in enumerate(RATIOS):
        m = round(ratio * sparsity)
        progress(i / len(RATIOS), f"{m} measurements")
        Phi = sensing_matrix("dct", m, n, random_state=seed, scramble=True)
        b = Phi @ (D @ truth)
        with warnings.catch_warnings():
            # Not being recoverable is the finding.
            warnings.simplefilter("ignore", ConvergenceWarning)
            found, certificate = basis_pursuit(
                Phi @ D,
                b,
                solver="first-order",
                max_iter=settings["max_iter"],
                return_certificate=True,
            )
        error = float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
        # The rows are orthogonal, so this step makes the measurements agree exactly.
        A = Phi @ D
        admissible = found + A.T @ (b - A @ found) * (m / n)
        share = float(np.abs(admissible).sum() / np.abs(truth).sum())
        rows.append(
            Row(
                f"{ratio:g} measurements a coefficient: relative error",
                "perfect" if ratio == 3.84 else None,
                error,
                "recovered"
                if error < EXACT
                else "not recovered: "
                + (
                    f"a vector with {share:.3f} of its l1 norm explains the measurements as well, "
                    "so the truth is not what basis pursuit looks for"
                    if share < 1
                    else f"stopped after {certificate.n_iter} steps, before it could tell"
                ),
                bool(error < EXACT) if ratio == 3.84 else None,
            )
        )
        pictures.append(np.asarray(D @ found).reshape(side, side))
    sparse = np.asarray(D @ truth).reshape(side, side)
    limits = (float(sparse.min()), float(sparse.max()))
    return Outcome(
        rows,
        [
            Picture(
                "photograph",
                "The sparse image and its reconstructions.",
                lambda: image_grid(
                    [[sparse, *pictures]],
                    titles=[f"{sparsity} wavelets", *(f"{r:g} measurements each" for r in RATIOS)],
                    limits=limits,
                    size=2.4,
                ),
            )
        ],
        [
            f"A copy of {side} x {side} pixels with the published ratio of pixels to coefficients "
            f"({source}). The limit of Donoho and Tanner for this ratio is near five measurements "
            "a coefficient; the demonstration that the document cites must have used more than "
            "sparsity."
        ],
    )


def _photograph(side, seed):
    """A grey photograph of ``side`` pixels, or where it cannot be read, a cloud with an edge."""
    try:
        from sklearn.datasets import load_sample_image

        grey = load_sample_image("china.jpg").mean(axis=2) / 255
    except ImportError:
        y, x = np.mgrid[:side, :side] / side
        cloud = ndimage.gaussian_filter(
            np.random.default_rng(seed).normal(size=(side, side)), side / 30
        )
        return cloud / np.abs(cloud).max() + (x > 0.4) * (y > 0.3), "a synthetic picture"
    square = grey[:, 100 : 100 + grey.shape[0]]
    return ndimage.zoom(square, side / square.shape[0], order=1), "a photograph of a temple"
