"""Coordinates of the training rows, by any of the solvers."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from isthmus.dependence.distances import distance_correlation
from isthmus.features.distance_correlation.formulas import (
    ColumnProducts,
    Reduction,
    Watch,
    column_ties,
    correlations,
    exact_of_products,
    exact_reduction,
    joint_table,
    monotone_reduction,
    ties_of_weights,
)
from isthmus.features.distance_correlation.settings import ReductionSettings
from isthmus.typing import Array


def find_coordinates(
    settings: ReductionSettings,
    X: Array,
    Y: Array,
    products: ColumnProducts,
    n_components: int,
    rng: np.random.RandomState,
    watch: Watch,
) -> tuple[Array | None, Reduction]:
    """The directions of a linear map, if one was asked for, and the coordinates."""
    weight = settings.y_weight
    if settings.solver == "exact":
        return None, exact_of_products(X, Y, weight, n_components, products)
    A = joint_table(X, Y, weight, products)
    control: Any = {"tol": settings.tol, "watch": watch}
    if settings.max_iter is not None:
        control["max_iter"] = settings.max_iter
    if settings.solver == "semi":
        from isthmus.features.distance_correlation.semi import semi_reduction

        return None, semi_reduction(X, Y, weight, settings.exponent, n_components)
    if settings.solver == "mm":
        start = np.random.default_rng(rng.randint(2**31))
        return None, monotone_reduction(A, n_components, start, **control)
    if settings.solver == "published":
        from isthmus.features.distance_correlation.published import published_reduction

        return None, published_reduction(A, X, n_components, **control)[0]
    return _climb(settings, X, Y, A, n_components, control)


def _climb(
    settings: ReductionSettings, X: Array, Y: Array, A: Array, n_components: int, control: Any
) -> tuple[Array | None, Reduction]:
    """True distance correlation, by its gradient."""
    from isthmus.features.distance_correlation.gradient import (
        first_directions,
        free_reduction,
        linear_reduction,
        wanted_distances,
    )

    exponent = settings.exponent
    S = wanted_distances(X, Y, settings.y_weight, exponent)
    if settings.mapping == "linear":
        directions = first_directions(S, X, A, n_components, exponent)
        return linear_reduction(S, X, directions, exponent, **control)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # any of several equal starts will do
        start = exact_reduction(A, n_components).Z
    # Columns without signal have no slope either: give them a little of everything.
    noise = np.random.default_rng(0).standard_normal(start.shape)
    start = start + 1e-3 * np.sqrt(np.mean(start**2)) * noise
    return None, free_reduction(S, start, exponent, **control)


class SideCorrelations(NamedTuple):
    """Squared distance correlations of coordinates with both sides; shares of the columns."""

    of_x: float
    of_y: float
    ties: Array | None


def side_correlations(
    settings: ReductionSettings,
    X: Array,
    Y: Array,
    Z: Array,
    products: ColumnProducts,
    weights: Array | None = None,
) -> SideCorrelations:
    """What the objective is made of; ``weights`` give ``Z = [X, Y] @ weights`` where they do."""
    if settings.solver == "gradient":
        exponent = settings.exponent
        of_x, of_y = (
            distance_correlation(side, Z, exponent=exponent, squared=True) for side in (X, Y)
        )
        return SideCorrelations(float(of_x), float(of_y), None)
    if settings.solver == "semi":
        from isthmus.features.distance_correlation.semi import semi_correlation

        of_x, of_y = (semi_correlation(side, Z, settings.exponent) for side in (X, Y))
        return SideCorrelations(of_x, of_y, None)
    if weights is None or products.all is None:
        sides = zip((X, Y), products.norms, strict=True)
        ties = np.array([column_ties(side, Z, norm) for side, norm in sides])
    else:
        ties = ties_of_weights(weights, X.shape[1], products)
    of_x, of_y = correlations(ties, Z)
    return SideCorrelations(float(of_x), float(of_y), ties)
