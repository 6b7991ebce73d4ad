"""Which descent goes with a problem, a solver and a factor that is held."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus.linalg.threads import threads_for
from isthmus.sparse.factorization.drivers import (
    Course,
    Factors,
    Report,
    alternate,
    alternate_extrapolated,
    alternate_keeping_best,
    alternate_upwards,
    optimality,
)
from isthmus.sparse.factorization.hoyer import HoyerSparseness
from isthmus.sparse.factorization.hoyer_solver import (
    SparsenessConstraint,
    published_descent,
    sparse_descent,
)
from isthmus.sparse.factorization.masked import Masked
from isthmus.sparse.factorization.observed import Observed
from isthmus.sparse.factorization.precision import descend_in_two_precisions
from isthmus.sparse.factorization.quadratic import Quadratic
from isthmus.typing import Array


@dataclass(frozen=True)
class OneSided:
    """A problem of which one factor stays as it is: 0 the codes, 1 the components."""

    problem: Any
    held: int

    def improve(self, side: int, factors: Factors) -> tuple[Array, float | None]:
        """A better factor, or the held one."""
        if side == self.held:
            return factors[side], None
        return self.problem.improve(side, factors)[0], None

    def loss(self, factors: Factors) -> float:
        """The objective."""
        return float(self.problem.loss(factors))

    def gradient(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """The derivative, zero where nothing moves."""
        if side == self.held:
            return np.zeros_like(factors[side]), np.ones(factors[side].shape[1])
        gradient, terms = self.problem.gradient(side, factors)
        return gradient, terms


def held_side(fixed: str | None) -> int | None:
    """The number of the factor that is held."""
    return None if fixed is None else ("codes", "components").index(fixed)


def descent_of(solver: str) -> Any:
    """The way in which a solver alternates."""
    return {
        "hals": alternate_extrapolated,
        "extrapolated": alternate_upwards,
        "als": alternate_keeping_best,
    }.get(solver, alternate)


@threads_for(0)  # a descent shares rows among threads of its own
def descend(
    owner: Any, problem: Any, start: Factors, solver: str, sparsity: Any, report: Report
) -> Course:
    """Run the descent that the parameters of ``owner`` ask for."""
    settings = {"tol": owner.tol, "max_iter": owner.max_iter, "report": report}
    if isinstance(sparsity, HoyerSparseness):
        codes, components = sparsity.targets()
        axis = 0 if sparsity.codes_axis == "component" else 1
        constraints = SparsenessConstraint(codes, axis), SparsenessConstraint(components, 0)
        hoyer = published_descent if solver == "multiplicative" else sparse_descent
        return hoyer(problem, start, constraints, **settings)
    descent = descent_of(solver)
    held = held_side(owner.fixed)
    if held is not None:
        course: Course = descent(OneSided(problem, held), start, **settings)
        return course
    course = _descend_freely(problem, start, descent, **settings)
    if not (isinstance(problem, Quadratic | Observed | Masked) and any(problem.penalties)):
        return course
    nothing = Factors(*map(np.zeros_like, start))
    ceiling = problem.loss(nothing)
    if owner.solver == "auto" and solver == "hals" and isinstance(problem, Quadratic):
        course = _revived(problem, start, course, ceiling, settings)
    if course.loss > ceiling:
        course.factors, course.losses = nothing, [*course.losses, ceiling]
        course.optimality, course.converged = optimality(problem, nothing), True
    return course


def _descend_freely(problem: Any, start: Factors, descent: Any, **settings: Any) -> Course:
    """A descent by both factors, in double precision at the end."""
    if isinstance(problem, Quadratic) and problem.is_single:
        return descend_in_two_precisions(problem, start, descent, **settings)
    course: Course = descent(problem, start, **settings)
    return course


def _revived(
    problem: Quadratic, start: Factors, course: Course, ceiling: float, settings: dict[str, Any]
) -> Course:
    """The course, or one by exact halves if it is better, where the penalty has trapped the first.

    Descent by single entries leaves a component at zero once the penalty has put it there, and
    can end above the loss of no components at all. Exact halves choose among all of them anew.
    """
    alive = all(F.any(axis=0).all() for F in course.factors)
    if alive and course.loss <= ceiling:
        return course
    other = _descend_freely(replace(problem, solver="anls"), start, alternate, **settings)
    return other if other.loss < course.loss else course
