"""Coordinates as new objects will get them: of rows that were left out."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from isthmus.kernels.objects import n_objects, take
from isthmus.regression.left_out import flat
from isthmus.typing import Array, Objects


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
