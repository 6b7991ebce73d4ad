"""The way back: the map from outputs to inputs."""

from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from isthmus.structured.loss_inputs import holds_objects


class Reversible:
    """Methods of a fitted square that remembers its pairs as long as it is in memory."""

    y_features: Any
    x_features: Any
    loss: Any
    _pairs: Any

    def reverse(self, X: Any = None, y: Any = None) -> Self:
        """Learn the map from outputs to inputs, the slots exchanged; return a fitted model.

        What stands in ``y_features`` describes the inputs of the new model and what stands in
        ``x_features`` its outputs; the regressor is of the same kind, the pre-image the default
        one. Pairs are those of the last fit, as long as the model is in memory, or those given.

        A model with a loss of sequences or graphs has no kernel of its outputs to name: the new one
        names the loss of what it predicts, ``"edit"`` for sequences, ``"graph_edit"`` for graphs
        and ``"squared"`` for vectors, and chooses its kernel by it.
        """
        check_is_fitted(self)
        if X is None:
            if self._pairs is None:
                raise ValueError("A model that was loaded has no training pairs: give it X and y.")
            X, y = self._pairs
        back: Any = clone(self)
        slots = {"x_features": self.y_features, "y_features": self.x_features, "loss": None}
        if self.loss is not None and holds_objects(y):
            slots = {"x_features": None, "y_features": None, "loss": loss_of(X)}
        back.set_params(preimage=None, **slots)
        fitted: Self = back.fit(y, X)
        return fitted

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_pairs": None}


def loss_of(outputs: Any) -> str:
    """The name of the loss by which outputs of their kind are predicted."""
    if not holds_objects(outputs):
        return "squared"
    first = outputs[0]
    return "edit" if isinstance(first, str) or hasattr(first, "__getitem__") else "graph_edit"
