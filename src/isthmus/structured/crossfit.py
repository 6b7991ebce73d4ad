"""Coordinates as new objects will get them: of rows that were left out."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from isthmus.kernels.objects import concatenate, n_objects, take
from isthmus.regression.left_out import flat
from isthmus.typing import Array, Objects, provides


def left_out_inputs(x_features: Any, X: Objects, targets: Array, n_folds: int) -> Array:
    r"""Coordinates of training inputs in a supervised map that has not seen their outputs.

    A map that was fitted on the outputs gives training inputs coordinates that hold part of them,
    which new inputs do not have: a regression on those trusts them too much. For each fold the map
    is fitted on the others, :math:`\varphi_k`, and carried into the coordinates of the whole
    :math:`\varphi` by the affine map that agrees best on the rows both have seen.
    """
    whole = np.asarray(x_features.transform(X))
    left_out = np.empty_like(whole, dtype=np.float64)
    for train, test in KFold(n_folds, shuffle=True, random_state=0).split(targets):
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
    x_features: Any, X: Objects, more_X: Objects, targets: Array, n_folds: int | None
) -> tuple[Any, Any]:
    """Coordinates for T to learn from, and the rows they belong to; φ is fitted.

    A supervised φ is given the targets; T learns from left-out coordinates in ``n_folds`` folds.
    """
    everything: Any = slice(None)
    if x_features is None:
        return X, everything
    words = provides(x_features)
    if "supervised" not in words:
        if more_X is None:
            return np.asarray(fit_transform(x_features, X, flat(targets))), everything
        return np.asarray(x_features.fit(concatenate(X, more_X)).transform(X)), everything
    if n_folds is None:
        x_features.fit(X, flat(targets))
        if "embedding" in words:
            return x_features.embedding_, x_features.rows_
        return np.asarray(x_features.transform(X)), everything
    if "crossfit" in words:
        x_features.set_params(crossfit=n_folds)
        return np.asarray(x_features.fit_transform(X, flat(targets))), everything
    x_features.fit(X, flat(targets))
    return left_out_inputs(x_features, X, targets, n_folds), everything


def fit_transform(features: Any, X: Any, y: Any = None) -> Any:
    """What ``fit_transform`` gives where there is one: a fitted, frozen map has none."""
    if callable(getattr(features, "fit_transform", None)):
        return features.fit_transform(X, y)
    return features.fit(X, y).transform(X)
