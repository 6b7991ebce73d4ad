"""The Mitsubishi PA-10, an arm of seven joints."""

from typing import Any

import numpy as np

from isthmus._checks import check_float
from isthmus.robotics.kinematics.chain import KinematicChain

TWISTS = np.radians([0, -90, 90, -90, 90, -90, 90])
OFFSETS = np.array([0.0, 0.0, 450.0, 0.0, 500.0, 0.0, 80.0])
LIMITS = np.radians([177, 94, 174, 137, 255, 165, 360])


def pa10(*, unit: float = 1.0, limits: Any = None, base_height: float = 0.0) -> KinematicChain:
    r"""The Mitsubishi PA-10 arm, lengths in millimetres and joint values in radians.

    Upper arm 450, forearm 500, hand 80, in the modified convention. With :math:`e = (0, 0, 1)`,

    .. math::
        R_1 = R_z(q_1) R_y(q_2), \quad R_2 = R_1 R_z(q_3) R_y(q_4), \quad
        R_3 = R_2 R_z(q_5) R_y(q_6),

    the elbow (frames 3 and 4) is at :math:`450 R_1 e`, the wrist (frames 5 and 6)
    :math:`500 R_2 e` further, and the flange :math:`80 R_3 e` further still; its rotation is
    :math:`R_3 R_z(q_7)`, so the last joint moves no point.

    Parameters
    ----------
    unit : float, default=1.0
        Length of the unit in millimetres: 1000 gives metres, 100 decimetres.
    limits : array-like of shape (7,) or (7, 2), default=None
        Joints keep to [-limit, limit], or to rows of lower and upper limit, in radians. None: the
        commonly quoted 177, 94, 174, 137, 255, 165 and 360 degrees. Installations differ: check
        yours.
    base_height : float, default=0.0
        Height of the shoulder above the floor, in the chosen unit. The real arm stands on a fixed
        column of some 315 mm.

    Returns
    -------
    chain : KinematicChain
        Seven joints.

    Examples
    --------
    >>> from isthmus.robotics import pa10
    >>> pa10().positions([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])[[2, 4, 6]].round(3)
    array([[ 88.955,   8.925, 441.03 ],
           [355.64 ,  93.512, 855.425],
           [412.438, 138.485, 889.36 ]])
    """
    check_float(unit, "unit", "pa10", include_low=False)
    base = np.eye(4)
    base[2, 3] = base_height
    dh = np.column_stack([TWISTS, np.zeros(7), OFFSETS / unit])
    return KinematicChain(dh, "modified", limits=LIMITS if limits is None else limits, base=base)
