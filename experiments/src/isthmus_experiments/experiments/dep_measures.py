"""DEP-measures: identities between the measures, and levels and power of the tests."""

import numpy as np

from isthmus.dependence import distance_covariance, hsic, independence_test, mmd
from isthmus.kernels import FunctionKernel
from isthmus.plotting import error_bars
from isthmus_experiments import Outcome, Picture, Row, experiment

EXACT = 1e-10
LEVEL = 0.05
STATISTICS = {
    "HSIC, Gaussian": {"statistic": "hsic"},
    "distances, exponent 1": {"statistic": "dcor"},
    "distances, exponent 2": {"statistic": "dcor", "exponent": 2},
}


@experiment(
    "DEP-measures",
    document="[003] 2.6, definitions 12 to 19, theorem 20",
    title="Measures of dependence: exact identities, level and power of the tests",
    published=(
        "Distance covariance, HSIC with the induced kernel and MMD between the joint law and the "
        "product of its marginals are equivalent. Distance covariance is defined with squared "
        "distances, and zero only under independence."
    ),
    in_short="with exponent 2 distance correlation is the squared correlation, blind to y = x²",
    quick={"n": 40, "draws": 40, "permutations": 99},
    full={"n": 60, "draws": 400, "permutations": 199},
)
def measures(settings, seed, progress):
    rng = np.random.default_rng(seed)
    rows = _identities(rng)
    shares = {"independent": {}, "y = x²": {}}
    for i, (name, options) in enumerate(STATISTICS.items()):
        progress(i / len(STATISTICS), name)
        shares["independent"][name], shares["y = x²"][name] = _rejections(options, settings, seed)
    level, power = shares["independent"], shares["y = x²"]
    noise = 3 * np.sqrt(LEVEL * (1 - LEVEL) / settings["draws"])
    rows += [
        Row(
            f"share of independent pairs called dependent at {LEVEL:.0%}",
            LEVEL,
            ", ".join(f"{name} {share:.3f}" for name, share in level.items()),
            f"all within {noise:.3f} of the level, three standard errors"
            if all(abs(share - LEVEL) <= noise for share in level.values())
            else "a test misses its level",
            all(abs(share - LEVEL) <= noise for share in level.values()),
        ),
        Row(
            "share of pairs with y = x² + noise found dependent",
            "exponent 2 sees every dependence",
            ", ".join(f"{name} {share:.2f}" for name, share in power.items()),
            "exponent 2 is nearly blind: it is the squared correlation"
            if power["distances, exponent 2"] < 0.5 < power["distances, exponent 1"]
            else "exponent 2 sees it too",
            not power["distances, exponent 2"] < 0.5,
        ),
    ]
    return Outcome(
        rows,
        [
            Picture(
                "tests",
                f"Shares of {settings['draws']} samples of {settings['n']} pairs that tests with "
                f"{settings['permutations']} permutations call dependent at {LEVEL:.0%}.",
                lambda: error_bars(shares),
            )
        ],
        ["The document calls its HSIC unbiased; with H on both sides it is the biased one."],
    )


def _identities(rng):
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    Y[:, 0] += X[:, 0] ** 2
    induced = FunctionKernel(_induced, on_vectors=True)
    kernels = {"x_kernel": induced, "y_kernel": induced}
    gaps = {
        "distance covariance² = 4 HSIC, V-statistics": distance_covariance(X, Y, squared=True)
        - 4 * hsic(X, Y, **kernels),
        "distance covariance² = 4 HSIC, U-statistics": distance_covariance(
            X, Y, squared=True, unbiased=True
        )
        - 4 * hsic(X, Y, **kernels, unbiased=True),
        "HSIC = MMD² of joint and product": hsic(X, Y, **kernels) - _joint_mmd(X, Y),
        # By the definition: the library itself takes the short form where the exponent is 2.
        "exponent 2 = 4 |X'Y|²/n²": np.mean(_centred_squares(X) * _centred_squares(Y))
        - 4 * np.sum(((X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0))) ** 2) / 30**2,
    }
    return [
        Row(
            what,
            "equal",
            f"difference {abs(gap):.1e}",
            "exact on a sample" if abs(gap) < EXACT else "they differ",
            bool(abs(gap) < EXACT),
        )
        for what, gap in gaps.items()
    ]


def _induced(A, B):
    """The kernel whose squared distance is the distance."""
    norms = np.linalg.norm(A, axis=1)[:, None] + np.linalg.norm(B, axis=1)
    return (norms - np.linalg.norm(A[:, None] - B[None], axis=2)) / 2


def _centred_squares(X):
    """Squared distances without the means of their rows and columns."""
    D = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return D - D.mean(axis=0) - D.mean(axis=1, keepdims=True) + D.mean()


def _joint_mmd(X, Y):
    n, p = X.shape
    product = FunctionKernel(
        lambda A, B: _induced(A[:, :p], B[:, :p]) * _induced(A[:, p:], B[:, p:]), on_vectors=True
    )
    pairs = np.c_[np.repeat(X, n, axis=0), np.tile(Y, (n, 1))]
    return mmd(np.c_[X, Y], pairs, kernel=product, squared=True)


def _rejections(options, settings, seed):
    """Shares of samples called dependent: without a tie, and with an even one."""
    called = np.zeros(2)
    for draw in range(settings["draws"]):
        rng = np.random.default_rng([seed, draw])
        x, e = rng.normal(size=(2, settings["n"]))
        for k, y in enumerate((e, x**2 + 0.3 * e)):
            p = independence_test(
                x, y, n_permutations=settings["permutations"], random_state=draw, **options
            ).pvalue
            called[k] += p <= LEVEL
    return called / settings["draws"]
