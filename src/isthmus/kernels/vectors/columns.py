"""A kernel of some of the columns of a table."""

from dataclasses import dataclass, field, replace

import numpy as np

from isthmus._checks import check_int
from isthmus.kernels.base import Kernel
from isthmus.typing import Array


@dataclass
class Columns(Kernel):
    r"""Apply a kernel to a range of columns: :math:`k(x,z)=k_0(x_{a:b},z_{a:b})`.

    Sums of them compare rows that hold several descriptions side by side, each with its own kernel
    and its own weight.

    Parameters
    ----------
    base : kernel
    start, stop : int, or None for all columns to the end
        As in ``X[:, start:stop]``.

    Examples
    --------
    Two histograms of 3 and 2 bins, the second counted twice:

    >>> import numpy as np
    >>> from isthmus.kernels import Columns, HistogramIntersection
    >>> h = HistogramIntersection()
    >>> k = Columns(h, stop=3) + 2 * Columns(h, start=3)
    >>> k(np.array([[1.0, 0.0, 2.0, 4.0, 1.0]]), np.array([[1.0, 1.0, 1.0, 3.0, 3.0]]))
    array([[10.]])
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    start: int = field(default=0, kw_only=True)
    stop: int | None = field(default=None, kw_only=True)
    inherits = frozenset({"gradient"})

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.base,)

    def check(self, X: Array) -> Array:
        X = super().check(X)
        check_int(self.start, "start", self, high=X.shape[1] - 1, why="columns of X")
        if self.stop is not None:
            check_int(
                self.stop, "stop", self, low=self.start + 1, high=X.shape[1], why="columns of X"
            )
        self.base.check(self._part(X))
        return X

    def _part(self, X: Array) -> Array:
        return X[:, self.start : self.stop]

    def resolve(self, X: Array) -> "Columns":
        return replace(self, base=self.base.resolve(self._part(X)))

    def gram(self, X: Array, Z: Array) -> Array:
        left = self._part(X)
        return self.base.gram(left, left if Z is X else self._part(Z))

    def diag(self, X: Array) -> Array:
        return self.base.diag(self._part(np.asarray(X)))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return self._pad(X, self.base.weighted_gradient(self._part(X), self._part(Z), W, K))

    def diag_gradient(self, X: Array) -> Array:
        return self._pad(X, self.base.diag_gradient(self._part(X)))

    def _pad(self, X: Array, gradient: Array) -> Array:
        whole = np.zeros_like(X)
        whole[:, self.start : self.stop] = gradient
        return whole
