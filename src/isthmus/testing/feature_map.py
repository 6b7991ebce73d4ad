"""The check of feature maps."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.kernels.objects import n_objects, take
from isthmus.testing.axes import check_axes
from isthmus.testing.inputs import (
    check_coordinates,
    check_copies,
    check_parameters_kept,
    check_untouched,
    copied,
    generator,
    halves,
    in_double,
    is_table,
    pickled,
    settled_parameters,
)
from isthmus.testing.report import CheckReport, Facts
from isthmus.typing import Array, FeatureMap, Objects, provides

TOL = 1e-5


def check_feature_map(feature_map: FeatureMap, X: Objects, y: Any = None) -> CheckReport:
    """Check that a feature map keeps its contract on the objects ``X``.

    A fit and what follows it: coordinates of the right shape that do not depend on the other
    objects, the same from ``fit_transform``, from another fit and from a pickle; a fit that fails
    leaves the former one. What it declares in ``provides``: ``"expansion"`` (coordinates, origin
    and weights agree), ``"inverse"``, ``"supervised"``, ``"embedding"``, ``"crossfit"``. One that
    does not declare ``"supervised"`` does not look at ``y``.

    Parameters
    ----------
    feature_map : unfitted transformer
        With a ``random_state`` where it has one.
    X : objects
        At least 8 to be fitted on. For a map of Gram matrices, a square one.
    y : array of shape (n,) or (n, n_outputs), default=None
        Outputs for a supervised map.

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.testing import check_feature_map
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> report = check_feature_map(KernelPCA(3), X)
    >>> "axes_ gives the coordinates" in report.facts
    True
    """
    facts = Facts("feature map", feature_map)
    facts.needs_methods(feature_map, "fit", "transform")
    words = provides(feature_map)
    facts.holds("it provides 'transform'", "transform" in words, f"Found {sorted(words)}.")
    if "supervised" in words and y is None:
        raise TypeError(f"{facts.part} provides 'supervised': check_feature_map needs y.")
    check_copies(facts, feature_map)
    X = in_double(X)
    before = copied(X)
    fitted = clone(feature_map)
    kept = settled_parameters(fitted)
    with facts.works("fit returns the map itself"):
        returned = fitted.fit(X, y)
    facts.holds("fit returns the map itself", returned is fitted)
    check_parameters_kept(facts, fitted, kept)
    with facts.works("transform takes the objects it was fitted on"):
        found = fitted.transform(X)
    C = check_coordinates(facts, "transform", found, n_objects(X), None)
    _check_rows(facts, fitted, X, C)
    again = pickled(facts, fitted)
    if again is not None:
        facts.agree("it can be pickled", again.transform(X), C, tol=TOL)
    if _is_repeatable(feature_map, X, y, C):
        _check_fits(facts, feature_map, X, y, C)
        _check_outputs_matter(facts, feature_map, X, y, C)
    _check_declared(facts, feature_map, fitted, X, y, C)
    _check_failing_fit(facts, fitted, X, y)
    check_untouched(facts, X, before)
    return facts.report()


def _check_rows(facts: Facts, fitted: Any, X: Objects, C: Array) -> None:
    some, _ = halves(X)
    fact = "coordinates of an object do not depend on the other objects"
    with facts.works(fact):
        rows = np.asarray(fitted.transform(take(X, some)))
        one = np.asarray(fitted.transform(take(X, some[:1])))
    facts.agree(fact, rows, C[some], tol=TOL)
    facts.agree(fact, one, C[some[:1]], tol=TOL)


def _is_repeatable(feature_map: Any, X: Objects, y: Any, C: Array) -> bool:
    """Whether a second fit finds the same; one that draws at random cannot be compared."""
    other = np.asarray(clone(feature_map).fit(X, y).transform(X))
    return other.shape == C.shape and np.allclose(other, C, atol=TOL * np.abs(C).max(initial=0.0))


def _check_fits(facts: Facts, feature_map: Any, X: Objects, y: Any, C: Array) -> None:
    words = provides(feature_map)
    some = np.sort(halves(X)[0])
    part = X[np.ix_(some, some)] if "pairwise" in words else take(X, some)
    fact = "another fit forgets the former one"
    twice = clone(feature_map)
    with facts.works(fact):
        twice.fit(part, None if y is None else np.asarray(y)[some]).fit(X, y)
    facts.agree(fact, twice.transform(X), C, tol=TOL)
    if "supervised" not in words and callable(getattr(feature_map, "fit_transform", None)):
        fact = "fit_transform gives what fit and transform do"
        with facts.works(fact):
            both = np.asarray(clone(feature_map).fit_transform(X, y))
        facts.agree(fact, both, C, tol=TOL)


def _check_outputs_matter(facts: Facts, feature_map: Any, X: Objects, y: Any, C: Array) -> None:
    """A supervised map uses outputs or refuses to do without, another one does not look."""
    n = n_objects(X)
    if "supervised" not in provides(feature_map):
        fact = "a map that does not provide 'supervised' does not look at y"
        numbers = generator().normal(size=n)
        with facts.works(fact):
            found = np.asarray(clone(feature_map).fit(X, numbers).transform(X))
        facts.agree(fact, found, C, tol=TOL)
        return
    mixed = np.asarray(y)[generator().permutation(n)]
    other = np.asarray(clone(feature_map).fit(X, mixed).transform(X))
    facts.holds(
        "a supervised map learns from y",
        other.shape != C.shape or not np.allclose(other, C, atol=TOL * np.abs(C).max()),
        "Found the same coordinates for other outputs.",
    )


def _check_declared(
    facts: Facts, feature_map: Any, fitted: Any, X: Objects, y: Any, C: Array
) -> None:
    words = provides(feature_map)
    facts.holds("a fit does not take away what it provides", words <= provides(fitted))
    if "expansion" in words:
        check_axes(facts, fitted, X, C)
    if "inverse" in words:
        _check_inverse(facts, fitted, X, C)
    if "embedding" in words:
        rows = np.asarray(fitted.rows_)
        known = check_coordinates(facts, "embedding_", fitted.embedding_, len(rows), C.shape[1])
        facts.holds("rows_ says which objects embedding_ is of", len(known) <= n_objects(X))
    if "crossfit" in words:
        fact = "with crossfit, fit_transform gives left-out coordinates"
        with facts.works(fact):
            left_out = clone(feature_map).set_params(crossfit=2).fit_transform(X, y)
        check_coordinates(facts, fact, left_out, n_objects(X), C.shape[1])


def _check_inverse(facts: Facts, fitted: Any, X: Objects, C: Array) -> None:
    fact = "inverse_transform gives an object for each row of coordinates"
    with facts.works(fact):
        back = fitted.inverse_transform(C)
    facts.holds(fact, n_objects(back) == len(C), f"Found {n_objects(back)} for {len(C)} rows.")
    if is_table(X):
        check_coordinates(facts, "inverse_transform", back, len(C), X.shape[1])


def _check_failing_fit(facts: Facts, fitted: Any, X: Objects, y: Any) -> None:
    """A fit on no objects fails, and then everything is as it was."""
    before = dict(vars(fitted))
    try:
        fitted.fit(take(X, np.empty(0, dtype=int)), None if y is None else np.asarray(y)[:0])
    except Exception:  # whatever a stranger's map raises; only what it leaves behind counts
        after = vars(fitted)
        changed = [name for name in before.keys() | after.keys() if _differs(name, before, after)]
        facts.holds(
            "a fit that fails leaves the former one",
            not changed,
            f"Changed: {', '.join(sorted(changed))}.",
        )


def _differs(name: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    return name not in before or name not in after or before[name] is not after[name]
