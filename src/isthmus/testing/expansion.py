"""The check of machines that hold an expansion."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import n_objects
from isthmus.reduction.compression import compress
from isthmus.testing.inputs import copied, same
from isthmus.testing.report import CheckReport, Facts
from isthmus.typing import HoldsExpansion, Objects

TOL = 1e-6
OUTPUTS = ("decision_function", "predict", "transform", "distances")


def check_expansion_holder(estimator: HoldsExpansion, X: Objects, y: Any = None) -> CheckReport:
    """Check that an estimator holds its functions as an expansion that can be exchanged.

    That is what :func:`isthmus.reduction.compress` asks for.

    Parameters
    ----------
    estimator : unfitted estimator
        With ``decision_function``, ``predict``, ``transform`` or ``distances``.
    X : objects
    y : outputs, default=None

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import KernelRidgeCV
    >>> from isthmus.testing import check_expansion_holder
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> check_expansion_holder(KernelRidgeCV(), X, np.sin(X[:, 0])).contract
    'holder of an expansion'
    """
    facts = Facts("holder of an expansion", estimator)
    facts.needs_methods(estimator, "fit", "with_expansion")
    outputs = [name for name in OUTPUTS if callable(getattr(estimator, name, None))]
    if not outputs:
        raise TypeError(f"{facts.part} has none of the methods {', '.join(OUTPUTS)}.")
    model = clone(estimator)
    model = model.fit(X) if y is None else model.fit(X, y)
    held = model.expansion_
    if not isinstance(held, Expansion):
        raise TypeError(
            f"The expansion_ of {facts.part} must be an isthmus.kernels.Expansion. "
            f"Got {held!r:.60} instead."
        )
    values = np.asarray(getattr(model, outputs[0])(X))
    _check_exchange(facts, model, outputs[0], X, values)
    n = n_objects(held.objects)
    with facts.works("compress makes it shorter"):
        short = compress(model, max(1, n // 2), points="kept")
    size = n_objects(short.expansion_.objects)
    facts.holds("compress makes it shorter", size < n, f"Found {size} of {n} objects.")
    facts.holds(
        "a shorter one gives as many outputs",
        np.shape(getattr(short, outputs[0])(X)) == values.shape,
    )
    return facts.report()


def _check_exchange(
    facts: Facts, model: HoldsExpansion, output: str, X: Objects, values: Any
) -> None:
    held = model.expansion_
    weights = copied(held.weights)
    fact = "with its own expansion it gives the same"
    with facts.works(fact):
        twin = model.with_expansion(held)
        found = np.asarray(getattr(twin, output)(X))
    facts.agree(fact, found, values, tol=TOL)
    facts.holds("with_expansion returns a copy", twin is not model)
    nothing = held.over(held.objects, np.zeros_like(held.weights))
    with facts.works("with_expansion takes another expansion"):
        other = model.with_expansion(nothing)
        changed = np.asarray(getattr(other, output)(X))
    facts.holds(
        "its outputs come from its expansion",
        not np.array_equal(changed, values),
        "Found the same outputs for functions without weights.",
    )
    facts.holds(
        "with_expansion leaves the original alone",
        same(model.expansion_.weights, weights)
        and np.array_equal(np.asarray(getattr(model, output)(X)), values),
    )
