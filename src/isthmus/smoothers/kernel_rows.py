"""Density kernels between points and centres: all pairs of a block, or the near ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from isthmus.linalg.products import product
from isthmus.smoothers.density_kernels import DensityKernel, is_gaussian, truncated_power
from isthmus.smoothers.pairs import Pairs, list_pairs, near_pairs
from isthmus.typing import Array, IntArray

# Two such blocks of doubles stay in a core's cache between the products that use them.
BLOCK = 2**18
# Below such a sum a Gaussian row is computed anew from its largest exponent.
TINY = 1e-200
# Below this exp is zero or hardly a number, and takes six times as long.
LEAST_EXPONENT = -700.0
# Below such a sum Gaussian weights of pairs that were not listed may count.
LONELY = 1e-4


class Workspace:
    """Memory that blocks use one after the other.

    To touch fresh memory for every block would take longer than to compute what goes there.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, Array] = {}

    def take(self, name: str, size: int) -> Array:
        """An array of ``size`` doubles, whose content is that of an earlier block."""
        if name not in self._buffers or len(self._buffers[name]) < size:
            self._buffers[name] = np.empty(size)
        return self._buffers[name][:size]

    def shrink(self) -> None:
        """Give back what is too large to be kept."""
        self._buffers = {k: v for k, v in self._buffers.items() if len(v) <= LARGEST_KEPT}


# Kept from one call to the next; larger buffers and more workspaces go back at once.
LARGEST_KEPT, _MOST_KEPT = 2**20, 2
_free: list[Workspace] = []


@contextmanager
def lent_workspace() -> Iterator[Workspace]:
    """A workspace for the body of a ``with`` statement, perhaps one that was used before."""
    try:
        # Taking from a list and adding to it are single steps: threads do not share one.
        work = _free.pop()
    except IndexError:
        work = Workspace()
    try:
        yield work
    finally:
        work.shrink()
        if len(_free) < _MOST_KEPT:
            _free.append(work)


class KernelRows(NamedTuple):
    """Values K and slopes H of the pairs of some points with n centres, point by point.

    Where these are all pairs, ``indices`` is empty and K a matrix (m, n) made flat.
    """

    indptr: IntArray
    indices: IntArray
    K: Array
    H: Array
    n: int
    everything: bool

    def table(self, data: Array) -> Array | csr_array:
        """Numbers of the pairs as a matrix (m, n), sparse unless all pairs are there."""
        if self.everything:
            return data.reshape(-1, self.n)
        shape = (len(self.indptr) - 1, self.n)
        return csr_array((data, self.indices, self.indptr), shape=shape)

    def times(self, data: Array, Y: Array) -> Array:
        """That matrix times ``Y``; for one point without building a sparse one."""
        if not self.everything and len(self.indptr) == 2:
            return np.asarray(data[None] @ Y[self.indices])
        return np.asarray(self.table(data) @ Y)

    def sums(self) -> Array:
        """Sum of the kernel values of every point, (m,)."""
        if len(self.indptr) == 2:
            return np.asarray(self.K.sum(keepdims=True))
        total: Array = self.table(self.K).sum(axis=1)
        return total


def kernel_rows(
    Xe: Array,
    Xc: Array,
    kernel: DensityKernel,
    *,
    excluded: IntArray | None = None,
    pairs: Pairs | None = None,
    scaled: bool = False,
    listed: bool = False,
    work: Workspace | None = None,
) -> KernelRows:
    """Values and slopes of all pairs, or of the near ones where the support is compact.

    ``scaled`` Gaussian rows have a largest value of one: far from all centres the sums would
    vanish. ``listed`` lists near pairs even where they are many. The result may be in ``work``.
    """
    m, n = len(Xe), len(Xc)
    if pairs is None and kernel.compact:
        pairs = near_pairs(Xe, Xc, kernel.support)
        if pairs is None and listed:
            pairs = list_pairs(Xe, Xc, kernel.support)
    if pairs is not None:
        out = None
        if work is not None:
            n_pairs = len(pairs.squared)
            out = work.take("values", n_pairs), work.take("steepness", n_pairs)
        K, H = pair_weights(pairs, kernel, excluded, out)
        return KernelRows(pairs.indptr, pairs.indices, K, H, n, everything=False)
    work = Workspace() if work is None else work
    s = work.take("squared", m * n).reshape(m, n)
    if kernel.name == "gaussian":
        _fill_exponents(Xe, Xc, s)
        if excluded is not None:
            s[np.arange(m)[:, None], excluded] = -np.inf
        if scaled:
            s -= s.max(axis=1, keepdims=True)
        K = H = _exponentials(s)
    else:
        cdist(Xe, Xc, "sqeuclidean", out=s)
        if excluded is not None:
            s[np.arange(m)[:, None], excluded] = np.inf
        K, H = kernel.profile(s), kernel.slope(s)
    indptr = np.arange(0, m * n + 1, n, dtype=np.int32)
    return KernelRows(indptr, np.empty(0, dtype=np.int32), K.ravel(), H.ravel(), n, everything=True)


