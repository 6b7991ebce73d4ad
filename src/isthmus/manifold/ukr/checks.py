"""What unsupervised kernel regression asks of its rows, kernel, start and latent places."""

from typing import Any

import numpy as np

from isthmus._warnings import warn
from isthmus.kernels.algebra.function import FunctionKernel
from isthmus.kernels.base import Kernel
from isthmus.kernels.resolve import as_kernel
from isthmus.manifold.ukr.pieces import FeatureSpace
from isthmus.manifold.ukr.settings import Settings
from isthmus.typing import Array, IntArray


def l1_kernel(X: Any, Z: Any) -> Array:
    r"""The kernel :math:`\frac12(\|x\|_1+\|z\|_1-\|x-z\|_1)`, whose squared distance is L1.

    >>> l1_kernel(np.array([[1.0, 2.0]]), np.array([[2.0, 0.0]])).tolist()
    [[1.0]]
    """
    from scipy.spatial.distance import cdist

    X, Z = np.asarray(X, dtype=float), np.asarray(Z, dtype=float)
    sizes = np.abs(X).sum(axis=1)[:, None] + np.abs(Z).sum(axis=1)
    return 0.5 * (sizes - cdist(X, Z, "cityblock"))


def kernel_of(data_kernel: Any) -> Kernel:
    """The kernel that the parameter ``data_kernel`` names."""
    if isinstance(data_kernel, FeatureSpace):
        data_kernel = data_kernel.kernel
    if isinstance(data_kernel, str) and data_kernel == "l1":
        return FunctionKernel(l1_kernel, on_vectors=True)
    return as_kernel(data_kernel)


def as_data_kernel(data_kernel: Any) -> Kernel:
    """The same, if it compares objects that can be had back."""
    kernel = kernel_of(data_kernel)
    if kernel.pairwise:
        raise ValueError(
            "UnsupervisedKernelRegression refuses data_kernel='precomputed': without the rows "
            "there is nothing to project and no pre-image. Give the kernel itself."
        )
    return kernel


def preimage_of(data_kernel: Any) -> Any:
    """The pre-image that the parameter ``data_kernel`` names, if it does."""
    return data_kernel.preimage if isinstance(data_kernel, FeatureSpace) else None


def check_rows(Y: Array, size: float, settings: Settings) -> None:
    """Refuse centred rows that are too few or all the same, and a start of another shape.

    ``size`` is the largest entry before the rows were centred.
    """
    n, q = len(Y), settings.q
    if n <= q + 1:
        raise ValueError(
            f"UnsupervisedKernelRegression with {q} latent dimensions needs at least {q + 2} "
            f"rows. Got n_samples = {n}."
        )
    if not np.any(np.abs(Y) > 1e-12 * size):
        raise ValueError(
            "UnsupervisedKernelRegression needs rows that differ. Got constant data: every "
            "row is the same."
        )
    start = settings.places
    if start is not None and (start.shape != (n, q) or not np.all(np.isfinite(start))):
        raise ValueError(
            "The 'init' parameter of UnsupervisedKernelRegression must be an array of finite "
            f"numbers of shape {(n, q)}. Got shape {start.shape} instead."
        )


def distinct_rows(Y: Array, settings: Settings) -> tuple[IntArray, IntArray]:
    """Numbers of the rows to train on, and for every row which of them it is."""
    everything = np.arange(len(Y))
    if settings.n_excluded == 0:
        return everything, everything
    rounded = np.round(Y / np.sqrt(np.mean(Y**2)), 10)
    _, first, groups = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(Y):
        return everything, everything
    if len(first) <= settings.q + 1:
        raise ValueError(
            f"UnsupervisedKernelRegression with {settings.q} latent dimensions needs at least "
            f"{settings.q + 2} different rows. Got {len(first)} among n_samples = {len(Y)}."
        )
    warn(
        f"UnsupervisedKernelRegression has found {len(Y) - len(first)} repeated rows, which "
        "would reconstruct each other without error when a row is left out: each counts once.",
        UserWarning,
    )
    order = np.argsort(first)
    position = np.empty(len(first), dtype=int)
    position[order] = np.arange(len(first))
    return first[order], position[groups.ravel()]
