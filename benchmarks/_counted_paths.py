"""Hot paths that take as many steps as the data need: counted first, then priced."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np

from benchmarks.hot_paths import EXP, PRODUCT, STEPS, HotPath, path
from isthmus.manifold import projection
from isthmus.manifold.psom import map as map_


@path
def core_set():
    from isthmus.coreset import CoreVectorClassifier
    from isthmus.kernels import Gaussian

    n, d = 4000, 8
    X = np.random.default_rng(0).normal(size=(n, d))
    y = np.sin(X[:, 0]) + X[:, 1] > 0
    model = CoreVectorClassifier(kernel=Gaussian(0.1), random_state=0)
    core = int(model.fit(X, y).n_core_[0])
    return HotPath(
        f"core-set growth, {n} rows of {d}",
        f"kernel columns of the {core} points that joined, 2nd flop and n exp each",
        {PRODUCT: 2.0 * n * core * d, EXP: float(n * core)},
        lambda: model.fit(X, y),
        "kernels are two fifths, sums over all rows, 17 times, and the matrix of the core set a "
        "seventh each, the descent a twelfth; the rest are calls, each on few points",
    )


@path
def kinematics():
    from isthmus.robotics import inverse_kinematics, pa10

    arm = pa10()
    rng = np.random.default_rng(0)
    span = arm.upper - arm.lower
    poses = arm.forward(arm.center + 0.35 * span * rng.uniform(-1, 1, size=(500, arm.n_joints)))
    steps = int(inverse_kinematics(arm, poses).n_iter.sum())
    return HotPath(
        "inverse kinematics, 500 poses of 7 joints",
        f"{steps} steps of 1000 flop and 14 sines; 130 wait for one another, 8 in a register",
        {PRODUCT: 1000.0 * steps, STEPS: steps * 130 / 8, EXP: 14.0 * steps},
        lambda: inverse_kinematics(arm, poses),
        "three fifths are the compiled loop, eight poses at a time: a half of it motions and "
        "Jacobians, the other systems of six rows, whose divisions wait for one another; the rest "
        "are checks, starts and whole turns",
        compiled=True,
    )


@path
def psom():
    from isthmus.manifold import PSOM, grid_points

    angles = grid_points((7, 7), bounds=(0, 1.5), basis="chebyshev")
    a, b = angles.T
    hand = np.c_[np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)]
    arm = PSOM(np.c_[angles, hand], grid=(7, 7), bounds=(0, 1.5), basis="chebyshev").fit()
    X = arm.inverse_transform(np.random.default_rng(0).uniform(0, 1.5, size=(1000, 2)))
    evaluated = _rows_evaluated(lambda: arm.transform(X))
    return HotPath(
        "PSOM projection, 1000 rows on 7 × 7 nodes of 4 columns",
        f"{evaluated} values and Jacobians, 3 · 2 · 49 · 4 flop each",
        {PRODUCT: 6.0 * 49 * 4 * evaluated},
        lambda: arm.transform(X),
        "a half is the compiled search, of which the map is a half, at the rate of products; small "
        "systems and the book of rows wait for divisions; the rest are checks, starts and ends",
        compiled=True,
    )


def _rows_evaluated(work: Callable[[], object]) -> int:
    """How many rows a projection on a manifold asks the map for, searched as a batch."""
    counted = 0
    solve = projection.least_squares_rows

    def counting(model, *args, **kwargs):
        def counted_model(x, rows):
            nonlocal counted
            counted += len(rows)
            return model(x, rows)

        return solve(counted_model, *args, **kwargs)

    with (
        patch.object(projection, "least_squares_rows", counting),
        patch.object(map_, "SMALL_MAP", 0),
    ):
        work()
    return counted
