"""GP-posterior: functions before and after data."""

import numpy as np

from isthmus.plotting import bands
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._gp import GRID, REACH, fixed


@experiment(
    "GP-posterior",
    document="[002] 8, figure 27",
    title="Functions drawn before and after five points without noise",
    published=(
        "Prior functions of mean 0 with a flat 95 % band; the posterior passes through the five "
        "points, where its band is pinched to nothing (the text says three points, the caption "
        "five). Pictures only."
    ),
    covers=[
        Covers("002 figure 27", way="claim"),
    ],
    quick={"n_draws": 2000},
    full={"n_draws": 20000},
)
def posterior(settings, seed, progress):
    rng = np.random.default_rng(seed)
    process = fixed(1.0, 1.0, 0.0)
    progress(0.1, "prior")
    prior = process.sample_prior(GRID, settings["n_draws"], random_state=seed)
    inside = float(np.mean(np.abs(prior) < REACH))
    X = rng.choice(np.linspace(-4, 4, 17), 5, replace=False)[:, None]
    y = process.sample_prior(X, random_state=seed + 1)[0]
    progress(0.5, "posterior")
    process.fit(X, y)
    mean, std = process.predict(GRID, return_std=True)
    at_data, std_at_data = process.predict(X, return_std=True)
    after = process.sample(GRID, 5, random_state=seed)
    miss, widest = float(np.abs(at_data - y).max()), float(std_at_data.max())
    flat = np.full(len(GRID), REACH)
    x = GRID[:, 0]
    return Outcome(
        [
            Row(
                "share of prior values within 1.96 deviations",
                "95 %",
                f"{inside:.1%}",
                "the flat band holds what it should"
                if abs(inside - 0.95) < 0.01
                else "it does not",
                abs(inside - 0.95) < 0.01,
            ),
            Row(
                "largest miss of the posterior mean at the five points",
                "none",
                f"{miss:.1e}",
                "it interpolates" if miss < 1e-6 else "it does not interpolate",
                miss < 1e-6,
            ),
            Row(
                "widest deviation at the five points",
                "0",
                f"{widest:.1e}",
                "pinched" if widest < 1e-3 else "not pinched",
                widest < 1e-3,
            ),
        ],
        [
            Picture(
                "functions",
                "Five functions from the prior and five from the posterior, with bands of 95 %.",
                lambda: bands(
                    {
                        "before": {"x": x, "band": (-flat, flat), "draws": prior[:5]},
                        "after five points": {
                            "x": x,
                            "mean": mean,
                            "band": (mean - REACH * std, mean + REACH * std),
                            "draws": after,
                            "points": (X[:, 0], y),
                        },
                    }
                ),
            )
        ],
        ["The document's points are not printed; ours are drawn from the prior itself."],
    )
