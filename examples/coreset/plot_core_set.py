"""
The smallest enclosing ball depends on few points
=================================================

The smallest ball around 20 000 points touches three or four of them, and a ball that is one per
cent larger can be found from a dozen. Left, a cloud in the plane, its ball, and the points that
carry it; right, how the radius grew to its final value in 2, 20 and 200 dimensions.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.coreset import CoreSetSolver, MinimumEnclosingBall
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
cloud = rng.uniform(-1, 1, size=(20_000, 2)) @ [[1.0, 0.3], [0.0, 0.8]]
every_point = CoreSetSolver(search="exact")
ball = MinimumEnclosingBall(epsilon=1e-4, solver=every_point, random_state=1).fit(cloud)
print(f"{len(cloud)} points, {ball.n_core_} in the core set, radius {ball.radius_:.4f}")

growth = {}
for dimension in (2, 20, 200):
    points = rng.normal(size=(5000, dimension))
    found = MinimumEnclosingBall(epsilon=1e-3, solver=every_point, random_state=0).fit(points)
    growth[dimension] = np.array(found.radii_) / found.radii_[-1]
    print(f"{dimension} dimensions: a core set of {found.n_core_}")

# %%

with style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    left.plot(*cloud[::4].T, ".", color="0.8", markersize=2)
    left.add_patch(
        plt.Circle(ball.center_, ball.radius_, fill=False, color=PALETTE[1], linewidth=2)
    )
    left.plot(*ball.center_, "+", color=PALETTE[1], markersize=12)
    left.plot(*cloud[ball.core_indices_].T, "o", color=PALETTE[0])
    left.set(
        aspect="equal",
        xticks=[],
        yticks=[],
        title=f"{ball.n_core_} of {len(cloud)} points were looked at closely",
    )
    for dimension, radii in growth.items():
        right.semilogx(np.arange(2, len(radii) + 2), radii, label=f"{dimension} dimensions")
    right.set(xlabel="points in the core set", ylabel="radius, as a share of the last")
    right.set_xticks([2, 5, 10, 20, 50], [2, 5, 10, 20, 50])
    right.minorticks_off()
    right.legend()
