"""The check of regressors that predict rows left out, with the fit."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from isthmus.kernels.objects import n_objects
from isthmus.regression.left_out import flat, settle
from isthmus.testing.inputs import check_copies, check_untouched, copied, in_double
from isthmus.testing.report import CheckReport, Facts
from isthmus.typing import Array, LeavesOut, Objects, provides

TOL = 1e-6
N_FOLDS = 3


def check_left_out(regressor: LeavesOut, X: Objects, y: Any) -> CheckReport:
    """Check that a regressor which provides ``"left_out"`` predicts rows it was not fitted on.

    ``fit_left_out(X, y, n_folds)`` fits on all rows as ``fit`` does, and returns the regressor and
    a prediction of every row without its fold. What was chosen on all rows, such as a kernel or a
    penalty, may be kept in the folds, where the regressor provides ``"settled"`` besides.

    Parameters
    ----------
    regressor : unfitted regressor
    X : objects
        At least 6; each is left out by itself once, and compared with a fit on all others.
    y : array of shape (n,) or (n, n_outputs)

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import KernelRidgeCV
    >>> from isthmus.testing import check_left_out
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> report = check_left_out(KernelRidgeCV(), X, np.sin(X[:, 0]))
    >>> "with a fold for each row, predictions are those of fits on all others" in report.facts
    True
    """
    facts = Facts("regressor that leaves rows out", regressor)
    facts.needs_methods(regressor, "fit", "predict", "fit_left_out")
    facts.holds("it provides 'left_out'", "left_out" in provides(regressor))
    check_copies(facts, regressor)
    X, Y = in_double(X), np.array(y, dtype=float)
    before = copied(X)
    model = clone(regressor)
    first = _left_out(facts, model, X, Y, N_FOLDS)
    facts.agree(
        "the fit is that of fit",
        model.predict(X),
        clone(regressor).fit(X, Y).predict(X),
        tol=TOL,
    )
    again = clone(regressor).fit_left_out(X, Y, N_FOLDS)[1]
    facts.agree("the folds are the same at every call", again, first, tol=TOL)
    # With its choices fixed: these may come from all outputs.
    with facts.works("its choices can be fixed, where it provides 'settled'"):
        fixed = settle(model)
    n = n_objects(X)
    facts.agree(
        "with a fold for each row, predictions are those of fits on all others",
        _left_out(facts, clone(fixed), X, Y, n),
        cross_val_predict(fixed, X, flat(Y), cv=LeaveOneOut()).reshape(Y.shape),
        tol=TOL,
    )
    _check_own_outputs(facts, fixed, X, Y)
    check_untouched(facts, X, before)
    return facts.report()


def _left_out(facts: Facts, model: Any, X: Objects, Y: Array, n_folds: int) -> Array:
    with facts.works("fit_left_out takes objects, outputs and a number of folds"):
        returned, found = model.fit_left_out(X, Y, n_folds)
    facts.holds("fit_left_out returns the regressor itself and predictions", returned is model)
    found = np.asarray(found)
    facts.holds(
        "predictions of rows left out are finite and have the shape of y",
        found.shape == Y.shape and np.isfinite(found).all(),
        f"Found shape {found.shape} for outputs of shape {Y.shape}.",
    )
    return found


def _check_own_outputs(facts: Facts, fixed: Any, X: Objects, Y: Array) -> None:
    """No row's prediction follows its own output."""
    usual = _left_out(facts, clone(fixed), X, Y, N_FOLDS)
    size = float(np.abs(Y).max(initial=0.0)) + 1
    for row in (0, len(Y) // 2, len(Y) - 1):
        moved = Y.copy()
        moved[row] += size
        found = _left_out(facts, clone(fixed), X, moved, N_FOLDS)
        fact = "a row's own output does not change its prediction"
        facts.agree(fact, found[row], usual[row], tol=TOL, size=size)
