"""UKR-half-circle: squared against Huber's loss on a noisy half circle, with outliers."""

import numpy as np

from isthmus.datasets import distance_to_manifold, make_half_circle
from isthmus.plotting import manifold_through
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    LOSSES,
    curve_points,
    distance,
    principal_start,
    published_fit,
    reconstructions,
    spread_row,
    true_half_circle,
    value_row,
)

SHAPE = "half_circle"
# Mean distance of data, reconstructions (L2, Huber) and of the curve between them (L2, Huber).
PUBLISHED = {
    ("gaussian", 0.25): (0.201, 0.081, 0.192, 0.088, 0.194),
    ("gaussian", 0.50): (0.401, 0.171, 0.222, 0.202, 0.220),
    ("gaussian", 0.75): (0.592, 0.314, 0.256, 0.386, 0.263),
    ("gaussian", 1.00): (0.803, 0.520, 0.294, 0.618, 0.319),
    ("laplacian", 0.25): (0.184, 0.079, 0.187, 0.085, 0.190),
    ("laplacian", 0.50): (0.370, 0.159, 0.211, 0.197, 0.209),
    ("laplacian", 0.75): (0.547, 0.288, 0.251, 0.378, 0.254),
    ("laplacian", 1.00): (0.734, 0.459, 0.289, 0.587, 0.304),
}
# Standard deviations of the same over the data sets.
SPREADS = {
    ("gaussian", 0.25): (0.016, 0.015, 0.027, 0.018, 0.029),
    ("gaussian", 0.50): (0.027, 0.036, 0.047, 0.050, 0.045),
    ("gaussian", 0.75): (0.047, 0.067, 0.065, 0.077, 0.065),
    ("gaussian", 1.00): (0.070, 0.095, 0.077, 0.092, 0.081),
    ("laplacian", 0.25): (0.019, 0.018, 0.034, 0.021, 0.035),
    ("laplacian", 0.50): (0.036, 0.031, 0.046, 0.045, 0.043),
    ("laplacian", 0.75): (0.054, 0.061, 0.063, 0.080, 0.058),
    ("laplacian", 1.00): (0.059, 0.089, 0.076, 0.109, 0.077),
}
OUTLIERS = {"L2": (0.445, 0.132), "Huber": (0.251, 0.074)}


