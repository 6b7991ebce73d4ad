"""UKR-roll-degrees: local polynomials on the Swiss roll."""

import time

import numpy as np

from isthmus.datasets import make_noisy_swiss_roll
from isthmus.plotting import error_bars
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    DEGREES,
    LOSSES,
    mean_sd,
    published_fit,
    reconstructions,
    signed_distance,
    spread_row,
    value_row,
)
from isthmus_experiments.experiments._ukr_starts import (
    best_start,
    isomap_candidates,
    left_out_reconstructions,
)

# Swiss roll: (L2, Huber) distances and biases by law of the noise, each with its standard deviation
# over the sets; one row left out, then three.
TABLE_5_11 = {
    ("gaussian", "constant"): (((0.281, 0.02), (0.236, 0.02)), ((-0.026, 0.018), (-0.027, 0.019))),
    ("gaussian", "linear"): (((0.238, 0.029), (0.233, 0.049)), ((-0.089, 0.036), (-0.146, 0.066))),
    ("gaussian", "quadratic, no products"): (
        ((0.231, 0.027), (0.19, 0.024)),
        ((0.005, 0.016), (0.005, 0.017)),
    ),
    ("gaussian", "quadratic"): (((0.214, 0.028), (0.176, 0.022)), ((0.002, 0.017), (0.002, 0.017))),
    ("laplacian", "constant"): (((0.266, 0.022), (0.225, 0.018)), ((-0.02, 0.02), (-0.021, 0.019))),
    ("laplacian", "linear"): (((0.231, 0.034), (0.22, 0.054)), ((-0.083, 0.039), (-0.13, 0.074))),
    ("laplacian", "quadratic, no products"): (
        ((0.216, 0.029), (0.179, 0.025)),
        ((0.004, 0.021), (0.003, 0.02)),
    ),
    ("laplacian", "quadratic"): (((0.2, 0.028), (0.168, 0.022)), ((0.001, 0.022), (0.002, 0.022))),
}
TABLE_5_12 = {
    ("gaussian", "constant"): (
        ((0.333, 0.022), (0.253, 0.027)),
        ((-0.018, 0.019), (-0.033, 0.023)),
    ),
    ("gaussian", "linear"): (((0.462, 0.049), (0.285, 0.048)), ((-0.22, 0.036), (-0.177, 0.06))),
    ("gaussian", "quadratic, no products"): (
        ((0.304, 0.034), (0.212, 0.031)),
        ((-0.028, 0.018), (-0.004, 0.017)),
    ),
    ("gaussian", "quadratic"): (
        ((0.279, 0.035), (0.192, 0.027)),
        ((-0.027, 0.019), (-0.004, 0.018)),
    ),
    ("laplacian", "constant"): (
        ((0.309, 0.023), (0.241, 0.03)),
        ((-0.017, 0.025), (-0.039, 0.045)),
    ),
    ("laplacian", "linear"): (((0.424, 0.054), (0.265, 0.057)), ((-0.203, 0.043), (-0.159, 0.073))),
    ("laplacian", "quadratic, no products"): (
        ((0.277, 0.04), (0.197, 0.032)),
        ((-0.029, 0.021), (-0.004, 0.02)),
    ),
    ("laplacian", "quadratic"): (
        ((0.252, 0.037), (0.184, 0.028)),
        ((-0.024, 0.022), (-0.005, 0.022)),
    ),
}
# Seconds of fine-tuning with three left out, Laplacian noise.
TABLE_5_13 = {
    "constant": 30.4,
    "linear": 36.4,
    "quadratic, no products": 48.3,
    "quadratic": 46.9,
}


THREE_LEFT_OUT = (
    "tested, see the notes: neither the functions that leave rows out, nor the starts, nor the "
    "solver, nor the height of the roll explain it; a roll with far fewer points to an area turns "
    "it, but misses the distances with one row left out"
)


TRIED = (
    "Published is that three rows left out are worse than one in every cell; here they are better "
    "in most. What was tried on one to three sets and does not turn it: the functions that leave "
    "rows out (their rows above: biased inwards where the published constant fits are not), the "
    "start and scale of one row left out, its trained model as the start, other variants and first "
    "steps of RPROP, a gradient that forgets which rows are left out, heights from 21 to 60, "
    "points spread evenly over the sheet, and the spiral of the other experiments as a sheet.",
    "What turns it is a roll with fewer points to an area, at two to four times the area of ours: "
    "three left out are worse with linear fits first, then with the others. But none that was "
    "tried has the published distances of all degrees with one row left out, and in none do "
    "constant fits with three left out stay as unbiased as the published ones.",
)