def _fill_exponents(Xe: Array, Xc: Array, out: Array) -> None:
    """Fill ``out`` (m, n) with minus half the squared distances."""
    from isthmus.smoothers.gaussian_loops import fill_exponents

    # Writeable too: for others the loop would be compiled once more.
    fill_exponents(
        np.require(Xe, np.float64, ["C", "W"]), np.array(Xc.T, dtype=np.float64, order="C"), out
    )


def _exponentials(s: Array) -> Array:
    """``exp(s)`` in place, with zeros below e^-700."""
    if s.min(initial=0.0) >= LEAST_EXPONENT:
        return np.asarray(np.exp(s, out=s))
    from isthmus.smoothers.gaussian_loops import clear_up_to

    np.maximum(s, LEAST_EXPONENT, out=s)
    np.exp(s, out=s)
    clear_up_to(float(np.exp(LEAST_EXPONENT)), s.ravel())
    return s


def pair_weights(
    pairs: Pairs, kernel: DensityKernel, excluded: IntArray | None, out: Any = None
) -> tuple[Array, Array]:
    """Values K and slopes H of the listed pairs, zero where excluded; ``out`` lends memory."""
    from isthmus.smoothers.pair_loops import exclude, power_weights

    power = truncated_power(kernel)
    if power:
        K, H = np.empty((2, len(pairs.squared))) if out is None else out
        power_weights(pairs.squared, power, K, H)
    elif is_gaussian(kernel):
        K = np.multiply(pairs.squared, -0.5, out=None if out is None else out[0])
        H = np.exp(K, out=K)
    else:
        K, H = kernel.profile(pairs.squared), np.array(kernel.slope(pairs.squared))
    if excluded is not None:
        barred_at = np.full(int(excluded.max(initial=-1)) + 1, -1, dtype=np.int64)
        exclude(pairs.indptr, pairs.indices, excluded, barred_at, K, H)
    return K, H


def kernel_block(
    Xe: Array,
    Xc: Array,
    kernel: DensityKernel,
    excluded: IntArray | None = None,
    out: Array | None = None,
    centres: Array | None = None,
) -> tuple[Array, Array, Array, IntArray]:
    """Values K and slopes H of all pairs, and the row sums S of K, by matrix products.

    A row of Gaussian values that vanish is scaled to have a largest value of one, which changes
    neither K / S nor H / S; the numbers of such rows are returned too. ``out`` is memory for
    Gaussian values: to touch fresh memory for every block would take longer than to compute them.
    ``centres`` are the :func:`gaussian_centres` of ``Xc``, for those who ask for several blocks.
    """
    rows = np.arange(len(Xe))[:, None]
    if kernel.name == "gaussian":
        right = gaussian_centres(Xc) if centres is None else centres
        half_e = -0.5 * np.einsum("ij,ij->i", Xe, Xe)[:, None]
        # -s/2 by one product. A rounding error above zero would give a weight above one: all are
        # lowered by as much as it can be, which multiplies every weight of a row by one factor.
        size = -float(half_e.min(initial=0.0)) - float(right[-1].min(initial=0.0))
        half_e -= 2 * len(right) * np.finfo(half_e.dtype).eps * size
        left = np.hstack([Xe, half_e, np.ones_like(half_e)])
        K = product(left, right, out=out)
        np.exp(K, out=K)
        if excluded is not None:
            K[rows, excluded] = 0.0
        S = K.sum(axis=1)
        lost = np.flatnonzero(S < TINY)
        if len(lost):
            logits = left[lost] @ right
            if excluded is not None:
                logits[np.arange(len(lost))[:, None], excluded[lost]] = -np.inf
            top = logits.max(axis=1, keepdims=True)
            K[lost] = np.exp(logits - np.where(np.isfinite(top), top, 0.0))
            S[lost] = K[lost].sum(axis=1)
        return K, K, S, lost
    squared = squared_distances(Xe, Xc)
    K, H = kernel.profile(squared), kernel.slope(squared)
    if excluded is not None:
        K[rows, excluded] = 0.0
        H[rows, excluded] = 0.0
    return K, H, K.sum(axis=1), np.empty(0, dtype=int)


def gaussian_centres(Xc: Array) -> Array:
    """The right factor of ``-s/2`` for Gaussian values of all pairs, shape (q + 2, n)."""
    half = -0.5 * np.einsum("ij,ij->i", Xc, Xc)[:, None]
    return np.hstack([Xc, np.ones_like(half), half]).T


def squared_distances(Xe: Array, Xc: Array) -> Array:
    """Squared distances by one matrix product, never negative."""
    squared = product(Xe, -2.0 * Xc.T)
    squared += np.einsum("ij,ij->i", Xe, Xe)[:, None]
    squared += np.einsum("ij,ij->i", Xc, Xc)
    return np.maximum(squared, 0.0, out=squared)


def reciprocal(S: Array) -> Array:
    """1 / S, and 0 where S is 0: what nothing reaches has no weights."""
    return np.divide(1.0, S, out=np.zeros_like(S), where=S > 0)
