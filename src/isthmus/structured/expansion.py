"""The square as one kernel expansion, which :func:`isthmus.reduction.compress` shortens."""

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus.kernels.expansion import Expansion
from isthmus.regression.expansion import ExpansionRegressor
from isthmus.typing import provides


class SquareExpansion:
    """Methods of a fitted square whose predictions are made of functions of the inputs."""

    x_features_: Any
    regressor_: Any

    @property
    def expansion_(self) -> Expansion:
        """The functions of the inputs that predictions are made of."""
        check_is_fitted(self)
        held = getattr(self.regressor_, "expansion_", None)
        if isinstance(held, Expansion):
            return held
        if self.x_features_ is None or "expansion" not in provides(self.x_features_):
            raise AttributeError(
                "DependencyEstimator holds a kernel expansion where its regressor does or its "
                "x_features provide 'expansion'. Got "
                f"{self.x_features_!r:.40} and {self.regressor_!r:.40} instead."
            )
        if not hasattr(self.regressor_, "coef_"):
            return self.x_features_.expansion_
        # A linear T after φ is one expansion: its error is that of the map, while small errors
        # of axes with little variance would be blown up by T.
        coef = np.atleast_2d(self.regressor_.coef_)
        return self.x_features_.axes_.then(coef.T, np.asarray(self.regressor_.intercept_))

    def with_expansion(self, expansion: Expansion) -> Any:
        """A fitted copy that predicts through this expansion in place of :attr:`expansion_`."""
        model = copy.copy(self)
        if isinstance(getattr(self.regressor_, "expansion_", None), Expansion):
            model.regressor_ = self.regressor_.with_expansion(expansion)
        elif hasattr(self.regressor_, "coef_"):
            model.x_features_, model.regressor_ = None, ExpansionRegressor(expansion)
        else:
            model.x_features_ = self.x_features_.with_expansion(expansion)
        return model
