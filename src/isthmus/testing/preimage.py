"""The check of pre-images."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.objects import n_objects, take
from isthmus.testing.inputs import (
    check_copies,
    check_parameters_kept,
    check_untouched,
    copied,
    generator,
    in_double,
    is_table,
    pickled,
    settled_parameters,
)
from isthmus.testing.report import CheckReport, Facts
from isthmus.typing import OBJECT_KINDS, Array, Objects, Preimage, missing, needs, provides

# Searches end a little apart from each other; their errors are compared to this share.
TOL = 1e-3
N_QUERIES = 4


def check_preimage(
    preimage: Preimage, X: Objects, feature_map: Any = None, *, approximate: bool = False
) -> CheckReport:
    """Check that a pre-image keeps its contract on the objects ``X``.

    It asks in ``needs`` for all that it uses of the feature map and refuses one that lacks it;
    ``solve`` gives an object for each row of coordinates, whatever the other rows are, and takes
    ``start``; ``objective`` is not negative, and no worse for what was found than for any object
    it was fitted on.

    Parameters
    ----------
    preimage : unfitted pre-image
    X : objects
        At least 12 to be fitted on.
    feature_map : unfitted feature map or None, default=None
        One that provides what the pre-image needs; None is ``KernelPCA()``. A pre-image that needs
        ``"weights"`` is given weights over ``X`` in place of coordinates.
    approximate : bool, default=False
        True for a pre-image that does not minimise its objective, such as a learned one or one
        that obeys constraints: what it finds need only be better than an object taken at random.

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.preimage import GradientPreimage
    >>> from isthmus.testing import check_preimage
    >>> X = np.random.default_rng(0).uniform(size=(20, 2))
    >>> report = check_preimage(GradientPreimage(), X)
    >>> "it works with a map that has no more than it needs" in report.facts
    True
    """
    facts = Facts("pre-image", preimage)
    facts.needs_methods(preimage, "fit", "solve", "objective")
    asked = needs(preimage)
    facts.holds("it provides 'solve'", "solve" in provides(preimage))
    check_copies(facts, preimage)
    X = in_double(X)
    before = copied(X)
    fitted_map = clone(KernelPCA() if feature_map is None else feature_map).fit(X)
    offered = provides(fitted_map) | ({"vectors"} if is_table(X) else {"objects"}) | {"weights"}
    lacking = missing(asked, offered)
    if lacking:
        raise TypeError(
            f"{facts.part} needs {', '.join(lacking)} of the feature map, which "
            f"{type(fitted_map).__name__} does not provide: check_preimage needs another one."
        )
    C = _coordinates(asked, fitted_map, X)
    solver = clone(preimage)
    kept = settled_parameters(solver)
    with facts.works("fit returns the pre-image itself"):
        returned = solver.fit(X, fitted_map, C)
    facts.holds("fit returns the pre-image itself", returned is solver)
    check_parameters_kept(facts, solver, kept)
    Q = _queries(C)
    found = _check_solutions(facts, solver, X, Q)
    _check_objective(facts, solver, X, Q, found, approximate)
    _check_independence(facts, solver, Q, found)
    again = pickled(facts, solver)
    if again is not None:
        _check_same(facts, "it can be pickled", solver, Q, again.solve(Q), found)
    if "weights" not in asked and "pairwise" not in offered:
        _check_needs(facts, preimage, fitted_map, X, Q)
    if "learned" in provides(preimage):
        _check_learned(facts, preimage, fitted_map, X, C)
    check_untouched(facts, X, before)
    return facts.report()


def _coordinates(asked: frozenset[str], fitted_map: Any, X: Objects) -> Array:
    """Coordinates of the objects, or weights over them, whichever is asked for."""
    if "weights" in asked:
        return np.eye(n_objects(X))
    return np.asarray(fitted_map.transform(X))


def _queries(C: Array) -> Array:
    """Points of two kinds: images of objects, and points between images."""
    # Not half-way, where rounding would decide which of the two is nearer.
    between = 0.6 * C[:N_QUERIES] + 0.4 * C[N_QUERIES : 2 * N_QUERIES]
    return np.concatenate([C[:N_QUERIES], between])


def _check_solutions(facts: Facts, solver: Preimage, X: Objects, Q: Array) -> Objects:
    fact = "solve gives an object for each row of coordinates"
    with facts.works(fact):
        found = solver.solve(Q)
    _check_kind(facts, fact, found, X, Q)
    with facts.works("solve takes start, an object for each row"):
        started = solver.solve(Q, start=take(X, np.arange(len(Q))))
    _check_kind(facts, "solve takes start, an object for each row", started, X, Q)
    return found


def _check_kind(facts: Facts, fact: str, found: Objects, X: Objects, Q: Array) -> None:
    facts.holds(fact, n_objects(found) == len(Q), f"Found {n_objects(found)} for {len(Q)} rows.")
    if is_table(X):
        table = np.asarray(found)
        facts.holds(
            "vectors that are found are finite and as long as those it was fitted on",
            table.shape == (len(Q), X.shape[1]) and np.isfinite(table).all(),
            f"Found shape {table.shape}.",
        )


def _check_objective(
    facts: Facts, solver: Preimage, X: Objects, Q: Array, found: Objects, approximate: bool
) -> None:
    n = n_objects(X)
    with facts.works("objective compares each row with an object"):
        reached = np.asarray(solver.objective(Q, found))
        pairs = solver.objective(np.repeat(Q, n, axis=0), take(X, np.tile(np.arange(n), len(Q))))
    facts.holds(
        "objective gives a number for each row", reached.shape == (len(Q),), f"{reached.shape}."
    )
    every = np.asarray(pairs).reshape(len(Q), n)
    size = float(np.abs(every).max())
    facts.holds(
        "objective is not negative",
        min(reached.min(), every.min()) >= -1e-8 * size,
        f"Found {min(reached.min(), every.min()):.3g}.",
    )
    if approximate:
        facts.holds(
            "what is found is better than an object taken at random",
            reached.mean() < every.mean(),
            f"Found {reached.mean():.3g} where such an object has {every.mean():.3g}.",
        )
        return
    worse = float(np.max(reached - every.min(axis=1)))
    facts.holds(
        "what is found is no worse than any object it was fitted on",
        worse <= TOL * size,
        f"Found an objective that is {worse:.3g} above that of the best. A pre-image that does not "
        "minimise its objective is checked with approximate=True.",
    )


def _check_independence(facts: Facts, solver: Preimage, Q: Array, found: Objects) -> None:
    fact = "the answer for a row does not depend on the other rows"
    for i in (0, len(Q) - 1):
        with facts.works(fact):
            alone = solver.solve(Q[i : i + 1])
        _check_same(facts, fact, solver, Q[i : i + 1], alone, take(found, [i]))


def _check_same(
    facts: Facts, fact: str, solver: Preimage, Q: Array, got: Objects, expected: Objects
) -> None:
    """Vectors agree; of other objects the objective does, since several may be equally good."""
    if is_table(np.asarray(expected)):
        facts.agree(fact, got, expected, tol=TOL)
    else:
        facts.agree(fact, solver.objective(Q, got), solver.objective(Q, expected), tol=TOL)


class NarrowMap:
    """A fitted feature map that shows what it is asked for and nothing else."""

    def __init__(self, fitted_map: Any, words: frozenset[str]):
        self.provides = words
        self.transform = fitted_map.transform
        if "expansion" in words:
            self.axes_, self.origin_ = fitted_map.axes_, fitted_map.origin_
            self.axes_gram_, self.expand = fitted_map.axes_gram_, fitted_map.expand
        if "inverse" in words:
            self.inverse_transform = fitted_map.inverse_transform


def _check_needs(facts: Facts, preimage: Preimage, fitted_map: Any, X: Objects, Q: Array) -> None:
    kinds = provides(fitted_map) & OBJECT_KINDS
    words = needs(preimage) | {"transform"} | kinds
    with facts.works("it works with a map that has no more than it needs"):
        solver = clone(preimage).fit(X, NarrowMap(fitted_map, words))
        solver.objective(Q, solver.solve(Q))
    fact = "a map without something it needs is refused, if at all, with a TypeError that names it"
    for word in sorted(needs(preimage) - OBJECT_KINDS):
        try:
            clone(preimage).fit(X, NarrowMap(fitted_map, words - {word}))
        except TypeError as error:
            facts.holds(fact, repr(word) in str(error), f"Found {error}")
        except Exception as error:
            raise facts.broken(fact, f"Found {type(error).__name__}: {error}") from error


def _check_learned(facts: Facts, preimage: Preimage, fitted_map: Any, X: Objects, C: Array) -> None:
    mixed = C[generator().permutation(len(C))]
    own, other = (clone(preimage).fit(X, fitted_map, c).solve(C[:N_QUERIES]) for c in (C, mixed))
    facts.holds(
        "a learned pre-image learns from the coordinates it is fitted on",
        not np.allclose(np.asarray(own), np.asarray(other)),
        "Found the same answers for other coordinates.",
    )
