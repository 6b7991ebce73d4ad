"""UKR-spiral-degrees, UKR-roll-losses, UKR-roll-degrees: local polynomials and losses."""

import numpy as np

from isthmus.datasets import distance_to_manifold, make_noisy_spiral, make_noisy_swiss_roll
from isthmus.plotting import error_bars, manifold_through
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import (
    LOSSES,
    curve_points,
    distance,
    mean_sd,
    published_fit,
    reconstructions,
    signed_distance,
)

RIDGE = 1e-10  # as in the published runs, which have none but must not divide by zero
DEGREES = {
    "constant": {"degree": 0},
    "linear": {"degree": 1},
    "quadratic, no products": {"degree": 2, "cross_terms": False},
    "quadratic": {"degree": 2},
}
# Mean distance and bias by kernel and degree: Huber and L2 with one row left out, then with five.
TABLE_5_10 = {
    ("gaussian", "constant"): (
        (0.0299, -0.0007),
        (0.0291, -0.0015),
        (0.0204, -0.0119),
        (0.0196, -0.0101),
    ),
    ("gaussian", "linear"): (
        (0.0261, -0.0026),
        (0.0304, -0.0021),
        (0.0217, -0.0132),
        (0.0213, -0.0112),
    ),
    ("gaussian", "quadratic"): (
        (0.0217, 0.0012),
        (0.0206, 0.0010),
        (0.0161, -0.0036),
        (0.0151, -0.0015),
    ),
    ("quartic", "constant"): (
        (0.0293, -0.0008),
        (0.0281, -0.0018),
        (0.0196, -0.0112),
        (0.0181, -0.0097),
    ),
    ("quartic", "linear"): (
        (0.0242, -0.0018),
        (0.0279, -0.0017),
        (0.0217, -0.0144),
        (0.0211, -0.0123),
    ),
    ("quartic", "quadratic"): (
        (0.0213, 0.0015),
        (0.0201, 0.0016),
        (0.0167, -0.0040),
        (0.0151, -0.0013),
    ),
    ("triweight", "constant"): (
        (0.0307, -0.0003),
        (0.0302, -0.0013),
        (0.0198, -0.0107),
        (0.0188, -0.0088),
    ),
    ("triweight", "linear"): (
        (0.0239, -0.0026),
        (0.0275, -0.0024),
        (0.0219, -0.0144),
        (0.0210, -0.0124),
    ),
    ("triweight", "quadratic"): (
        (0.0214, 0.0013),
        (0.0199, 0.0015),
        (0.0167, -0.0041),
        (0.0152, -0.0015),
    ),
}
COLUMNS = {("Huber", 1): 0, ("L2", 1): 1, ("Huber", 5): 2, ("L2", 5): 3}
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
TABLE_5_4 = {("gaussian", "L2"): 0.281, ("gaussian", "Huber"): 0.236,
             ("laplacian", "L2"): 0.266, ("laplacian", "Huber"): 0.225}  # fmt: skip
TABLE_5_5 = {("gaussian", "L2"): 0.276, ("gaussian", "Huber"): 0.245,
             ("laplacian", "L2"): 0.271, ("laplacian", "Huber"): 0.242}  # fmt: skip
TABLE_5_6 = {("gaussian", "L2"): 82.9, ("gaussian", "Huber"): 79.2,
             ("laplacian", "L2"): 73.3, ("laplacian", "Huber"): 67.7}  # fmt: skip
RAW_ROLL = {"gaussian": 0.401, "laplacian": 0.366}


