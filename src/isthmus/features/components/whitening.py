"""Rows without correlations and with unit variances."""

from typing import Any, ClassVar, Self

import numpy as np

from isthmus._parameters import Constraint, integer, none, real
from isthmus.blocks.fitting import open_fit
from isthmus.features.components.base import LinearComponents
from isthmus.features.components.roots import (
    Level,
    extended_level,
    map_level,
    merge_levels,
    whiten_level,
)
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array


class Whitening(LinearComponents):
    r"""Principal coordinates scaled to unit variance, :math:`z=\Lambda^{-1/2}V^\top(x-m)`.

    With the covariance :math:`\frac1n\sum(x-m)(x-m)^\top=V\Lambda V^\top` the coordinates have mean
    zero and covariance :math:`I`. It is found from a triangular root of the scatter, whose
    condition number is that of the data and not its square, and which grows with a stream in
    constant memory: :meth:`partial_fit` gives what :meth:`fit` gives on all rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions of largest variance to keep; None keeps all.
    rcond : float, default=1e-10
        Directions whose standard deviation is below this share of the largest are left out:
        whitening would blow up their rounding errors.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Rows :math:`v_j/\sqrt{\lambda_j}`.
    patterns_ : ndarray of shape (n_components, n_features)
        Rows :math:`\sqrt{\lambda_j}v_j`, the way back.
    explained_variance_ : ndarray of shape (n_components,)
        :math:`\lambda_j`, sums divided by the number of rows.
    mean_ : ndarray of shape (n_features,)
    n_samples_seen_ : int

    See Also
    --------
    sklearn.decomposition.PCA : with ``whiten=True`` the same from rows in memory, divided by n - 1.
    CandidPCA : principal components of a stream of many columns, without any square matrix.

    Notes
    -----
    O(n d²) time and memory of d² and one block, whatever the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import Whitening
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3))
    >>> Z = Whitening().fit_transform(X)
    >>> bool(np.allclose(Z.T @ Z / 500, np.eye(3)))
    True
    """

    __module__ = "isthmus.features"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "rcond": real(0, 1),
    }

    def __init__(self, n_components: int | None = None, *, rcond: float = 1e-10):
        self.n_components = n_components
        self.rcond = rcond

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and axes from the rows of ``X``; return self."""
        X = self._rows(X, reset=True)
        return self._keep(map_level(X), len(X))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from further rows; return self."""
        first = not hasattr(self, "_level")
        X = self._rows(X, reset=first)
        if first:
            return self._keep(map_level(X), len(X))
        return self._keep(extended_level(self._level, X), len(X) + self.n_samples_seen_)

    def _fit_blocks(self, X: Any, y: Any = None) -> Self:
        """The same, of rows that come in blocks."""
        rows = open_fit(self, X)
        level, n = rows.fold(_counted_level, _merge_counted)
        return self._keep(level, n)

    def _keep(self, level: Level, n: int) -> Self:
        mean, _scale, s, Vt = whiten_level(level, rcond=float(self.rcond), standardize=False)
        if not len(s):
            raise ValueError(
                f"{type(self).__name__} found no variance: expected rows that differ. Got "
                f"n_samples = {n} rows that are all the same."
            )
        k = self._count(len(s), "the rank of the rows")
        V = fix_signs(Vt[:k].T).T
        self.mean_, self.explained_variance_ = mean, s[:k] ** 2
        self.components_ = np.ascontiguousarray(V / s[:k, None])
        self.patterns_ = np.ascontiguousarray(V * s[:k, None])
        self._level, self.n_samples_seen_ = level, n
        return self


def _counted_level(X: Array) -> tuple[Level, int]:
    return map_level(np.asarray(X, dtype=np.float64)), len(X)


def _merge_counted(a: tuple[Level, int], b: tuple[Level, int]) -> tuple[Level, int]:
    return merge_levels(a[0], b[0]), a[1] + b[1]
