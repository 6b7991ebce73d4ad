"""CS-sines: two sines from ten random samples."""

import warnings

import numpy as np
from sklearn.linear_model import orthogonal_mp

from isthmus.plotting import curves
from isthmus.sensing import basis_pursuit, orthonormal_basis
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

SAMPLES = (10, 12, 15, 20)
EXACT = 1e-6


@experiment(
    "CS-sines",
    document="[002] 3.3, figure 18",
    title="Two sines from ten random samples",
    published=(
        "f(t) = sin(2.3·2πt) - 0.5 sin(5.4·2πt), sparse in the Fourier basis: ten random samples "
        "suffice for sparse recovery, while the solution of least l2 norm fails. A picture of "
        "one draw, no counts."
    ),
    covers=[
        Covers("002 figure 18", way="claim"),
    ],
    quick={"lengths": (128,), "draws": 20},
    full={"lengths": (128, 200, 256), "draws": 100},
)
def sines(settings, seed, progress):
    share = {}
    for i, n in enumerate(settings["lengths"]):
        progress(i / len(settings["lengths"]), f"{n} points")
        share[n] = _success(n, settings["draws"], seed)
    n = settings["lengths"][0]
    at_ten, at_twenty = share[n][0], share[n][-1]
    rows = [
        Row(
            f"draws of 10 samples that are recovered, {n} points: pursuit, greedy, least l2 norm",
            "one draw, recovered; least norm fails",
            ", ".join(f"{100 * p:.0f} %" for p in at_ten),
            "holds for most draws, not for all; the least norm never works"
            if at_ten[1] > 0.5 and at_ten[2] == 0
            else "does not hold for most draws",
            bool(at_ten[1] > 0.5 and at_ten[2] == 0),
        ),
        Row(
            f"the same from 20 samples, {n} points",
            None,
            ", ".join(f"{100 * p:.0f} %" for p in at_twenty),
            "practically always"
            if min(at_twenty[:2]) >= 0.95
            else "twice as many samples are not enough for every draw",
        ),
    ]
    rows += [
        Row(
            f"{length} points, {' / '.join(map(str, SAMPLES))} samples: pursuit, greedy",
            None,
            "; ".join(f"{100 * p:.0f}, {100 * q:.0f} %" for p, q, _ in share[length]),
            "more samples help, more points hurt a little",
        )
        for length in settings["lengths"][1:]
    ]
    names = ("basis pursuit", "orthogonal matching pursuit", "least l2 norm")
    return Outcome(
        rows,
        [
            Picture(
                "success",
                "Share of draws that are recovered exactly, over the number of samples.",
                lambda: curves(
                    {
                        f"{length} points": {
                            name: (SAMPLES, 100 * np.array(share[length])[:, k])
                            for k, name in enumerate(names)
                        }
                        for length in settings["lengths"]
                    },
                    xlabel="samples",
                    ylabel="recovered, %",
                    marker="o",
                ),
            )
        ],
        [
            "The sines are sparse in the Fourier basis only on a window of length 10, where both "
            "frequencies are multiples of the lowest one; on a window of length 1 all coefficients "
            "differ from zero. The window of length 10 is used.",
        ],
    )


def _success(n, draws, seed):
    """Share of draws recovered, shape (samples, method)."""
    t = 10 * np.arange(n) / n
    signal = np.sin(2.3 * 2 * np.pi * t) - 0.5 * np.sin(5.4 * 2 * np.pi * t)
    D = orthonormal_basis("fourier", n) @ np.eye(n)
    found = np.zeros((len(SAMPLES), 3))
    for i, m in enumerate(SAMPLES):
        rng = np.random.default_rng([seed, n, m])
        for _ in range(draws):
            picked = rng.choice(n, m, replace=False)
            A, y = D[picked], signal[picked]
            guesses = (basis_pursuit(A, y), _greedy(A, y), np.linalg.pinv(A) @ y)
            found[i] += [np.abs(D @ a - signal).max() < EXACT for a in guesses]
    return found / draws


def _greedy(A, y):
    norms = np.linalg.norm(A, axis=0)
    with warnings.catch_warnings():
        # Two atoms that explain the samples leave nothing for a third, which it warns about.
        warnings.simplefilter("ignore", RuntimeWarning)
        return orthogonal_mp(A / norms, y, n_nonzero_coefs=2) / norms