@experiment(
    "UKR-spiral-degrees",
    document="[004] 5.4.3, table 5.10",
    title="Noisy spiral: constant, linear and quadratic local polynomials",
    published=(
        "300 points with uniform noise of 0.1, 100 data sets, Isomap starts, 1000 steps of RPROP. "
        "Quadratic polynomials with five rows left out are nearest to the spiral with every kernel "
        "(0.0151 under the squared loss) and hardly biased; constant and linear ones are biased "
        "inwards by some 0.01."
    ),
    quick={
        "kernels": ("quartic",), "degrees": ("constant", "quadratic"), "losses": ("L2",),
        "n_sets": 1, "steps": 60,
    },
    full={
        "kernels": ("quartic", "triweight"), "degrees": ("constant", "linear", "quadratic"),
        "losses": ("L2", "Huber"), "n_sets": 2, "steps": 1000,
    },
)  # fmt: skip
def spiral_degrees(settings, seed, progress):
    cells = [
        (kernel, degree, loss, k)
        for kernel in settings["kernels"]
        for degree in settings["degrees"]
        for loss in settings["losses"]
        for k in (1, 5)
    ]
    found, drawn = {cell: [] for cell in cells}, {}
    for j in range(settings["n_sets"]):
        Y, _ = make_noisy_spiral(random_state=seed + j)
        for i, (kernel, degree, loss, k) in enumerate(cells):
            done = (j + i / len(cells)) / settings["n_sets"]
            progress(done, f"set {j + 1}: {kernel}, {degree}, {loss}, {k} left out")
            model = published_fit(
                Y, 1, steps=settings["steps"], init="isomap", n_neighborhoods=6, seed=seed,
                density_kernel=kernel, validation=k, ridge=RIDGE, **DEGREES[degree], **LOSSES[loss],
            )  # fmt: skip
            found[kernel, degree, loss, k].append(
                signed_distance(reconstructions(model), "spiral")[:2]
            )
            if j == 0 and loss == "L2" and k == 5 and kernel == settings["kernels"][0]:
                drawn[degree] = (Y, curve_points(model, 1500))
    means = {cell: np.mean(values, axis=0) for cell, values in found.items()}
    rows = []
    for (kernel, degree, loss, k), (away, bias) in means.items():
        published = TABLE_5_10[kernel, degree][COLUMNS[loss, k]]
        rows.append(
            Row(
                f"{kernel}, {degree}, {loss}, {k} left out: distance / bias",
                f"{published[0]:.4f} / {published[1]:+.4f}",
                f"{away:.4f} / {bias:+.4f}",
                f"{away / published[0] - 1:+.0%} in distance",
            )
        )
    for kernel in settings["kernels"]:
        own = {cell[1:]: value for cell, value in means.items() if cell[0] == kernel}
        best = min(own, key=lambda cell: own[cell][0])
        away, bias = own["quadratic", "L2", 5]
        rows.append(
            Row(
                f"{kernel}: the nearest of all",
                "quadratic, L2, 5 left out",
                f"{best[0]}, {best[1]}, {best[2]} left out",
                "quadratic with five left out"
                if best[0] == "quadratic" and best[2] == 5
                else "another setting",
                bool(best[0] == "quadratic" and best[2] == 5),
            )
        )
        within = bool(0.0125 <= away <= 0.0175 and abs(bias) < 0.005)
        rows.append(
            Row(
                f"{kernel}: quadratic, L2, 5 left out",
                "0.0151, bias -0.0013",
                f"{away:.4f}, bias {bias:+.4f}",
                f"{'within' if within else 'outside'} 0.0125 to 0.0175 and a bias below 0.005",
                within if settings["steps"] >= 1000 else None,
            )
        )
    return Outcome(
        rows,
        [
            Picture(
                "curves",
                "The spiral by local polynomials, five rows left out.",
                lambda: manifold_through(drawn, truth=make_noisy_spiral(400, noise=0.0)[0]),
            )
        ],
        [
            f"{settings['n_sets']} data sets instead of 100. The Gaussian kernel is left out here: "
            "its polynomials take four times as long, and the document finds the kernels level."
        ],
    )


