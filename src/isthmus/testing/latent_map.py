"""The check of manifolds."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.kernels.objects import n_objects
from isthmus.manifold.projection import Search, best_ends
from isthmus.testing.inputs import (
    check_coordinates,
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
from isthmus.testing.words import check_slope
from isthmus.typing import Array, LatentMap, Objects, provides

TOL = 1e-4
VERBS = ("transform", "inverse_transform", "reconstruct", "reconstruction_error", "project")


def check_latent_map(latent_map: LatentMap, X: Objects) -> CheckReport:
    """Check that a manifold keeps its contract on the rows ``X``.

    The map: values, Jacobians by the remainder of Taylor's formula, starts that lie in the domain.
    The methods, where it has them (:class:`isthmus.manifold.BaseLatentMap` derives them): a point
    of the manifold is its own projection, ``reconstruction_error`` is a squared distance,
    ``project`` orders its ends by error, ``complete`` leaves known entries as they are.

    Parameters
    ----------
    latent_map : unfitted manifold
        With a ``random_state`` where it has one. One without ``fit`` is checked as it is.
    X : array of shape (n, d), or objects that the manifold can be fitted on

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import UnsupervisedKernelRegression
    >>> from isthmus.testing import check_latent_map
    >>> t = np.random.default_rng(0).uniform(0, 3, size=40)
    >>> X = np.column_stack([np.cos(t), np.sin(t)])
    >>> report = check_latent_map(UnsupervisedKernelRegression(1, random_state=0), X)
    >>> "known entries come back unchanged" in report.facts
    True
    """
    facts = Facts("latent map", latent_map)
    facts.needs_methods(latent_map, "evaluate", "starts")
    X = in_double(X)
    before, fitted = copied(X), latent_map
    if callable(getattr(latent_map, "fit", None)):
        check_copies(facts, latent_map)
        fitted = clone(latent_map)
        kept = settled_parameters(fitted)
        with facts.works("fit returns the manifold itself"):
            returned = fitted.fit(X)
        facts.holds("fit returns the manifold itself", returned is fitted)
        check_parameters_kept(facts, fitted, kept)
    Z, images = _check_map(facts, fitted)
    _check_projection(facts, fitted, Z, images)
    if all(callable(getattr(fitted, verb, None)) for verb in VERBS):
        _check_verbs(facts, fitted, X, Z)
        if _are_values(fitted, X):
            _check_errors(facts, fitted, X)
            _check_completion(facts, fitted, X)
    again = pickled(facts, fitted)
    if again is not None:
        facts.agree("it can be pickled", again.evaluate(Z).values, images, tol=1e-8)
    check_untouched(facts, X, before)
    return facts.report()


def _are_values(fitted: Any, X: Objects) -> bool:
    """Whether rows are values of the map, as they are or in other units: nothing is lost."""
    if not is_table(X) or not callable(getattr(fitted, "encode", None)):
        return is_table(X)
    back = np.asarray(fitted.decode(fitted.encode(X)))
    return back.shape == X.shape and np.allclose(back, X, rtol=1e-9, atol=1e-9 * np.abs(X).max())


def _check_map(facts: Facts, fitted: Any) -> tuple[Array, Array]:
    """Values, Jacobians and starts; some of the starts and their images."""
    with facts.works("starts gives latent points and their images"):
        places, images = (np.asarray(part) for part in fitted.starts())
    check_coordinates(facts, "the latent part of starts", places, len(images), None)
    some = generator().permutation(len(places))[:12]
    Z = places[some]
    with facts.works("evaluate gives values, jacobian and feasible"):
        found, plain = fitted.evaluate(Z, jacobian=True), fitted.evaluate(Z)
        values, J = np.asarray(found.values), np.asarray(found.jacobian)
    n, d, q = len(Z), values.shape[1], Z.shape[1]
    facts.holds(
        "evaluate gives values (n, d), jacobian (n, d, q) and feasible (n,)",
        values.shape == (n, d) and J.shape == (n, d, q) and np.shape(found.feasible) == (n,),
        f"Found {values.shape}, {J.shape} and {np.shape(found.feasible)}.",
    )
    facts.holds("without jacobian=True there is none", plain.jacobian is None)
    facts.agree("values do not depend on whether slopes are wanted", plain.values, values, tol=1e-8)
    facts.agree("starts gives latent points and their images", images[some], values, tol=1e-6)
    facts.holds("starts lie in the domain", np.all(fitted.domain.contains(places)))
    one = fitted.evaluate(Z[:1]).values
    facts.agree("the value at a point does not depend on the others", one, values[:1], tol=1e-8)
    _check_jacobian(facts, fitted, Z, J)
    return Z, values


def _check_jacobian(facts: Facts, fitted: Any, Z: Array, J: Array) -> None:
    rng = generator()
    spread = np.asarray(fitted.starts()[0]).std(axis=0)
    D = 0.01 * spread * rng.uniform(-1, 1, size=Z.shape)
    # At the ends of the domain a map need not go on.
    inside = np.asarray(fitted.domain.contains(Z + D) & fitted.domain.contains(Z - D))
    Z, D, J = Z[inside], D[inside], J[inside]
    W = rng.normal(size=J.shape[:2])
    check_slope(
        facts,
        "the Jacobian is that of the values",
        lambda t: float(np.vdot(W, fitted.evaluate(Z + t * D).values)),
        float(np.einsum("nd,ndq,nq->", W, J, D)),
        float(np.abs(W).sum() * max(np.abs(fitted.evaluate(Z).values).max(initial=0.0), 1e-300)),
    )


def _check_projection(facts: Facts, fitted: Any, Z: Array, images: Array) -> None:
    """Points of the manifold are found by a search over the map alone."""
    feasible = np.asarray(fitted.evaluate(Z).feasible)
    if not feasible.any():
        raise facts.broken("projections may end at some of the starts", "Found none.")
    fact = "a point of the manifold is found by projection"
    with facts.works(fact):
        ends = best_ends(fitted, images[feasible], None, Search())
    size = float(np.mean(np.var(images, axis=0)) * images.shape[1])
    facts.holds(
        fact,
        ends.error.max() <= TOL**2 * max(size, np.finfo(float).tiny),
        f"Found a squared distance of {ends.error.max():.3g}.",
    )
    facts.holds("projections end in the domain", np.all(fitted.domain.contains(ends.latent)))


def _check_verbs(facts: Facts, fitted: Any, X: Objects, Z: Array) -> None:
    n, q = n_objects(X), Z.shape[1]
    with facts.works("transform projects the rows it was fitted on"):
        latent = np.asarray(fitted.transform(X))
    check_coordinates(facts, "transform", latent, n, q)
    facts.holds("transform ends in the domain", np.all(fitted.domain.contains(latent)))
    embedding = getattr(fitted, "embedding_", None)
    if embedding is not None:
        found = fitted.domain.contains(fitted.domain.wrap(np.asarray(embedding)))
        facts.holds("embedding_ lies in the domain", np.all(found))
    with facts.works("inverse_transform gives an object for each latent point"):
        back = fitted.inverse_transform(Z)
    facts.holds(
        "inverse_transform gives an object for each latent point", n_objects(back) == len(Z)
    )
    with facts.works("project tells all ends"):
        projection = fitted.project(X)
    if "posterior" not in provides(fitted):  # whose transform may be a mean
        facts.agree("the first end is that of transform", projection.latent, latent, tol=TOL)
    errors = np.asarray(projection.end_errors)
    pairs = np.isfinite(errors[:, 1:])
    size = float(np.abs(errors[np.isfinite(errors)]).max())
    rising = errors[:, 1:][pairs] >= errors[:, :-1][pairs] * (1 - TOL) - TOL**2 * size
    facts.holds("project orders its ends by error", rising.all(), f"Found {errors[:2]}.")
    # `size` may be zero where every row lies on the manifold.
    facts.agree("its error is that of the first end", projection.error, errors[:, 0], tol=1e-8)


def _check_errors(facts: Facts, fitted: Any, X: Array) -> None:
    near = np.asarray(fitted.reconstruct(X))
    check_coordinates(facts, "reconstruct", near, len(X), X.shape[1])
    squared = ((near - X) ** 2).sum(axis=1)
    scale = float(np.mean(((X - X.mean(axis=0)) ** 2).sum(axis=1)))
    error = np.asarray(fitted.reconstruction_error(X))
    facts.holds(
        "reconstruction_error is the squared distance from reconstruct",
        error.shape == squared.shape and np.abs(error - squared).max() <= TOL * scale,
        f"Found {error[:3]} where the squared distances are {squared[:3]}.",
    )
    again = np.asarray(fitted.reconstruct(near))
    facts.holds(
        "a point of the manifold is its own projection",
        ((again - near) ** 2).sum(axis=1).max() <= TOL * scale,
    )
    if callable(getattr(fitted, "score", None)):
        facts.holds(
            "score is minus the mean of reconstruction_error",
            abs(fitted.score(X) + error.mean()) <= TOL * scale,
        )


def _check_completion(facts: Facts, fitted: Any, X: Array) -> None:
    gaps = X[:8].copy()
    gaps[np.arange(len(gaps)), np.arange(len(gaps)) % X.shape[1]] = np.nan
    if not _keeps_gaps(fitted, gaps):
        return
    known = ~np.isnan(gaps)
    with facts.works("complete fills in what is missing"):
        filled = np.asarray(fitted.complete(gaps))
    facts.holds(
        "complete fills in what is missing",
        filled.shape == gaps.shape and not np.isnan(filled).any(),
    )
    facts.holds("known entries come back unchanged", np.array_equal(filled[known], gaps[known]))
    weighted = np.asarray(fitted.complete(gaps, weights=np.ones(X.shape[1])))
    facts.agree("weights of one change nothing", weighted, filled, tol=TOL)


def _keeps_gaps(fitted: Any, gaps: Array) -> bool:
    """Whether a component that is not known is one of the values; encodings may mix them."""
    if not callable(getattr(fitted, "encode", None)):
        return True
    try:
        codes = np.asarray(fitted.encode(gaps))
    except ValueError:
        return False
    return np.array_equal(np.isnan(codes), np.isnan(gaps))
