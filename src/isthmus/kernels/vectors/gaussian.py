"""The Gaussian kernel."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from isthmus._checks import LARGEST, check_float
from isthmus._parameters import Constraint, real
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.sparse_rows import sparse_products, squared_lengths
from isthmus.kernels.vectors.squares import FEW, origin_of, squares_of_few
from isthmus.kernels.vectors.width import median_distance
from isthmus.linalg.products import product
from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import in_threads, threads_for
from isthmus.typing import Array

# Columns from which half of the products is worth a copy of the other half; with fewer the time is
# that of writing the matrix.
MANY_COLUMNS = 64
# Multiplications, of doubles, from which compiled loops are looked at; rows of their tiles, which
# stay in the cache; and strips of tiles from which threads pay for their start.
COMPILED, TILE, LEAST_STRIPS = 2**22, 256, 4
# Squared distance from the middle, times gamma, above which rounding is seen across the diagonal.
FAR = 100.0
# Blocks of a million values from which threads pay for their start.
LEAST_BLOCKS = 4


@dataclass(repr=False)
class Gaussian(Kernel):
    r"""Gaussian kernel :math:`k(x,z)=\exp(-\gamma\|x-z\|^2)`.

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``"median"`` means :math:`1/(2\sigma^2)` with :math:`\sigma` the median distance
        between training points, taken on a subsample when the kernel is fitted. A kernel that
        is called without having been fitted takes it from its second argument.
    width_factor : float, default=1.0
        The width as a multiple of the median distance; no effect if ``gamma`` is a number.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Gaussian
    >>> Gaussian(0.5)(np.array([[0.0], [1.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> Gaussian.from_width(1.0)
    Gaussian(gamma=0.5)
    """

    __module__ = "isthmus.kernels"

    gamma: Any = "median"
    width_factor: float = field(default=1.0, kw_only=True)
    stationary = True
    learned = ("gamma",)
    width_power = 0.5
    offers = frozenset({"gradient", "radial", "distances", "sparse"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "width_factor": real(0, LARGEST, include_low=False),
    }

    @classmethod
    def from_width(cls, sigma: float) -> Self:
        r"""The kernel :math:`\exp(-\|x-z\|^2/2\sigma^2)`."""
        if not sigma > 0:
            raise ValueError(f"The width of a Gaussian must be positive. Got {sigma!r} instead.")
        return cls(1.0 / (2.0 * float(sigma) ** 2))

    def __repr__(self) -> str:
        wider = self.width_factor != 1 and self.gamma == "median"
        shown = f", width_factor={self.width_factor!r}" if wider else ""
        return f"Gaussian(gamma={self.gamma!r}{shown})"

    def resolve(self, X: Array) -> "Gaussian":
        if isinstance(self.gamma, str):
            if self.gamma != "median":
                raise ValueError(
                    "The 'gamma' parameter of Gaussian must be a positive float or 'median'. "
                    f"Got {self.gamma!r} instead."
                )
            check_float(self.width_factor, "width_factor", self, include_low=False)
            return Gaussian(0.5 / (self.width_factor * median_distance(X)) ** 2)
        check_float(self.gamma, "gamma", self, include_low=False)
        return self

    @property
    def certain(self) -> bool:
        # Not a subclass with a ``gram`` of its own.
        return type(self).gram is Gaussian.gram

    def mirrors(self, X: Array) -> bool:
        if not self.certain or issparse(X) or len(X) <= FEW:
            return False
        return _in_tiles(X) or X.shape[1] >= MANY_COLUMNS

    def gram(self, X: Array, Z: Array) -> Array:
        if X is not Z or issparse(X) or len(Z) <= FEW:
            return self._values_at(Z)(X)
        origin = origin_of(Z)
        left, right = self._left(X, origin), _right(Z, origin)
        if _in_tiles(X):
            return _mirrored_gram(left, right)
        if X.shape[1] >= MANY_COLUMNS:
            return _symmetric_gram(left, right, X.dtype)
        K = _exponentials(left, right, X.dtype, left.size * len(right))
        if -left[:, -2].min(initial=0.0) > FAR:
            K = (K + K.T) / 2
        np.fill_diagonal(K, 1)
        return K

    def against(self, Z: Array) -> Callable[[Array], Array]:
        # A subclass with a ``gram`` of its own means that one.
        own = type(self).gram is not Gaussian.gram
        return super().against(Z) if own else self._values_at(Z)

    def against_in_fit(self, Z: Array) -> Callable[[Array], Array]:
        kind = type(self)
        own = kind.gram is not Gaussian.gram or kind.against is not Gaussian.against
        return self.against(Z) if own else self._values_at(Z, adding=True)

    def _values_at(self, Z: Array, *, adding: bool = False) -> Callable[[Array], Array]:
        """Values with ``Z``; whether the work of all calls is added, or each stands for itself."""
        if issparse(Z):
            return lambda X: self._sparse_gram(X, Z)
        if len(Z) <= FEW:
            return lambda X: self._sparse_gram(X, Z) if issparse(X) else self._gram_of_few(X, Z)
        # Distances are differences of large numbers: take the common offset out first.
        origin = origin_of(Z)
        right = _right(Z, origin)
        before = 0

        def values(X: Array) -> Array:
            nonlocal before
            if issparse(X):
                return self._sparse_gram(X, Z)
            work = before + len(X) * right.size
            before = work if adding else 0
            return _exponentials(self._left(X, origin), right, np.result_type(X, Z), work)

        return values

    def _gram_of_few(self, X: Array, Z: Array) -> Array:
        K = squares_of_few(X, Z)
        K *= -self.gamma
        return np.exp(K, out=K)

    def _left(self, X: Array, origin: Array) -> Array:
        """[2γx, -γ‖x‖², -γ]: times [z, 1, ‖z‖²] it is -γ‖x-z‖² in one product, no other pass."""
        own = np.empty((len(X), X.shape[1] + 2), dtype=np.result_type(X, origin))
        np.subtract(X, origin, out=own[:, :-2])
        own[:, -2] = -self.gamma * np.einsum("ij,ij->i", own[:, :-2], own[:, :-2])
        own[:, -1] = -self.gamma
        own[:, :-2] *= 2 * self.gamma
        return own

    def _sparse_gram(self, X: Any, Z: Any) -> Array:
        K = sparse_products(X, Z)
        K *= 2
        K -= squared_lengths(X)[:, None]
        K -= squared_lengths(Z)
        np.minimum(K, 0, out=K)
        K *= self.gamma
        np.exp(K, out=K)
        if X is Z:
            np.fill_diagonal(K, 1)
        return K

    def diag(self, X: Array) -> Array:
        if issparse(X):
            return np.ones(X.shape[0], dtype=X.dtype)
        return np.ones(len(X), dtype=np.result_type(np.asarray(X), np.float32))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        # ∂k/∂x = 2γ k (z - x)
        found = np.empty(X.shape, dtype=np.result_type(W, K, X))
        for rows in block_slices(len(X), 1, block_size=max(1, 2**18 // max(1, len(Z)))):
            S = W[rows] * K[rows]
            found[rows] = product(S, Z) - S.sum(axis=1)[:, None] * X[rows]
        return 2 * self.gamma * found

    def diag_gradient(self, X: Array) -> Array:
        return np.zeros_like(X)

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        kernel = self.resolve(Z)
        return kernel.gamma * (kernel.gram(X, Z) if K is None else K)

    def squared_distances_from(self, K: Array, x_diag: Array, z_diag: Array) -> Array:
        # Feature vectors have unit norm: only the angle counts, so a point that is too short
        # still has the distances of the direction it points in.
        cosine = K / np.sqrt(np.maximum(x_diag * z_diag, np.finfo(K.dtype).tiny))
        return -np.log(np.clip(cosine, 1e-12, 1.0)) / self.gamma


def _in_tiles(X: Array) -> bool:
    """Whether a Gram matrix of so many dense rows with themselves is made of mirrored tiles."""
    return X.dtype == np.float64 and X.size * len(X) >= COMPILED


def _right(Z: Array, origin: Array) -> Array:
    """[z, 1, ‖z‖²], about the origin."""
    own = np.empty((len(Z), Z.shape[1] + 2), dtype=np.result_type(Z, origin))
    np.subtract(Z, origin, out=own[:, :-2])
    own[:, -2] = 1
    own[:, -1] = np.einsum("ij,ij->i", own[:, :-2], own[:, :-2])
    return own


def _exponentials(left: Array, right: Array, dtype: Any, work: int) -> Array:
    """exp(min(x, 0)) of all products x, compiled where there is so much ``work``."""
    K = np.empty((len(left), len(right)), dtype=dtype)
    # Blocks that stay in the cache between the product and the exponential.
    blocks = list(block_slices(*K.shape, block_size=max(1, 2**20 // max(1, len(right)))))

    def fill(rows: slice) -> None:
        block = K[rows]
        product(left[rows], right.T, out=block)
        if compiled:
            decay(block.ravel())
        else:
            np.minimum(block, 0, out=block)
            np.exp(block, out=block)

    compiled = K.dtype == np.float64 and work >= COMPILED
    if compiled:
        from isthmus.kernels.vectors.decay_loops import decay
    _fill(fill, blocks)
    return K


def _fill(fill: Callable[[slice], None], blocks: list[slice]) -> None:
    """Fill blocks of rows, shared among threads if there are enough."""
    if len(blocks) < LEAST_BLOCKS:
        for rows in blocks:
            fill(rows)
    else:
        in_threads(fill, blocks)


def _mirrored_gram(left: Array, right: Array) -> Array:
    """Gram matrix of objects with themselves: tiles below the diagonal, each written twice."""
    from isthmus.kernels.vectors.decay_loops import mirror_decays
    from isthmus.linalg.lanes import LANES

    n = len(left)
    K, whole = np.empty((n, n)), n // LANES * LANES

    def fill(rows: slice) -> None:
        with scratch(TILE, TILE) as memory:
            for columns in block_slices(rows.stop, 1, block_size=TILE):
                shape = rows.stop - rows.start, columns.stop - columns.start
                tile = memory.reshape(-1)[: shape[0] * shape[1]].reshape(shape)
                product(left[rows], right[columns].T, out=tile)
                mirror_decays(tile, rows.start, columns.start, K)

    strips = list(block_slices(whole, 1, block_size=TILE))[::-1]  # the longest first
    if len(strips) >= LEAST_STRIPS:
        in_threads(fill, strips)
    else:
        with threads_for(0):
            for rows in strips:
                fill(rows)
    if whole < n:
        rest = np.exp(np.minimum(product(left[whole:], right.T), 0))
        K[whole:], K[:whole, whole:] = rest, rest[:, :whole].T
        K[whole:, whole:] = np.tril(rest[:, whole:]) + np.tril(rest[:, whole:], -1).T
    np.fill_diagonal(K, 1)
    return K


def _symmetric_gram(left: Array, right: Array, dtype: Any) -> Array:
    """Gram matrix of objects with themselves: every pair once, and the other half copied."""
    n = len(left)
    K = np.empty((n, n), dtype=dtype)
    size = max(1, min(256, 2**20 // n))
    blocks = list(block_slices(n, n, block_size=size))

    def fill(rows: slice) -> None:
        start, stop = rows.start, rows.stop
        # Up to the diagonal, in memory that stays in the cache.
        size = (stop - start) * stop
        with scratch(size) as memory:
            block = memory.view(K.dtype)[:size].reshape(-1, stop)
            product(left[rows], right[:stop].T, out=block)
            np.minimum(block, 0, out=block)
            np.exp(block, out=block)
            square = np.tril(block[:, start:], -1)
            block[:, start:] = square + square.T
            K[rows, :stop] = block
            K[:start, rows] = block[:, :start].T

    _fill(fill, blocks[::-1])  # the longest first
    np.fill_diagonal(K, 1)
    return K
