"""φ: things to coordinates."""

from isthmus.features._kernel_pca import KernelPCA

__all__ = ["KernelPCA"]
