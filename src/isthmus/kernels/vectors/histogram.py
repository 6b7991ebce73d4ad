"""The histogram intersection kernel."""

from dataclasses import dataclass

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array

PARTS = 8  # of the rows, to be shared by threads


@dataclass
class HistogramIntersection(Kernel):
    r"""Histogram intersection :math:`k(p,q)=\sum_i\min(p_i,q_i)` for non-negative rows.

    For histograms of equal mass it is one minus half the total variation distance, times
    the mass.

    >>> import numpy as np
    >>> from isthmus.kernels import HistogramIntersection
    >>> HistogramIntersection()(np.array([[1.0, 3.0]]), np.array([[2.0, 2.0]]))
    array([[3.]])
    """

    __module__ = "isthmus.kernels"

    def check(self, X: Array) -> Array:
        X = super().check(X)
        if X.min() < 0:
            raise ValueError(
                "HistogramIntersection compares histograms, whose entries must be in [0, inf). "
                f"Got {X.min():.4g} instead."
            )
        return X

    def gram(self, X: Array, Z: Array) -> Array:
        # Imported here: loading numba takes a good part of a second, and few need this kernel.
        from isthmus.kernels.vectors.histogram_loops import intersections

        K = np.empty((len(X), len(Z)), dtype=np.result_type(X, Z))
        X, columns = np.ascontiguousarray(X), np.ascontiguousarray(Z.T)
        rows = list(block_slices(len(X), Z.size, block_size=-(-len(X) // PARTS)))
        rest_in_threads(lambda some: intersections(X[some], columns, K[some]), rows)
        return K

    def diag(self, X: Array) -> Array:
        return np.asarray(self.check(X).sum(axis=1))
