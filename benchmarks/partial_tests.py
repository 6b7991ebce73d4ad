"""Level and power of tests of partial independence: ``python -m benchmarks.partial_tests``.

Prints, for data that are independent given z and for data that are not, how often a test at level
0.05 rejects. The first kind shows whether a test keeps its level, the second its power.
"""

import argparse

import numpy as np

from isthmus.dependence import partial_independence_test

LEVEL = 0.05


def linear(rng, n, tie):
    z, e, f = rng.normal(size=(3, n))
    return z + e, z + f + tie * e, z


def waves(rng, n, tie):
    z, e, f = rng.normal(size=(3, n))
    return np.sin(2 * z) + 0.3 * e, z**2 + 0.3 * f + 0.3 * tie * e, z


def two_causes(rng, n, tie):
    z = rng.normal(size=(n, 2))
    e, f = rng.normal(size=(2, n))
    return z[:, 0] * z[:, 1] + 0.5 * e, z[:, 0] - z[:, 1] + 0.5 * f + 0.5 * tie * e, z


def uneven(rng, n, tie):
    z, e, f = rng.normal(size=(3, n))
    spread = 0.2 + np.abs(z)
    return z + spread * e, z + spread * (f + tie * e), z


MODELS = {
    "linear": linear,
    "sine and square": waves,
    "two causes": two_causes,
    "spread that depends on z": uneven,
}


def share(method, model, tie, *, n, n_draws, n_permutations):
    """How often the test rejects."""
    rejected = 0
    for draw in range(n_draws):
        rng = np.random.default_rng([draw, n])
        found = partial_independence_test(
            *model(rng, n, tie), method=method, n_permutations=n_permutations, random_state=draw
        )
        rejected += found.pvalue <= LEVEL
    return rejected / n_draws


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--tie", type=float, default=0.7)
    given = parser.parse_args()
    settings = {"n": given.rows, "n_draws": given.draws, "n_permutations": given.permutations}
    print(f"{given.rows} rows, {given.draws} draws, level {LEVEL}")
    print(f"{'data':26s} {'method':12s} independent given z   tied by {given.tie:g}")
    for name, model in MODELS.items():
        for method in ("permutation", "bootstrap", "residuals"):
            level, power = (share(method, model, tie, **settings) for tie in (0.0, given.tie))
            print(f"{name:26s} {method:12s} {level:19.3f}   {power:.3f}", flush=True)


if __name__ == "__main__":
    main()
