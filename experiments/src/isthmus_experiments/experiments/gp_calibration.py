"""GP-calibration: how often intervals hold what they promise, over many data sets."""

import numpy as np

from isthmus.plotting import curves
from isthmus.regression import GaussianProcess, Inducing
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._gp import fixed

LEVELS = np.array([0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
N_TEST = 100
PARAMETERS = (1.0, 1.0, 0.2)


@experiment(
    "GP-calibration",
    document="[002] 8, prediction",
    title="Intervals over many data sets: with the true parameters, and with learned ones",
    published=(
        "The predictive distribution tells how sure a prediction is: 95 % of the values lie "
        "within 1.96 deviations. The text leaves the noise out of the deviation of outputs."
    ),
    quick={"n_sets": 15, "n": 40, "n_init": 1},
    full={"n_sets": 300, "n": 40, "n_init": 5},
)
def calibration(settings, seed, progress):
    shares = {
        "true parameters": [],
        "learned": [],
        "learned, inducing": [],
        "learned, noise left out": [],
    }
    n = settings["n"]
    for i in range(settings["n_sets"]):
        progress(i / settings["n_sets"], f"data set {i + 1}")
        rng = np.random.default_rng([seed, i])
        X = rng.uniform(-4, 4, size=(n + N_TEST, 1))
        y = fixed(*PARAMETERS).sample_prior(X, random_state=rng.integers(2**31))[0]
        y = y + PARAMETERS[2] * rng.normal(size=len(y))
        search = {"center": False, "n_init": settings["n_init"], "random_state": seed}
        learned = GaussianProcess(**search).fit(X[:n], y[:n])
        low_rank = GaussianProcess(approximation=Inducing(15), **search)
        models = {
            "true parameters": (fixed(*PARAMETERS).fit(X[:n], y[:n]), False),
            "learned": (learned, False),
            "learned, inducing": (low_rank.fit(X[:n], y[:n]), False),
            "learned, noise left out": (learned, True),
        }
        for name, (model, latent) in models.items():
            shares[name].append(_held(model, X[n:], y[n:], latent))
    held = {name: np.mean(values, axis=0) for name, values in shares.items()}
    at = {name: float(values[LEVELS == 0.9][0]) for name, values in held.items()}
    rows = []
    for name, slack in (("true parameters", 0.02), ("learned", 0.05), ("learned, inducing", 0.05)):
        close = abs(at[name] - 0.9) < slack
        rows.append(
            Row(
                f"{name}: new outputs within intervals of 90 %",
                "90 %",
                f"{at[name]:.1%}",
                f"right within {slack:.0%}" if close else f"off by more than {slack:.0%}",
                close,
            )
        )
    missed = at["learned, noise left out"]
    rows.append(
        Row(
            "the same with the noise left out of the deviation, as the text has it",
            "90 %",
            f"{missed:.1%}",
            "far too few: the noise belongs to the deviation of outputs"
            if missed < 0.8
            else "the noise hardly matters here",
            None,
        )
    )
    return Outcome(
        rows,
        [
            Picture(
                "shares",
                "Share of new outputs inside intervals against the level asked for.",
                lambda: curves(
                    {
                        "": {
                            "promised": (LEVELS, LEVELS),
                            **{k: (LEVELS, v) for k, v in held.items()},
                        }
                    },
                    xlabel="level",
                    ylabel="share inside",
                    marker="o",
                ),
            )
        ],
    )


def _held(model, X, y, latent):
    ends = [model.predict_interval(X, level, latent=latent) for level in LEVELS]
    return [np.mean((low < y) & (y < high)) for low, high in ends]
