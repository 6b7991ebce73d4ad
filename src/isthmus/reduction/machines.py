"""Compressed machines of scikit-learn: a short expansion, and the rule of the original."""

import copy
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import validate_data

from isthmus._estimator import Estimator
from isthmus.kernels.expansion import Expansion
from isthmus.typing import Array


class CompressedMachine(Estimator):
    """A machine whose predictions follow from ``expansion_(X)``."""

    expansion_: Expansion

    def __init__(self, estimator: Any = None):
        self.estimator = estimator  # the original, kept for its parameters

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "expansion_")

    def fit(self, X: Any, y: Any = None) -> "CompressedMachine":
        """Refuse: a compressed machine is made by :func:`isthmus.reduction.compress`."""
        raise TypeError(
            f"{type(self).__name__} is made from a fitted estimator by compress(); fit the "
            "estimator on new data and compress it again."
        )

    def with_expansion(self, expansion: Expansion) -> "CompressedMachine":
        """A copy with another expansion, whose offset may be changed."""
        machine = copy.copy(self)
        machine.expansion_ = Expansion(
            expansion.kernel, expansion.objects, expansion.weights, expansion.offset.copy()
        )
        return machine

    def _values(self, X: Any) -> Array:
        if self.expansion_.kernel.vectors:
            X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.expansion_(X)


class CompressedRegressor(RegressorMixin, CompressedMachine):
    """A regressor with a short expansion."""

    def predict(self, X: Any) -> Array:
        """Return the outputs for ``X``."""
        values = self._values(X)
        return values[:, 0] if self.flat_ else values


class CompressedTransformer(TransformerMixin, CompressedMachine):
    """A transformer with a short expansion."""

    def transform(self, X: Any) -> Array:
        """Return the coordinates of ``X``."""
        return self._values(X)


def _has_sigmoids(machine: Any) -> bool:
    return getattr(machine, "sigmoids_", None) is not None


class CompressedClassifier(ClassifierMixin, CompressedMachine):
    """A support vector classifier with a short expansion and the decision rule of the original."""

    def pair_values(self, X: Any) -> Array:
        """Values of the machines of all pairs of classes, one column each."""
        return self._values(X)

    def decision_function(self, X: Any) -> Array:
        """Return approximately what ``decision_function`` of the original returns."""
        values = self._values(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self.estimator.decision_function_shape == "ovo":
            return values
        return _ovr_decision_function(values < 0, -values, len(self.classes_))

    def predict(self, X: Any) -> Array:
        """Return the classes by the rule of the original: a sign, or the votes of all pairs."""
        return self.decide(self._values(X))

    def decide(self, values: Array) -> Array:
        """The classes that values of the machines stand for."""
        n = len(self.classes_)
        if n == 2:
            return self.classes_[(values[:, 0] > 0).astype(int)]
        votes = np.zeros((len(values), n), dtype=int)
        for column, (i, j) in enumerate(pairs(n)):
            first = values[:, column] > 0
            votes[first, i] += 1
            votes[~first, j] += 1
        return self.classes_[votes.argmax(axis=1)]

    @available_if(_has_sigmoids)
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of the classes, from the sigmoids that the original has fitted."""
        values = self._values(X)
        n = len(self.classes_)
        A, B = self.sigmoids_
        # libsvm counts the first class of a pair as positive, also of two.
        first = expit(-(A * (-values if n == 2 else values) + B)).clip(1e-7, 1 - 1e-7)
        if n == 2:
            return np.column_stack([first[:, 0], 1 - first[:, 0]])
        R = np.zeros((len(values), n, n))
        for column, (i, j) in enumerate(pairs(n)):
            R[:, i, j], R[:, j, i] = first[:, column], 1 - first[:, column]
        return couple_pairs(R)

    @available_if(_has_sigmoids)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes."""
        return np.log(self.predict_proba(X))


def couple_pairs(R: Array) -> Array:
    r"""Probabilities p of classes from those of pairs, :math:`R_{ij}\approx p_i/(p_i+p_j)`.

    The minimiser of :math:`\sum_{i\ne j}(R_{ji}p_i-R_{ij}p_j)^2` over the simplex [Wu2004]_: with
    :math:`Q_{ii}=\sum_{j\ne i}R_{ji}^2` and :math:`Q_{ij}=-R_{ji}R_{ij}` the solution of
    :math:`Qp=\lambda1`, which is positive.

    >>> import numpy as np
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> couple_pairs((p[:, None] / (p[:, None] + p) * (1 - np.eye(3)))[None]).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    n = R.shape[1]
    Q = -R * R.transpose(0, 2, 1)
    Q[:, np.arange(n), np.arange(n)] = np.einsum("mji,mji->mi", R, R)
    # Bordered by the sum of one, which is solvable where Q alone is singular.
    border = np.zeros((len(R), n + 1, n + 1))
    border[:, :n, :n] = Q
    border[:, :n, n] = border[:, n, :n] = 1.0
    right = np.zeros((len(R), n + 1, 1))
    right[:, n] = 1.0
    p = np.linalg.solve(border, right)[:, :n, 0].clip(0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def pairs(n: int) -> list[tuple[int, int]]:
    """Pairs of classes in the order of their machines.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(n) for j in range(i + 1, n)]
