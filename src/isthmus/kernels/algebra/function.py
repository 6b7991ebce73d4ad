"""Kernels given as functions, and kernels of scikit-learn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, boolean
from isthmus._parameters import function as a_function
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects
from isthmus.typing import Array, Objects


@dataclass
class FunctionKernel(Kernel):
    """A kernel from a function of two collections, or of two single objects.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` gives the (n, m) matrix; with ``pairwise_calls=True``,
        ``function(x, z)`` gives one number.
    pairwise_calls : bool, default=False
    on_vectors : bool, default=False
        Whether objects are rows of a numeric array, and are checked as such.

    Examples
    --------
    >>> from isthmus.kernels import FunctionKernel
    >>> shared = FunctionKernel(lambda a, b: len(set(a) & set(b)), pairwise_calls=True)
    >>> shared(["tree", "root"], ["toe"])
    array([[2.],
           [2.]])
    """

    __module__ = "isthmus.kernels"

    function: Callable[..., Any]
    pairwise_calls: bool = field(default=False, kw_only=True)
    on_vectors: bool = field(default=False, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "function": a_function,
        "pairwise_calls": boolean,
        "on_vectors": boolean,
    }

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return self.on_vectors

    def gram(self, X: Objects, Z: Objects) -> Array:
        if self.pairwise_calls:
            return np.array([[float(self.function(x, z)) for z in Z] for x in X])
        # A copy: the function may return a matrix of its own, which callers would overwrite.
        K = np.array(self.function(X, Z), dtype=np.float64)
        expected = (n_objects(X), n_objects(Z))
        if K.shape != expected:
            raise ValueError(
                f"The kernel function {self.function!r:.60} must return a matrix of shape "
                f"{expected}. Got shape {K.shape} instead. A function of two single objects is "
                "FunctionKernel(function, pairwise_calls=True)."
            )
        return K

    def diag(self, X: Objects) -> Array:
        X = self.check(X)
        if hasattr(self.function, "diag"):  # a kernel object of scikit-learn
            return np.asarray(self.function.diag(X), dtype=np.float64)
        if self.pairwise_calls:
            return np.array([float(self.function(x, x)) for x in X])
        from isthmus.kernels.objects import take

        return np.array(
            [self.gram(one, one)[0, 0] for one in (take(X, [i]) for i in range(n_objects(X)))]
        )
