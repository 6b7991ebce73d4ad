"""One manifold a class; the one that reconstructs a point best names it."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_length, former_fit_kept
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_objects
from isthmus.manifold.ukr.checks import as_data_kernel
from isthmus.typing import Array

# What tells how far rows are from a manifold, from the best to what is left.
ROADS = (("reconstruction_error",), ("reconstruct",), ("transform", "inverse_transform"))


class ManifoldClassifier(ClassifierMixin, BaseEstimator):
    r"""Classify by reconstruction: fit one manifold a class, ask which is nearest.

    .. math:: \hat c(y)=\arg\min_c\ \min_x\|y-f_c(x)\|^2,

    where :math:`f_c` is the manifold of class c [Klanke2007]_. A manifold sees only its own
    class, so adding a class leaves the others as they are, and
    :meth:`reconstruction_errors` tells points that belong to none. No probabilities
    are given: errors of separate manifolds are no likelihoods. For those, put
    :class:`sklearn.calibration.CalibratedClassifierCV` around it.

    Parameters
    ----------
    manifold : estimator
        What is fitted to each class: anything with ``reconstruction_error(X)``, the squared
        distance of each row, as :class:`~isthmus.manifold.UnsupervisedKernelRegression` has (in
        feature space if it has a ``data_kernel``); else with ``reconstruct(X)``, or with
        ``transform`` and ``inverse_transform`` (also scikit-learn's ``PCA``).
    n_jobs : int or None, default=None
        Classes fitted at the same time, as in joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    manifolds_ : list of the fitted manifolds, one a class

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

    def __init__(self, manifold: Any, *, n_jobs: int | None = None):
        self.manifold = manifold
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "ManifoldClassifier":
        """Fit one manifold to the rows of each class; return self."""
        manifold = self._prototype()
        with former_fit_kept(self):
            X, y = self._checked(X, y)
            check_classification_targets(y)
            classes, which = np.unique(y, return_inverse=True)
            fitted = Parallel(n_jobs=self.n_jobs)(
                delayed(_fitted)(
                    clone(manifold), _safe_indexing(X, np.flatnonzero(which == i)), label
                )
                for i, label in enumerate(classes)
            )
        self.classes_, self.manifolds_ = classes, fitted
        return self

    def reconstruction_errors(self, X: Any) -> Array:
        """Return the squared distance to each manifold, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        kernel = self._objects_kernel()
        if kernel is None:
            X = validate_data(self, X, dtype="float64", reset=False)
        else:
            X = check_objects(self, X, kernel, reset=False)
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

    def _objects_kernel(self) -> Kernel | None:
        """The kernel of the manifold, if it compares other things than rows of numbers."""
        given = getattr(self.manifold, "data_kernel", None)
        kernel = None if given is None else as_data_kernel(given)
        return None if kernel is None or kernel.vectors else kernel

    def _checked(self, X: Any, y: Any) -> Any:
        kernel = self._objects_kernel()
        if kernel is None:
            return validate_data(self, X, y, dtype="float64")
        X, y = check_objects(self, X, kernel, reset=True), column_or_1d(y, warn=True)
        check_length(self, len(X), len(y), what="labels as objects")
        return X, y

    def _prototype(self) -> Any:
        manifold = self.manifold
        if not any(all(hasattr(manifold, name) for name in names) for names in ROADS):
            raise TypeError(
                "The 'manifold' parameter of ManifoldClassifier must have reconstruction_error, "
                "reconstruct, or transform and inverse_transform. "
                f"{type(manifold).__name__} has neither."
            )
        return manifold


def _fitted(manifold: Any, X: Any, label: Any) -> Any:
    try:
        return manifold.fit(X)
    except ValueError as error:
        raise ValueError(
            f"The manifold of class {label!r}, which has {len(X)} rows, could not be fitted: "
            f"{error}"
        ) from error


def _errors(manifold: Any, X: Array) -> Array:
    """Squared distances of the rows from a manifold, by the shortest road it has."""
    if hasattr(manifold, "reconstruction_error"):
        errors: Array = manifold.reconstruction_error(X)
        return errors
    if hasattr(manifold, "reconstruct"):
        found: Array = manifold.reconstruct(X)
    else:
        found = manifold.inverse_transform(manifold.transform(X))
    squared: Array = np.sum((X - found) ** 2, axis=1)
    return squared
