"""TGP-usps-half: lower halves of digits by twin processes."""

import numpy as np

from isthmus.plotting import error_bars
from isthmus_experiments import Covers, Outcome, Picture, experiment
from isthmus_experiments.experiments._twin import RIDGE, Variant, shown_errors, table_rows
from isthmus_experiments.experiments._twin_usps import compare_variants, digit_grid, usps_images
from isthmus_experiments.measure import rmse

HALVES = (
    Variant("kl", "monomial", (11, 11), 0.2596, 0.2380),
    Variant("kl", "gegenbauer", (11, 11), 0.2596, 0.2417),
    Variant("hsic", "monomial", (11, 11), 0.3172, 0.2649),
    Variant("hsic", "gegenbauer", (11, 11), 0.3172, 0.3052),
)
LOWER = np.arange(256) >= 128


@experiment(
    "TGP-usps-half",
    document="[003] 4.4, table 4.4",
    title="USPS digits: the lower half from the upper one",
    published=(
        "1100 random images, first 128 pixels to last 128, degrees (11, 11), RMS error: KL 0.2596, "
        "powers 0.2380, Gegenbauer 0.2417; HSIC 0.3172, 0.2649, 0.3052; a recurrent network "
        "0.5591. How many of the images were for training is not said."
    ),
    covers=[
        Covers("003 table 4.4", 6, why="the recurrent network is not written"),
    ],
    quick={"n_train": 200, "n_test": 80, "max_rows": 100, "cv": 2, "n_variants": 1},
    full={"n_train": 825, "n_test": 275, "max_rows": 500, "cv": 3, "n_variants": 4},
    needs_data=True,
)
def halves(settings, seed, progress):
    images = usps_images(settings["n_train"] + settings["n_test"], seed)
    n = settings["n_train"]
    X, Y = images[:, ~LOWER], images[:, LOWER]
    variants = HALVES[: settings["n_variants"]]
    found, errors = compare_variants(variants, X, Y, n, settings, rmse, progress)
    return Outcome(
        table_rows(variants, errors, "RMSE", comparable=False),
        [
            Picture(
                "errors", "RMSE of a pixel.", lambda: error_bars({"RMSE": shown_errors(errors)})
            ),
            Picture(
                "halves",
                "Eight test digits; the lower half is what each method filled in.",
                lambda: digit_grid(images[n : n + 8], LOWER, found),
            ),
        ],
        [
            "Pixels in [-1, 1]: the document's scale is unknown, so errors are not compared in "
            f"size (kernel ridge: {errors[RIDGE]:.3f}; predicting the mean is "
            f"{rmse(Y[n:], Y[:n].mean(axis=0)):.3f}). Its 0.26 would be in reach of [0, 1]."
        ],
    )
