"""UKR-half-circle: squared against Huber's loss on a noisy half circle, with outliers."""

import numpy as np

from isthmus.datasets import distance_to_manifold, make_half_circle
from isthmus.plotting import manifold_through
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import (
    LOSSES,
    curve_points,
    distance,
    mean_sd,
    near,
    principal_start,
    published_fit,
    reconstructions,
    true_half_circle,
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
OUTLIERS = {"L2": 0.445, "Huber": 0.251}


@experiment(
    "UKR-half-circle",
    document="[004] 5.1.4, tables 5.1 and 5.2, and the outliers after them",
    title="Half a circle under noise: squared loss against Huber's",
    published=(
        "100 points, 100 data sets, quartic kernel, leave-one-out, principal components of "
        "variance 1, 2000 steps of RPROP. The squared loss ends nearer to the circle under little "
        "noise (0.25, 0.5), Huber's under much (0.75, 1); with 10 outliers the curve is 0.445 "
        "away under the squared loss and 0.251 under Huber's."
    ),
    quick={"laws": ("gaussian",), "sizes": (0.25, 1.0), "n_sets": 1, "steps": 400},
    full={
        "laws": ("gaussian", "laplacian"),
        "sizes": (0.25, 0.5, 0.75, 1.0),
        "n_sets": 10,
        "steps": 2000,
    },
)
def half_circle(settings, seed, progress):
    cells = [(law, size) for law in settings["laws"] for size in settings["sizes"]]
    rows, means = [], {}
    for i, (law, size) in enumerate(cells):
        progress(i / (len(cells) + 1), f"{law} noise {size:g}")
        found = [
            _distances(
                make_half_circle(noise=size, law=law, random_state=seed + j)[0], settings["steps"]
            )
            for j in range(settings["n_sets"])
        ]
        values = np.array(found).T
        rows += _cell_rows(law, size, values, settings)
        means[law, size] = values.mean(axis=1)
    rows += [_crossing(law, means, settings) for law in settings["laws"]]

    progress(len(cells) / (len(cells) + 1), "outliers")
    data = [
        make_half_circle(n_outliers=10, random_state=seed + j)[0] for j in range(settings["n_sets"])
    ]
    models = [{name: _fit(Y, name, settings["steps"]) for name in LOSSES} for Y in data]
    away = {
        name: np.mean([distance(curve_points(m[name]), SHAPE) for m in models]) for name in LOSSES
    }
    share = away["Huber"] / away["L2"]
    rows.append(
        Row(
            "10 outliers: distance of the curve, L2 / Huber",
            f"{OUTLIERS['L2']} / {OUTLIERS['Huber']}",
            f"{away['L2']:.3f} / {away['Huber']:.3f}",
            f"Huber's is {share:.2f} of the other (published 0.56; asked: below 0.65)",
            bool(share < 0.65) if settings["steps"] == 2000 else None,
        )
    )
    truth = true_half_circle()
    return Outcome(
        rows,
        [
            Picture(
                "outliers",
                "Half a circle with ten outliers, and the curve found under either loss.",
                lambda: manifold_through(
                    {name: (data[0], curve_points(models[0][name])) for name in LOSSES},
                    truth=truth,
                ),
            )
        ],
        [
            "Angles are equidistant and RPROP is the plain variant; the document says neither. "
            "Both were inferred from its tables.",
            f"{settings['n_sets']} data sets instead of 100: a mean agrees if it is within 10 % or "
            "two of our standard errors.",
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


def _cell_rows(law, size, values, settings):
    published = PUBLISHED[law, size]
    names = ("data", "reconstructions, L2", "reconstructions, Huber", "curve, L2", "curve, Huber")
    whole = settings["steps"] == 2000
    for name, value, target in zip(names, values, published, strict=True):
        agrees = near(value, target) if whole or name == "data" else None
        yield Row(
            f"{law} noise {size:g}: mean distance, {name}",
            target,
            mean_sd(value),
            {True: "as published", False: "off by more than 10 % and two standard errors"}.get(
                agrees, f"after {settings['steps']} of 2000 steps, for information"
            ),
            agrees,
        )


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
