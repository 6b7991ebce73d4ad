"""How well a posture is suited to further movement."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._checks import check_float
from isthmus.robotics.kinematics.chain import KinematicChain
from isthmus.typing import Array


@dataclass(frozen=True)
class Dexterity:
    """Measures of dexterity, one number per posture.

    Attributes
    ----------
    limit_distance : ndarray of shape (n,)
        Norm of :math:`(q_i - m_i) / (q_{max,i} - q_{min,i})` with the middles m of the ranges:
        0 in the middle, 1/2 for each joint at its limit. Joints without limits do not count.
    singularity : ndarray of shape (n,)
        Smallest singular value of the Jacobian; 0 at a singular posture.
    condition : ndarray of shape (n,)
        Ratio of the largest to the smallest singular value; 1 if all directions are equally easy.
    joint_speed : ndarray of shape (n,)
        Norm of the joint velocity along the path, in radians per unit of time.
    """

    __module__ = "isthmus.robotics"

    limit_distance: Array
    singularity: Array
    condition: Array
    joint_speed: Array


def dexterity(
    chain: KinematicChain, q: Any, *, dt: float = 1.0, orientation: bool = False
) -> Dexterity:
    """Measure a path of postures: limits, singularity, condition, joint speed.

    Parameters
    ----------
    chain : KinematicChain
        The arm.
    q : array-like of shape (n, n_joints)
        Postures in the order of time.
    dt : float, default=1.0
        Time between two postures.
    orientation : bool, default=False
        Use the Jacobian of the whole pose (lengths in units of the reach of the chain) instead of
        that of the position only (in units of the chain).

    Returns
    -------
    Dexterity
        Four arrays of shape (n,).

    Examples
    --------
    A stretched arm cannot move along itself:

    >>> import numpy as np
    >>> from isthmus.robotics import dexterity, pa10
    >>> measured = dexterity(pa10(), np.array([np.zeros(7), [0, 0.5, 0, 1, 0, 0.5, 0]]))
    >>> measured.singularity.round()
    array([  0., 226.])
    >>> measured.limit_distance.round(3)
    array([0.   , 0.273])
    """
    Q = np.atleast_2d(np.asarray(q, dtype=float))
    check_float(dt, "dt", "dexterity", include_low=False)
    J = chain.jacobian(Q)
    if orientation:
        J[:, :3] /= chain.length_unit
    sigma = np.linalg.svd(J if orientation else J[:, :3], compute_uv=False)
    # Where no joint moves the hand, 0 / 0 is as far from isotropic as can be.
    moves = sigma[:, -1] > 0
    condition = np.full(len(Q), np.inf)
    np.divide(sigma[:, 0], sigma[:, -1], out=condition, where=moves)
    width = chain.upper - chain.lower
    off = np.where(np.isfinite(width), (Q - chain.center) / width, 0.0)
    speed = np.gradient(Q, dt, axis=0) if len(Q) > 1 else np.zeros_like(Q)
    return Dexterity(
        np.linalg.norm(off, axis=1), sigma[:, -1], condition, np.linalg.norm(speed, axis=1)
    )
