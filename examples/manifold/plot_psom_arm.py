"""
One map of an arm, used in every direction
==========================================

A planar arm with three joints reaches a point in many ways. A PSOM through 729 postures holds
joints and hand together: given the joints it returns the hand, and given the hand it returns
joints, of the many that reach it those closest to a preferred posture. If the point is out of
reach it says so, and comes as near as it can.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.manifold import PSOM, grid_points
from isthmus.plotting import PALETTE, style

BOX = [(-0.6, 1.8), (-1.8, 1.8), (-1.8, 1.8)]


def joints_of(q):
    """Positions of shoulder, elbow, wrist and hand, shape (n, 4, 2)."""
    angles = np.cumsum(q, axis=1)
    steps = np.stack([np.cos(angles), np.sin(angles)], axis=2)
    return np.concatenate([np.zeros((len(q), 1, 2)), np.cumsum(steps, axis=1)], axis=1)


# %%
# The components of a node: hand, joints, and a cost, the squared distance from a rest posture.

q = grid_points((9, 9, 9), bounds=BOX, basis="chebyshev")
rest = np.array([0.4, 0.6, 0.6])
nodes = np.column_stack([joints_of(q)[:, -1], q, np.sum((q - rest) ** 2, axis=1)])
arm = PSOM(nodes, grid=(9, 9, 9), bounds=BOX, basis="chebyshev").fit()

random = np.random.default_rng(0).uniform(*np.transpose(BOX), size=(1000, 3))
forward = arm.inverse_transform(random)[:, :2] - joints_of(random)[:, -1]
print(f"forward: mean error {np.linalg.norm(forward, axis=1).mean():.1e} arm segments")

# %%
# Hands along a line, each posture as near as can be to one with the elbow up.

line = np.column_stack([np.linspace(2.2, 0.7, 9), np.linspace(0.5, 2.0, 9)])
asked = np.full((9, 6), np.nan)
asked[:, :2] = line
elbow_up = np.tile([1.4, -0.8, -0.8], (9, 1))
free = arm.project(asked, start=elbow_up)

# %%
# The same line with a wish: a small weight on the cost bends the arm to its rest posture.

wish = asked.copy()
wish[:, 5] = 0.0
near_rest = arm.project(wish, weights=[1, 1, 1, 1, 1, 1e-3])
print(f"cost: {free.values[:, 5].mean():.2f}, with the wish {near_rest.values[:, 5].mean():.2f}")
off = np.linalg.norm(near_rest.values[:, :2] - line, axis=1).max()
print(f"and the hand is off its line by at most {off:.4f} segments")

# %%
# A target that is too far, and one that the limits of the joints forbid.

too_far = np.full((2, 6), np.nan)
too_far[:, :2] = [[2.6, 2.2], [-2.5, -0.5]]
best = arm.project(too_far)
print("reached:", best.reached.tolist(), " distance:", np.sqrt(best.error).round(2).tolist())

# %%

with style():
    figure, axes = plt.subplots(
        1, 3, figsize=(11, 3.2), sharex=True, sharey=True, layout="constrained"
    )
    panels = {
        "Along a line, elbow up": (free.latent, line),
        "The same, near its rest posture": (near_rest.latent, line),
        "Out of reach: as near as it can": (best.latent, too_far[:, :2]),
    }
    for ax, (title, (latent, goals)) in zip(axes, panels.items(), strict=True):
        for k, body in enumerate(joints_of(latent)):
            shade = 0.25 + 0.75 * (k + 1) / len(latent)
            ax.plot(*body.T, "-o", color=PALETTE[0], alpha=shade, linewidth=1.6, markersize=3)
        ax.plot(*goals.T, "x", color=PALETTE[5], markersize=8, markeredgewidth=2, label="asked for")
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    for goal, hand in zip(too_far[:, :2], joints_of(best.latent)[:, -1], strict=True):
        axes[2].plot(*np.transpose([goal, hand]), ":", color=PALETTE[5])
    axes[0].legend(loc="lower left")
