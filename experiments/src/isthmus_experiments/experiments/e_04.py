"""E-04: two outliers, and which likelihood minds them."""

import time
import warnings

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.exceptions import ConvergenceWarning

from isthmus.plotting import curves
from isthmus.regression import BayesianStiefelRegression, ReducedRankRegression, StiefelRegression
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.measure import ratio

N_TRAIN = N_TEST = 500
N1 = N2 = 500
LEAST_SQUARES, PLS = "least squares, rank 1", "partial least squares"
PUBLISHED, LAPLACE = "Laplace, published sampler", "Laplace, Gibbs sampler"
GAUSSIAN, ABSOLUTE = "Gaussian, Gibbs sampler", "absolute loss"
# An error is called flat below the first of these ratios, grown above the second.
FLAT, GROWN = 1.25, 2.0


@experiment(
    "E-04",
    document="[000] 2.6.3, figure 2.7",
    title="Laplace likelihood under outliers",
    published=(
        "Two inputs, the second with a fifth of the spread, a random 2 x 2 map, noise of variance "
        "0.1, 500 training and 500 test points; two outputs are moved by +t and -t along the minor "
        "principal direction of the outputs; rank 1, 500 sweeps of warm-up and 500 kept. Curves "
        "only: the errors of least squares and partial least squares grow with t, that of the "
        "best draw under the Laplace likelihood stays flat."
    ),
    covers=[
        Covers("000 figure 2.7", way="claim"),
    ],
    quick={"shifts": (0.0, 50.0, 1000.0), "n_seeds": 2, "n_samples": 100},
    full={
        "shifts": (0.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0),
        "n_seeds": 10,
        "n_samples": 250,
    },
)
def outliers(settings, seed, progress):
    shifts, n_seeds = settings["shifts"], settings["n_seeds"]
    models = _models(settings["n_samples"])
    errors = {name: np.zeros((n_seeds, len(shifts))) for name in models}
    held = {LAPLACE: [], GAUSSIAN: []}
    unmixed, worth = 0, {PUBLISHED: [], LAPLACE: []}
    for i in range(n_seeds):
        for j, shift in enumerate(shifts):
            progress(
                (i * len(shifts) + j) / (n_seeds * len(shifts)), f"draw {i + 1}, t = {shift:g}"
            )
            X, Y, Xt, truth, Yt = _problem([seed, i], shift)
            for name, make in models.items():
                start = time.perf_counter()
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", ConvergenceWarning)
                    model = make(i).fit(X, Y)
                seconds = time.perf_counter() - start
                guess = model.predict(Xt)
                if name == PUBLISHED:
                    guess = (Xt - X.mean(axis=0)) @ model.best_coef_.T + Y.mean(axis=0)
                errors[name][i, j] = np.mean(np.sum((guess - truth) ** 2, axis=1))
                if name in worth:
                    worth[name].append(np.median(model.ess_["coef"]) / seconds)
                unmixed += bool(name == PUBLISHED and caught)
                if name in held and j == len(shifts) - 1:
                    low, high = model.predict_interval(Xt)
                    held[name].append(np.mean((low <= Yt) & (Yt <= high)))
    mean = {name: e.mean(axis=0) for name, e in errors.items()}
    speed = np.median(worth[LAPLACE]) / np.median(worth[PUBLISHED])
    last = f"t = {shifts[-1]:g}"
    return Outcome(
        [
            *(_growth_row(name, mean[name], shifts, True) for name in (LEAST_SQUARES, PLS)),
            *(_growth_row(name, mean[name], shifts, False) for name in (PUBLISHED, LAPLACE)),
            *(_plain_row(name, mean[name], shifts) for name in (ABSOLUTE, GAUSSIAN)),
            Row(
                "effective draws a second, Gibbs : published sampler",
                None,
                ratio(speed),
                f"for comparison; {unmixed} of {n_seeds * len(shifts)} published runs of "
                f"{N1} + {N2} sweeps had an R-hat above 1.05",
            ),
            Row(
                f"share of test outputs in 90 % intervals at {last}, Laplace and Gaussian",
                None,
                f"{np.mean(held[LAPLACE]):.2f} and {np.mean(held[GAUSSIAN]):.2f}",
                "a flat error is not a flat noise scale: one scale serves all outputs, and the "
                "outliers widen it under both likelihoods",
            ),
        ],
        [
            Picture(
                "errors",
                "Squared test error, summed over the two outputs, against the size of two "
                f"outliers among {N_TRAIN} training outputs; mean of {n_seeds} data sets.",
                lambda: curves(
                    {"": {name: (shifts, e) for name, e in mean.items()}},
                    xlabel="t",
                    ylabel="test error",
                    log="y",
                    marker="o",
                ),
            )
        ],
        [
            "The axis of the published figure runs from 0 to 1 in an unknown unit; t here is in "
            "the units of the outputs, whose noise has standard deviation 0.32. Errors are against "
            "noise-free test outputs; what remains at t = 0 is what rank 1 leaves out.",
            "'published sampler' is one chain with the documents' proposals, prior and number of "
            "sweeps, judged by its draw of highest likelihood. The others are posterior means.",
        ],
    )


