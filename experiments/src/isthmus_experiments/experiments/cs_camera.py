"""CS-camera: a letter through one pixel."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus.plotting import image_grid
from isthmus.sensing import SinglePixelCamera, orthonormal_basis
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

SIDE = 64
EXACT = 1e-4


@experiment(
    "CS-camera",
    document="[002] 3.5, figure 21",
    title="The single-pixel camera",
    published=(
        "A 64 x 64 letter R: reconstructions from 1600 and 2700 random binary measurements "
        "beside the best 400 and 675 Haar coefficients. A photograph of a print, no errors given."
    ),
    covers=[
        Covers(
            "002 figure 21",
            way="other data",
            why="the printed letter is a photograph; a drawn one stands in",
        ),
    ],
    quick={"exposures": (1600, 2700), "patterns": ("hadamard",)},
    full={"exposures": (800, 1200, 1600, 2700), "patterns": ("hadamard", "bernoulli")},
)
def camera(settings, seed, progress):
    scene = letter(SIDE)
    coefficients = np.abs(orthonormal_basis("haar", scene.shape).T @ scene.ravel())
    n_nonzero = int(np.sum(coefficients > 1e-9))
    rows, images = [], {}
    runs = [(p, m) for p in settings["patterns"] for m in settings["exposures"]]
    for i, (patterns, m) in enumerate(runs):
        progress(i / (len(runs) + 1), f"{patterns}, {m} exposures")
        device = _camera(m, patterns, seed)
        with warnings.catch_warnings():
            # Too few exposures: that the solution is not found is the finding.
            warnings.simplefilter("ignore", ConvergenceWarning)
            image = device.reconstruct(device.measure(scene))
        error = _error(image, scene)
        images.setdefault(m, image)
        promised = m >= 1600
        rows.append(
            Row(
                f"{m} exposures, {patterns}: relative error",
                "recovered" if m in (1600, 2700) else None,
                error,
                f"exact: {m / n_nonzero:.1f} exposures for each of {n_nonzero} coefficients"
                if error < EXACT
                else f"not exact with {m / n_nonzero:.1f} exposures a coefficient",
                bool(error < EXACT) if promised else None,
            )
        )
    progress(len(runs) / (len(runs) + 1), "noise")
    device = _camera(1600, "hadamard", seed)
    noise = 10 ** (-30 / 20) * device.measure(scene)[1:].std()
    image = device.reconstruct(device.measure(scene, sigma=noise, random_state=seed), sigma=noise)
    error = _error(image, scene)
    rows.append(
        Row(
            "1600 exposures with noise 30 dB below the readings: relative error",
            None,
            error,
            "graceful" if error < 0.15 else "noise is amplified",
        )
    )
    images["noise"] = image
    shown = list(images.items())
    return Outcome(
        rows,
        [
            Picture(
                "letter",
                "The scene, and what one light sensor makes of it.",
                lambda: image_grid(
                    [[scene, *(picture for _, picture in shown)]],
                    titles=["scene", *(_title(name) for name, _ in shown)],
                    size=1.7,
                ),
            )
        ],
        [
            f"The letter is drawn by us and has {n_nonzero} Haar coefficients; the document's was "
            "a print. Readings by 0/1 patterns become signs with one exposure of all mirrors."
        ],
    )


def letter(side):
    """The letter R, as an image of zeros and ones."""
    y, x = np.mgrid[:side, :side] / side
    stem = (x > 0.25) & (x < 0.375) & (y > 0.125) & (y < 0.875)
    ring = np.hypot((x - 0.47) / 1.15, y - 0.32)
    bowl = (ring < 0.195) & (ring > 0.085) & (x > 0.375)
    bars = (x > 0.25) & (x < 0.5) & (((y > 0.125) & (y < 0.23)) | ((y > 0.41) & (y < 0.515)))
    leg = (np.abs((x - 0.44) - 0.72 * (y - 0.5)) < 0.075) & (y > 0.5) & (y < 0.875)
    return (stem | bowl | bars | leg).astype(float)


def _camera(m, patterns, seed):
    return SinglePixelCamera(
        shape=(SIDE, SIDE), n_exposures=m, patterns=patterns, random_state=seed
    )


def _error(image, scene):
    return float(np.linalg.norm(image - scene) / np.linalg.norm(scene))


def _title(name):
    return "1600, with noise" if name == "noise" else f"{name} exposures"
