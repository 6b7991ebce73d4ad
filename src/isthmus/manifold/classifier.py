"""Classification by one manifold per class."""

from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_length
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, having, jobs
from isthmus.kernels.objects import check_list
from isthmus.typing import OBJECT_KINDS, Array, provides

# Methods that tell how far rows are from a manifold, the most direct first.
WAYS = (("reconstruction_error",), ("reconstruct",), ("transform", "inverse_transform"))


class ManifoldClassifier(ClassifierMixin, Estimator):
    r"""Fit one manifold per class, and predict the class whose manifold is closest.

    .. math:: \hat c(y)=\arg\min_c\ \min_x\|y-f_c(x)\|^2,

    where :math:`f_c` is the manifold of class c [Klanke2007]_. A manifold sees only its own
    class, so adding a class leaves the others as they are, and :meth:`reconstruction_errors`
    shows which points belong to none. There are no probabilities: errors of separate manifolds
    are not likelihoods. For those, put :class:`sklearn.calibration.CalibratedClassifierCV`
    around it.

    Parameters
    ----------
    manifold : estimator
        What is fitted to each class: anything with ``reconstruction_error(X)``, the squared
        distance of each row, as every :class:`~isthmus.manifold.BaseLatentMap` has (in feature
        space if it has a ``data_kernel``); else with ``reconstruct(X)``, or with ``transform``
        and ``inverse_transform`` (scikit-learn's ``PCA``, say).
    n_jobs : int or None, default=None
        Number of classes fitted at the same time, as in joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    manifolds_ : list of the fitted manifolds, one per class

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from isthmus.manifold import ManifoldClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ManifoldClassifier(PCA(8)).fit(X[:900], y[:900])
    >>> bool(model.score(X[900:], y[900:]) > 0.93)
    True
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "manifold": having("fit", text="an estimator that is fitted to each class"),
        "n_jobs": jobs,
    }

    def __init__(self, manifold: Any, *, n_jobs: int | None = None):
        self.manifold = manifold
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "ManifoldClassifier":
        """Fit one manifold to the rows of each class; return self."""
        manifold = self._prototype()
        X, y = self._check_rows(X, y)
        check_classification_targets(y)
        classes, which = np.unique(y, return_inverse=True)
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_class)(
                clone(manifold), _safe_indexing(X, np.flatnonzero(which == i)), label
            )
            for i, label in enumerate(classes)
        )
        self.classes_, self.manifolds_ = classes, fitted
        return self

    def reconstruction_errors(self, X: Any) -> Array:
        """Return the squared distance to each manifold, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        if self._takes_vectors():
            X = validate_data(self, X, dtype="float64", reset=False)
        else:
            X = check_list(X, type(self).__name__)
        return np.column_stack([_errors(manifold, X) for manifold in self.manifolds_])

    def decision_function(self, X: Any) -> Array:
        """Return minus the reconstruction errors.

        For two classes, how much smaller the error of the second is, shape (n_samples,).
        """
        errors = self.reconstruction_errors(X)
        return errors[:, 0] - errors[:, 1] if len(self.classes_) == 2 else -errors

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the class whose manifold is nearest, for each row of ``X``."""
        nearest = self.reconstruction_errors(X).argmin(axis=1)
        labels: np.ndarray[Any, Any] = self.classes_[nearest]
        return labels

    def _takes_vectors(self) -> bool:
        """Whether the manifold is one of rows of numbers, and not of other objects."""
        kinds = provides(self.manifold) & OBJECT_KINDS
        return not kinds or "vectors" in kinds

    def _check_rows(self, X: Any, y: Any) -> Any:
        if self._takes_vectors():
            return validate_data(self, X, y, dtype="float64")
        X, y = check_list(X, type(self).__name__), column_or_1d(y, warn=True)
        check_length(self, len(X), len(y), what="labels as objects")
        return X, y

    def _prototype(self) -> Any:
        if _way(self.manifold) is None:
            raise TypeError(
                "The 'manifold' parameter of ManifoldClassifier must have reconstruction_error, "
                "reconstruct, or transform and inverse_transform. "
                f"{type(self.manifold).__name__} has none of them."
            )
        return self.manifold


def _way(manifold: Any) -> tuple[str, ...] | None:
    """The methods by which a manifold tells distances, None where it has none of them."""
    for names in WAYS:
        if all(callable(getattr(manifold, name, None)) for name in names):
            return names
    return None


def _fit_class(manifold: Any, X: Any, label: Any) -> Any:
    try:
        return manifold.fit(X)
    except ValueError as error:
        raise ValueError(
            f"The manifold of class {label!r}, which has {len(X)} rows, could not be fitted: "
            f"{error}"
        ) from error


def _errors(manifold: Any, X: Array) -> Array:
    """Squared distances of the rows from a manifold, in the most direct way it has."""
    way = _way(manifold)
    if way == WAYS[0]:
        errors: Array = manifold.reconstruction_error(X)
        return errors
    if way == WAYS[1]:
        found: Array = manifold.reconstruct(X)
    else:
        found = manifold.inverse_transform(manifold.transform(X))
    squared: Array = np.sum((X - found) ** 2, axis=1)
    return squared
