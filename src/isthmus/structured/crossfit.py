"""Coordinates as new objects will get them: of rows that were left out."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.kernels.objects import concatenate, n_objects, take
from isthmus.regression.left_out import flat, left_out_predictions, settle, targets_for
from isthmus.structured.given import Given
from isthmus.typing import Array, LeavesOut, Objects, provides

NOTHING = Given()


def left_out_inputs(
    x_features: Any, X: Objects, targets: Array, n_folds: int, given: Given = NOTHING
) -> Array:
    r"""Coordinates of training inputs in a supervised map that has not seen their outputs.

    A map that was fitted on the outputs gives training inputs coordinates that hold part of them,
    which new inputs do not have: a regression on those trusts them too much. For each fold the map
    is fitted on the others, :math:`\varphi_k`, and carried into the coordinates of the whole
    :math:`\varphi` by the affine map that agrees best on the rows both have seen.
    """
    whole = np.asarray(x_features.transform(X))
    left_out = np.empty_like(whole, dtype=np.float64)
    for train, test in given.folds(n_folds, len(targets)):
        part = clone(x_features).fit(take(X, train), flat(targets[train]))
        seen = with_constant(np.asarray(part.transform(take(X, train))))
        affine = np.linalg.lstsq(seen, whole[train], rcond=None)[0]
        left_out[test] = with_constant(np.asarray(part.transform(take(X, test)))) @ affine
    return left_out


def enough_rows(X: Objects, n_folds: int) -> bool:
    """Whether every fold leaves out at least two."""
    return n_objects(X) >= 2 * n_folds


def with_constant(Z: Array) -> Array:
    """The coordinates with a column of ones."""
    return np.column_stack([Z, np.ones(len(Z))])


def fit_inputs(
    x_features: Any,
    X: Objects,
    more_X: Objects,
    targets: Array,
    n_folds: int | None,
    given: Given = NOTHING,
) -> tuple[Any, Any]:
    """Coordinates for T to learn from, and the rows they belong to; φ is fitted.

    A supervised φ is given the targets; T learns from left-out coordinates in ``n_folds`` folds.
    """
    everything: Any = slice(None)
    if x_features is None:
        return X, everything
    words = provides(x_features)
    told = given.arguments("x_features", x_features) if more_X is None else {}
    if "supervised" not in words:
        if more_X is None:
            return np.asarray(fit_transform(x_features, X, flat(targets), **told)), everything
        return np.asarray(x_features.fit(concatenate(X, more_X)).transform(X)), everything
    if n_folds is None:
        x_features.fit(X, flat(targets), **told)
        if "embedding" in words:
            return x_features.embedding_, x_features.rows_
        return np.asarray(x_features.transform(X)), everything
    if "crossfit" in words:
        x_features.set_params(crossfit=n_folds)
        return np.asarray(x_features.fit_transform(X, flat(targets), **told)), everything
    x_features.fit(X, flat(targets), **told)
    return left_out_inputs(x_features, X, targets, n_folds, given), everything


def left_out_coordinates(
    regressor: Any, inputs: Any, targets: Array, n_folds: int, given: Given
) -> Array:
    """Predictions of every row by a regressor that did not see its fold.

    What the fitted regressor has chosen is kept where it can say what that was.
    """
    if given.counts is None and given.groups is None:
        return left_out_predictions(regressor, inputs, targets, n_folds)
    found = np.empty_like(targets, dtype=np.float64)
    told = given.arguments("regressor", regressor)
    for train, test in given.folds(n_folds, len(targets)):
        own = {name: value[train] for name, value in told.items() if np.ndim(value)}
        part = settle(regressor).fit(take(inputs, train), flat(targets[train]), **own)
        found[test] = np.asarray(part.predict(take(inputs, test))).reshape(len(test), -1)
    return found


def fit_transform(features: Any, X: Any, y: Any = None, **told: Any) -> Any:
    """What ``fit_transform`` gives where there is one: a fitted, frozen map has none."""
    if callable(getattr(features, "fit_transform", None)):
        return features.fit_transform(X, y, **told)
    return features.fit(X, y, **told).transform(X)


def output_coordinates(y_features: Any, Y: Any, more_Y: Any, given: Given) -> Array:
    """Coordinates of ``Y``, whose features are fitted on more of them."""
    if y_features is None:
        return np.asarray(Y)
    if more_Y is Y:
        told = given.arguments("y_features", y_features)
        return np.asarray(fit_transform(y_features, Y, **told))
    return np.asarray(y_features.fit(more_Y).transform(Y))


def fit_map(
    regressor: Any, inputs: Any, targets: Array, n_folds: int | None, given: Given
) -> tuple[Any, Array | None]:
    """T, fitted, and what it predicts for every row without its fold; None without folds."""
    told = given.arguments("regressor", regressor, required=True)
    wanted = targets_for(regressor, targets)
    alike = not told and given.groups is None  # every row counts once, and by itself
    if n_folds is not None and alike and "left_out" in provides(regressor):
        able: LeavesOut = regressor
        fitted, left_out = able.fit_left_out(inputs, wanted, n_folds)
        return fitted, np.asarray(left_out).reshape(targets.shape)
    fitted = regressor.fit(inputs, wanted, **told)
    if n_folds is None:
        return fitted, None
    return fitted, left_out_coordinates(fitted, inputs, targets, n_folds, given)


def coordinates_to_invert(
    targets: Array, left_out: Array | None, y_features: Any, more_Y: Any
) -> Array:
    """Coordinates that stand for the training outputs when Γ is fitted.

    They are the predicted ones of rows left out, where there are any.
    """
    known = targets if left_out is None else left_out
    if n_objects(more_Y) == len(targets):
        return known
    own = np.asarray(y_features.transform(more_Y))
    return own if left_out is None else np.concatenate([left_out, own[len(targets) :]])
