"""CORE-ball: core sets of enclosing balls, what they promise and what they give."""

import numpy as np

from isthmus.coreset import CoreSetSolver, MinimumEnclosingBall
from isthmus.plotting import curves
from isthmus_experiments import Outcome, Picture, Row, experiment

RADII = (0.1, 0.01, 0.001)


@experiment(
    "CORE-ball",
    document="[002] 6.1, theorem 18",
    title="Core sets of the minimum enclosing ball: their size against accuracy",
    published=(
        "A core set of a size that depends on epsilon alone, 64/eps^2 by the text's argument for "
        "any point outside; neither on the number of points nor on the dimension. No values."
    ),
    quick={"n": 2000, "dimensions": (2, 20), "n_steps": 1000},
    full={"n": 5000, "dimensions": (2, 20, 200), "n_steps": 5000},
)
def balls(settings, seed, progress):
    rng = np.random.default_rng(seed)
    sizes, rows, every_point = {}, [], CoreSetSolver(search="exact")
    for i, dimension in enumerate(settings["dimensions"]):
        progress(i / len(settings["dimensions"]), f"{dimension} dimensions")
        X = rng.normal(size=(settings["n"], dimension))
        found = [
            MinimumEnclosingBall(epsilon=e, solver=every_point, random_state=seed).fit(X)
            for e in RADII
        ]
        largest = radius_around(X, settings["n_steps"])
        sizes[f"{dimension} dimensions"] = (RADII, [ball.n_core_ for ball in found])
        promised = all(
            ball.n_core_ <= 2 + 2 / e
            and ball.radius_ <= largest * (1 + 1e-9)
            and np.linalg.norm(X - ball.center_, axis=1).max()
            <= (1 + e) * ball.radius_ * (1 + 1e-9)
            for e, ball in zip(RADII, found, strict=True)
        )
        rows.append(
            Row(
                f"points in the core set, eps = 0.1, 0.01, 0.001, {dimension} dimensions",
                "at most 64/eps^2",
                ", ".join(str(ball.n_core_) for ball in found),
                "within 2/eps + 2; every point within (1 + eps) radii, and no radius above that "
                "of a ball found by another method"
                if promised
                else "a bound is not kept",
                promised,
            )
        )
    bound = {"2/eps + 2": (RADII, [2 / e + 2 for e in RADII])}
    return Outcome(
        rows,
        [
            Picture(
                "sizes",
                "Size of the core set against epsilon, and the bound for the farthest point.",
                lambda: curves(
                    {"": {**sizes, **bound}},
                    xlabel="epsilon",
                    ylabel="points",
                    log="xy",
                    marker="o",
                ),
            )
        ],
        ["Taking the farthest point outside instead of any gives the bound 2/eps for free."],
    )


def radius_around(X, n_steps):
    """The radius of a ball around all points, by steps towards the farthest one.

    Nothing of the library is used: after i steps of length 1/(i + 1) the radius is within about
    1/i of the smallest, and it is never below it.
    """
    center, smallest = X[0].copy(), np.inf
    for i in range(1, n_steps + 1):
        apart = X - center
        squared = np.einsum("ij,ij->i", apart, apart)
        far = int(squared.argmax())
        smallest = min(smallest, float(np.sqrt(squared[far])))
        center += apart[far] / (i + 1)
    return smallest
