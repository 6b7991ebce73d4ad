"""From the space of a person to the space of an arm."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._checks import check_float
from isthmus.robotics.movement.primitive import check_trajectory
from isthmus.typing import Array


@dataclass(frozen=True, eq=False)
class PlaneMap:
    """A rotation, a scaling and a shift of space.

    Attributes
    ----------
    rotation : ndarray of shape (3, 3)
    scale : float
    origin : ndarray of shape (3,)
        The point of the person's space that is mapped to ``start``.
    start : ndarray of shape (3,)
    """

    __module__ = "isthmus.robotics"

    rotation: Array
    scale: float
    origin: Array
    start: Array

    def points(self, points: Any) -> Array:
        """Map points (..., 3)."""
        scaled = self.scale * (np.asarray(points, dtype=float) - self.origin)
        mapped: Array = scaled @ self.rotation.T + self.start
        return mapped

    def directions(self, vectors: Any) -> Array:
        """Map unit vectors (..., 3), which are only rotated."""
        rotated: Array = np.asarray(vectors, dtype=float) @ self.rotation.T
        return rotated


def map_to_plane(
    trajectory: Any,
    start: Any,
    u: Any,
    v: Any,
    *,
    scale: float = 1.0,
    right: Any = None,
    towards: Any = None,
) -> PlaneMap:
    r"""The map that places a written trajectory in the plane of a board.

    With the first two principal directions :math:`e_1, e_2` of the trajectory and the frame
    :math:`T_t = [u, v, u \times v]` of the board,

    .. math:: \zeta^*(t) = p + c\, T_t T_d^\top (\zeta(t) - \zeta(0)),
              \qquad T_d = [e_1, e_2, e_1 \times e_2].

    The signs of principal directions are arbitrary, and with the wrong ones the writing is
    mirrored. So :math:`e_1` is made to point to the right and :math:`e_1 \times e_2` towards the
    viewer.

    Parameters
    ----------
    trajectory : array-like of shape (n_steps, 3) or (n_steps, 2)
        The written line. Two coordinates mean x to the right and y upwards.
    start : array-like of shape (3,)
        Where the line starts on the board.
    u, v : array-like of shape (3,)
        Directions of the board to the right and upwards; they are orthonormalised.
    scale : float, default=1.0
        The factor c.
    right : array-like of shape (3,), default=None
        The direction to the right in the person's space. None: from the first to the last point.
    towards : array-like of shape (3,), default=None
        The direction from the board to the viewer in the person's space. None: the z axis.

    Returns
    -------
    PlaneMap
        With ``points`` for the line and other markers, ``directions`` for normals.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import map_to_plane
    >>> line = np.array([[0, 0, 0], [1, 0.2, 0], [3, 0.2, 0], [4, 0, 0.0]])
    >>> board = map_to_plane(line, [600, 0, 300], u=[0, -1, 0], v=[0, 0, 1], scale=10)
    >>> board.points(line).round(3)[[0, -1]]
    array([[600.,   0., 300.],
           [600., -40., 300.]])
    """
    X = check_trajectory(trajectory, "map_to_plane")
    if X.ndim != 2 or X.shape[1] not in (2, 3):
        raise ValueError(
            "map_to_plane needs a trajectory of shape (n_steps, 3) or (n_steps, 2). "
            f"Got shape {X.shape} instead."
        )
    check_float(scale, "scale", "map_to_plane", include_low=False)
    if X.shape[1] == 2:
        X = np.column_stack([X, np.zeros(len(X))])
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    if len(sizes) < 2 or sizes[1] <= 1e-12 * max(sizes[0], np.finfo(float).tiny):
        raise ValueError("map_to_plane: the points lie on one line and span no plane.")
    e1, e2 = axes[0], axes[1]
    way = X[-1] - X[0] if right is None else np.asarray(right, dtype=float)
    viewer = np.array([0.0, 0.0, 1.0]) if towards is None else np.asarray(towards, dtype=float)
    if e1 @ way < 0:
        e1 = -e1
    if np.cross(e1, e2) @ viewer < 0:
        e2 = -e2
    T_d = np.column_stack([e1, e2, np.cross(e1, e2)])
    a, b = np.asarray(u, dtype=float), np.asarray(v, dtype=float)
    a = a / np.linalg.norm(a)
    b = b - (b @ a) * a
    if not np.linalg.norm(b) > 1e-9:
        raise ValueError("map_to_plane: 'u' and 'v' must point in different directions.")
    b = b / np.linalg.norm(b)
    T_t = np.column_stack([a, b, np.cross(a, b)])
    return PlaneMap(T_t @ T_d.T, float(scale), X[0], np.asarray(start, dtype=float))
