"""What components of rows share: centred projections, and the way back."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int, check_scale
from isthmus._estimator import Estimator
from isthmus.typing import Array


class LinearComponents(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Coordinates ``(x - mean_) @ components_.T`` of rows."""

    n_components: int | None
    mean_: Array
    components_: Array
    patterns_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """What the transformer can do, see :mod:`isthmus.typing`."""
        return frozenset({"transform", "inverse", "vectors"})

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _rows(self, X: Any, *, reset: bool, finite: bool = True) -> Array:
        """The rows, checked; of plain tables, sums may tell later whether they are ``finite``."""
        # Such tables were looked at when they came in.
        plain = type(X) is np.ndarray and X.dtype.kind == "f"
        known = {"dtype": np.float64, "order": "C", "ensure_all_finite": finite or not plain}
        rows = np.asarray(validate_data(self, X, reset=reset, **known))
        if not plain:
            check_scale(self, rows)
        return rows

    def _count(self, largest: int, why: str) -> int:
        if self.n_components is None:
            return largest
        return check_int(self.n_components, "n_components", self, low=1, high=largest, why=why)

    def transform(self, X: Any) -> Array:
        """The coordinates of rows, shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return ((X - self.mean_) @ self.components_.T).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """The rows of least squared error that have these coordinates."""
        check_is_fitted(self)
        Z = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        if Z.shape[1] != len(self.components_):
            raise ValueError(
                f"{type(self).__name__} has {len(self.components_)} components. Got coordinates of "
                f"shape {Z.shape}."
            )
        return (Z @ self.patterns_ + self.mean_).astype(Z.dtype, copy=False)


def continues(owner: Any, X: Any) -> bool:
    """Whether ``X`` is a plain table that needs no further look: finite, and as wide as before.

    A stream of small blocks asks this at a tenth of the time of scikit-learn's check, which every
    other table goes through.
    """
    return is_alike(owner, X) and is_finite(X)


def is_alike(owner: Any, X: Any) -> bool:
    """Whether ``X`` is a plain table, as wide as before, whose numbers were not looked at."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.shape[1] == owner.n_features_in_
        and len(X) > 0
        and not hasattr(owner, "feature_names_in_")
    )


def is_finite(X: Array) -> bool:
    """Whether all numbers are finite, and do not overflow in a sum."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(np.add.reduce(X, axis=None)))