@experiment(
    "UKR-roll-degrees",
    document="[004] 5.4.3, tables 5.11 to 5.13",
    title="Swiss roll: local polynomials, one or three rows left out",
    published=(
        "1000 points with Gaussian noise of 0.5: distances fall from 0.281 (constant) over 0.238 "
        "(linear) and 0.231 (quadratic without products) to 0.214 (quadratic) under the squared "
        "loss and from 0.236 to 0.176 under Huber's; under Laplacian noise from 0.266 to 0.200 and "
        "from 0.225 to 0.168. Linear ones are biased most, quadratic ones hardly. Three rows left "
        "out are worse in every cell."
    ),
    covers=[
        Covers("004 table 5.11"),
        Covers("004 table 5.12"),
        Covers("004 table 5.13"),
    ],
    readings={
        "degrees from the nearest": (
            "neighbours in the order lie within the deviation over the few sets that were run; "
            "the two quadratic fits and the constant one cannot be told apart"
        ),
        "three left out are worse": THREE_LEFT_OUT,
        "3 left out": THREE_LEFT_OUT,
        "": (
            "the generator of the roll is not given, and its height alone moves distances by a "
            "quarter"
        ),
    },
    in_short=(
        "not explained: neither starts, solver, functions nor the height of the roll turn it; "
        "its generator is not given"
    ),
    quick={"laws": ("gaussian",), "n_samples": 300, "degrees": ("constant", "quadratic"),
           "losses": ("L2",), "left_out": (1, 3), "neighbourhoods": 2, "n_sets": 1, "steps": 20},
    full={"laws": ("gaussian", "laplacian"), "n_samples": 1000, "degrees": tuple(DEGREES),
          "losses": ("L2", "Huber"), "left_out": (1, 3), "neighbourhoods": 6, "n_sets": 2,
          "steps": 1000},
    draws={"n_sets": 100},
)  # fmt: skip
def roll_degrees(settings, seed, progress):
    laws, degrees, whole = settings["laws"], settings["degrees"], settings["steps"] >= 1000
    cells = [
        (law, degree, loss, k)
        for law in laws
        for degree in degrees
        for loss in settings["losses"]
        for k in settings["left_out"]
    ]

    sets = draws(lambda j: _distances(cells, settings, seed + j), settings["n_sets"], progress)
    found = {cell: np.array([one[str(cell)] for one in sets]) for cell in cells}
    means = {cell: values.mean(axis=0) for cell, values in found.items()}
    rows = []
    for (law, degree, loss, k), values in found.items():
        table = (TABLE_5_11 if k == 1 else TABLE_5_12)[law, degree]
        i = ("L2", "Huber").index(loss)
        text = f"{law} noise, {degree}, {loss}, {k} left out"
        for name, cell, column in zip(("distance", "bias"), table, values.T[:2], strict=True):
            mean, spread = cell[i]
            # A bias near zero has no scale of its own: a share of the distance stands for it.
            share = 0.1 if name == "distance" else 0.1 * table[0][i][0] / abs(mean)
            rows.append(value_row(f"{text}: {name}", mean, column, share=share, judge=whole))
            if whole and len(sets) > 1:
                rows.append(spread_row(f"{text}: {name}", spread, column))
    if 3 in settings["left_out"] and "laplacian" in laws:
        rows += _time_rows({d: found["laplacian", d, "L2", 3][:, 2] for d in degrees})
    rows += _left_out_rows(found)
    for law in laws:
        rows += _order_rows(law, {d: means[law, d, "L2", 1] for d in degrees}, whole)
    if 3 in settings["left_out"]:
        pairs = [(law, d, loss) for law in laws for d in degrees for loss in settings["losses"]]
        worse = sum(means[*pair, 3][0] > means[*pair, 1][0] for pair in pairs)
        rows.append(
            Row("cells in which three left out are worse than one", f"{len(pairs)} of {len(pairs)}",
                f"{worse} of {len(pairs)}",
                "in most" if worse > len(pairs) / 2 else "in a minority",
                bool(worse > len(pairs) / 2))
        )  # fmt: skip
    law = laws[0]
    first = {d: means[law, d, "L2", 1] for d in degrees}
    bars = {
        "mean distance": {d: float(first[d][0]) for d in degrees},
        "bias (inward negative)": {d: float(first[d][1]) for d in degrees},
    }
    given = {
        "mean distance": {d: TABLE_5_11[law, d][0][0][0] for d in degrees},
        "bias (inward negative)": {d: TABLE_5_11[law, d][1][0][0] for d in degrees},
    }
    return Outcome(
        rows,
        [
            Picture(
                "degrees",
                f"Distance and bias of the reconstructions, {law} noise, squared loss, one row "
                "left out; diamonds as published.",
                lambda: error_bars(bars, published=given),
            )
        ],
        [
            f"{len(sets)} data sets of each law of 100. The generator is not given, and the height "
            "of the roll moves distances by a quarter: a mean that is off may be another roll.",
            "Seconds are of one processor and of training alone, as in the document.",
            *TRIED,
        ],
    )


