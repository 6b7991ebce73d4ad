"""Kernel ridge regression as a rival: width and penalty by leave-one-out."""

from isthmus.kernels import Gaussian
from isthmus.regression import KernelRidgeCV

WIDTHS = (1.0, 0.5, 0.25)


def kernel_ridge():
    """An unfitted kernel ridge regression with a choice of three Gaussians."""
    return KernelRidgeCV(tuple(Gaussian(width_factor=scale) for scale in WIDTHS))
