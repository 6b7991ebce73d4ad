"""Two people who write ICAR, made of splines: a stand-in for recorded markers.

Lengths are millimetres. The person looks along x at a board in the plane x = BOARD, y is to their
left and z up, the right shoulder is the origin: the frame of the arm that will imitate them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from isthmus.robotics import (
    KinematicChain,
    PlaneNormal,
    concatenate,
    initial_posture,
    inverse_kinematics,
    map_to_plane,
    pa10,
    plane_normals,
)

# Each begins at the lower left and ends at the lower right of its place, at rest.
LETTERS = {
    "I": [(0, 0), (0.3, 1), (0.3, 0), (0.7, 0)],
    "C": [(0, 0), (0.75, 0.8), (0.4, 1), (0.1, 0.5), (0.4, 0), (0.75, 0.2), (1, 0)],
    "A": [(0, 0), (0.4, 1), (0.8, 0), (0.62, 0.45), (0.18, 0.45), (0.6, 0.1), (1, 0)],
    "R": [(0, 0), (0.1, 1), (0.65, 0.85), (0.5, 0.55), (0.1, 0.5), (0.8, 0), (1, 0)],
}
HEIGHT, BOARD = 140.0, 550.0
CORNER = np.array([BOARD, 150.0, -60.0])  # where the word begins
UPPER_ARM, FOREARM, SHOULDERS = 300.0, 380.0, 360.0
# The arm is mounted at a shoulder, stretched out to the right where all its joints are 0: upright
# on the floor its second joint could not let the elbow hang below the horizon.
SIDEWAYS = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
ARM = KinematicChain(pa10().dh, lower=pa10().lower, upper=pa10().upper, base=SIDEWAYS)


@dataclass(frozen=True)
class Writer:
    """How someone writes and holds the elbow."""

    slant: float
    width: float
    rhythm: float
    swivel: float  # turn of the elbow about the line from shoulder to finger, radians


FIRST = Writer(slant=0.02, width=0.9, rhythm=0.1, swivel=0.5)
SECOND = Writer(slant=0.4, width=1.15, rhythm=-0.1, swivel=0.9)


def letter(writer, name, n_steps):
    """A letter as the finger's path (n_steps, 2), right and up, begun and ended at rest."""
    points = np.array(LETTERS[name], dtype=float)
    points[:, 0] = writer.width * points[:, 0] + writer.slant * points[:, 1]
    lengths = np.r_[0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    t = np.linspace(0, 1, n_steps)
    t = t + writer.rhythm * np.sin(2 * np.pi * t) / np.pi
    way = 10 * t**3 - 15 * t**4 + 6 * t**5  # least jerk
    return HEIGHT * PchipInterpolator(lengths / lengths[-1], points)(way)


def word(writer, text, n_steps):
    """Letters, one after the other."""
    return concatenate([letter(writer, name, n_steps) for name in text]).trajectory()


def on_board(line):
    """Points (n, 3) of the person's space for a line (n, 2) on the board."""
    return CORNER + np.column_stack([np.zeros(len(line)), -line[:, 0], line[:, 1]])


def elbows(finger, swivel):
    """Elbows of an arm of two links that reaches the finger, shape (n, 3)."""
    distance = np.linalg.norm(finger, axis=1, keepdims=True)
    along = finger / distance
    part = (distance**2 + UPPER_ARM**2 - FOREARM**2) / (2 * distance)
    off = np.sqrt(np.maximum(UPPER_ARM**2 - part**2, 0.0))
    down = np.array([0.0, 0.0, -1.0]) - along * -along[:, 2:]
    down /= np.linalg.norm(down, axis=1, keepdims=True)
    aside = np.cross(along, down)
    return part * along + off * (np.cos(swivel) * down - np.sin(swivel) * aside)


@dataclass(frozen=True)
class Task:
    """What the arm has to do: a path of its hand, and a normal of its elbow's plane."""

    path: np.ndarray
    normals: np.ndarray
    posture: PlaneNormal


def transfer(line, swivel, *, scale=1.4):
    """Lay a written line on the board of the arm, and the elbow's plane with it."""
    finger = on_board(line)
    steps = np.linspace(0, 1, len(finger))
    elbow = elbows(finger, swivel + 0.15 * np.sin(2 * np.pi * steps)[:, None])
    # The published reference of the elbow's plane: where the line begins.
    normals = plane_normals([0, SHOULDERS, 0], elbow, finger[0])
    start = scale * finger[0]
    board = map_to_plane(
        finger, start, [0, -1, 0], [0, 0, 1], scale=scale, right=[0, -1, 0], towards=[-1, 0, 0]
    )
    posture = PlaneNormal(ARM, joint=2, point=[0, scale * SHOULDERS, 0], reference=start)
    return Task(board.points(finger), board.directions(normals), posture)


def first_posture(task):
    """Elbow as wanted by the first two joints, then the hand at the beginning of its path."""
    held = initial_posture(ARM, [(task.posture, task.normals[0], [0, 1])])
    return inverse_kinematics(ARM, task.path[0], preferred=held).q


STAND_IN = (
    "The recordings of two people writing ICAR are not available. Two writers made of splines, "
    "with different slant, width, rhythm and elbow, stand in; shapes and orders may be compared, "
    "values not. The arm is a kinematic model of the PA-10 with its commonly quoted limits, "
    "mounted sideways at a shoulder; how the real one stood is not stated."
)
