"""UKR-roll-degrees: local polynomials on the Swiss roll."""

import numpy as np

from isthmus.datasets import distance_to_manifold, make_noisy_swiss_roll
from isthmus.plotting import error_bars
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import DEGREES, LOSSES, fit_roll, reconstructions

# Swiss roll: (L2, Huber) distances and biases by law of the noise, one row left out, then three.
TABLE_5_11 = {
    ("gaussian", "constant"): ((0.281, 0.236), (-0.026, -0.027)),
    ("gaussian", "linear"): ((0.238, 0.233), (-0.089, -0.146)),
    ("gaussian", "quadratic, no products"): ((0.231, 0.190), (0.005, 0.005)),
    ("gaussian", "quadratic"): ((0.214, 0.176), (0.002, 0.002)),
    ("laplacian", "constant"): ((0.266, 0.225), (-0.020, -0.021)),
    ("laplacian", "linear"): ((0.231, 0.220), (-0.083, -0.130)),
    ("laplacian", "quadratic, no products"): ((0.216, 0.179), (0.004, 0.003)),
    ("laplacian", "quadratic"): ((0.200, 0.168), (0.001, 0.002)),
}
TABLE_5_12 = {
    ("gaussian", "constant"): ((0.333, 0.253), (-0.018, -0.033)),
    ("gaussian", "linear"): ((0.462, 0.285), (-0.220, -0.177)),
    ("gaussian", "quadratic, no products"): ((0.304, 0.212), (-0.028, -0.004)),
    ("gaussian", "quadratic"): ((0.279, 0.192), (-0.027, -0.004)),
    ("laplacian", "constant"): ((0.309, 0.241), (-0.017, -0.039)),
    ("laplacian", "linear"): ((0.424, 0.265), (-0.203, -0.159)),
    ("laplacian", "quadratic, no products"): ((0.277, 0.197), (-0.029, -0.004)),
    ("laplacian", "quadratic"): ((0.252, 0.184), (-0.024, -0.005)),
}


@experiment(
    "UKR-roll-degrees",
    document="[004] 5.4.3, tables 5.11 and 5.12",
    title="Swiss roll: local polynomials, one or three rows left out",
    published=(
        "1000 points with Gaussian noise of 0.5: distances fall from 0.281 (constant) over 0.238 "
        "(linear) and 0.231 (quadratic without products) to 0.214 (quadratic) under the squared "
        "loss and from 0.236 to 0.176 under Huber's; under Laplacian noise from 0.266 to 0.200 and "
        "from 0.225 to 0.168. Linear ones are biased most, quadratic ones hardly. Three rows left "
        "out are worse in every cell."
    ),
    quick={"laws": ("gaussian",), "n_samples": 300, "degrees": ("constant", "quadratic"),
           "losses": ("L2",), "left_out": (1,), "n_sets": 1, "steps": 20},
    full={"laws": ("gaussian", "laplacian"), "n_samples": 1000, "degrees": tuple(DEGREES),
          "losses": ("L2", "Huber"), "left_out": (1, 3), "n_sets": 2, "steps": 1000},
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
    found = {cell: [] for cell in cells}
    for j in range(settings["n_sets"]):
        data = {
            law: make_noisy_swiss_roll(settings["n_samples"], law=law, random_state=seed + j)[0]
            for law in laws
        }
        for i, (law, degree, loss, k) in enumerate(cells):
            done = (j + i / len(cells)) / settings["n_sets"]
            progress(done, f"set {j + 1}: {law}, {degree}, {loss}, {k} left out")
            model = fit_roll(
                data[law], settings["steps"], seed, validation=k, **DEGREES[degree], **LOSSES[loss]
            )
            signed = distance_to_manifold(reconstructions(model), "swiss_roll", signed=True)
            found[law, degree, loss, k].append((np.abs(signed).mean(), signed.mean()))
    means = {cell: np.mean(values, axis=0) for cell, values in found.items()}
    rows = []
    for (law, degree, loss, k), (away, bias) in means.items():
        table = (TABLE_5_11 if k == 1 else TABLE_5_12)[law, degree]
        i = ("L2", "Huber").index(loss)
        rows.append(
            Row(
                f"{law} noise, {degree}, {loss}, {k} left out: distance / bias",
                f"{table[0][i]} / {table[1][i]:+}",
                f"{away:.3f} / {bias:+.3f}",
                "the published generator is unknown: digits are not to be expected",
            )
        )
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
        "mean distance": {d: TABLE_5_11[law, d][0][0] for d in degrees},
        "bias (inward negative)": {d: TABLE_5_11[law, d][1][0] for d in degrees},
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
            f"{settings['n_sets']} data sets of each law instead of 100: single cells may change "
            "places by chance.",
            "Published is that three rows left out are worse than one in every cell. Here they are "
            "better in most, also where the scale of the start is kept from one left out, as the "
            "document may have done. Our reading, not tested: its roll, whose generator is not "
            "given, is sparser, and three neighbours are a larger part of a row's surroundings.",
        ],
    )


def _order_rows(law, first, whole):
    """Whether distances and biases stand in the published order of degrees."""
    order = sorted(first, key=lambda degree: first[degree][0])
    expected = sorted(first, key=lambda degree: TABLE_5_11[law, degree][0][0])
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
