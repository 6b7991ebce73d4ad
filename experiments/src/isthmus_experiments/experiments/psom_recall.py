"""PSOM-recall: one map of the arm asked in both directions, and how its freedom is used."""

import numpy as np

from isthmus.manifold import PSOM
from isthmus.plotting import error_bars
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._psom_arm import (
    BOX,
    distances,
    joint_grid,
    postures,
    told,
    wrist,
)

N_NODES = 8
SECOND = 4  # column of the second joint among (position, joints)


@experiment(
    "PSOM-recall",
    document="[004] 3.2, associative use",
    title="Inverse kinematics of the PA-10 by recall",
    published=(
        "The nodes hold position and joints, seven components. Asked with a position the map gives "
        "joints; a wish for the second joint is added as a further target, and its weight lowered "
        "where the position would suffer. Precision is that of the forward map, 0.54 mm. No table."
    ),
    quick={"n_tests": 100},
    full={"n_tests": 1000},
)
def recall(settings, seed, progress):
    rng = np.random.default_rng(seed)
    n = settings["n_tests"]
    joints = postures(n, rng)
    grid = joint_grid(N_NODES, "chebyshev")
    nodes = np.column_stack([wrist(grid), grid])
    model = PSOM(nodes, grid=(N_NODES,) * 4, bounds=BOX, basis="chebyshev").fit()
    goal = np.full((n, 7), np.nan)
    goal[:, :3] = wrist(joints)

    progress(0.1, "positions to joints")
    free = model.project(goal)
    error = np.linalg.norm(wrist(free.values[:, 3:]) - goal[:, :3], axis=1)
    progress(0.5, "with a wish for the second joint")
    wish = goal.copy()
    wish[:, SECOND] = 0.5
    weights = np.ones(7)
    weights[SECOND] = 100.0**2  # a radian weighs as much as 100 mm
    bent = model.project(wish, weights=weights, start=free.latent)
    # What the wish costs in position is won back by lowering its weight.
    weights[SECOND] = 1.0
    final = model.project(wish, weights=weights, start=bent.latent)
    final_error = np.linalg.norm(wrist(final.values[:, 3:]) - goal[:, :3], axis=1)
    progress(0.8, "joints to positions")
    forward = model.complete(np.column_stack([np.full((n, 3), np.nan), joints]))
    forward_error = distances(forward[:, :3], joints)

    reached = float(free.reached.mean())
    off = {
        "free": float(np.mean(np.abs(free.values[:, SECOND] - 0.5))),
        "with the wish": float(np.mean(np.abs(final.values[:, SECOND] - 0.5))),
    }
    rows = [
        Row(
            "positions that the map reaches",
            "not published",
            f"{reached:.1%}",
            "at least 95 %" if reached >= 0.95 else "fewer than 95 %",
            bool(reached >= 0.95),
        ),
        Row(
            "error of the true wrist at the recalled joints, where reached",
            "as forward, 0.54 mm",
            f"{told(error[free.reached])}; all {told(error)}",
            "within 0.6 mm" if error[free.reached].mean() <= 0.6 else "above 0.6 mm",
            bool(error[free.reached].mean() <= 0.6),
        ),
        Row(
            "the same map asked forward",
            "0.54 ± 0.27 mm",
            told(forward_error),
            "within 0.1 mm" if abs(forward_error.mean() - 0.54) <= 0.1 else "differs",
            bool(abs(forward_error.mean() - 0.54) <= 0.1),
        ),
        Row(
            "distance of the second joint from its wish of 0.5 rad, free and wished for",
            "the wish is met as far as it can be",
            f"{off['free']:.2f} and {off['with the wish']:.2f} rad, at {told(final_error)}",
            "nearer" if off["with the wish"] < off["free"] else "no nearer",
            bool(off["with the wish"] < off["free"]),
        ),
    ]
    shares = {
        "position error in mm": {
            "free": float(error.mean()),
            "with the wish": float(final_error.mean()),
        },
        "second joint off its wish, in rad": off,
    }
    return Outcome(
        rows,
        [
            Picture(
                "wish",
                "Recalled joints for random positions of the wrist, with and without a wish for "
                "the second joint: the arm has a joint to spare, and the wish uses it.",
                lambda: error_bars(shares),
            )
        ],
        [
            "Rows that are not reached are flagged by the projection; they are positions near the "
            "border of the reachable space, or searches that end at a limit of a joint.",
        ],
    )
