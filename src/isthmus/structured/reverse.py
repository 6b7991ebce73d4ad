"""The way back: the map from outputs to inputs."""

from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted


class Reversible:
    """Methods of a fitted square that remembers its pairs as long as it is in memory."""

    y_features: Any
    x_features: Any
    _pairs: Any

    def reverse(self, X: Any = None, y: Any = None) -> Self:
        """Learn the map from outputs to inputs, the slots exchanged; return a fitted model.

        What stands in ``y_features`` describes the inputs of the new model and what stands in
        ``x_features`` its outputs; the regressor is of the same kind, the pre-image the default
        one. Pairs are those of the last fit, as long as the model is in memory, or those given.
        """
        check_is_fitted(self)
        if X is None:
            if self._pairs is None:
                raise ValueError("A model that was loaded has no training pairs: give it X and y.")
            X, y = self._pairs
        back: Any = clone(self)
        back.set_params(
            x_features=self.y_features, y_features=self.x_features, preimage=None, loss=None
        )
        fitted: Self = back.fit(y, X)
        return fitted

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_pairs": None}
