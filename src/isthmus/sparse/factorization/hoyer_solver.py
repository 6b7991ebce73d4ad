"""The Euclidean loss with factors of a given sparseness."""

from dataclasses import dataclass

import numpy as np

from isthmus.sparse.factorization.drivers import Course, Factors, Report
from isthmus.sparse.factorization.hoyer import hoyer_projection
from isthmus.sparse.factorization.quadratic import Quadratic
from isthmus.typing import Array

# A factor of fixed sparseness has no gradient that must vanish: steps that gain less end it.
CHECK_EVERY = 10
N_INNER = 10
SHORTEST_STEP = 1e-12


@dataclass(frozen=True)
class SparsenessConstraint:
    """One factor and how sparse it is to be: ``axis`` 0 by columns of the factor, 1 by rows."""

    sparseness: float | None
    axis: int

    def project(self, W: Array, norm: Array | float | None = None) -> Array:
        if self.sparseness is None:
            return np.maximum(W, 0.0)
        if self.axis == 1:
            return hoyer_projection(W, self.sparseness, norm=norm)
        return np.ascontiguousarray(hoyer_projection(W.T, self.sparseness, norm=norm).T)

    def improve(self, W: Array, G: Array, B: Array) -> Array:
        """Lower ½ tr W G W' − tr W B' without leaving the constraint.

        For one column the loss is a multiple of a squared distance, so the nearest column of the
        right sparseness is its exact minimum. For rows, steps of one over the largest curvature
        minimise a bound of the loss.
        """
        W = W.copy()
        if self.axis == 1:
            step = 1.0 / max(float(np.linalg.norm(G, 2)), np.finfo(float).tiny)
            for _ in range(N_INNER):
                W = self.project(W - step * (W @ G - B))
            return W
        for j in np.flatnonzero(np.diag(G) > 0):
            target = W[:, j] - (W @ G[j] - B[:, j]) / G[j, j]
            nearest = self.project(target[:, None])[:, 0]
            # Zero has no sparseness: a component that would vanish stays as it is.
            if nearest.any():
                W[:, j] = nearest
        return W


def sparse_descent(
    problem: Quadratic,
    start: Factors,
    constraints: tuple[SparsenessConstraint, SparsenessConstraint],
    *,
    tol: float,
    max_iter: int,
    report: Report,
) -> Course:
    """Exact minimisation component by component; ends where ten iterations gain little.

    Little is a share ``tol`` of the loss. A factor that is free gets sweeps of the solver.
    """
    start = Factors(*(c.project(F) for c, F in zip(constraints, start, strict=True)))
    course = Course(start)
    for step in range(1, max_iter + 1):
        for side in (0, 1):
            course.factors, loss = _improve_side(problem, course.factors, constraints[side], side)
        course.losses.append(loss)
        if _is_finished(course, step, tol, max_iter, report):
            break
    return course


def _improve_side(
    problem: Quadratic, factors: Factors, constraint: SparsenessConstraint, side: int
) -> tuple[Factors, float]:
    G, B = problem.normal_equations(side, factors[1 - side])
    free = constraint.sparseness is None
    F = (problem.improve_factor if free else constraint.improve)(factors[side], G, B)
    return _with_side(factors, side, F), problem.value(F, G, B)


def _with_side(factors: Factors, side: int, F: Array) -> Factors:
    return Factors(F, factors.V) if side == 0 else Factors(factors.W, F)


def published_descent(
    problem: Quadratic,
    start: Factors,
    constraints: tuple[SparsenessConstraint, SparsenessConstraint],
    *,
    tol: float,
    max_iter: int,
    report: Report,
) -> Course:
    """Hoyer's own steps: projected gradient with halving, multiplicative for a free factor.

    Sparse components keep the norm of the step, sparse codes are of norm one.
    """
    W, V = start
    V = constraints[1].project(V, np.linalg.norm(V, axis=0))
    if constraints[0].sparseness is not None:
        W = constraints[0].project(W, 1.0)
    course = Course(Factors(W, V))
    steps = [1.0, 1.0]
    for step in range(1, max_iter + 1):
        for side in (0, 1):
            loss = _gradient_step(problem, course, constraints[side], side, steps)
        course.losses.append(loss)
        if _is_finished(course, step, tol, max_iter, report):
            break
    return course


def _gradient_step(
    problem: Quadratic,
    course: Course,
    constraint: SparsenessConstraint,
    side: int,
    steps: list[float],
) -> float:
    """One projected gradient step on a factor, or a multiplicative one; returns the loss."""
    if constraint.sparseness is None:
        course.factors, loss = _improve_side(problem, course.factors, constraint, side)
        return loss
    G, B = problem.normal_equations(side, course.factors[1 - side])
    old = course.factors[side]
    gradient = old @ G - B
    before = problem.value(old, G, B)
    while True:
        moved = old - steps[side] * gradient
        norm = 1.0 if side == 0 else np.linalg.norm(moved, axis=0)
        F = constraint.project(moved, norm)
        after = problem.value(F, G, B)
        if after <= before:
            break
        steps[side] /= 2
        if steps[side] < SHORTEST_STEP:
            F, after = old, before
            break
    steps[side] *= 1.2
    course.factors = _with_side(course.factors, side, F)
    return after


def _is_finished(course: Course, step: int, tol: float, max_iter: int, report: Report) -> bool:
    """Note the state; True where ten iterations have gained less than a share ``tol``."""
    course.n_iter = step
    if step % CHECK_EVERY == 0 or step == max_iter:
        before = course.losses[max(0, len(course.losses) - 1 - CHECK_EVERY)]
        course.optimality = (before - course.loss) / max(before, np.finfo(float).tiny)
        course.converged = course.optimality <= tol
        report(step, course.loss, course.optimality)
    return course.converged
