"""
A robot arm imitates handwriting
================================

An arm with seven joints follows a scribble on a board. The hand takes up only three of its degrees
of freedom. On the left the others are used to keep the joint paths short, in the middle to hold the
elbow in a wanted posture, on the right to stay far from singular postures. The hand follows the
same path in all three. Below are measures of these paths: the wanted elbow costs dexterity.
"""

import numpy as np

from isthmus.plotting import arm_motion, curves
from isthmus.robotics import Manipulability, PlaneNormal, dexterity, follow, map_to_plane, pa10

# %%
# A scribble of loops, and the map that lays it on a board 650 mm in front of the arm.
t = np.linspace(0, 6 * np.pi, 70)
scribble = np.c_[t + 2.2 * np.sin(t), 3.2 * (1 - np.cos(t)), np.zeros(70)]
board = map_to_plane(scribble, [650, 230, 150], u=[0, -1, 0], v=[0, 0, 1], scale=28)
path = board.points(scribble)

# %%
# Three ways to use the freedom.
arm = pa10()
start = np.array([0.2, 0.6, 0.3, 1.3, 0.0, -0.4, 0.0])
elbow = PlaneNormal(arm, joint=2, point=[0, 400, 0], reference=[650, 230, 150])
wanted, _ = elbow(np.array([[-1.1, 0.9, 0, 0, 0, 0, 0]]))  # out to the right
paths = {
    "short paths": follow(arm, path, start=start),
    "elbow to the right": follow(
        arm, path, posture=elbow, wanted=wanted[0], smoothness=0.01, start=start
    ),
    "easy to move": follow(
        arm, path, posture=Manipulability(arm), wanted=1.0, smoothness=0.01, start=start, max_iter=3
    ),
}
for name, moved in paths.items():
    print(f"{name}: the hand is off by {moved.position_error.max():.1e} mm at most")

# %%
# Seen from above and behind the arm; later postures are darker.
figure = arm_motion(
    {name: arm.positions(moved.q) for name, moved in paths.items()}, path=path, view=(22, -165)
)

# %%
# The smallest singular value of the Jacobian says how far a posture is from a singular one.
measured = {name: dexterity(arm, moved.q) for name, moved in paths.items()}
steps = np.arange(len(path))
second = curves(
    {
        "smallest singular value (mm)": {k: (steps, m.singularity) for k, m in measured.items()},
        "joint speed (rad per step)": {
            k: (steps[9:], m.joint_speed[9:]) for k, m in measured.items()
        },
    },
    xlabel="step",
)
