"""Level and power of tests of partial independence: ``python -m benchmarks.partial_tests``.

Prints, for data that are independent given z and for data that are not, how often a test at level
0.05 rejects. The first kind shows whether a test keeps its level, the second its power.
"""

import argparse
from datetime import date
from pathlib import Path

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


def ours(method):
    def pvalue(x, y, z, *, n_permutations, seed):
        found = partial_independence_test(
            x, y, z, method=method, n_permutations=n_permutations, random_state=seed
        )
        return found.pvalue

    return pvalue


def dcor_test(x, y, z, *, n_permutations, seed):
    """The published permutation test, by the peer."""
    from dcor.independence import partial_distance_covariance_test

    found = partial_distance_covariance_test(
        x, y, z, num_resamples=n_permutations, random_state=seed
    )
    return found.pvalue


TESTS = {
    "residuals": ours("residuals"),
    "bootstrap": ours("bootstrap"),
    "permutation": ours("permutation"),
    "dcor": dcor_test,
}


def share(test, model, tie, *, n, n_draws, n_permutations):
    """How often the test rejects."""
    rejected = 0
    for draw in range(n_draws):
        rng = np.random.default_rng([draw, n])
        x, y, z = model(rng, n, tie)
        rejected += test(x, y, z, n_permutations=n_permutations, seed=draw) <= LEVEL
    return rejected / n_draws


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[30, 60, 120])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--tie", type=float, default=0.7)
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=list(TESTS))
    parser.add_argument("--page", type=Path, help="write the table to this file, too")
    given = parser.parse_args(arguments)
    settings = {"n_draws": given.draws, "n_permutations": given.permutations}
    lines = [
        "# Tests of partial independence",
        "",
        f"`python -m benchmarks.partial_tests`, {date.today()}: share of {given.draws} draws in "
        f"which a test at level {LEVEL} with {given.permutations} permutations rejects, where x "
        f"and y are independent given z (level) and where y has {given.tie:g} of the noise of x "
        "(power), by the number of rows. A share of draws has a standard error of "
        f"{np.sqrt(LEVEL * (1 - LEVEL) / given.draws):.3f} at the level. `residuals`, the default, "
        "and `bootstrap` draw data that are independent given z; `permutation` is the published "
        "test, which does not keep its level, and `dcor` is its peer.",
        "",
        "| data | test | " + " | ".join(f"level, {n} | power, {n}" for n in given.rows) + " |",
        "|---|---|" + "---:|---:|" * len(given.rows),
    ]
    print("\n".join(lines))
    for name, model in MODELS.items():
        for test in given.tests:
            shares = [
                share(TESTS[test], model, tie, n=n, **settings)
                for n in given.rows
                for tie in (0.0, given.tie)
            ]
            lines.append(f"| {name} | {test} | " + " | ".join(f"{s:.3f}" for s in shares) + " |")
            print(lines[-1], flush=True)
    if given.page:
        given.page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
