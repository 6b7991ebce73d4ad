"""Predictions of rows that were left out of the fit."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict

from isthmus.typing import Array, Objects, provides


def left_out_predictions(regressor: Any, X: Objects, Y: Array, n_folds: int) -> Array:
    """Predictions of every row by a regressor that did not see its fold, of the shape of ``Y``.

    What a fitted regressor has chosen on all rows, such as a kernel or a penalty, is kept in the
    folds where it can say what that was: choosing again in each fold gains nothing.
    """
    folds = drawn_folds(n_folds)
    return np.asarray(cross_val_predict(settle(regressor), X, flat(Y), cv=folds)).reshape(Y.shape)


def drawn_folds(n_folds: int) -> KFold:
    """The folds that rows are left out in."""
    return KFold(n_folds, shuffle=True, random_state=0)


def settle(regressor: Any) -> Any:
    """An unfitted copy, with the choices of a fitted regressor fixed where it provides them.

    >>> from sklearn.linear_model import Ridge
    >>> settle(Ridge(2.0))
    Ridge(alpha=2.0)
    """
    return regressor.settled() if "settled" in provides(regressor) else clone(regressor)


def flat(Y: Array) -> Array:
    """A single column as a vector, which every regressor takes; anything else as it is.

    >>> import numpy as np
    >>> flat(np.ones((3, 1))).shape, flat(np.ones((3, 2))).shape
    ((3,), (3, 2))
    """
    return Y[:, 0] if Y.ndim == 2 and Y.shape[1] == 1 else Y


def targets_for(regressor: Any, targets: Array) -> Array:
    """Targets as a regressor takes them: one that knows single outputs alone wants a vector."""
    # Others give back what they get, so that a column stays a column.
    return targets if "several_outputs" in provides(regressor) else flat(targets)
