"""The wrist of the PA-10 as a function of four joints, its grid, and errors in millimetres."""

import numpy as np

from isthmus.manifold import PSOM, grid_points
from isthmus.robotics import pa10
from isthmus_experiments import Row

LIMITS = np.radians([177, 91, 174, 137])
BOX = np.column_stack([-LIMITS, LIMITS])
WRIST = 4  # frames 5 and 6 of the chain have their origin there


def wrist(joints):
    """Positions of the wrist in millimetres, shape (n, 3)."""
    joints = np.atleast_2d(joints)
    whole = np.zeros((len(joints), 7))
    whole[:, :4] = joints
    return pa10().positions(whole)[:, WRIST]


def postures(n, rng):
    """Joints drawn uniformly from the box of limits."""
    return rng.uniform(-LIMITS, LIMITS, size=(n, 4))


def joint_grid(n, basis, *, share=1.0):
    """Postures of the nodes, (n^4, 4), on a share of the range of each joint."""
    return grid_points((n,) * 4, bounds=share * BOX, basis=basis)


def arm_map(n, basis, *, local=None, nodes=None, share=1.0):
    """A PSOM of the wrist over the joints; ``nodes`` in place of the true positions."""
    images = wrist(joint_grid(n, basis, share=share)) if nodes is None else nodes
    return PSOM(images, grid=(n,) * 4, bounds=share * BOX, basis=basis, local=local).fit()


def distances(found, joints):
    """How far positions are from the true ones, in millimetres."""
    return np.linalg.norm(found - wrist(joints), axis=1)


def spread_row(quantity, published, errors, *, factor=1.2):
    """The standard deviation over the postures against a published one."""
    ours = float(np.std(errors))
    ratio = ours / published
    agrees = bool(1 / factor <= ratio <= factor)
    return Row(
        f"{quantity}: standard deviation over the postures, mm",
        published,
        ours,
        f"{ratio:.2f} times the published one; {1 / factor:.2g} to {factor:.2g} times agrees",
        agrees,
    )


def told(errors):
    """Mean and standard deviation in words."""
    return f"{np.mean(errors):.2f} ± {np.std(errors):.2f} mm"
