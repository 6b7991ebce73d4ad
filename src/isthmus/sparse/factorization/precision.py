"""Factors of a table in single precision: quick steps first, exact ones where they are needed."""

from collections.abc import Callable
from dataclasses import replace

from isthmus.sparse.factorization.drivers import Course, Factors, Report
from isthmus.sparse.factorization.quadratic import Quadratic

# Products in single precision hide a lower loss from here on.
SINGLE_TOL = 1e-4


def descend_in_two_precisions(
    problem: Quadratic,
    start: Factors,
    descent: Callable[..., Course],
    *,
    tol: float,
    max_iter: int,
    report: Report,
) -> Course:
    """Descend with products in single precision, then in double precision if ``tol`` asks for it.

    The loss is a small difference of large sums. In single precision steps seem to raise it long
    before the factors are stationary, and a descent that takes them back would never end.
    """
    course = descent(problem, start, tol=max(tol, SINGLE_TOL), max_iter=max_iter, report=report)
    left = max_iter - course.n_iter
    if course.optimality <= tol or left == 0:
        return course
    finer = descent(problem.to_double(), course.factors, tol=tol, max_iter=left, report=report)
    # Losses of the first part carry its rounding, so only those above the first exact one stay.
    losses = [loss for loss in course.losses if loss >= finer.losses[0]] + finer.losses
    return replace(finer, losses=losses, n_iter=finer.n_iter + course.n_iter)
