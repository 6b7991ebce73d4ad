"""Regression through coordinates of largest distance correlation."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int, refusal
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, having, integer, none
from isthmus.features.distance_correlation.estimator import DistanceCorrelationReduction
from isthmus.features.distance_correlation.relevance import COORDINATE_ALPHAS, RelevanceRidge
from isthmus.structured.dependency import DependencyEstimator
from isthmus.typing import Array

N_COMPONENTS = 5


class DistanceCorrelationRegressor(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Regression through few coordinates: :math:`\hat y(x)=\psi(\varphi(x))`.

    :math:`\varphi` is a :class:`~isthmus.features.DistanceCorrelationReduction` and :math:`\psi` a
    regression of the outputs on its coordinates [Tonde2016]_.

    :math:`\psi` is trained on the optimal coordinates of the training rows, which contain their
    outputs; for new rows, predictions take the place of the outputs, so the whole is about as good
    as the regression inside :math:`\varphi`. ``crossfit`` trains it on coordinates that were
    predicted with the fold of each row left out: better where the regression inside follows its
    training outputs too closely, worse where many components are kept (see
    :class:`~isthmus.features.DistanceCorrelationReduction`).

    Parameters
    ----------
    n_components : int or None, default=None
        None takes that of ``reduction`` where one is given, and otherwise 5, or as many as there
        are.
    reduction : DistanceCorrelationReduction or None, default=None
        None is one with default parameters.
    regressor : regressor or None, default=None
        :math:`\psi`. None is kernel ridge with the kernel and the penalty chosen by
        leave-one-out, on landmarks beyond 4000 rows.
    crossfit : int or None, default=None
        Number of folds. None trains :math:`\psi` on the optimal coordinates, as published.

    Attributes
    ----------
    square_ : fitted DependencyEstimator
        The map, of which the two below are parts.
    reduction_ : fitted DistanceCorrelationReduction
    regressor_ : fitted regressor
    n_components_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.structured import DistanceCorrelationRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2
    >>> model = DistanceCorrelationRegressor(2).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.8)
    True
    """

    __module__ = "isthmus.structured"
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "reduction": having("fit", "transform", text="a DistanceCorrelationReduction") | none,
        "regressor": having("fit", "predict", text="a regressor") | none,
        "crossfit": integer(2) | none,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        reduction: Any = None,
        regressor: Any = None,
        crossfit: int | None = None,
    ):
        self.n_components = n_components
        self.reduction = reduction
        self.regressor = regressor
        self.crossfit = crossfit

    def fit(self, X: Any, y: Any) -> "DistanceCorrelationRegressor":
        """Learn both maps; return self."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X, Y = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=3,
        )
        n_most = min(X.shape[0] - 1, X.shape[1] + (1 if Y.ndim == 1 else Y.shape[1]))
        regressor = self.regressor
        if regressor is None:
            # Coordinates are scaled by what they are worth already.
            regressor = RelevanceRidge(powers=(0.0,), alpha=COORDINATE_ALPHAS)
        square = DependencyEstimator(
            x_features=self._unfitted_reduction(n_most),
            y_features="passthrough",
            regressor=regressor,
            crossfit=self.crossfit,
        ).fit(X, np.asarray(Y, dtype=np.float64))

        self.square_ = square
        self.reduction_, self.regressor_ = square.x_features_, square.regressor_
        self.n_components_ = int(self.reduction_.embedding_.shape[1])
        return self

    def predict_coordinates(self, X: Any) -> Array:
        """Return the coordinates of ``X``, shape ``(n, n_components_)``."""
        check_is_fitted(self)
        return self.reduction_.transform(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: Any) -> Array:
        """Return the predicted outputs, of the shape that ``y`` had."""
        check_is_fitted(self)
        return self.square_.predict(validate_data(self, X, dtype=np.float64, reset=False))

    def _unfitted_reduction(self, n_most: int) -> DistanceCorrelationReduction:
        slot = self.reduction
        if slot is not None and not isinstance(slot, DistanceCorrelationReduction):
            expected = "a DistanceCorrelationReduction or None"
            raise TypeError(refusal(self, "reduction", expected, slot))
        reduction = DistanceCorrelationReduction() if slot is None else clone(slot)
        reduction.set_params(labels=False)
        if self.n_components is not None:
            d = check_int(
                self.n_components, "n_components", self, low=1, high=n_most, why="columns, rows - 1"
            )
            reduction.set_params(n_components=d)
        elif slot is None:
            reduction.set_params(n_components=min(N_COMPONENTS, n_most))
        return reduction
