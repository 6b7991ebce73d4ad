"""LPR-degrees: a noisy sine by local constants, lines and parabolas."""

import numpy as np

from isthmus.plotting import curves
from isthmus.regression import LocalPolynomialRegression
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import mean_sd

DEGREES = {"constant": 0, "linear": 1, "quadratic": 2}
WIDTHS = (1.0, 0.3)


@experiment(
    "LPR-degrees",
    document="[004] 5.4.1, figure 5.26",
    title="A noisy sine by local constants, lines and parabolas at two bandwidths",
    published=(
        "100 noisy samples of a sine, Gaussian kernel, bandwidths 1 and 0.3. Lines and parabolas "
        "fit much better at the larger one, especially at the borders; constants are biased at the "
        "ends even at the smaller one; at the peaks parabolas are more accurate than lines. "
        "Pictures; range and noise of the sine are not given."
    ),
    covers=[
        Covers("004 figure 5.26", way="other data",
               why="range and noise of the sine are not given; one of our own stands in")
    ],
    quick={"n_sets": 10},
    full={"n_sets": 100},
)  # fmt: skip
def degrees(settings, seed, progress):
    grid = np.linspace(0, 2 * np.pi, 400)
    truth = np.sin(grid)
    ends = (grid < 0.3) | (grid > 2 * np.pi - 0.3)
    peaks = np.abs(np.abs(truth) - 1) < 0.02

    def fits(j):
        rng = np.random.default_rng([seed, j])
        x = np.sort(rng.uniform(0, 2 * np.pi, size=100))[:, None]
        y = np.sin(x[:, 0]) + 0.2 * rng.normal(size=100)
        for name, degree in DEGREES.items():
            for h in WIDTHS:
                model = LocalPolynomialRegression(degree, bandwidth=h, density_kernel="gaussian")
                yield f"{name}, {h:g}", model.fit(x, y).predict(grid[:, None])

    def draw(j):
        return {
            key: [float(np.sqrt(np.mean((f - truth)[part] ** 2))) for part in (..., ends, peaks)]
            for key, f in fits(j)
        }

    sets = draws(draw, settings["n_sets"], progress)
    found = {key: np.array([one[key] for one in sets]) for key in sets[0]}
    means = {key: values.mean(axis=0) for key, values in found.items()}
    rows = [
        Row(f"{key.replace(', ', ', bandwidth ')}: error everywhere, at the ends, at the peaks",
            None, ", ".join(mean_sd(column, 3) for column in values.T), "root of the mean square")
        for key, values in found.items()
    ]  # fmt: skip
    better = max(means[f"{d}, 1"][0] for d in ("linear", "quadratic")) / means["constant, 1"][0]
    rows.append(
        Row("bandwidth 1: error of lines or parabolas over that of constants", "much better",
            float(better), "better" if better < 0.9 else "hardly better", bool(better < 0.9))
    )  # fmt: skip
    for h in WIDTHS:
        others = max(means[f"{d}, {h:g}"][1] for d in ("linear", "quadratic"))
        share = others / means[f"constant, {h:g}"][1]
        rows.append(
            Row(f"bandwidth {h:g}: error at the ends of lines or parabolas over that of constants",
                "better, constants are biased there", float(share),
                "better" if share < 1 else "not better", bool(share < 1))
        )  # fmt: skip
    peak = means["quadratic, 1"][2] / means["linear, 1"][2]
    rows.append(
        Row("bandwidth 1: error at the peaks, parabolas over lines", "more accurate", float(peak),
            "more accurate" if peak < 1 else "not more accurate", bool(peak < 1))
    )  # fmt: skip
    return Outcome(
        rows,
        [
            Picture(
                "fits", "One data set at both bandwidths.",
                lambda: curves(
                    {
                        f"bandwidth {h:g}": {"truth": (grid, truth)}
                        | {k.split(",")[0]: (grid, f) for k, f in fits(0) if k.endswith(f"{h:g}")}
                        for h in WIDTHS
                    },
                    xlabel="x", ylabel="y",
                ),
            )
        ],
        [f"{len(sets)} data sets, one period, noise of 0.2; the document shows one set."],
    )  # fmt: skip
