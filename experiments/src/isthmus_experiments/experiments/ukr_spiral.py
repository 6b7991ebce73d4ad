"""UKR-spiral-steps, -losses, -tubes, -left-out: the noisy spiral of the document."""

import numpy as np

from isthmus.datasets import make_noisy_spiral
from isthmus.plotting import curves, error_bars, manifold_through
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import (
    LOSSES,
    curve_points,
    distance,
    mean_sd,
    penalty_weight,
    published_fit,
    reconstructions,
    signed_distance,
)

SHAPE = "spiral"
KERNELS = {"Gaussian": "gaussian", "quartic": "quartic"}
TABLE_4_1 = {0: (0.00430, 0.00289), 200: (0.00192, 0.00288), 500: (0.00185, 0.00258),
             1000: (0.00181, 0.00247)}  # fmt: skip
TABLE_5_3 = {
    ("Gaussian", "L2"): 0.0292,
    ("Gaussian", "Huber"): 0.0301,
    ("quartic", "L2"): 0.0285,
    ("quartic", "Huber"): 0.0295,
}


def _truth():
    return make_noisy_spiral(400, noise=0.0)[0]


@experiment(
    "UKR-spiral-steps",
    document="[004] 4.6.1, table 4.1",
    title="Noisy spiral: cross-validated and projection error against steps",
    published=(
        "300 points with Gaussian noise of 0.05, Gaussian kernel, leave-one-out; locally linear "
        "embeddings with 9 neighbourhoods and principal components as starts. After 0, 200, 500 "
        "and 1000 steps of RPROP the cross-validated error is 0.00430, 0.00192, 0.00185, 0.00181; "
        "that of projecting 3000 new points 0.00289, 0.00288, 0.00258, 0.00247."
    ),
    quick={"steps": (0, 200), "n_sets": 1, "n_test": 500},
    full={"steps": (0, 200, 500, 1000), "n_sets": 5, "n_test": 3000},
)
def spiral_steps(settings, seed, progress):
    found = {steps: [] for steps in settings["steps"]}
    drawn, winners = {}, []
    for j in range(settings["n_sets"]):
        progress(j / settings["n_sets"], f"data set {j + 1}")
        law = {"noise": 0.05, "law": "gaussian"}
        Y, _ = make_noisy_spiral(300, random_state=seed + j, **law)
        Yt, _ = make_noisy_spiral(settings["n_test"], random_state=10_000 + seed + j, **law)
        common = {"density_kernel": "gaussian", "validation": "loo", "seed": seed + j}
        start = published_fit(Y, 1, steps=0, init=("isomap", "pca"), n_neighborhoods=6, **common)
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
                lambda: manifold_through(drawn, truth=_truth()),
            )
        ],
        [
            "Isomap instead of locally linear embeddings as starts: scikit-learn's leave an error "
            "of 0.006 to 0.012 on these data, published are 0.0043. t is equidistant, which the "
            f"document does not say. Starts that won: {', '.join(winners)}.",
            "The cross-validated error stays above the published one, which is of one data set "
            "and another start: what 1000 steps reach depends on where they begin. The projection "
            "error, which is not optimised, agrees.",
            "Medians, because a start that jumps between windings counts as one bad set and not as "
            "a bad mean. The cross-validated error is optimised and thus a training error; the "
            "projection error is not.",
        ],
    )


@experiment(
    "UKR-spiral-losses",
    document="[004] 5.1.4, table 5.3",
    title="Noisy spiral: two kernels, two losses",
    published=(
        "300 points with uniform noise of 0.1, 100 data sets, Isomap starts, 1000 steps of RPROP: "
        "mean distance of the reconstructions 0.0285 to 0.0301 for both kernels and both losses."
    ),
    quick={"kernels": ("quartic",), "n_sets": 1, "steps": 300},
    full={"kernels": ("quartic", "Gaussian"), "n_sets": 8, "steps": 1000},
)
def spiral_losses(settings, seed, progress):
    cells = [(k, loss) for k in settings["kernels"] for loss in LOSSES]
    found = {cell: [] for cell in cells}
    for j in range(settings["n_sets"]):
        Y, _ = make_noisy_spiral(random_state=seed + j)
        for i, (kernel, loss) in enumerate(cells):
            progress((j + i / len(cells)) / settings["n_sets"], f"set {j + 1}: {kernel}, {loss}")
            model = published_fit(
                Y, 1, steps=settings["steps"], init="isomap", n_neighborhoods=6, seed=seed,
                density_kernel=KERNELS[kernel], validation="loo", **LOSSES[loss],
            )  # fmt: skip
            found[kernel, loss].append(distance(reconstructions(model), SHAPE))
    rows = [
        Row(
            f"{kernel} kernel, {loss}: mean distance",
            TABLE_5_3[kernel, loss],
            mean_sd(values, 4),
            f"{'within' if 0.026 <= np.mean(values) <= 0.031 else 'outside'} 0.026 to 0.031",
            bool(0.026 <= np.mean(values) <= 0.031) if settings["n_sets"] > 1 else None,
        )
        for (kernel, loss), values in found.items()
    ]
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
    given = {f"{k}, {loss}": TABLE_5_3[k, loss] for k, loss in cells}
    return Outcome(
        rows,
        [
            Picture(
                "distances",
                "Mean distance of the reconstructions from the spiral; diamonds as published.",
                lambda: error_bars({"mean distance": bars}, published={"mean distance": given}),
            )
        ],
        [
            f"{settings['n_sets']} data sets instead of 100, {settings['steps']} steps. t is "
            "equidistant, which the document does not say."
        ],
    )