@experiment(
    "UKR-roll-losses",
    document="[004] 5.1.4, tables 5.4, 5.5 and 5.6",
    title="Swiss roll: squared loss against Huber's",
    published=(
        "1000 points with noise of 0.5, 100 data sets, quartic kernel, Isomap starts, 1000 steps. "
        "Reconstructions are 0.281 (squared) and 0.236 (Huber) from the roll under Gaussian noise, "
        "0.266 and 0.225 under Laplacian; the sampled sheet 0.276, 0.245, 0.271 and 0.242; 67.7 to "
        "82.9 % of a latent box belong to the domain."
    ),
    quick={"laws": ("gaussian",), "n_samples": 300, "n_sets": 1, "steps": 100},
    full={"laws": ("gaussian", "laplacian"), "n_samples": 1000, "n_sets": 6, "steps": 1000},
)
def roll_losses(settings, seed, progress):
    cells = [(law, loss) for law in settings["laws"] for loss in LOSSES]
    found, raw = {cell: [] for cell in cells}, {law: [] for law in settings["laws"]}
    for j in range(settings["n_sets"]):
        for i, law in enumerate(settings["laws"]):
            done = (j + i / len(settings["laws"])) / settings["n_sets"]
            progress(done, f"set {j + 1}: {law} noise")
            Y, _ = make_noisy_swiss_roll(settings["n_samples"], law=law, random_state=seed + j)
            raw[law].append(distance(Y, "swiss_roll"))
            for loss in LOSSES:
                model = _roll_fit(Y, settings["steps"], seed, **LOSSES[loss])
                sheet, share = _sampled_sheet(model, np.random.default_rng(seed + j))
                away = distance(reconstructions(model), "swiss_roll")
                found[law, loss].append((away, distance(sheet, "swiss_roll"), 100 * share))
    rows = [
        Row(f"{law} noise: distance of the data", RAW_ROLL[law], mean_sd(raw[law]),
            "as published" if abs(np.mean(raw[law]) - RAW_ROLL[law]) < 0.015 else "differs",
            bool(abs(np.mean(raw[law]) - RAW_ROLL[law]) < 0.015))
        for law in settings["laws"]
    ]  # fmt: skip
    for cell, values in found.items():
        away, sheet, share = np.mean(values, axis=0)
        rows.append(
            Row(
                f"{cell[0]} noise, {cell[1]}: reconstructions / sheet / valid positions",
                f"{TABLE_5_4[cell]} / {TABLE_5_5[cell]} / {TABLE_5_6[cell]} %",
                f"{away:.3f} / {sheet:.3f} / {share:.1f} %",
                "the published generator is unknown: digits are not to be expected",
            )
        )
    for law in settings["laws"]:
        squared, huber = (np.mean(found[law, loss], axis=0)[0] for loss in ("L2", "Huber"))
        gain = 1 - huber / squared
        rows.append(
            Row(
                f"{law} noise: gain of Huber's loss",
                f"{1 - TABLE_5_4[law, 'Huber'] / TABLE_5_4[law, 'L2']:.0%}",
                f"{gain:.0%}",
                "Huber's is nearer by 5 to 30 %" if 0.05 < gain < 0.3 else "not so",
                bool(0.05 < gain < 0.3) if settings["steps"] >= 1000 else None,
            )
        )
    measures = ("reconstructions", "sampled sheet")
    tables = (TABLE_5_4, TABLE_5_5)
    bars = {
        m: {f"{law}, {loss}": float(np.mean(v, axis=0)[i]) for (law, loss), v in found.items()}
        for i, m in enumerate(measures)
    }
    given = {
        m: {f"{law}, {loss}": table[law, loss] for law, loss in found}
        for m, table in zip(measures, tables, strict=True)
    }
    return Outcome(
        rows,
        [
            Picture(
                "distances",
                "Mean distance from the roll; diamonds as published.",
                lambda: error_bars(bars, published=given),
            )
        ],
        [
            f"{settings['n_sets']} data sets instead of 100. t is uniform on [1.5 pi, 4.5 pi], the "
            "height 30; the document does not give its generator, and the height moves the "
            "distances by a quarter. The gain has a margin, because sets are few.",
        ],
    )


def _roll_fit(Y, steps, seed, **options):
    options = {"validation": "loo"} | options
    return published_fit(
        Y, 2, steps=steps, init="isomap", n_neighborhoods=6, seed=seed, ridge=RIDGE, **options
    )


def _sampled_sheet(model, rng, n=10_000):
    """Decoded points of the bounding box where the density is 1/2000, and their share."""
    X = model.embedding_
    Z = rng.uniform(X.min(axis=0), X.max(axis=0), size=(n, 2))
    valid = model.latent_density(Z) >= 1 / 2000
    return model.inverse_transform(Z[valid]), float(valid.mean())


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
            model = _roll_fit(
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
