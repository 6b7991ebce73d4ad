"""Postures of the Mitsubishi PA-10, which stands in for an arm whose table is lost."""

from typing import NamedTuple

import numpy as np

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.robotics import pa10
from isthmus_experiments.experiments._partial_least_squares import pls_coefficients

N_TRAIN, RANK = 500, 4
KERNEL = Gaussian(1 / 42)  # exp(-|x - z|² / 42)

ARM = pa10(unit=100.0)  # decimetres
ELBOW, TIP = 2, 6


def postures(n, rng):
    """Positions of elbow and tip (n, 6) and the joint values (n, 7) behind them."""
    angles = rng.uniform(ARM.lower, ARM.upper, size=(n, ARM.n_joints))
    points = ARM.positions(angles)
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