@experiment(
    "UKR-spiral-tubes",
    document="[004] 5.1.3 and 5.1.4, figures 5.8 and 5.9",
    title="Noisy spiral: the smoothest curve within a tolerance",
    published=(
        "The tolerance grows from 0.01 to 0.10 under uniform noise of 0.1: the extension of latent "
        "space falls, the inward bias grows, the roughness (standard deviation of the signed "
        "distance) falls; the mean distance is least near 0.07 and clearly below that of "
        "leave-one-out. Curves only, no values."
    ),
    quick={"tolerances": (0.01, 0.07), "n_samples": 200, "n_sets": 1, "steps": 100},
    full={
        "tolerances": tuple(round(0.01 * k, 2) for k in range(1, 11)),
        "n_samples": 300,
        "n_sets": 4,
        "steps": 1000,
    },
)
def spiral_tubes(settings, seed, progress):
    tolerances = settings["tolerances"]
    found, plain, drawn = [], [], {}
    for j in range(settings["n_sets"]):
        progress(j / settings["n_sets"], f"data set {j + 1}")
        Y, _ = make_noisy_spiral(settings["n_samples"], random_state=seed + j)
        start = published_fit(
            Y, 1, steps=settings["steps"], init="isomap", n_neighborhoods=6, seed=seed,
            validation="loo",
        )  # fmt: skip
        plain.append(
            (np.linalg.norm(start.embedding_), *signed_distance(curve_points(start, 1000), SHAPE))
        )
        path = []
        for tolerance in tolerances:
            model = published_fit(
                Y, 1, steps=100, init=start.embedding_, loss="epsilon", epsilon=tolerance
            )
            size = np.linalg.norm(model.embedding_)
            path.append((size, *signed_distance(curve_points(model, 1000), SHAPE)))
            if j == 0:
                drawn[f"tolerance {tolerance:g}"] = (Y, curve_points(model, 1500))
        if j == 0:
            drawn = {"leave-one-out": (Y, curve_points(start, 1500))} | {
                key: drawn[key] for key in list(drawn)[-2:]
            }
        found.append(path)
    size, away, bias, rough = np.mean(found, axis=0).T
    alone = np.mean(plain, axis=0)
    best = tolerances[int(away.argmin())]
    rows = [
        Row("extension of latent space, smallest to largest tolerance", "falls",
            f"{size[0]:.1f} to {size[-1]:.1f}", *_trend(size, falls=True)),
        Row("inward bias", "grows", f"{bias[0]:.4f} to {bias[-1]:.4f}", *_trend(bias, falls=True)),
        Row("roughness", "falls", f"{rough[0]:.4f} to {rough[-1]:.4f}", *_trend(rough, falls=True)),
        Row("tolerance of the least mean distance", "about 0.07", f"{best:g} ({away.min():.4f})",
            "between 0.05 and 0.08" if 0.05 <= best <= 0.08 else "outside 0.05 to 0.08",
            bool(0.05 <= best <= 0.08)),
        Row("least mean distance, share of that of leave-one-out", "clearly below 1",
            float(away.min() / alone[1]),
            "clearly below" if away.min() < 0.9 * alone[1] else "not clearly below",
            bool(away.min() < 0.9 * alone[1])),
    ]  # fmt: skip
    course = {"mean distance": away, "inward bias": -bias, "roughness": rough}
    return Outcome(
        rows,
        [
            Picture(
                "course",
                "Mean distance, inward bias and roughness of the curve against the tolerance.",
                lambda: curves(
                    {"": {name: (tolerances, y) for name, y in course.items()}},
                    xlabel="tolerance",
                    marker="o",
                ),
            ),
            Picture(
                "curves",
                "The curve by leave-one-out and within tolerances.",
                lambda: manifold_through(drawn, truth=_truth()),
            ),
        ],
        [
            "Each tolerance starts from the model by leave-one-out, after 100 further steps; the "
            "document starts each from the one before.",
            "The weight of the tolerance begins at a thousand times the balance of both terms and "
            "not at the printed 100, from which all places shrink to one and windings mix.",
        ],
    )


def _trend(values, *, falls):
    change = values[-1] - values[0]
    agrees = bool(change < 0) == falls
    return ("as published" if agrees else "the other way", agrees)


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
                Y, 1, steps=settings["steps"], init="lle", n_neighborhoods=6, seed=seed,
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
                    lambda: manifold_through(drawn, truth=_truth())),
        ],
        ["Medians over the data sets. The kernel is quartic; the document does not name it."],
    )  # fmt: skip
