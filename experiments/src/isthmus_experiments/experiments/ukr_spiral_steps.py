"""UKR-spiral-steps: errors on the noisy spiral against the number of steps."""

import numpy as np

from isthmus.datasets import make_noisy_spiral
from isthmus.manifold import Starts
from isthmus.plotting import manifold_through
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import (
    DRAWN_ALONG,
    SPIRAL,
    curve_points,
    published_fit,
    true_spiral,
)

TABLE_4_1 = {0: (0.00430, 0.00289), 200: (0.00192, 0.00288), 500: (0.00185, 0.00258),
             1000: (0.00181, 0.00247)}  # fmt: skip


@experiment(
    "UKR-spiral-steps",
    document="[004] 4.6.1, table 4.1, figure 4.4",
    title="Noisy spiral: cross-validated and projection error against steps",
    published=(
        "300 points with Gaussian noise of 0.05, Gaussian kernel, leave-one-out; locally linear "
        "embeddings with 9 neighbourhoods and principal components as starts. After 0, 200, 500 "
        "and 1000 steps of RPROP the cross-validated error is 0.00430, 0.00192, 0.00185, 0.00181; "
        "that of projecting 3000 new points 0.00289, 0.00288, 0.00258, 0.00247."
    ),
    covers=[
        Covers("004 table 4.1"),
        Covers("004 figure 4.4", way="claim"),
    ],
    readings={
        "": (
            "the published value is of one data set and a locally linear start that we cannot "
            "remake; tested: where t is equidistant the cross-validated error stays a quarter "
            "higher, where points are drawn evenly along the length of the spiral it comes down "
            "to the published one"
        ),
    },
    quick={"steps": (0, 200), "n_sets": 1, "n_test": 500, **SPIRAL},
    full={"steps": (0, 200, 500, 1000), "n_sets": 5, "n_test": 3000, **SPIRAL},
)
def spiral_steps(settings, seed, progress):
    found = {steps: [] for steps in settings["steps"]}
    drawn, winners = {}, []
    for j in range(settings["n_sets"]):
        progress(j / settings["n_sets"], f"data set {j + 1}")
        law = {"noise": 0.05, "law": "gaussian", "spacing": settings["spacing"]}
        Y, _ = make_noisy_spiral(300, random_state=seed + j, **law)
        Yt, _ = make_noisy_spiral(settings["n_test"], random_state=10_000 + seed + j, **law)
        common = {"density_kernel": "gaussian", "validation": "loo", "seed": seed + j}
        start = published_fit(Y, 1, steps=0, init=Starts(("isomap", "pca"), 6), **common)
        winners.append(start.start_)
        for steps in settings["steps"]:
            model = published_fit(Y, 1, steps=steps, init=start.embedding_, **common)
            found[steps].append((model.objective_, -model.score(Yt)))
            if j == 0:
                drawn[f"after {steps} steps"] = (Y, curve_points(model, 1500))
    rows = []
    for steps, values in found.items():
        error, projection = np.median(values, axis=0)
        rows.append(
            Row(
                f"{steps} steps: cross-validated error, median of the sets",
                TABLE_4_1[steps][0],
                float(error),
                "the start, for information"
                if not steps
                else "within 0.0017 to 0.0022"
                if 0.0017 <= error <= 0.0022
                else "outside 0.0017 to 0.0022",
                None if not steps else bool(0.0017 <= error <= 0.0022),
            )
        )
        rows.append(
            Row(
                f"{steps} steps: projection error of new points, median of the sets",
                TABLE_4_1[steps][1],
                float(projection),
                "within 0.0022 to 0.0032"
                if 0.0022 <= projection <= 0.0032
                else "outside 0.0022 to 0.0032",
                bool(0.0022 <= projection <= 0.0032),
            )
        )
    first, last = (np.median(found[s], axis=0) for s in (min(found), max(found)))
    rows.append(
        Row(
            "share of the starting cross-validated error that is left",
            TABLE_4_1[max(found)][0] / TABLE_4_1[0][0],
            float(last[0] / first[0]),
            "about half or less" if last[0] / first[0] < 0.6 else "more than 60 %",
            bool(last[0] / first[0] < 0.6),
        )
    )
    return Outcome(
        rows,
        [
            Picture(
                "curves",
                "The spiral, before and after training.",
                lambda: manifold_through(drawn, truth=true_spiral()),
            )
        ],
        [
            "Isomap instead of locally linear embeddings as starts: scikit-learn's leave a larger "
            "error on these data than is published, see UKR-spiral-starts. "
            f"{DRAWN_ALONG} Starts that won: {', '.join(winners)}.",
            "Medians, because a start that jumps between windings counts as one bad set and not as "
            "a bad mean. The cross-validated error is optimised and thus a training error; the "
            "projection error is not.",
        ],
    )
