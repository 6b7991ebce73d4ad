"""Principal components of a stream, without any covariance."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from isthmus._parameters import Constraint, integer, none, real
from isthmus.features.components.base import LinearComponents, continues
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array


class StreamComponents(LinearComponents):
    """Components that are learned row by row, in one pass or several."""

    max_iter: int
    _state: Any
    _steps_in_place = False  # a step copies the state that it moves

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from some passes over the rows of ``X``; return self."""
        return self._learn(self._rows(X, reset=True), None, self.max_iter)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from further rows, once; return self."""
        first = not hasattr(self, "_state")
        plain = not first and continues(self, X) and X.dtype == np.float64 and X.flags.c_contiguous
        rows = X if plain else self._rows(X, reset=first)
        return self._learn(rows, None if first else self._state, 1)

    @abstractmethod
    def _learn(self, X: Array, state: Any, n_passes: int) -> Self:
        """Pass over the rows from a state, or from the beginning where it is None."""


class CandidPCA(StreamComponents):
    r"""Principal components of a stream by candid covariance-free updates [Weng2003]_.

    Each row :math:`x`, centred by the running mean, moves the directions one after the other,

    .. math:: v_i\leftarrow(1-\eta)v_i+\eta\,\frac{x^\top v_i}{\|v_i\|}x,\qquad
              x\leftarrow x-\frac{x^\top v_i}{\|v_i\|^2}v_i,\qquad\eta=\frac{1+l}t ,

    so that :math:`v_i/\|v_i\|` tends to the i-th eigenvector of the covariance and :math:`\|v_i\|`
    to its eigenvalue. O(q d) time and memory for q of d columns: no square matrix, so that d may be
    in the hundred thousands.

    Parameters
    ----------
    n_components : int or None, default=None
        Number q of directions; None takes all columns.
    amnesia : float, default=2.0
        :math:`l`: how much new rows are favoured over those seen while the directions were still
        wrong.
    min_rate : float, default=0.0
        Rates never fall below this value; above zero, drift is followed and some noise remains.
    max_iter : int, default=10
        Passes of :meth:`fit` over the rows, in their order.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit directions, not exactly orthogonal; zeros where the rows have no more variance.
    patterns_ : ndarray of shape (n_components, n_features)
        The way back from coordinates.
    explained_variance_ : ndarray of shape (n_components,)
        Lengths of the :math:`v_i`.
    mean_ : ndarray of shape (n_features,)
    n_samples_seen_ : int
        With repetition.
    n_iter_ : int
        Passes over the rows.

    See Also
    --------
    Whitening : exact, with a square matrix of the columns.
    sklearn.decomposition.IncrementalPCA : block by block, more accurate, O(q² d) for each row.
    MinorComponents : the other end of the spectrum.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import CandidPCA
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [3.0, 1.0, 0.1]
    >>> model = CandidPCA(2).fit(X)
    >>> np.abs(model.components_).round(1)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """

    __module__ = "isthmus.features"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "amnesia": real(0, 10),
        "min_rate": real(0, 1),
        "max_iter": integer(1),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        amnesia: float = 2.0,
        min_rate: float = 0.0,
        max_iter: int = 10,
    ):
        self.n_components = n_components
        self.amnesia = amnesia
        self.min_rate = min_rate
        self.max_iter = max_iter

    def _learn(self, X: Array, state: Any, n_passes: int) -> Self:
        from isthmus.features.components.loops import principal_rows  # compiled on first use

        d = X.shape[1]
        if state is None:
            k = self._count(d, "the number of columns")
            state = np.zeros(d), np.zeros((k, d)), np.zeros(1, dtype=np.int64)
        mean, V, counters = (part.copy() for part in state)
        for _ in range(n_passes):
            principal_rows(X, mean, V, counters, float(self.amnesia), float(self.min_rate))
        lengths = np.linalg.norm(V, axis=1)
        # Rounding errors behind the last direction that varies have no direction.
        used = lengths > 1e-14 * lengths.max(initial=0.0)
        units = np.where(used[:, None], V / np.where(used, lengths, 1.0)[:, None], 0.0)
        self.components_ = fix_signs(units.T).T
        self.patterns_ = np.linalg.pinv(self.components_).T
        self.explained_variance_ = np.where(used, lengths, 0.0)
        self._state = mean, V, counters
        self.n_iter_ = n_passes
        self.mean_, self.n_samples_seen_ = mean, int(counters[0])
        return self
