"""PSOM-random: the arm's map from postures that lie on no grid."""

import numpy as np

from isthmus.manifold import SmoothPSOM
from isthmus.plotting import curves
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._psom_arm import (
    BOX,
    arm_map,
    distances,
    postures,
    spread_row,
    told,
    wrist,
)

SMOOTHNESS, FACTOR = 1e-7, 1.6
PUBLISHED = {2048: (7.45, 15.44), 3072: (4.80, 13.21), 4096: (2.85, 7.96), 6144: (1.55, 4.75)}


@experiment(
    "PSOM-random",
    document="[004] 3.3.5 and 3.4, table 3.3",
    title="The PA-10's map from random postures",
    published=(
        "Postures drawn at random, 8 nodes a joint, smoothness 1e-7: 7.45 ± 15.44 mm from 2048, "
        "4.80 ± 13.21 from 3072, 2.85 ± 7.96 from 4096 and 1.55 ± 4.75 mm from 6144 of them."
    ),
    covers=[
        Covers("004 table 3.3"),
    ],
    in_short="a few postures near the limits decide the mean",
    quick={"n_nodes": 5, "share": 0.5, "sizes": (312, 468, 625, 937), "n_tests": 500},
    full={"n_nodes": 8, "share": 1.0, "sizes": tuple(PUBLISHED), "n_tests": 1000},
)
def scattered(settings, seed, progress):
    rng = np.random.default_rng(seed)
    n, sizes = settings["n_nodes"], settings["sizes"]
    share = settings["share"]  # of the range of each joint
    joints = share * postures(settings["n_tests"], rng)
    errors = []
    for i, m in enumerate(sizes):
        progress(i / len(sizes), f"{m} random postures")
        train = share * postures(m, rng)
        model = SmoothPSOM((n,) * 4, smoothness=SMOOTHNESS, bounds=share * BOX)
        model.fit(wrist(train), latent=train)
        errors.append(distances(model.inverse_transform(joints), joints))
    means = [float(e.mean()) for e in errors]
    on_grid = distances(arm_map(n, "chebyshev", share=share).inverse_transform(joints), joints)
    falls = bool(np.all(np.diff(means) < 0))
    rows = [_cell(m, e, n) for m, e in zip(sizes, errors, strict=True)]
    if n == 8:
        rows += [
            spread_row(f"{m} random postures", PUBLISHED[m][1], e, factor=FACTOR)
            for m, e in zip(sizes, errors, strict=True)
        ]
    rows += [
        Row(
            "error over the number of postures",
            "falls from each to the next",
            ", ".join(f"{m}: {e:.2f}" for m, e in zip(sizes, means, strict=True)),
            "falls" if falls else "does not fall everywhere",
            falls,
        ),
        Row(
            f"{n**4} random postures against as many on the grid",
            "5.3 times the error",
            f"{means[2] / on_grid.mean():.1f} times: {told(errors[2])} against {told(on_grid)}",
            "random postures are worse" if means[2] > on_grid.mean() else "no worse",
            bool(means[2] > on_grid.mean()),
        ),
    ]
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                "Mean error of the wrist over the number of random training postures; the line "
                "is the map through as many postures as nodes, on the grid.",
                lambda: curves(
                    {
                        f"{n} nodes a joint": {
                            "random postures": (sizes, means),
                            "on the grid": (sizes, [float(on_grid.mean())] * len(sizes)),
                        }
                    },
                    xlabel="training postures",
                    ylabel="error in mm",
                    log="xy",
                    marker="o",
                ),
            )
        ],
        [
            "A quick run has 5 nodes a joint, half of its range, and postures in proportion, for "
            "which the document has no values."
            if n != 8
            else "The tail of the error is heavy: a few postures near the limits of the joints, "
            "far from all training postures, decide the mean, and another draw moves it.",
        ],
    )


def _cell(m, errors, n):
    if n != 8:
        return Row(f"{m} random postures", "not published", told(errors), "of a smaller grid")
    mean, spread = PUBLISHED[m]
    ratio = errors.mean() / mean
    agrees = bool(1 / FACTOR <= ratio <= FACTOR)
    return Row(
        f"{m} random postures",
        f"{mean} ± {spread} mm",
        told(errors),
        f"{ratio:.2f} times the published value, where up to {FACTOR:g} times agrees; a few "
        "postures near the limits decide the mean",
        agrees,
    )
