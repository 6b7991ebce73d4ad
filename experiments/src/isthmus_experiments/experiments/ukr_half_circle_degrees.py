"""UKR-half-circle-degrees: local polynomials under a growing extension penalty."""

import numpy as np

from isthmus.datasets import make_half_circle
from isthmus.manifold import LocalPolynomial
from isthmus.plotting import curves, manifold_through
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    curve_points,
    penalty_weight,
    principal_start,
    published_fit,
    signed_distance,
    true_half_circle,
)

SHAPE = "half_circle"
DEGREES = {"constant": 0, "linear": 1, "quadratic": 2}
NONE = 1e-3  # where a logarithmic axis shows that there is no penalty
RIDGE = 1e-10  # as in the published runs, which have none but must not divide by zero


@experiment(
    "UKR-half-circle-degrees",
    document="[004] 5.4.3, figures 5.27 to 5.30",
    title="Half a circle: what an extension penalty does to polynomials of each degree",
    published=(
        "The half circles of 5.1.4 under Gaussian noise of 0.25 to 1, 100 of each; Gaussian "
        "kernel, leave-one-out with an extension penalty of 0, 0.01, 0.1 or 1, principal "
        "components of variance 1, 2000 steps of RPROP. Constant and linear fits shrink inwards "
        "as the penalty grows, quadratic ones stay centred (their ends turn slightly outwards at "
        "1); linear ones are the worst, wriggly under much noise. Pictures only."
    ),
    covers=[
        Covers("004 figure 5.27", way="claim"),
        Covers("004 figure 5.28", way="claim"),
        Covers("004 figure 5.29", way="claim"),
        Covers("004 figure 5.30", way="claim"),
    ],
    quick={"sizes": (0.5,), "weights": (0.0, 1.0), "n_sets": 1, "steps": 150},
    full={
        "sizes": (0.25, 0.5, 0.75, 1.0),
        "weights": (0.0, 0.01, 0.1, 1.0),
        "n_sets": 5,
        "steps": 2000,
    },
    draws={"n_sets": 100},
)
def half_circle_degrees(settings, seed, progress):
    sizes, weights, whole = settings["sizes"], settings["weights"], settings["steps"] == 2000

    def fit(Y, degree, weight):
        return published_fit(
            Y, 1, steps=settings["steps"], init=principal_start(Y, 1, 1.0), validation="loo",
            degree=LocalPolynomial(DEGREES[degree], ridge=RIDGE), density_kernel="gaussian",
            penalty={"extension": penalty_weight(Y, weight)} if weight else None,
        )  # fmt: skip

    cells = [(d, size, w) for d in DEGREES for size in sizes for w in weights]

    def draw(j):
        data = {s: make_half_circle(noise=s, random_state=seed + j)[0] for s in sizes}
        return {
            str(cell): signed_distance(curve_points(fit(data[cell[1]], cell[0], cell[2])), SHAPE)
            for cell in cells
        }

    sets = draws(draw, settings["n_sets"], progress)
    # distance, bias, roughness
    means = {cell: np.mean([one[str(cell)] for one in sets], axis=0) for cell in cells}
    rows = [
        Row(
            f"{degree}, noise {size:g}: bias (inward negative) at penalties "
            + ", ".join(f"{w:g}" for w in weights),
            None,
            ", ".join(f"{means[degree, size, w][1]:+.2f}" for w in weights),
            "distance " + ", ".join(f"{means[degree, size, w][0]:.2f}" for w in weights),
        )
        for degree in DEGREES
        for size in sizes
    ]
    most = max(weights)
    bias = {d: np.array([[means[d, s, w][1] for w in weights] for s in sizes]) for d in DEGREES}
    for degree in ("constant", "linear"):
        shift = float(np.mean(bias[degree][:, -1] - bias[degree][:, 0]))
        rows.append(
            Row(
                f"{degree}: mean change of the bias from no penalty to {most:g}",
                "inwards",
                f"{shift:+.2f}",
                "inwards" if shift < 0 else "outwards",
                bool(shift < 0),
            )
        )
    largest = {d: float(np.abs(np.mean(bias[d][:, -1]))) for d in DEGREES}
    ratio = largest["quadratic"] / min(largest["constant"], largest["linear"])
    rows.append(
        Row(
            f"quadratic: bias at a penalty of {most:g}, share of the smaller of the others'",
            "centred",
            ratio,
            "less than half of the others'" if ratio < 0.5 else "not less than half",
            bool(ratio < 0.5),
        )
    )
    away = {d: float(np.mean([means[d, s, w][0] for s in sizes for w in weights])) for d in DEGREES}
    worst = max(away, key=away.__getitem__)
    rows.append(
        Row(
            "mean distance over all cells",
            "linear is the worst",
            ", ".join(f"{d} {v:.3f}" for d, v in away.items()),
            f"{worst} is the worst",
            (worst == "linear") if whole else None,
        )
    )
    panels = {
        f"noise {size:g}": {
            d: ([w or NONE for w in weights], [means[d, size, w][1] for w in weights])
            for d in DEGREES
        }
        for size in sizes
    }

    def drawn():
        Y, _ = make_half_circle(noise=sizes[-1], random_state=seed)
        return {d: (Y, curve_points(fit(Y, d, most))) for d in DEGREES}

    return Outcome(
        rows,
        [
            Picture(
                "bias",
                "Mean signed distance of the curve from the half circle (inward negative) against "
                f"the penalty; none is drawn at {NONE:g}.",
                lambda: curves(
                    panels, xlabel="penalty", ylabel="signed distance", marker="o", log="x"
                ),
            ),
            Picture(
                "curves",
                f"The curves at noise {sizes[-1]:g} under a penalty of {most:g}.",
                lambda: manifold_through(drawn(), truth=true_half_circle()),
            ),
        ],
        [
            f"{len(sets)} data sets of each noise of 100. Angles are equidistant. "
            "The penalty is divided by the number of rows; the document prints it without, see "
            "UKR-bowl. The curve is taken at 500 places between the outermost rows.",
        ],
    )
