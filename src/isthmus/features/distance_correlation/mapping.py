"""How new rows get coordinates."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from isthmus.features.distance_correlation.relevance import RelevanceRidge
from isthmus.regression.left_out import flat
from isthmus.typing import Array


class CoordinateMap(NamedTuple):
    """Coordinates ``X @ components.T + Y @ output_components.T``, or those of a regression alone.

    The regression predicts the outputs ``Y`` where there are components, and the coordinates
    themselves where there are none. ``targets`` is what it was trained on.
    """

    components: Array | None
    output_components: Array | None
    regressor: Any
    targets: Array


class LinearPart:
    """The linear part of a fitted map, which is there only where coordinates have one."""

    solver: str
    mapping: str
    _loadings: tuple[Array | None, Array | None]

    @property
    def components_(self) -> Array:
        """How coordinates depend on centred and scaled inputs, (n_components, n_features)."""
        return self._part("components_", 0)

    @property
    def output_components_(self) -> Array:
        """How coordinates depend on centred and scaled outputs, (n_components, n_outputs)."""
        return self._part("output_components_", 1)

    def _part(self, name: str, side: int) -> Array:
        if not hasattr(self, "_loadings"):
            raise AttributeError(f"{type(self).__name__} has {name} after fit. Got no fit yet.")
        found = self._loadings[side]
        if found is None:
            raise AttributeError(
                f"{type(self).__name__} has {name} where its coordinates are linear in them. Got "
                f"solver={self.solver!r}, mapping={self.mapping!r}: take transform."
            )
        return found


def linear_map(directions: Array) -> CoordinateMap:
    """A projection of the inputs, without any regression."""
    return CoordinateMap(directions.T, None, None, np.empty((0, directions.shape[1])))


def fit_map(
    regressor: Any,
    X: Array,
    targets: Array,
    components: tuple[Array, Array] | None = None,
    products: Array | None = None,
) -> CoordinateMap:
    """A map with a fitted regression; by default it is :class:`RelevanceRidge`.

    ``products`` are those of all columns of inputs and targets, if they are known.
    """
    B, C = components if components is not None else (None, None)
    if regressor is None:
        regressor = RelevanceRidge()
    elif isinstance(regressor, str):  # checked to be "stacked"
        from isthmus.features.distance_correlation.stack import StackedRegression

        regressor = StackedRegression()
    elif products is not None:
        from isthmus.features.distance_correlation.plain_ridge import ridge_of_products

        solved = ridge_of_products(regressor, products, X.shape[1])
        if solved is not None:
            return CoordinateMap(B, C, solved, targets)
    fitted = clone(regressor).fit(X, flat(targets))
    return CoordinateMap(B, C, fitted, targets)
