"""GP-covariances: the table of covariance functions, their ranks and their functions."""

import numpy as np

from isthmus.kernels import (
    ARD,
    Constant,
    GammaExponential,
    Gaussian,
    Linear,
    Matern,
    NeuralNetwork,
    Polynomial,
    RationalQuadratic,
)
from isthmus.plotting import bands
from isthmus.regression import GaussianProcess
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

N, DIMENSION = 200, 3
# The kernel, whether it is stationary, and the rank on this many points (None for a full one).
COVARIANCES = {
    "constant": (Constant(1.0), True, 1),
    "linear": (ARD(Linear(), length_scales=(1.0,) * DIMENSION), False, DIMENSION),
    "quadratic": (Polynomial(2), False, 10),
    "squared exponential": (Gaussian.from_width(0.3), True, None),
    "Matern 3/2": (Matern(1.5, length_scale=1.0), True, None),
    "exponential": (Matern(0.5, length_scale=1.0), True, None),
    "gamma-exponential": (GammaExponential(1.5, length_scale=0.5), True, None),
    "rational quadratic": (RationalQuadratic(0.5, length_scale=0.3), True, None),
    "neural network": (NeuralNetwork(100.0), False, None),
}
SHOWN = {
    "squared exponential": Gaussian.from_width(1.0),
    "Matern 3/2": Matern(1.5, length_scale=1.0),
    "exponential": Matern(0.5, length_scale=1.0),
    "gamma-exponential 1.5": GammaExponential(1.5, length_scale=1.0),
    "rational quadratic 0.5": RationalQuadratic(0.5, length_scale=1.0),
    "neural network": NeuralNetwork(10.0, bias=10.0),
}
GRID = np.linspace(-4, 4, 201)[:, None]


@experiment(
    "GP-covariances",
    document="[002] 8, figure 30",
    title="Covariance functions: which are stationary, and which have full rank",
    published=(
        "A table of nine covariance functions and whether each is stationary and not degenerate. "
        "Ranks on 200 points of three columns: constant 1, linear 3, quadratic 10, squared "
        "exponential and Matern 200."
    ),
    covers=[
        Covers("002 figure 30", way="claim"),
    ],
    quick={"n_draws": 3},
    full={"n_draws": 6},
)
def covariances(settings, seed, progress):
    X = np.random.default_rng(seed).normal(size=(N, DIMENSION))
    rows = []
    for i, (name, (kernel, stationary, rank)) in enumerate(COVARIANCES.items()):
        progress(0.8 * i / len(COVARIANCES), name)
        K = kernel(X)
        got = int(np.linalg.matrix_rank(K, hermitian=True))
        moved = bool(np.abs(kernel(X + 1.0) - K).max() > 1e-8)
        wanted = N if rank is None else rank
        agrees = got == wanted and moved != stationary
        rows.append(
            Row(
                f"{name}: rank, and whether a shift of the inputs changes it",
                f"{'full' if rank is None else rank}; {'no' if stationary else 'yes'}",
                f"{got} of {N}; {'yes' if moved else 'no'}",
                "as in the table" if agrees else "not as in the table",
                agrees,
            )
        )
    progress(0.9, "functions")
    draws = {
        name: {
            "x": GRID[:, 0],
            "draws": GaussianProcess(kernel).sample_prior(
                GRID, settings["n_draws"], random_state=seed
            ),
        }
        for name, kernel in SHOWN.items()
    }
    return Outcome(
        rows,
        [
            Picture(
                "functions",
                "Functions drawn from processes with six covariances.",
                lambda: bands(draws),
            )
        ],
        [
            "Full rank is one to working precision: on 200 points a squared exponential with a "
            "length scale above about 0.5 has eigenvalues below the rounding error. The table's "
            "arcsine lacks the factor 2/pi, which is a matter of the amplitude."
        ],
    )
