"""Rotation vectors, and the relation between angles and angular velocity."""

import numpy as np
from scipy.spatial.transform import Rotation

from isthmus.typing import Array


def cross_matrices(vectors: Array) -> Array:
    """The matrices of the cross product with each vector, shape (n, 3, 3).

    >>> cross_matrices(np.array([[1.0, 2.0, 3.0]]))[0] @ [4.0, 5.0, 6.0]
    array([-3.,  6., -3.])
    """
    matrices = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    matrices[:, 0, 1], matrices[:, 0, 2] = -z, y
    matrices[:, 1, 0], matrices[:, 1, 2] = z, -x
    matrices[:, 2, 0], matrices[:, 2, 1] = -y, x
    return matrices


def rotation_vectors(rotations: Array) -> Array:
    """Axis times angle of each rotation matrix, the angle in [0, pi]."""
    vectors: Array = Rotation.from_matrix(rotations).as_rotvec()
    return vectors


def angular_velocity_map(rotations: Array, angles: str) -> Array:
    """Matrices E that map rates of the angles to angular velocities, shape (n, 3, 3)."""
    n = len(rotations)
    if angles == "rotation_vector":
        w = rotation_vectors(rotations)
        angle = np.linalg.norm(w, axis=1)
        K = cross_matrices(w)
        small = angle < 1e-4
        safe = np.where(small, 1.0, angle)
        # (1 - cos t) / t² and (t - sin t) / t³, by series near 0
        b = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
        c = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
        left: Array = np.eye(3) + b[:, None, None] * K + c[:, None, None] * (K @ K)
        return left
    E = np.zeros((n, 3, 3))
    if angles == "rpy":  # R = Rz(psi) Ry(theta) Rx(phi), rates in the order phi, theta, psi
        psi = np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0])
        E[:, 0, 0], E[:, 1, 0], E[:, 2, 0] = rotations[:, :, 0].T
        E[:, 0, 1], E[:, 1, 1] = -np.sin(psi), np.cos(psi)
        E[:, 2, 2] = 1.0
    else:  # R = Rz(phi) Ry(theta) Rz(psi)
        phi = np.arctan2(rotations[:, 1, 2], rotations[:, 0, 2])
        E[:, 2, 0] = 1.0
        E[:, 0, 1], E[:, 1, 1] = -np.sin(phi), np.cos(phi)
        E[:, 0, 2], E[:, 1, 2], E[:, 2, 2] = rotations[:, :, 2].T
    return E
