"""Postures of the Mitsubishi PA-10, which stands in for an arm whose table is lost.

Modified Denavit-Hartenberg form: joint i turns about z after a turn by ``TWISTS[i]`` about x, and
then moves by ``OFFSETS[i]`` along z.
"""

from typing import NamedTuple

import numpy as np

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian

from ._partial_least_squares import pls_coefficients

N_TRAIN, RANK = 500, 4
KERNEL = Gaussian(1 / 42)  # exp(-|x - z|² / 42)

TWISTS = np.radians([0, -90, 90, -90, 90, -90, 90])
OFFSETS = np.array([0.0, 0.0, 4.5, 0.0, 5.0, 0.0, 0.8])  # decimetres
# Commonly quoted for the arm; not in the documents.
LIMITS = np.radians([177, 94, 174, 137, 255, 165, 360])
ELBOW, TIP = 2, 6


def joint_positions(angles):
    """Origins of the seven joint frames, shape (n, 7, 3), of joint values (n, 7).

    >>> joint_positions(np.zeros((1, 7)))[0, [ELBOW, TIP], 2]
    array([ 4.5, 10.3])
    """
    frame = np.broadcast_to(np.eye(4), (len(angles), 4, 4))
    origins = []
    for q, twist, offset in zip(np.asarray(angles).T, TWISTS, OFFSETS, strict=True):
        c, s, ca, sa = np.cos(q), np.sin(q), np.cos(twist), np.sin(twist)
        link = np.zeros((len(q), 4, 4))
        link[:, 0, 0], link[:, 0, 1] = c, -s
        link[:, 1, 0], link[:, 1, 1], link[:, 1, 2] = s * ca, c * ca, -sa
        link[:, 2, 0], link[:, 2, 1], link[:, 2, 2] = s * sa, c * sa, ca
        link[:, 1, 3], link[:, 2, 3], link[:, 3, 3] = -sa * offset, ca * offset, 1.0
        frame = frame @ link
        origins.append(frame[:, :3, 3])
    return np.stack(origins, axis=1)


def postures(n, rng):
    """Positions of elbow and tip (n, 6) and the joint values (n, 7) behind them."""
    angles = rng.uniform(-LIMITS, LIMITS, size=(n, 7))
    points = joint_positions(angles)
    return np.concatenate([points[:, ELBOW], points[:, TIP]], axis=1), angles


class Task(NamedTuple):
    """Kernel coordinates of positions and the joint values wanted, to train and to test."""

    Z: np.ndarray
    Q: np.ndarray
    Z_test: np.ndarray
    Q_test: np.ndarray


def inverse_kinematics(n_test, seed):
    """Random postures; all kernel PCA coordinates of elbow and tip are the inputs."""
    X, Q = postures(N_TRAIN + n_test, np.random.default_rng(seed))
    features = KernelPCA(kernel=KERNEL).fit(X[:N_TRAIN])
    return Task(features.coordinates_, Q[:N_TRAIN], features.transform(X[N_TRAIN:]), Q[N_TRAIN:])


def pls_prediction(Z, Q):
    """The function from coordinates to joint values that partial least squares finds."""
    z_mean, q_mean = Z.mean(axis=0), Q.mean(axis=0)
    *_, F = pls_coefficients(Z - z_mean, Q - q_mean, RANK)
    return lambda new: (new - z_mean) @ F.T + q_mean


def joint_error(Q, guess):
    """Sum of squared joint errors in rad², averaged over postures."""
    return float(np.mean(np.sum((Q - guess) ** 2, axis=1)))


STAND_IN = (
    "The table of the simulated arm is an image that is lost, and units, joint ranges and the "
    "penalty are not stated. A Mitsubishi PA-10 stands in: positions in decimetres, joints within "
    "their usual limits, errors in rad². Orders and ratios may be compared, values not. The "
    "seventh joint moves neither elbow nor tip, so its variance can never be explained."
)
