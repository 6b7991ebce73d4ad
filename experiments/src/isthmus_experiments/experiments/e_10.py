"""E-10: support vectors grow with the sample, the points that are needed do not."""

import numpy as np
from sklearn.svm import SVC

from isthmus.kernels import Linear
from isthmus.plotting import curves
from isthmus.reduction import reduce_expansion
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

N_INPUTS, SPREAD = 10, 4.0
METHODS = {
    "l0, least squares": {"method": "l0", "alpha": 0.0},
    "l0, linear programs": {"method": "l0", "alpha": 0.0, "solver": "lp"},
    "pursuit": {"method": "pursuit", "max_error": 0.0},
    "rank": {"method": "rank", "max_error": 0.0},
}


@experiment(
    "E-10",
    document="[000] 4.4.1, figure 4.1",
    title="Two clouds and a linear machine: ten points are enough",
    published=(
        "Two Gaussian clouds in ten dimensions, their means +-(1, 1, 1, 1, 1, 0, 0, 0, 0, 0) and "
        "their standard deviation 4; linear support vector machines on growing samples. The "
        "number of support vectors grows in proportion, and every reduction keeps 10 points."
    ),
    covers=[
        Covers("000 figure 4.1"),
    ],
    quick={"sizes": (50, 100, 200)},
    full={"sizes": (50, 100, 200, 400, 800)},
)
def reduced_sets(settings, seed, progress):
    rng = np.random.default_rng(seed)
    sizes, supports = settings["sizes"], []
    kept = {name: [] for name in METHODS}
    worst = 0.0
    for i, n in enumerate(sizes):
        progress(i / len(sizes), f"{n} points")
        y = np.repeat([-1, 1], n // 2)
        mean = np.repeat([1.0, 0.0], N_INPUTS // 2)
        X = y[:, None] * mean + SPREAD * rng.normal(size=(n, N_INPUTS))
        machine = SVC(kernel="linear", C=1.0).fit(X, y)
        vectors, dual = machine.support_vectors_, machine.dual_coef_[0]
        supports.append(len(vectors))
        values = Linear()(X, vectors) @ dual
        for name, how in METHODS.items():
            reduced = reduce_expansion(Linear()(vectors), dual, **how)
            again = Linear()(X, vectors[reduced.indices]) @ reduced.coefficients
            kept[name].append(len(reduced.indices))
            worst = max(worst, float(np.abs(again - values).max() / np.abs(values).max()))
    growth = np.polyfit(np.log(sizes), np.log(supports), 1)[0]
    rows = [
        Row(
            "growth of the number of support vectors, N^b",
            "linear",
            f"b = {growth:.2f}",
            "grows about in proportion" if growth > 0.8 else "grows more slowly",
            growth > 0.8,
        ),
        *(
            Row(
                f"points kept, {name}",
                10,
                ", ".join(map(str, counts)),
                "ten at every size" if set(counts) == {10} else "not always ten",
                set(counts) == {10},
            )
            for name, counts in kept.items()
        ),
        Row(
            "largest difference of a decision value, relative",
            None,
            worst,
            "the same machine" if worst < 1e-6 else "not the same machine",
        ),
    ]
    lines = {"support vectors": (sizes, supports)}
    lines |= {name: (sizes, counts) for name, counts in kept.items()}
    return Outcome(
        rows,
        [
            Picture(
                "growth",
                "Support vectors and points kept, against the size of the sample.",
                lambda: curves({"": lines}, xlabel="points", ylabel="kept", log="xy", marker="o"),
            )
        ],
        [
            "The penalty of the machine is not given; C = 1 here. It changes the number of support "
            "vectors, not the rank of the data."
        ],
    )
