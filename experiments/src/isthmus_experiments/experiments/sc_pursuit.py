"""SC-pursuit: when orthogonal matching pursuit finds the atoms a signal is made of."""

import numpy as np
from scipy.linalg import hadamard

from isthmus.plotting import curves
from isthmus.sparse import orthogonal_matching_pursuit
from isthmus_experiments import Outcome, Picture, Row, experiment

# Spikes and Walsh functions: coherence 1/8, so up to four atoms are certain.
D = np.vstack([np.eye(64), hadamard(64) / 8.0])
COHERENCE = 1 / 8
CERTAIN = 4
NOISE = 0.01
RULES = {"most correlated atom": "correlation", "smallest residual": "residual"}


@experiment(
    "SC-pursuit",
    document="[002] 2.4",
    title="Pursuit of signals made of few atoms",
    published=(
        "Where all inner products of atoms are below 1/(2S - 1), S atoms are found exactly, in S "
        "steps; with noise of norm b, where the coefficients are at least 2b/(1 - (2S - 1)μ), "
        "the right support. (The document prints the bound without modulus and with the size of "
        "the dictionary for S.)"
    ),
    quick={"n_signals": 200, "sizes": (4, 8, 16, 24, 28, 32, 36)},
    full={"n_signals": 2000, "sizes": tuple(range(2, 41, 2))},
)
def run(settings, seed, progress):
    rng = np.random.default_rng(seed)
    n = settings["n_signals"]
    progress(0.0, "within the bound")
    C = _codes(rng, n, CERTAIN)
    found = orthogonal_matching_pursuit(C @ D, D, n_nonzero=CERTAIN)
    off = np.abs(found - C).max(axis=1)
    failures = int(np.sum(off > 1e-10))

    smallest = 2 * NOISE / (1 - (2 * CERTAIN - 1) * COHERENCE)
    C = _codes(rng, n, CERTAIN, low=smallest)
    noise = rng.normal(size=(n, 64))
    noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    found = orthogonal_matching_pursuit(C @ D + noise, D, tol=NOISE)
    noisy_failures = int(np.sum(((found != 0) != (C != 0)).any(axis=1)))

    shares = {name: [] for name in RULES}
    for i, size in enumerate(settings["sizes"]):
        progress(0.2 + 0.8 * i / len(settings["sizes"]), f"{size} atoms")
        C = _codes(rng, n, size)
        for name, rule in RULES.items():
            found = orthogonal_matching_pursuit(C @ D, D, n_nonzero=size, rule=rule)
            shares[name].append(float(np.mean(np.abs(found - C).max(axis=1) < 1e-8)))
    beyond = [
        s for s, share in zip(settings["sizes"], shares[_plain()], strict=True) if share > 0.9
    ]
    return Outcome(
        [
            Row(
                f"{CERTAIN} atoms, no noise: signals not found exactly",
                f"0 of {n}",
                f"{failures} of {n}; largest error {off.max():.1e}",
                "as the theorem has it" if failures == 0 else "the theorem would be broken",
                failures == 0,
            ),
            Row(
                f"{CERTAIN} atoms, noise of norm {NOISE}: supports not found",
                f"0 of {n}",
                f"{noisy_failures} of {n}",
                "as the theorem has it" if noisy_failures == 0 else "the theorem would be broken",
                noisy_failures == 0,
            ),
            Row(
                "most atoms of which 90 % of the signals are found exactly",
                "practice is better than the bound",
                f"{max(beyond, default=0)} (certain: {CERTAIN})",
                "far beyond the bound" if max(beyond, default=0) > CERTAIN else "no better",
                max(beyond, default=0) > CERTAIN,
            ),
        ],
        [
            Picture(
                "recovery",
                "Share of signals whose code is found exactly, over the number of their atoms "
                f"(64 dimensions, 128 atoms; up to {CERTAIN} it is certain).",
                lambda: curves(
                    {"": {name: (settings["sizes"], y) for name, y in shares.items()}},
                    xlabel="atoms in the signal",
                    ylabel="share found exactly",
                    marker="o",
                ),
            )
        ],
        ["Coefficients are Gaussian; with noise they are at least as large as the theorem asks."],
    )


def _plain():
    return next(iter(RULES))


def _codes(rng, n, size, low=0.0):
    C = np.zeros((n, len(D)))
    places = np.argsort(rng.random(C.shape), axis=1)[:, :size]
    values = rng.normal(size=(n, size))
    np.put_along_axis(C, places, np.sign(values) * (low + np.abs(values)), axis=1)
    return C
