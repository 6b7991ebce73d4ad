"""Regression through coordinates of largest distance correlation."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int, former_fit_kept
from isthmus.features.distance_correlation.estimator import DistanceCorrelationReduction
from isthmus.features.distance_correlation.mapping import fitted_last
from isthmus.typing import Array

N_COMPONENTS = 5


class DistanceCorrelationRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Regression through few coordinates: :math:`\hat y(x)=\psi(\varphi(x))`.

    :math:`\varphi` is a :class:`~isthmus.features.DistanceCorrelationReduction` and :math:`\psi` a
    regression of the outputs on its coordinates [Tonde2016]_.

    :math:`\psi` is trained on the optimal coordinates of the training rows, which hold their
    outputs; new rows have predictions in their place, so the whole is about as good as the
    regression inside :math:`\varphi`. ``crossfit`` trains it on coordinates that were predicted
    with the fold of each row left out: better where the regression inside follows its training
    outputs too closely, worse where many components are kept (see
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
    reduction_ : fitted DistanceCorrelationReduction
    regressor_ : fitted regressor
    n_components_ : int
    training_error_ : float
        Root mean squared error of :math:`\psi` on the coordinates it was trained on. Without
        cross-fitting it says nothing about new rows.

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
        with former_fit_kept(self):
            X, Y = validate_data(
                self,
                X,
                y,
                dtype=np.float64,
                multi_output=True,
                y_numeric=True,
                ensure_min_samples=3,
            )
            Y = np.asarray(Y, dtype=np.float64)
            if self.crossfit is not None:
                check_int(self.crossfit, "crossfit", self, low=2)
            n_most = min(X.shape[0] - 1, X.shape[1] + (1 if Y.ndim == 1 else Y.shape[1]))
            reduction = self._unfitted_reduction(n_most)
            if self.crossfit is None:
                reduction.fit(X, Y)
                Z, T = reduction.embedding_, Y[reduction.rows_]
            else:
                Z, T = reduction.fit_transform(X, Y), Y
            regressor = fitted_last(self.regressor, Z, T)

        self.reduction_, self.regressor_ = reduction, regressor
        self.n_components_ = int(Z.shape[1])
        residuals = np.asarray(regressor.predict(Z)).reshape(T.shape) - T
        self.training_error_ = float(np.sqrt(np.mean(residuals**2)))
        return self

    def predict_coordinates(self, X: Any) -> Array:
        """Return the coordinates of ``X``, shape ``(n, n_components_)``."""
        check_is_fitted(self)
        return self.reduction_.transform(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: Any) -> Array:
        """Return the predicted outputs, of the shape that ``y`` had."""
        coordinates = self.predict_coordinates(X)
        return np.asarray(self.regressor_.predict(coordinates))

    def _unfitted_reduction(self, n_most: int) -> DistanceCorrelationReduction:
        slot = self.reduction
        if slot is not None and not isinstance(slot, DistanceCorrelationReduction):
            raise TypeError(
                f"The 'reduction' parameter of {type(self).__name__} must be a "
                f"DistanceCorrelationReduction or None. Got {slot!r:.80} instead."
            )
        reduction = DistanceCorrelationReduction() if slot is None else clone(slot)
        reduction.set_params(crossfit=self.crossfit, labels=False)
        if self.n_components is not None:
            d = check_int(
                self.n_components, "n_components", self, low=1, high=n_most, why="columns, rows - 1"
            )
            reduction.set_params(n_components=d)
        elif slot is None:
            reduction.set_params(n_components=min(N_COMPONENTS, n_most))
        return reduction