def _distances(cells, settings, seed):
    """Distance, bias and seconds of every cell on one roll, then distance and bias left out.

    All cells start from the same embeddings.
    """
    rolls = {
        law: make_noisy_swiss_roll(settings["n_samples"], law=law, random_state=seed)[0]
        for law in settings["laws"]
    }
    candidates = {
        law: isomap_candidates(Y, 2, settings["neighbourhoods"]) for law, Y in rolls.items()
    }
    found = {}
    for cell in cells:
        law, degree, loss, k = cell
        options = {"validation": k, **DEGREES[degree], **LOSSES[loss]}
        Y, start = rolls[law], best_start(rolls[law], candidates[law], **options)
        begun = time.process_time()
        model = published_fit(Y, 2, steps=settings["steps"], init=start, **options)
        seconds = time.process_time() - begun
        whole, left_out = (
            signed_distance(points, "swiss_roll")[:2]
            for points in (reconstructions(model), left_out_reconstructions(Y, model, **options))
        )
        found[str(cell)] = *whole, seconds, *left_out
    return found


def _left_out_rows(found):
    """What the reconstructions of training give, which leave rows out, beside table 5.12."""
    for (law, degree, loss, k), values in found.items():
        if k == 1:
            continue
        (away, bias), i = TABLE_5_12[law, degree], ("L2", "Huber").index(loss)
        yield Row(
            f"{law} noise, {degree}, {loss}, {k} left out: by the functions that leave them out, "
            "distance / bias",
            f"{away[i][0]} / {bias[i][0]}",
            f"{values[:, 3].mean():.3f} / {values[:, 4].mean():+.3f}",
            "another reading of the table, for information",
        )


def _time_rows(seconds):
    """Times of other machines: what compares is how they grow with the degree."""
    base = seconds["constant"].mean(), TABLE_5_13["constant"]
    for degree, values in seconds.items():
        ours, published = values.mean() / base[0], TABLE_5_13[degree] / base[1]
        yield Row(
            f"laplacian noise, L2, 3 left out: seconds of {degree}",
            TABLE_5_13[degree],
            mean_sd(values, 1),
            "what the others are compared with"
            if degree == "constant"
            else f"{ours:.2f} times those of the constant, published {published:.2f} (asked: "
            "within a factor of two)",
            None if degree == "constant" else bool(0.5 <= ours / published <= 2),
        )


def _order_rows(law, first, whole):
    """Whether distances and biases stand in the published order of degrees."""
    order = sorted(first, key=lambda degree: first[degree][0])
    expected = sorted(first, key=lambda degree: TABLE_5_11[law, degree][0][0][0])
    yield Row(
        f"{law} noise, L2, one left out: degrees from the nearest to the farthest",
        ", ".join(expected),
        ", ".join(order),
        "the published order" if order == expected else "another order",
        order == expected if whole else None,
    )
    most = max(first, key=lambda degree: abs(first[degree][1]))
    yield Row(
        f"{law} noise, L2, one left out: the most biased",
        "linear",
        most,
        "as published" if most == "linear" else "another",
        (most == "linear") if whole else None,
    )
