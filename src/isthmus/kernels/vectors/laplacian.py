"""The Laplacian kernel."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from isthmus._checks import check_float
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.width import median_distance
from isthmus.typing import Array


@dataclass
class Laplacian(Kernel):
    r"""Laplacian kernel :math:`k(x,z)=\exp(-\gamma\|x-z\|_1)`.

    ``gamma="median"`` is the inverse of the median :math:`\ell_1` distance. At ``x = z``
    the gradient is taken to be zero.

    >>> import numpy as np
    >>> from isthmus.kernels import Laplacian
    >>> Laplacian(1.0)(np.array([[0.0, 0.0]]), np.array([[0.5, -0.5]])).round(4)
    array([[0.3679]])
    """

    __module__ = "isthmus.kernels"

    gamma: Any = "median"
    stationary = True
    learned = ("gamma",)
    width_power = 1.0
    offers = frozenset({"gradient"})

    def resolve(self, X: Array) -> "Laplacian":
        if isinstance(self.gamma, str):
            if self.gamma != "median":
                raise ValueError(
                    "The 'gamma' parameter of Laplacian must be a positive float or 'median'. "
                    f"Got {self.gamma!r} instead."
                )
            return replace(self, gamma=1.0 / median_distance(X, "cityblock"))
        check_float(self.gamma, "gamma", self, include_low=False)
        return self

    def gram(self, X: Array, Z: Array) -> Array:
        K = cdist(X, Z, "cityblock")
        K *= -self.gamma
        return np.exp(K, out=K).astype(np.result_type(X, Z), copy=False)

    def diag(self, X: Array) -> Array:
        return np.ones(len(X), dtype=np.result_type(np.asarray(X), np.float32))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        S = W * K
        gradient = np.empty_like(X)
        for c in range(X.shape[1]):  # one column at a time: never an (n, m, d) array
            gradient[:, c] = (S * np.sign(Z[:, c] - X[:, c, None])).sum(axis=1)
        return self.gamma * gradient

    def diag_gradient(self, X: Array) -> Array:
        return np.zeros_like(X)
