"""GP: functions before and after data, and what other parameters make of the same data."""

import numpy as np

from isthmus.kernels import Gaussian
from isthmus.plotting import bands
from isthmus.regression import GaussianProcess
from isthmus_experiments import Outcome, Picture, Row, experiment

GRID = np.linspace(-5, 5, 201)[:, None]
REACH = 1.96  # half the width of a 95 % band, in deviations
# Length scale, amplitude and noise of the three fits.
FITS = {
    "generating": (1.0, 1.0, 0.1),
    "too flexible": (0.3, 1.08, 0.00005),
    "too stiff": (3.0, 1.16, 0.89),
}


def fixed(length_scale, amplitude, noise):
    """A process with given parameters and mean zero."""
    return GaussianProcess(
        Gaussian.from_width(length_scale),
        noise=noise,
        amplitude=amplitude,
        learn_kernel=False,
        center=False,
    )


@experiment(
    "GP-posterior",
    document="[002] 8, figure 27",
    title="Functions drawn before and after five points without noise",
    published=(
        "Prior functions of mean 0 with a flat 95 % band; the posterior passes through the five "
        "points, where its band is pinched to nothing (the text says three points, the caption "
        "five). Pictures only."
    ),
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


@experiment(
    "GP-parameters",
    document="[002] 8, figure 28",
    title="The same twenty points with three sets of parameters",
    published=(
        "Length scale, amplitude and noise (1, 1, 0.1), which made the data; (0.3, 1.08, 0.00005) "
        "is too flexible; (3, 1.16, 0.89) too stiff. The text prints an amplitude of 10.08, a "
        "misprint of the book that it cites. Pictures only."
    ),
    quick={"n_sets": 20},
    full={"n_sets": 200},
)
def parameters(settings, seed, progress):
    likelihoods, errors, held = [], [], []
    shown = None
    for i in range(settings["n_sets"]):
        progress(i / settings["n_sets"], f"data set {i + 1}")
        rng = np.random.default_rng([seed, i])
        X = rng.uniform(-5, 5, size=(20, 1))
        truth = fixed(*FITS["generating"]).sample_prior(
            np.vstack([X, GRID]), random_state=rng.integers(2**31)
        )[0]
        y, truth = truth[:20] + 0.1 * rng.normal(size=20), truth[20:]
        fits = {name: fixed(*values).fit(X, y) for name, values in FITS.items()}
        likelihoods.append([m.log_marginal_likelihood_ for m in fits.values()])
        predicted = [m.predict(GRID, return_std=True, latent=True) for m in fits.values()]
        errors.append([np.mean((mean - truth) ** 2) for mean, _ in predicted])
        held.append([np.mean(np.abs(mean - truth) < REACH * std) for mean, std in predicted])
        if shown is None:
            shown = (X, y, truth, dict(zip(FITS, predicted, strict=True)))
    likelihoods, errors, held = map(np.array, (likelihoods, errors, held))
    best = np.mean(likelihoods.argmax(axis=1) == 0)
    rows = [
        Row(
            "data sets in which the likelihood prefers the generating parameters of the three",
            "preferred",
            f"{best:.0%} of {settings['n_sets']}",
            "preferred nearly always" if best > 0.9 else "not always preferred",
            bool(best > 0.9),
        )
    ]
    for j, name in enumerate(FITS):
        worse = float(np.median(errors[:, j] / errors[:, 0]))
        right = 0.9 < held[:, j].mean() < 0.99
        rows.append(
            Row(
                f"{name}: median squared error over the generating one's; share in the 95 % band",
                "a good fit" if j == 0 else "a bad fit",
                f"{worse:.2f}; {held[:, j].mean():.0%}",
                ("good, and as sure as it should be" if right else "its band is not of 95 %")
                if j == 0
                else ("worse, as published" if worse > 1.2 else "hardly worse"),
                right if j == 0 else bool(worse > 1.2),
            )
        )
    return Outcome(
        rows,
        [
            Picture(
                "fits",
                "The first data set, with bands of 95 % for the function.",
                lambda: _figure(*shown),
            )
        ],
        ["The book's twenty points are not printed; ours are drawn with the generating values."],
    )


def _figure(X, y, truth, predicted):
    x = GRID[:, 0]
    return bands(
        {
            name: {
                "x": x,
                "mean": mean,
                "band": (mean - REACH * std, mean + REACH * std),
                "points": (X[:, 0], y),
                "truth": truth,
            }
            for name, (mean, std) in predicted.items()
        },
        limits=(-4, 4),
    )
