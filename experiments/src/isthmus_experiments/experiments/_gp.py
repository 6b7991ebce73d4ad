"""What the experiments on Gaussian processes share."""

import numpy as np

from isthmus.kernels import Gaussian
from isthmus.regression import GaussianProcess

GRID = np.linspace(-5, 5, 201)[:, None]
REACH = 1.96  # half the width of a 95 % band, in deviations


def fixed(length_scale, amplitude, noise):
    """A process with given parameters and mean zero."""
    return GaussianProcess(
        Gaussian.from_width(length_scale),
        noise=noise,
        amplitude=amplitude,
        learn_kernel=False,
        center=False,
    )
