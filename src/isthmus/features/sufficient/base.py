"""What the sufficient reductions share: tables in, directions out, a projection of new rows."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int
from isthmus._estimator import Estimator
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, choice, integer, none
from isthmus.features.distance_correlation.tables import as_tables, standardize
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array

DEFAULT_COMPONENTS = 2


class Directions(NamedTuple):
    """Directions (p, d) for standardized inputs, and how much each counts."""

    B: Array
    strengths: Array


class SufficientReduction(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Projections that are learned from inputs and outputs; a subclass finds the directions."""

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "labels": boolean | choice("auto"),
    }

    n_components: int | None
    labels: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """Coordinates of vectors that are learned from the outputs."""
        return frozenset({"transform", "supervised", "vectors"})

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    @abstractmethod
    def _directions(self, X: Array, Y: Array) -> Directions:
        """Directions for standardized inputs and outputs."""

    def fit(self, X: Any, y: Any) -> "SufficientReduction":
        """Learn the directions; return self.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Numbers, or labels.
        """
        X, Y, classes = as_tables(self, X, y)
        inputs = standardize(self, X, "X", scale=True)
        outputs = standardize(self, Y, "y", scale=classes is None)
        varies = np.isfinite(inputs.scale)  # nothing can be learned of constant columns
        p = int(varies.sum())
        require_memory(
            self,
            4 * 8.0 * p * p,
            what=f"covariances of {p} columns",
            avoid="Reduce the columns first, for example by PCA.",
        )
        T = inputs.values[:, varies]
        found = self._directions(T, outputs.values)
        B = fix_signs(found.B)
        # Coordinates of unit variance: a direction has no length of its own.
        B = B / np.maximum((T @ B).std(axis=0), np.finfo(float).tiny)
        self.mean_ = inputs.mean
        self.components_ = np.zeros((B.shape[1], X.shape[1]))
        self.components_[:, varies] = (B / inputs.scale[varies, None]).T
        self.strengths_ = found.strengths
        self.classes_ = classes
        return self

    def transform(self, X: Any) -> Array:
        """The coordinates of rows, shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray((X - self.mean_) @ self.components_.T)

    def _check_n_components(self, largest: int, why: str) -> int:
        if self.n_components is None:
            return min(DEFAULT_COMPONENTS, largest)
        return check_int(self.n_components, "n_components", self, low=1, high=largest, why=why)
