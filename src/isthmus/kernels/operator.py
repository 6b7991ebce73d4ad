"""The Gram matrix as its products with columns, in tiles that are computed anew each time."""

from functools import cached_property

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.products import product
from isthmus.typing import Array, Objects

# Rows and columns of a tile: 32 MB of doubles.
TILE = 2048


class GramOperator:
    r"""Products :math:`D(H K H^\top)D\,V` with the Gram matrix of objects, which is never held.

    :math:`H=I-1p^\top` takes off the mean of the objects in feature space, if they are centred,
    and :math:`D=\mathrm{diag}(\sqrt w)` where object i counts :math:`w_i` times, with
    :math:`p=w/\sum_iw_i`. Every pair of objects is compared once in a product. Memory is that of a
    tile and of the columns.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved, of objects (not of rows of a matrix).
    X : objects
    center : bool
    counts : ndarray of shape (n,) or None, default=None
    tile : int
        Rows and columns that are computed at once.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Linear
    >>> GramOperator(Linear(), np.array([[1.0], [3.0]]), center=True)(np.eye(2))
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Objects,
        *,
        center: bool,
        counts: Array | None = None,
        tile: int = TILE,
    ):
        self.kernel, self.objects, self.center, self.tile = kernel, X, center, tile
        self.diagonal = np.asarray(kernel.diag(X))
        dtype, n = self.diagonal.dtype, n_objects(X)
        self.counts = None if counts is None else counts.astype(dtype)
        shares = np.full(n, 1 / n) if counts is None else counts / counts.sum()
        self.shares = shares.astype(dtype)

    def __len__(self) -> int:
        return len(self.diagonal)

    def __call__(self, V: Array) -> Array:
        """The product with columns (n, p)."""
        root = None if self.counts is None else np.sqrt(self.counts)[:, None]
        V = V if root is None else root * V
        if self.center:
            V = V - self.shares[:, None] * V.sum(axis=0)
        Y = self._plain(V)
        if self.center:
            Y -= self.shares @ Y
        return Y if root is None else root * Y

    @cached_property
    def mean(self) -> Array:
        """Inner products of the objects with their mean, shape (n,): one pass."""
        return self._plain(self.shares[:, None])[:, 0]

    @property
    def trace(self) -> float:
        """The sum of the eigenvalues."""
        own = self.diagonal if self.counts is None else self.counts * self.diagonal
        total = len(self) if self.counts is None else float(self.counts.sum())
        return float(own.sum()) - self.center * total * float(self.shares @ self.mean)

    def _plain(self, V: Array) -> Array:
        Y = np.zeros(V.shape, dtype=V.dtype)
        for rows in block_slices(len(self), 1, block_size=self.tile):
            left = take(self.objects, rows)
            Y[rows] += product(np.asarray(self.kernel.gram(left, left)), V[rows])
            for columns in block_slices(rows.start, 1, block_size=self.tile):
                K = np.asarray(self.kernel.gram(left, take(self.objects, columns)))
                Y[rows] += product(K, V[columns])
                Y[columns] += product(K.T, V[rows])
        return Y
