"""Classes and label sets by the square."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import assert_all_finite
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_length
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, having, instance, none, resolved_by
from isthmus.kernels.objects import n_objects
from isthmus.losses.tasks.classes import CostMatrix, ZeroOne
from isthmus.losses.tasks.label_sets import Hamming
from isthmus.losses.tasks.resolve import as_task_loss
from isthmus.regression.selection import CRITERIA, Selection, as_selection
from isthmus.structured.calibration import calibrate_classes, calibrate_labels
from isthmus.structured.dependency import DependencyEstimator
from isthmus.structured.given import Given, counted_rows, fit_square, routing_of
from isthmus.structured.left_out_columns import left_out_columns
from isthmus.structured.loss_inputs import check_loss_inputs
from isthmus.structured.slots import a_slot
from isthmus.typing import Array, IntArray


class DependencyClassifier(ClassifierMixin, Estimator):
    r"""Predict the class, or the set of labels, that is best for a named loss.

    It is a :class:`DependencyEstimator` with a loss and the interface of a classifier: kernel ridge
    regression of indicators, with the kernel, width and penalty that have the smallest loss on
    left-out rows, followed by the answer of least expected loss. ``predict_proba`` clips the
    predicted indicators and calibrates them on left-out rows, which costs no data.

    Parameters
    ----------
    x_features : transformer, kernel, list of kernels, name, "passthrough" or None, default=None
    regressor : regressor or None, default=None
        See :class:`DependencyEstimator`.
    loss : name, TaskLoss, function of two labels or None, default=None
        None is right or wrong for classes and the share of wrong labels for label sets.
    class_weight : dict, "balanced" or None, default=None
        What it costs to miss each class, or each label of a set, where a false alarm costs one;
        ``"balanced"`` makes rare ones dearer. Without another loss.
    cv : Selection, "loo", int or splitter, default="loo"
        Which rows are left out to choose; a number of folds means stratified ones for classes.
    calibration : {"left_out"} or None, default="left_out"
        None gives the clipped indicators as they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in their own type; for label sets the numbers of the labels.
    model_ : fitted DependencyEstimator
    indicator_regressor_ : fitted regressor of the indicators of classes or labels
    calibration_ : ClassCalibration, LabelCalibration or None
        With the mean gap between probability and frequency of left-out rows, ``error_before`` and
        ``error``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isthmus.structured import DependencyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DependencyClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.93)
    True
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    __module__ = "isthmus.structured"
    _constraints: ClassVar[dict[str, Constraint]] = {
        "loss": resolved_by(as_task_loss, "a task loss, its name or a function of two objects")
        | none,
        "class_weight": choice("balanced") | instance(dict) | none,
        "calibration": choice("left_out") | none,
        "regressor": having("fit", "predict", text="a regressor") | none,
        "cv": CRITERIA,
        "x_features": a_slot,
    }

    def __init__(
        self,
        *,
        x_features: Any = None,
        regressor: Any = None,
        loss: Any = None,
        class_weight: Any = None,
        cv: Any = "loo",
        calibration: str | None = "left_out",
    ):
        self.x_features = x_features
        self.regressor = regressor
        self.loss = loss
        self.class_weight = class_weight
        self.cv = cv
        self.calibration = calibration

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = self.regressor is None
        return tags

    def get_metadata_routing(self) -> Any:
        """What it asks for itself, and its parts, see scikit-learn's metadata routing."""
        return routing_of(self)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        **fit_params: Any,
    ) -> "DependencyClassifier":
        """Learn from inputs and classes (n,) or label sets (n, n_labels); return self.

        Parameters
        ----------
        X, y : inputs and classes or label sets, as many of each
        sample_weight : array of shape (n,) or None, default=None
            How often each row counts.
        groups : array of shape (n,) or None, default=None
            Rows of a group are left out together.
        **fit_params
            With ``sklearn.set_config(enable_metadata_routing=True)``, what parts have asked for.
        """
        if y is None:
            raise ValueError(
                "DependencyClassifier requires y to be passed, but the target y is None."
            )
        X = check_loss_inputs(self, X, reset=True)
        y = y if sparse.issparse(y) else np.asarray(y)
        check_length(self, n_objects(X), n_objects(y), what="labels as inputs")
        X, y, given = counted_rows(self, X, y, sample_weight, groups, fit_params)
        sets = y.ndim == 2 and y.shape[1] > 1
        if sets:
            Y = Hamming().check(y)
            classes, numbers = np.arange(Y.shape[1]), None
            loss = self._loss_of_labels(Y, given)
        else:
            assert_all_finite(y, input_name="y")
            check_classification_targets(y)
            Y = column_or_1d(y, warn=True)
            classes, numbers = np.unique(Y, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    "DependencyClassifier needs samples of at least 2 classes, but the data "
                    f"contains only one class: {classes.tolist()[0]!r}"
                )
            loss = self._loss_of_classes(classes, numbers, given)
        cv = self._folds(numbers, given)
        model = DependencyEstimator(
            x_features=self.x_features, regressor=self.regressor, loss=loss, cv=cv
        )
        model = fit_square(model, X, Y, given)

        indicators = Y if sets else np.eye(len(classes))[numbers]
        calibrate = self.calibration is not None
        head, left_out, rows = left_out_columns(model, X, indicators, given, calibrate=calibrate)
        self.calibration_ = None
        if left_out is not None:
            some: Any = indicators[rows]
            dense = np.asarray(some.toarray() if sparse.issparse(some) else some)
            own = None if given.counts is None else given.counts[rows]
            self.calibration_ = (
                calibrate_labels(left_out, dense, own)
                if sets
                else calibrate_classes(left_out, np.argmax(dense, axis=1), own)
            )
        self.classes_, self.model_, self._sets = classes, model, sets
        self.indicator_regressor_ = head
        return self

    def predict(self, X: Any) -> Any:
        """Return the classes (n,), or label sets (n, n_labels) in the form they came in."""
        check_is_fitted(self)
        X = check_loss_inputs(self, X, reset=False)
        found = self.model_.predict(X)
        return found if self._sets else np.asarray(found, dtype=self.classes_.dtype)

    def decision_function(self, X: Any) -> Array:
        """Return the predicted indicators (n, n_classes); of two classes, their difference (n,)."""
        values = self._values(X)
        if self._sets:
            return values - 0.5
        if self._two:
            return values[:, 1] - values[:, 0]
        return values

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities: of the classes, or for label sets of each label (n, n_labels)."""
        return self.probabilities_from(self._values(X))

    def probabilities_from(self, values: Array) -> Array:
        """Return the probabilities for predicted indicators (n, n_classes)."""
        if self.calibration_ is not None:
            return self.calibration_.probabilities(values)
        clipped = np.clip(values, 0, 1)
        if self._sets:
            return clipped
        sums = clipped.sum(axis=1, keepdims=True)
        return np.where(sums > 0, clipped / np.where(sums > 0, sums, 1), 1 / values.shape[1])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def _two(self) -> bool:
        return len(self.classes_) == 2

    def _values(self, X: Any) -> Array:
        check_is_fitted(self)
        X = check_loss_inputs(self, X, reset=False)
        return self.indicator_regressor_.predict(self.model_.transform_inputs(X))

    def _loss_of_classes(self, classes: Any, numbers: IntArray, given: Given) -> Any:
        if self.loss is not None:
            self._refuse_class_weight("a loss")
            return as_task_loss(self.loss)
        if self.class_weight is None:
            return ZeroOne()
        if isinstance(self.class_weight, dict):
            y = classes[numbers]
            weights = compute_class_weight(self.class_weight, classes=classes, y=y)
        else:
            mass = np.bincount(numbers, given.counts, minlength=len(classes))
            weights = mass.sum() / (len(classes) * mass)
        # To miss a class costs its weight, whatever is answered in its place.
        costs = (1 - np.eye(len(classes))) * weights
        return CostMatrix(costs, classes=list(classes))

    def _loss_of_labels(self, Y: Any, given: Given) -> Any:
        if self.loss is not None:
            self._refuse_class_weight("a loss")
            return as_task_loss(self.loss)
        if self.class_weight is None:
            return Hamming()
        m = Y.shape[1]
        if isinstance(self.class_weight, dict):
            return Hamming(miss=[self.class_weight.get(j, 1.0) for j in range(m)])
        times = np.ones(Y.shape[0]) if given.counts is None else given.counts
        counts = np.asarray(Y.T @ times, dtype=float).ravel()
        return Hamming(miss=(times.sum() - counts + 1) / (counts + 1))

    def _refuse_class_weight(self, beside: str) -> None:
        if self.class_weight is not None:
            raise ValueError(
                f"DependencyClassifier takes no class_weight beside {beside}. "
                "CostMatrix(costs) holds the costs of classes."
            )

    def _folds(self, numbers: IntArray | None, given: Given) -> Any:
        criterion: Any = self.cv.criterion if isinstance(self.cv, Selection) else self.cv
        if numbers is None or not isinstance(criterion, Integral) or given.groups is not None:
            return given.selection(as_selection(self.cv, self))
        n_folds = min(int(criterion), int(np.bincount(numbers).min()))
        if n_folds < 2:
            return self.cv
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        pairs = list(folds.split(np.zeros(len(numbers)), numbers))
        return Selection(pairs, getattr(self.cv, "max_rows", 2000))
