"""The check of smoothers."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from isthmus.kernels.objects import n_objects, take
from isthmus.testing.inputs import (
    check_copies,
    check_untouched,
    copied,
    generator,
    halves,
    in_double,
)
from isthmus.testing.report import CheckReport, Facts
from isthmus.typing import Array, Objects, Smoother, provides

TOL = 1e-6


def check_smoother(smoother: Smoother, X: Objects, y: Any) -> CheckReport:
    """Check that a regressor which provides ``"weights"`` is linear in its training outputs.

    Parameters
    ----------
    smoother : unfitted regressor
    X : objects
        At least 8; half of them are fitted on, all are predicted.
    y : array of shape (n,) or (n, n_outputs)

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import KernelRidgeCV
    >>> from isthmus.testing import check_smoother
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> report = check_smoother(KernelRidgeCV(), X, np.sin(X[:, 0]))
    >>> "smooth with the training outputs is predict" in report.facts
    True
    """
    facts = Facts("smoother", smoother)
    facts.needs_methods(smoother, "fit", "predict", "smooth", "weights")
    facts.holds("it provides 'weights'", "weights" in provides(smoother))
    check_copies(facts, smoother)
    X = in_double(X)
    before = copied(X)
    train = np.sort(halves(X)[0])
    G = np.asarray(y, dtype=float)[train]
    model = clone(smoother)
    with facts.works("fit returns the smoother itself"):
        returned = model.fit(take(X, train), G)
    facts.holds("fit returns the smoother itself", returned is model)
    with facts.works("predict, smooth and weights take new objects"):
        predicted, smoothed = np.asarray(model.predict(X)), np.asarray(model.smooth(X, G))
        W = _dense(model.weights(X))
    facts.agree("smooth with the training outputs is predict", smoothed, predicted, tol=TOL)
    n = n_objects(X)
    facts.holds(
        "weights has a row for each object and a column for each training output",
        W.shape == (n, len(train)),
        f"Found shape {W.shape} for {n} objects and {len(train)} training outputs.",
    )
    facts.agree("weights times the training outputs are the predictions", W @ G, predicted, tol=TOL)
    H = generator().normal(size=(len(train), 3))
    facts.agree("smooth applies the weights to any columns", model.smooth(X, H), W @ H, tol=TOL)
    _check_sums(facts, model, W)
    check_untouched(facts, X, before)
    return facts.report()


def _dense(weights: Any) -> Array:
    return np.asarray(weights.toarray() if sparse.issparse(weights) else weights)


def _check_sums(facts: Facts, model: Any, W: Array) -> None:
    declared = model.sums_to_one
    if not isinstance(declared, (bool, np.bool_)):
        raise TypeError(f"{facts.part}.sums_to_one must be True or False. Got {declared!r}.")
    sums = W.sum(axis=1)
    if declared:
        fact = "every row of weights sums to one, as it declares"
        facts.agree(fact, sums, np.ones_like(sums), tol=TOL)
