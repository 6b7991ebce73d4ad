"""Compressed machines of scikit-learn: a short expansion, and the rule of the original."""

import copy
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin
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
        values = self._values(X)
        n = len(self.classes_)
        if n == 2:
            return self.classes_[(values[:, 0] > 0).astype(int)]
        votes = np.zeros((len(values), n), dtype=int)
        for column, (i, j) in enumerate(pairs(n)):
            first = values[:, column] > 0
            votes[first, i] += 1
            votes[~first, j] += 1
        return self.classes_[votes.argmax(axis=1)]


def pairs(n: int) -> list[tuple[int, int]]:
    """Pairs of classes in the order of their machines.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(n) for j in range(i + 1, n)]
