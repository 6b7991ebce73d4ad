"""One side of a dependence: a symmetric matrix of similarities or distances, read in tiles."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_array

from isthmus._checks import check_choice, check_float
from isthmus.blocks.containers import in_blocks
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.dependence.loops import squared_distances
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram, check_sample
from isthmus.kernels.objects import refuse_text, take
from isthmus.kernels.resolve import as_kernel
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, Objects

# A sum over some objects stands for the sum over all where only digits are to be saved.
N_LANDMARKS = 64


@dataclass(frozen=True)
class Side:
    r"""A symmetric matrix :math:`K_{ij}` of ``n`` objects that is never formed whole.

    Parameters
    ----------
    n : number of objects.
    values : function of a slice and of a slice or indices, giving that part of the matrix.
    diagonal : ndarray of shape (n,)
    features : ndarray of shape (n, r) or None
        Centred vectors with :math:`HKH=AA^\top`, where there are few.
    column : ndarray of shape (n,) or None
        The numbers whose distances :math:`|x_i-x_j|` the matrix holds, where it does.
    points : ndarray of shape (n, p) or None
        The vectors whose distances :math:`\|x_i-x_j\|` the matrix holds, where it does.
    compiled : bool
        Whether ``values`` releases the interpreter's lock and calls nothing of a stranger's.
    """

    n: int
    values: Callable[[slice, Any], Array]
    diagonal: Array
    features: Array | None = None
    column: Array | None = None
    points: Array | None = None
    compiled: bool = False
    offsets: Array = field(init=False)

    def __post_init__(self) -> None:
        plain = self.features is not None or self.column is not None
        offsets = np.zeros(self.n) if plain else self._row_means()
        object.__setattr__(self, "offsets", offsets)

    def _row_means(self) -> Array:
        """Row means about half of the mean of all, estimated on some columns.

        Centring removes anything of the form :math:`u_i+u_j`, so any offsets are allowed; with
        these, what remains is small and the sums of :func:`map_block` lose no digits.
        """
        chosen = sample_rows(self.n, N_LANDMARKS, rng=0, sort=False)
        means = np.empty(self.n)
        for rows in block_slices(self.n, len(chosen)):
            means[rows] = self.values(rows, chosen).mean(axis=1)
        return means - means[chosen].mean() / 2

    @property
    def noise(self) -> float:
        """What rounding may leave of the centred norm of a constant matrix, squared."""
        if self.features is not None or self.column is not None:
            return 0.0
        return float((1e-13 * self.n * np.abs(self.diagonal).max()) ** 2)


def kernel_side(X: Objects, kernel: Any, *, name: str) -> Side:
    """The Gram matrix of a kernel."""
    kernel = as_kernel(kernel)
    X = check_for(kernel, X, name=name)
    kernel = kernel.resolve(X)
    features = kernel.explicit_features(X)
    if features is not None:
        return feature_side(features)
    if not kernel.pairwise:
        with threads_for(0):
            check_sample(kernel, X, name)
    n = len(X)

    def values(rows: slice, columns: Any) -> Array:
        if not kernel.vectors:
            if isinstance(columns, slice):
                columns = np.arange(columns.start, columns.stop)  # for columns of a given matrix
            return np.asarray(kernel.gram(take(X, rows), kernel.reference(X, columns)), np.float64)
        left, right = take(X, rows), kernel.reference(X, columns)
        # A tile is a short call, after which the threads of BLAS would spin beside ours.
        with threads_for(float(left.size) * len(right)):
            return np.asarray(kernel.gram(left, right), dtype=np.float64)

    return Side(n, values, np.asarray(kernel.diag(X), dtype=np.float64))


def distance_side(
    X: Objects,
    exponent: float,
    *,
    metric: str = "euclidean",
    name: str,
    owner: str = "distance_side",
) -> Side:
    r"""The matrix of distances :math:`\|x_i-x_j\|^a`."""
    check_float(exponent, "exponent", owner, low=0.0, high=2.0, include_low=False)
    check_choice(metric, "metric", owner, ("euclidean", "precomputed"))
    if metric == "precomputed":
        return _precomputed_distance_side(X, exponent, name)
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (str, bytes)):
        raise ValueError(
            f"Distances need numbers, and {name} holds text. Use hsic with a kernel for text, or "
            'distances of your own with metric="precomputed".'
        )
    X = as_table(X, name=name)
    if exponent == 2:
        # H E H = -2 Xc Xc'
        return feature_side(np.sqrt(2) * X)
    n, columns = len(X), np.ascontiguousarray(X.T)

    def values(rows: slice, chosen: Any) -> Array:
        if isinstance(chosen, slice):
            others, start, stop = columns, chosen.start, chosen.stop
        else:
            others, start, stop = np.ascontiguousarray(columns[:, chosen]), 0, len(chosen)
        E = np.empty((rows.stop - rows.start, stop - start))
        squared_distances(X[rows], others, start, stop, E)
        return np.sqrt(E, out=E) if exponent == 1 else np.power(E, exponent / 2, out=E)

    plain = X if exponent == 1 else None
    column = X[:, 0] if exponent == 1 and X.shape[1] == 1 else None
    return Side(n, values, np.zeros(n), column=column, points=plain, compiled=True)


def feature_side(X: Array) -> Side:
    """Vectors whose inner products are the matrix."""
    # Relative to a row first: equal rows then become zero exactly.
    A = X - X[0]
    A -= A.mean(axis=0)
    return Side(
        len(A),
        lambda rows, columns: A[rows] @ A[columns].T,
        np.einsum("ij,ij->i", A, A),
        features=A,
    )


def _precomputed_distance_side(X: Objects, exponent: float, name: str) -> Side:
    E = check_symmetric(X, name=name)
    if np.any(np.diag(E) != 0) or E.min() < 0:
        raise ValueError(
            f"Precomputed distances {name} must be at least zero, and zero on the diagonal. Got "
            f"values from {E.min():.4g}, on the diagonal up to {np.abs(np.diag(E)).max():.4g}."
        )
    E = E**exponent
    return Side(len(E), lambda rows, columns: E[rows, columns], np.zeros(len(E)))


def as_table(X: Objects, *, name: str) -> Array:
    """Rows of numbers; a flat array becomes one column."""
    plain = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim in (1, 2) and X.size > 0
    if not (plain and np.isfinite(X).all()):  # on short columns the check costs more than the rest
        _refuse_blocks(X, name)
        X = check_array(X, dtype=np.float64, ensure_2d=False, input_name=name)
    return X[:, None] if X.ndim == 1 else np.ascontiguousarray(X)


def check_for(kernel: Kernel, X: Objects, *, name: str) -> Objects:
    """Objects in the form that ``kernel`` computes with, in double precision."""
    if kernel.vectors:
        refuse_text(X, f"The measure of {name}", kernel)
        return as_table(X, name=name)
    _refuse_blocks(X, name)
    if kernel.pairwise:
        return check_gram(check_square(X, name=name), name, overwrite=False)
    return kernel.check(X)


def _refuse_blocks(X: Any, name: str) -> None:
    """Refuse objects that are not in memory where all of them are needed at once."""
    if in_blocks(X) and not isinstance(X, np.memmap):
        raise TypeError(
            f"All objects of {name} are needed at once here. Got rows in blocks "
            f"({type(X).__name__}): load them, if they fit into memory. hsic, cka and mmd, coco "
            "with an approximation, distance covariance and correlation can read them in blocks."
        )


def check_square(X: Objects, *, name: str) -> Array:
    """A square matrix of numbers."""
    K = check_array(X, dtype=np.float64, input_name=name)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed {name} must be a square matrix. Got shape {K.shape}.")
    return K


def check_symmetric(X: Objects, *, name: str) -> Array:
    """A symmetric matrix, or what is wrong with it."""
    K = check_square(X, name=name)
    gap = np.abs(K - K.T).max()
    if gap > 1e-8 * np.abs(K).max():
        raise ValueError(
            f"A precomputed {name} must be symmetric. Got differences up to {gap:.4g}."
        )
    return K


def check_pair(*sides: Side, owner: str, unbiased: bool = False) -> int:
    """The number of objects, which must be the same for all sides, and large enough."""
    counts = [side.n for side in sides]
    if len(set(counts)) > 1:
        raise ValueError(
            f"{owner} compares collections of equal length: pair i is one observation. "
            f"Got {', '.join(map(str, counts))} objects."
        )
    check_count(counts[0], owner=owner, unbiased=unbiased)
    return counts[0]


def check_count(n: int, *, owner: str, unbiased: bool) -> None:
    """Refuse too few objects."""
    needed = 4 if unbiased else 2
    if n < needed:
        kind = "The unbiased estimator of " if unbiased else ""
        raise ValueError(f"{kind}{owner} needs at least {needed} objects. Got {n}.")


def refuse_gram_matrix(kernel: Kernel, owner: str) -> None:
    """Refuse a kernel that knows rows of a matrix alone."""
    if kernel.pairwise:
        raise ValueError(
            f"{owner} needs the kernel between the samples too: give Precomputed(matrix) of all "
            "objects as kernel, and indices into it as samples."
        )


def stack(X: Objects, Z: Objects, *, owner: str) -> Array:
    """Rows of both samples, which must be equally long."""
    X, Z = as_table(X, name="X"), as_table(Z, name="Z")
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"{owner} compares samples of one space. Got {X.shape[1]} and {Z.shape[1]} columns."
        )
    return np.concatenate([X, Z])
