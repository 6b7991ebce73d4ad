"""T: coordinates to coordinates."""

from isthmus.regression._kernel_ridge import KernelRidgeCV

__all__ = ["KernelRidgeCV"]
