"""UKR-spiral-left-out: how many rows to leave out on the noisy spiral."""

import numpy as np

from isthmus.datasets import make_noisy_spiral
from isthmus.manifold import Starts
from isthmus.plotting import curves, manifold_through
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import (
    curve_points,
    penalty_weight,
    published_fit,
    signed_distance,
    true_spiral,
)

SHAPE = "spiral"


@experiment(
    "UKR-spiral-left-out",
    document="[004] 5.2.3, figure 5.19",
    title="Noisy spiral: how many neighbours to leave out",
    published=(
        "50 spirals, K = 1 to 20 rows left out, density-variance penalty 1e-4, 500 steps: the mean "
        "distance to the spiral is significantly lower for K = 5 to 12 than for K = 1. Curve only."
    ),
    quick={"rows_left_out": (1, 5, 9), "n_sets": 1, "steps": 200},
    full={"rows_left_out": (1, 2, 3, 5, 7, 9, 12, 16, 20), "n_sets": 6, "steps": 500},
)
def spiral_left_out(settings, seed, progress):
    ks = settings["rows_left_out"]
    found, drawn = [], {}
    for j in range(settings["n_sets"]):
        progress(j / settings["n_sets"], f"data set {j + 1}")
        Y, _ = make_noisy_spiral(random_state=seed + j)
        course = []
        for k in ks:
            model = published_fit(
                Y, 1, steps=settings["steps"], init=Starts("lle", 6), seed=seed,
                validation=k, penalty={"density_variance": penalty_weight(Y, 1e-4)},
            )  # fmt: skip
            course.append(signed_distance(curve_points(model, 1000), SHAPE)[:2])
            if j == 0 and k in (1, 9):
                drawn[f"{k} left out"] = (Y, curve_points(model, 1500))
        found.append(course)
    away, bias = np.median(found, axis=0).T
    rows = [
        Row(
            f"K = {k}: mean distance, share of that of K = 1",
            "significantly below 1" if 5 <= k <= 12 else None,
            float(away[i] / away[0]),
            f"distance {away[i]:.4f}, bias {bias[i]:+.4f}"
            + ("" if not 5 <= k <= 12 else "; asked: at most 0.75"),
            bool(away[i] <= 0.75 * away[0]) if 5 <= k <= 12 else None,
        )
        for i, k in enumerate(ks)
    ]
    return Outcome(
        rows,
        [
            Picture("distance", "Distance of the curve against the number of rows left out.",
                    lambda: curves({"": {"distance": (ks, away)}}, xlabel="K", marker="o",
                                   ylabel="mean distance")),
            Picture("curves", "One left out, and nine.",
                    lambda: manifold_through(drawn, truth=true_spiral())),
        ],
        ["Medians over the data sets. The kernel is quartic; the document does not name it."],
    )  # fmt: skip
