"""Gram matrices computed elsewhere."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_array

from isthmus._parameters import Constraint, none, numbers
from isthmus.kernels.base import Kernel
from isthmus.typing import Array, Objects


class GramColumns:
    """Training objects of a precomputed kernel: column indices into the rows of new objects."""

    def __init__(self, indices: Any, n_columns: int):
        self.indices = np.asarray(indices)
        self.n_columns = n_columns

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.indices),)

    def take_columns(self, indices: Any) -> "GramColumns":
        return GramColumns(self.indices[indices], self.n_columns)


@dataclass(eq=False)
class Precomputed(Kernel):
    """A kernel whose values are already known.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), optional
        The matrix of all objects, seen and unseen; an object is then its index in it, and
        everything that needs only kernel values works (landmarks, candidates, folds). Without it
        the scikit-learn convention holds: ``X`` is the square matrix of the training objects in
        ``fit``, and later the rows of new objects against them.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Precomputed
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> Precomputed(K)([1], [0, 1])
    array([[1., 2.]])
    >>> Precomputed()(K)
    array([[2., 1.],
           [1., 2.]])
    """

    __module__ = "isthmus.kernels"

    matrix: Any = None
    vectors = False

    _constraints: ClassVar[dict[str, Constraint]] = {
        "matrix": none | numbers(2),
    }

    @property
    def pairwise(self) -> bool:  # type: ignore[override]
        return self.matrix is None

    def __repr__(self) -> str:
        return (
            "Precomputed()"
            if self.matrix is None
            else f"Precomputed(<{np.shape(self.matrix)} matrix>)"
        )

    def check(self, X: Objects) -> Objects:
        if isinstance(X, GramColumns):
            return X
        if self.matrix is None:
            return check_array(
                X, dtype=[np.float64, np.float32], input_name="X", estimator="Precomputed"
            )
        n = len(self.matrix)
        indices = np.asarray(X)
        if indices.ndim == 2 and indices.shape[1] == 1:
            indices = indices[:, 0]
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise TypeError(
                "Precomputed(matrix) compares indices into its matrix: expected a list of int. "
                f"Got shape {indices.shape} of {indices.dtype} instead."
            )
        if len(indices) == 0 or indices.min() < 0 or indices.max() >= n:
            raise ValueError(
                f"Precomputed(matrix) expected at least one index in [0, {n - 1}]. Got "
                f"{'none' if not len(indices) else f'{indices.min()} to {indices.max()}'} instead."
            )
        return indices

    def reference(self, X: Objects, indices: Any = None) -> Objects:
        if self.matrix is not None or isinstance(X, GramColumns):
            return super().reference(X, indices)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "Precomputed() is fitted on the square Gram matrix of the training objects. "
                f"Got shape {X.shape} instead."
            )
        return GramColumns(np.arange(len(X)) if indices is None else indices, X.shape[1])

    def gram(self, X: Objects, Z: Objects) -> Array:
        if self.matrix is not None:
            return np.asarray(self.matrix, dtype=np.float64)[np.ix_(X, Z)]
        if isinstance(X, GramColumns):
            raise TypeError("Precomputed() cannot compare training objects again: give their rows.")
        columns = Z if isinstance(Z, GramColumns) else GramColumns(np.arange(len(Z)), len(Z))
        if X.shape[1] != columns.n_columns:
            raise ValueError(
                "Precomputed() expected rows of kernel values against the "
                f"{columns.n_columns} training objects. Got shape {X.shape} instead."
            )
        if len(columns) == columns.n_columns:
            return X
        return X[:, columns.indices]

    def diag(self, X: Objects) -> Array:
        X = self.check(X)
        if self.matrix is not None:
            return np.asarray(self.matrix, dtype=np.float64)[X, X]
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "Precomputed() knows k(x, x) only for the training objects, as the diagonal of "
                f"their square Gram matrix. Got shape {X.shape} instead."
            )
        return np.diag(X).copy()
