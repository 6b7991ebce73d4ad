"""
How many measurements does a sparse vector need?
================================================

A vector with 64 entries is measured by a random matrix, and the vector of least l1 norm that
agrees with the measurements is computed. Whether that is the truth hardly depends on luck: there
is a sharp edge, known from theory; recovery works nearly always on one side of it and nearly never
on the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.plotting import style
from isthmus.sensing import basis_pursuit, phase_transition, sensing_matrix

n, n_cells, n_draws = 64, 11, 3
rng = np.random.default_rng(0)


def recovered(m, s):
    A = sensing_matrix("gaussian", m, n, random_state=rng.integers(2**31))
    x = np.zeros(n)
    x[rng.choice(n, s, replace=False)] = rng.normal(size=s)
    return np.linalg.norm(basis_pursuit(A, A @ x) - x) < 1e-5 * np.linalg.norm(x)


cells = (np.arange(n_cells) + 0.5) / n_cells
success = np.empty((n_cells, n_cells))
for j, delta in enumerate(cells):
    m = round(delta * n)
    for i, rho in enumerate(cells):
        s = max(1, round(rho * m))
        success[i, j] = np.mean([recovered(m, s) for _ in range(n_draws)])

with style():
    figure, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
    image = ax.imshow(
        100 * success, origin="lower", extent=(0, 1, 0, 1), cmap="cividis", aspect="auto"
    )
    fine = np.linspace(0.01, 0.99, 200)
    ax.plot(fine, phase_transition(fine), color="white", linewidth=2.5)
    ax.text(0.06, 0.6, "not recovered", color="white", fontsize=13)
    ax.text(0.56, 0.12, "recovered", color="black", fontsize=13)
    ax.text(0.6, 0.5, "limit for large n", color="white", fontsize=10, rotation=38)
    ax.set(
        xlabel="measurements / unknowns, m/n",
        ylabel="non-zeros / measurements, S/m",
        title="Share of draws recovered by basis pursuit",
    )
    figure.colorbar(image, ax=ax, label="recovered, %")

# %%
# Read from the left: with few measurements for the length of the vector, one non-zero entry needs
# six of them or five; with half as many measurements as unknowns, fewer than three.

for delta in (0.05, 0.1, 0.25, 0.5):
    print(
        f"m/n = {delta:4}: {1 / phase_transition(delta):.1f} measurements for each non-zero entry"
    )