def _models(n_samples):
    settings = {"n_samples": n_samples, "n_warmup": n_samples, "n_chains": 2}
    published = {"n_chains": 1, "n_warmup": N1, "n_samples": N2, "thin": 1}
    laplace = {"likelihood": "laplace"}
    bayesian = BayesianStiefelRegression
    return {
        LEAST_SQUARES: lambda seed: ReducedRankRegression(1, alpha=0.0),
        PLS: lambda seed: PLSRegression(1, scale=False),
        PUBLISHED: lambda seed: bayesian(
            1, sampler="published", random_state=seed, **laplace, **published
        ),
        LAPLACE: lambda seed: bayesian(1, random_state=seed, **laplace, **settings),
        GAUSSIAN: lambda seed: bayesian(1, random_state=seed, **settings),
        ABSOLUTE: lambda seed: StiefelRegression(1, loss="absolute"),
    }


def _problem(seed, shift):
    """Training inputs and outputs, test inputs, noise-free and noisy test outputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_TRAIN + N_TEST, 2)) * [1.0, 0.2]
    truth = X @ rng.normal(size=(2, 2)).T
    Y = truth + np.sqrt(0.1) * rng.normal(size=truth.shape)
    pair = rng.choice(N_TRAIN, 2, replace=False)
    train, test = slice(N_TRAIN), slice(N_TRAIN, None)
    outputs = Y[train].copy()
    minor = np.linalg.svd(outputs - outputs.mean(axis=0))[2][-1]
    outputs[pair] += shift * np.array([[1.0], [-1.0]]) * minor
    return X[train], outputs, X[test], truth[test], Y[test]


def _shown(errors, shifts):
    return ", ".join(f"{e:.3g} (t = {t:g})" for t, e in zip(shifts, errors, strict=True))


def _growth_row(name, errors, shifts, grows):
    growth = errors[-1] / errors[0]
    agrees = bool(growth > GROWN) if grows else bool(errors.max() < FLAT * errors[0])
    if grows:
        verdict = f"{'grows' if agrees else 'hardly grows'}, {growth:.3g} times as large at the end"
    else:
        verdict = (
            f"flat: at most {errors.max() / errors[0]:.2f} times the error without outliers"
            if agrees
            else f"not flat: up to {errors.max() / errors[0]:.2f} times the error without outliers"
        )
    return Row(
        f"test error, {name}",
        "grows with t" if grows else "flat",
        _shown(errors, shifts),
        verdict,
        agrees,
    )


def _plain_row(name, errors, shifts):
    return Row(f"test error, {name}", None, _shown(errors, shifts), "for comparison")