@experiment(
    "UKR-half-circle",
    document="[004] 5.1.4, tables 5.1 and 5.2, figures 5.3 and 5.4",
    title="Half a circle under noise: squared loss against Huber's",
    published=(
        "100 points, 100 data sets, quartic kernel, leave-one-out, principal components of "
        "variance 1, 2000 steps of RPROP. The squared loss ends nearer to the circle under little "
        "noise (0.25, 0.5), Huber's under much (0.75, 1); with 10 outliers the curve is 0.445 "
        "away under the squared loss and 0.251 under Huber's."
    ),
    covers=[
        Covers("004 table 5.1"),
        Covers("004 table 5.2"),
        Covers("004 figure 5.3", way="claim"),
        Covers("004 figure 5.4"),
    ],
    readings={
        "data, standard deviation": (
            "no model is in it: of 100 distances under noise of 1 the mean deviates by 0.6 / 10, "
            "the standard deviation of the absolute value of a normal number over the root of 100, "
            "as ours does; the published one is chance"
        ),
        "standard deviation": (
            "chance: of the deviations here, judged at two standard errors each, one in twenty is "
            "to differ where nothing does, and about as many do"
        ),
        "Huber": (
            "ours is nearer to the circle: with delta = 0.01 nearly every slope is plus or minus "
            "one, and where RPROP stalls depends on its first step, which is not given"
        ),
        "": (
            "ours is nearer to the circle; the document states neither the spacing of the angles "
            "nor the variant of RPROP, which were inferred from its other cells"
        ),
    },
    in_short="a few standard deviations, as many as chance has",
    quick={"laws": ("gaussian",), "sizes": (0.25, 1.0), "n_sets": 1, "steps": 400},
    full={
        "laws": ("gaussian", "laplacian"),
        "sizes": (0.25, 0.5, 0.75, 1.0),
        "n_sets": 10,
        "steps": 2000,
    },
    draws={"n_sets": 100},
)
def half_circle(settings, seed, progress):
    cells = [(law, size) for law in settings["laws"] for size in settings["sizes"]]

    def draw(j):
        found = {
            f"{law} {size:g}": _distances(
                make_half_circle(noise=size, law=law, random_state=seed + j)[0], settings["steps"]
            )
            for law, size in cells
        }
        Y = make_half_circle(n_outliers=10, random_state=seed + j)[0]
        fits = [_fit(Y, name, settings["steps"]) for name in LOSSES]
        return found | {"outliers": [distance(curve_points(m), SHAPE) for m in fits]}

    sets = draws(draw, settings["n_sets"], progress)
    whole = settings["steps"] == 2000
    rows, means = [], {}
    for law, size in cells:
        values = np.array([one[f"{law} {size:g}"] for one in sets]).T
        rows += _cell_rows(law, size, values, whole)
        means[law, size] = values.mean(axis=1)
    rows += [_crossing(law, means, settings) for law in settings["laws"]]
    away = np.array([one["outliers"] for one in sets]).T
    for name, values in zip(LOSSES, away, strict=True):
        mean, spread = OUTLIERS[name]
        text = f"10 outliers: distance of the curve, {name}"
        rows.append(value_row(text, mean, values, judge=whole))
        if whole and len(sets) > 1:
            rows.append(spread_row(text, spread, values))
    share = away[1].mean() / away[0].mean()
    rows.append(
        Row(
            "10 outliers: distance under Huber's loss as a share of that under the squared loss",
            0.251 / 0.445,
            float(share),
            "below 0.65, as asked" if share < 0.65 else "not below 0.65",
            bool(share < 0.65) if whole else None,
        )
    )
    Y = make_half_circle(n_outliers=10, random_state=seed)[0]
    return Outcome(
        rows,
        [
            Picture(
                "outliers",
                "Half a circle with ten outliers, and the curve found under either loss.",
                lambda: manifold_through(
                    {n: (Y, curve_points(_fit(Y, n, settings["steps"]))) for n in LOSSES},
                    truth=true_half_circle(),
                ),
            )
        ],
        [
            "Angles are equidistant and RPROP is the plain variant; the document says neither. "
            "Both were inferred from its tables.",
            f"{len(sets)} data sets of 100: a mean agrees if it is within 10 % or two of our "
            "standard errors.",
            "Huber's handicap under little noise is partly one of the optimiser: with delta = 0.01 "
            "almost every slope is plus or minus one, and RPROP stalls early.",
        ],
    )


def _fit(Y, loss, steps):
    return published_fit(
        Y, 1, steps=steps, init=principal_start(Y, 1, 1.0), validation="loo", **LOSSES[loss]
    )


def _distances(Y, steps):
    """Of the data, of the reconstructions and of the curve, in the order of PUBLISHED."""
    models = [_fit(Y, loss, steps) for loss in LOSSES]
    return [
        float(distance_to_manifold(Y, SHAPE).mean()),
        *(distance(reconstructions(m), SHAPE) for m in models),
        *(distance(curve_points(m), SHAPE) for m in models),
    ]


def _cell_rows(law, size, values, whole):
    names = ("data", "reconstructions, L2", "reconstructions, Huber", "curve, L2", "curve, Huber")
    published = zip(PUBLISHED[law, size], SPREADS[law, size], strict=True)
    for name, value, (mean, spread) in zip(names, values, published, strict=True):
        text = f"{law} noise {size:g}: mean distance, {name}"
        yield value_row(text, mean, value, judge=whole or name == "data")
        if whole and len(value) > 1:
            yield spread_row(text, spread, value)


def _crossing(law, means, settings):
    sizes = settings["sizes"]
    better = {s: "L2" if means[law, s][1] < means[law, s][2] else "Huber" for s in sizes}
    expected = {s: "L2" if s <= 0.5 else "Huber" for s in sizes}
    return Row(
        f"{law} noise: which loss ends nearer to the circle",
        ", ".join(f"{s:g}: {expected[s]}" for s in sizes),
        ", ".join(f"{s:g}: {better[s]}" for s in sizes),
        "the losses change places between 0.5 and 0.75, as published"
        if better == expected
        else "the order differs",
        better == expected,
    )
