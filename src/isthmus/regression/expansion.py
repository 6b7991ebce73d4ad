"""A regressor whose functions are known."""

from typing import Any, ClassVar

from sklearn.base import MultiOutputMixin, RegressorMixin

from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, instance
from isthmus.kernels.expansion import Expansion
from isthmus.typing import OBJECT_KINDS, Array


class ExpansionRegressor(MultiOutputMixin, RegressorMixin, Estimator):
    """Predicts the values of an :class:`~isthmus.kernels.Expansion`: fitted from the beginning.

    It stands where a linear map after a kernel feature map was fused with it.
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"expansion": instance(Expansion)}

    def __init__(self, expansion: Expansion):
        self.expansion = expansion

    @property
    def provides(self) -> frozenset[str]:
        """Predictions of what its kernel compares."""
        kinds = self.expansion.kernel.provides & OBJECT_KINDS
        return kinds | {"predict", "several_outputs"}

    @property
    def expansion_(self) -> Expansion:
        """The functions."""
        return self.expansion

    def with_expansion(self, expansion: Expansion) -> "ExpansionRegressor":
        """One with other functions."""
        return ExpansionRegressor(expansion)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> "ExpansionRegressor":
        """Return self: there is nothing to learn."""
        return self

    def predict(self, X: Any) -> Array:
        """Return the values of the functions, shape (n, p)."""
        return self.expansion(self.expansion.kernel.check(X))
