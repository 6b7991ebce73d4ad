"""UKR-spiral-losses: losses and kernels on the noisy spiral."""

import numpy as np

from isthmus.datasets import make_noisy_spiral
from isthmus.plotting import error_bars
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    DRAWN_ALONG,
    LOSSES,
    SETS_THAT_CROSS,
    SPIRAL,
    distance,
    fit_from,
    reconstructions,
    spread_row,
    value_row,
)
from isthmus_experiments.experiments._ukr_starts import isomap_candidates

SHAPE = "spiral"
KERNELS = {"Gaussian": "gaussian", "quartic": "quartic"}
# Mean and standard deviation over the data sets.
TABLE_5_3 = {
    ("Gaussian", "L2"): (0.0292, 0.0045),
    ("Gaussian", "Huber"): (0.0301, 0.0080),
    ("quartic", "L2"): (0.0285, 0.0050),
    ("quartic", "Huber"): (0.0295, 0.0077),
}


@experiment(
    "UKR-spiral-losses",
    document="[004] 5.1.4, table 5.3",
    title="Noisy spiral: two kernels, two losses",
    published=(
        "300 points with uniform noise of 0.1, 100 data sets, Isomap starts, 1000 steps of RPROP: "
        "mean distance of the reconstructions 0.0285 to 0.0301 for both kernels and both losses."
    ),
    covers=[
        Covers("004 table 5.3"),
    ],
    readings={
        "standard deviation": SETS_THAT_CROSS,
    },
    in_short="the few sets whose start crosses to another winding make the deviations",
    quick={"kernels": ("quartic",), "neighbourhoods": 2, "n_sets": 1, "steps": 300, **SPIRAL},
    full={
        "kernels": ("quartic", "Gaussian"),
        "neighbourhoods": 6,
        "n_sets": 8,
        "steps": 1000,
        **SPIRAL,
    },
    draws={"n_sets": 100},
)
def spiral_losses(settings, seed, progress):
    cells = [(k, loss) for k in settings["kernels"] for loss in LOSSES]

    def draw(j):
        Y, _ = make_noisy_spiral(spacing=settings["spacing"], random_state=seed + j)
        candidates, away = isomap_candidates(Y, 1, settings["neighbourhoods"]), {}
        for kernel, loss in cells:
            options = {"density_kernel": KERNELS[kernel], **LOSSES[loss]}
            model = fit_from(candidates, Y, settings["steps"], **options)
            away[f"{kernel}, {loss}"] = distance(reconstructions(model), SHAPE)
        return away

    sets = draws(draw, settings["n_sets"], progress)
    found = {cell: [one[", ".join(cell)] for one in sets] for cell in cells}
    rows = []
    for (kernel, loss), values in found.items():
        mean, spread = TABLE_5_3[kernel, loss]
        text = f"{kernel} kernel, {loss}: mean distance"
        rows.append(value_row(text, mean, values, digits=4, judge=len(sets) > 1))
        if len(sets) > 1:
            rows.append(spread_row(text, spread, values))
    if len(settings["kernels"]) > 1:
        means = {k: np.mean([found[k, loss] for loss in LOSSES]) for k in settings["kernels"]}
        gap = abs(means["quartic"] / means["Gaussian"] - 1)
        rows.append(
            Row(
                "difference of the kernels, share of the distance",
                f"{0.0290 / 0.02965 - 1:.3f}",
                f"{means['quartic'] / means['Gaussian'] - 1:.3f}",
                "kernels level" if gap < 0.1 else "kernels differ by more than 10 %",
                bool(gap < 0.1),
            )
        )
    bars = {f"{k}, {loss}": float(np.mean(found[k, loss])) for k, loss in cells}
    given = {f"{k}, {loss}": TABLE_5_3[k, loss][0] for k, loss in cells}
    return Outcome(
        rows,
        [
            Picture(
                "distances",
                "Mean distance of the reconstructions from the spiral; diamonds as published.",
                lambda: error_bars({"mean distance": bars}, published={"mean distance": given}),
            )
        ],
        [f"{len(sets)} data sets of 100, {settings['steps']} steps. {DRAWN_ALONG}"],
    )
