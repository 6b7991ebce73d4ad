"""UKR-spiral-degrees: local polynomials on the noisy spiral."""

import numpy as np

from isthmus.datasets import make_noisy_spiral
from isthmus.plotting import manifold_through
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    DEGREES,
    DRAWN_ALONG,
    LOSSES,
    SETS_THAT_CROSS,
    SPIRAL,
    curve_points,
    fit_from,
    reconstructions,
    signed_distance,
    spread_row,
    true_spiral,
    value_row,
)
from isthmus_experiments.experiments._ukr_starts import isomap_candidates

# Mean distance, its standard deviation over the sets, and bias, by kernel and degree: Huber and
# L2 with one row left out, then with five.
TABLE_5_10 = {
    ("gaussian", "constant"): (
        (0.0299, 0.0060, -0.0007),
        (0.0291, 0.0029, -0.0015),
        (0.0204, 0.0135, -0.0119),
        (0.0196, 0.0115, -0.0101),
    ),
    ("gaussian", "linear"): (
        (0.0261, 0.0054, -0.0026),
        (0.0304, 0.0067, -0.0021),
        (0.0217, 0.0130, -0.0132),
        (0.0213, 0.0093, -0.0112),
    ),
    ("gaussian", "quadratic"): (
        (0.0217, 0.0072, 0.0012),
        (0.0206, 0.0072, 0.0010),
        (0.0161, 0.0116, -0.0036),
        (0.0151, 0.0094, -0.0015),
    ),
    ("quartic", "constant"): (
        (0.0293, 0.0067, -0.0008),
        (0.0281, 0.0043, -0.0018),
        (0.0196, 0.0115, -0.0112),
        (0.0181, 0.0065, -0.0097),
    ),
    ("quartic", "linear"): (
        (0.0242, 0.0057, -0.0018),
        (0.0279, 0.0062, -0.0017),
        (0.0217, 0.0103, -0.0144),
        (0.0211, 0.0121, -0.0123),
    ),
    ("quartic", "quadratic"): (
        (0.0213, 0.0065, 0.0015),
        (0.0201, 0.0083, 0.0016),
        (0.0167, 0.0141, -0.0040),
        (0.0151, 0.0097, -0.0013),
    ),
    ("triweight", "constant"): (
        (0.0307, 0.0050, -0.0003),
        (0.0302, 0.0048, -0.0013),
        (0.0198, 0.0110, -0.0107),
        (0.0188, 0.0072, -0.0088),
    ),
    ("triweight", "linear"): (
        (0.0239, 0.0064, -0.0026),
        (0.0275, 0.0068, -0.0024),
        (0.0219, 0.0115, -0.0144),
        (0.0210, 0.0110, -0.0124),
    ),
    ("triweight", "quadratic"): (
        (0.0214, 0.0071, 0.0013),
        (0.0199, 0.0070, 0.0015),
        (0.0167, 0.0142, -0.0041),
        (0.0152, 0.0100, -0.0015),
    ),
}
COLUMNS = {("Huber", 1): 0, ("L2", 1): 1, ("Huber", 5): 2, ("L2", 5): 3}


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
    covers=[
        Covers("004 table 5.10"),
    ],
    readings={
        "standard deviation": SETS_THAT_CROSS,
        "": (
            "the mean contains the few sets whose start crosses to another winding, and moves with "
            "their number; tested: where t is equidistant there are hardly any, and the means of "
            "five left out stay below the published ones"
        ),
    },
    in_short="the few sets whose start crosses to another winding make the deviations",
    quick={
        "kernels": ("quartic",), "degrees": ("constant", "quadratic"), "losses": ("L2",),
        "neighbourhoods": 2, "n_sets": 1, "steps": 60, **SPIRAL,
    },
    full={
        "kernels": ("quartic", "triweight", "gaussian"),
        "degrees": ("constant", "linear", "quadratic"),
        "losses": ("L2", "Huber"), "neighbourhoods": 6, "n_sets": 2, "steps": 1000, **SPIRAL,
    },
    draws={"n_sets": 100},
)  # fmt: skip
def spiral_degrees(settings, seed, progress):
    cells = [
        (kernel, degree, loss, k)
        for kernel in settings["kernels"]
        for degree in settings["degrees"]
        for loss in settings["losses"]
        for k in (1, 5)
    ]

    def fit(candidates, Y, kernel, degree, loss, k):
        return fit_from(
            candidates, Y, settings["steps"], density_kernel=kernel, validation=k,
            **DEGREES[degree], **LOSSES[loss],
        )  # fmt: skip

    def draw(j):
        Y, _ = make_noisy_spiral(spacing=settings["spacing"], random_state=seed + j)
        candidates = isomap_candidates(Y, 1, settings["neighbourhoods"])
        return {
            str(cell): signed_distance(reconstructions(fit(candidates, Y, *cell)), "spiral")[:2]
            for cell in cells
        }

    sets = draws(draw, settings["n_sets"], progress)
    found = {cell: np.array([one[str(cell)] for one in sets]) for cell in cells}
    means = {cell: values.mean(axis=0) for cell, values in found.items()}
    whole = settings["steps"] >= 1000
    rows = []
    for (kernel, degree, loss, k), values in found.items():
        away, spread, bias = TABLE_5_10[kernel, degree][COLUMNS[loss, k]]
        text = f"{kernel}, {degree}, {loss}, {k} left out"
        rows.append(value_row(f"{text}: distance", away, values[:, 0], digits=4, judge=whole))
        if whole and len(sets) > 1:
            rows.append(spread_row(f"{text}: distance", spread, values[:, 0]))
        rows.append(_bias_row(f"{text}: bias", bias, values[:, 1], whole))
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
                lambda: manifold_through(_curves(fit, settings, seed), truth=true_spiral()),
            )
        ],
        [
            f"{len(sets)} data sets of 100. The published means contain sets that Isomap has "
            "unrolled wrongly, some 5 of 100 there; so do ours, as they come.",
            DRAWN_ALONG,
            "Tried with the quartic kernel: where t is equidistant, five rows left out vary too "
            "little over the sets and Huber's loss is too near; where t is uniform, too many sets "
            "cross to another winding and five left out are too far on average; where t is "
            "equidistant along the length, one row left out is too near.",
        ],
    )


def _bias_row(text, published, values, whole):
    """A bias has no scale of its own: it agrees within 0.003 or two standard errors."""
    n, gap = len(values), float(values.mean() - published)
    error = values.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    agrees = bool(abs(gap) <= max(0.003, 2 * error))
    verdict = f"{gap:+.4f}, where 0.003 or two standard errors are allowed"
    if n == 1:
        verdict += "; a single data set is not judged"
    return Row(text, published, gap + published, verdict, agrees if whole and n > 1 else None)


def _curves(fit, settings, seed):
    Y, _ = make_noisy_spiral(spacing=settings["spacing"], random_state=seed)
    candidates = isomap_candidates(Y, 1, settings["neighbourhoods"])
    kernel = settings["kernels"][0]
    return {
        degree: (Y, curve_points(fit(candidates, Y, kernel, degree, "L2", 5), 1500))
        for degree in settings["degrees"]
    }
