"""Our kernels as kernels of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, Objects


class ToSklearn(SklearnKernel):
    """A kernel of this library as a kernel of ``sklearn.gaussian_process``, on any objects.

    ``GaussianProcessClassifier`` then classifies strings and graphs by Laplace's approximation.
    The parameters of the kernel are fixed; those of scikit-learn's kernels around it are learned,
    such as the amplitude in ``ConstantKernel() * ToSklearn(kernel)``.

    Parameters
    ----------
    kernel : kernel or name
        Its width must be a number, or have been resolved.

    Examples
    --------
    >>> from sklearn.gaussian_process import GaussianProcessClassifier
    >>> from sklearn.gaussian_process.kernels import ConstantKernel
    >>> from isthmus.kernels import Normalized, Spectrum, ToSklearn
    >>> words, labels = ["aab", "aba", "abb", "cdd", "dcd", "ddc"], [0, 0, 0, 1, 1, 1]
    >>> kernel = ConstantKernel(10.0) * ToSklearn(Normalized(Spectrum(1)))
    >>> GaussianProcessClassifier(kernel).fit(words, labels).predict(["bba", "ccd"])
    array([0, 1])
    """

    __module__ = "isthmus.kernels"

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def __call__(self, X: Objects, Y: Objects = None, eval_gradient: bool = False) -> Any:
        """Gram matrix; with ``eval_gradient`` also its derivatives, of which there are none."""
        kernel = as_kernel(self.kernel)
        K = np.asarray(kernel(X) if Y is None else kernel(X, Y), dtype=np.float64)
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def diag(self, X: Objects) -> Array:
        """``k(x, x)`` for every object."""
        return np.asarray(as_kernel(self.kernel).diag(X), dtype=np.float64)

    def clone_with_theta(self, theta: Array) -> "ToSklearn":
        """A copy: there is nothing to set."""
        return ToSklearn(clone(self.kernel, safe=False))

    def is_stationary(self) -> bool:
        """Whether the kernel depends on differences alone."""
        return as_kernel(self.kernel).stationary

    @property
    def requires_vector_input(self) -> bool:
        """Whether objects must be rows of numbers."""
        return as_kernel(self.kernel).vectors

    def __repr__(self) -> str:
        return f"ToSklearn({self.kernel!r})"
