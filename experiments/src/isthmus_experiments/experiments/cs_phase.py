"""CS-phase: where basis pursuit succeeds and where it does not."""

import numpy as np

from isthmus.plotting import style
from isthmus.sensing import basis_pursuit, phase_transition, sensing_matrix
from isthmus_experiments import Outcome, Picture, Row, experiment

N, SPARSITY = 200, 10
MEASUREMENTS = (30, 40, 50, 60)
EXPECTED = (0.02, 0.52, 0.96, 1.00)
EXACT = 1e-5


@experiment(
    "CS-phase",
    document="[002] 3.4",
    title="The phase transition of sparse recovery",
    published=(
        "A random matrix with m >= const S log(n/S) rows recovers vectors with S non-zero entries. "
        "No constant and no curve; the large-n limit is known from Donoho and Tanner."
    ),
    quick={"draws": 15, "side": 60, "cells": 8, "cell_draws": 3},
    full={"draws": 200, "side": 200, "cells": 18, "cell_draws": 20},
)
def phase(settings, seed, progress):
    shares = [_share(m, N, SPARSITY, settings["draws"], [seed, m]) for m in MEASUREMENTS]
    spread = 3 * np.sqrt(0.25 / settings["draws"])
    n, k = settings["side"], settings["cells"]
    delta = (np.arange(k) + 0.5) / k
    success = np.empty((k, k))  # rows: rho, columns: delta
    for j, d in enumerate(delta):
        progress(0.1 + 0.9 * j / k, f"m/n = {d:.2f}")
        m = max(1, round(d * n))
        for i, rho in enumerate(delta):
            s = max(1, round(rho * m))
            success[i, j] = _share(m, n, s, settings["cell_draws"], [seed, 1, i, j])
    theory = phase_transition(delta)
    # The area under a column is where a sharp edge would be.
    off = float(np.mean(np.abs(success.mean(axis=0) - theory)))
    return Outcome(
        [
            *(
                Row(
                    f"n = {N}, {SPARSITY} non-zeros, {m} measurements: recovered",
                    None,
                    f"{100 * ours:.0f} %",
                    f"reference {100 * expected:.0f} %, from an independent program",
                    bool(abs(ours - expected) <= spread),
                )
                for m, ours, expected in zip(MEASUREMENTS, shares, EXPECTED, strict=True)
            ),
            Row(
                "distance of the edge from the limit of Donoho and Tanner, mean over m/n",
                0.0,
                off,
                "on the curve, within a cell of the map"
                if off < 1 / k
                else "further than a cell of the map: small n blurs the edge",
                bool(off < 1 / k),
            ),
        ],
        [
            Picture(
                "map",
                "Share of Gaussian problems recovered exactly; the curve is the limit for large n.",
                lambda: _map(success, delta),
            )
        ],
        ["Rule of thumb read from the map: four to six measurements for each non-zero entry."],
    )


def _share(m, n, s, draws, seed):
    rng = np.random.default_rng(seed)
    good = 0
    for _ in range(draws):
        A = sensing_matrix("gaussian", m, n, random_state=int(rng.integers(2**31)))
        x = np.zeros(n)
        x[rng.choice(n, s, replace=False)] = rng.normal(size=s)
        found = basis_pursuit(A, A @ x)
        good += bool(np.linalg.norm(found - x) < EXACT * np.linalg.norm(x))
    return good / draws


def _map(success, delta):
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(6.2, 5), layout="constrained")
        ax = figure.subplots()
        image = ax.imshow(
            100 * success, origin="lower", extent=(0, 1, 0, 1), cmap="cividis", aspect="auto"
        )
        fine = np.linspace(0.01, 0.99, 200)
        ax.plot(fine, phase_transition(fine), color="white", linewidth=2)
        ax.text(0.08, 0.62, "not recovered", color="white", fontsize=12)
        ax.text(0.55, 0.12, "recovered", color="black", fontsize=12)
        ax.set(xlabel="measurements / unknowns, m/n", ylabel="non-zeros / measurements, S/m")
        figure.colorbar(image, ax=ax, label="recovered, %")
    return figure
