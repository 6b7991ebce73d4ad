"""GP-parameters: what three sets of parameters make of the same data."""

import numpy as np

from isthmus.plotting import bands
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._gp import GRID, REACH, fixed

# Length scale, amplitude and noise of the three fits.
FITS = {
    "generating": (1.0, 1.0, 0.1),
    "too flexible": (0.3, 1.08, 0.00005),
    "too stiff": (3.0, 1.16, 0.89),
}


@experiment(
    "GP-parameters",
    document="[002] 8, figure 28",
    title="The same twenty points with three sets of parameters",
    published=(
        "Length scale, amplitude and noise (1, 1, 0.1), which made the data; (0.3, 1.08, 0.00005) "
        "is too flexible; (3, 1.16, 0.89) too stiff. The text prints an amplitude of 10.08, a "
        "misprint of the book that it cites. Pictures only."
    ),
    covers=[
        Covers("002 figure 28", way="claim"),
    ],
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
