"""Alternating improvement of two factors: plain, or with extrapolation, until stationary."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from isthmus.typing import Array

# The optimality costs as much as half an iteration, so it is not measured after each.
CHECK_EVERY, FIRST_CHECK = 10, 5
# A share of extrapolation that rejected steps have worn down to this: rounding decides by now.
STALLED = 1e-3
TINY = float(np.finfo(float).tiny)
# Entries of a factor from which a compiled pass over it is worth its compiling.
LONG = 2**14


class Factors(NamedTuple):
    """``X ≈ W V'``: codes W (n, k) and components V (d, k), both with one column per component."""

    W: Array
    V: Array


class FactorizationProblem(Protocol):
    """A loss of two factors."""

    def improve(self, side: int, factors: Factors) -> tuple[Array, float | None]:
        """A better factor ``side`` (0: W, 1: V) where the other one stays, and the new loss.

        None where the loss does not come for free.
        """

    def loss(self, factors: Factors) -> float:
        """The objective, penalties included."""

    def gradient(self, side: int, factors: Factors) -> tuple[Array, Array]:
        """The derivative by the factor ``side``, and the size of its terms in each column."""


@dataclass
class Course:
    """State of a descent and its history; ``losses`` never rise."""

    factors: Factors
    losses: list[float] = field(default_factory=list)
    optimality: float = np.inf
    n_iter: int = 0
    converged: bool = False

    @property
    def loss(self) -> float:
        return self.losses[-1] if self.losses else np.inf


Report = Callable[[int, float, float], None]


def _nothing(step: int, loss: float, optimality: float) -> None:
    """Report to nobody."""


def optimality(problem: FactorizationProblem, factors: Factors) -> float:
    """How far from stationary two factors are, the worse of both; zero if they are.

    A derivative counts in full where the entry could move against it: a positive one for no more
    than the entry's share of the mean square of its column. The norm is taken relative
    to that of the terms, of which the derivative is the difference.
    """
    worst = 0.0
    for side in (0, 1):
        gradient, terms = problem.gradient(side, factors)
        rest = projected_gradient(factors[side], gradient, terms)
        size = np.sqrt(len(rest)) * float(np.linalg.norm(terms))
        worst = max(worst, float(np.linalg.norm(rest)) / max(size, TINY))
    return worst


def projected_gradient(W: Array, gradient: Array, terms: Array) -> Array:
    """The part of a gradient that an entry can follow without leaving w >= 0."""
    # The entry over its column first: of a column of zeros this is zero, and nothing overflows.
    room = W / np.maximum(root_mean_squares(W), TINY) * terms
    return np.minimum(gradient, room)


def root_mean_squares(W: Array) -> Array:
    """Of each column.

    >>> root_mean_squares(np.array([[3.0, 0.0], [3.0, 2.0**0.5]])).round(12).tolist()
    [3.0, 1.0]
    """
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", W, W) / len(W)))


def alternate(
    problem: FactorizationProblem,
    start: Factors,
    *,
    tol: float,
    max_iter: int,
    report: Report = _nothing,
    least_gain: float | None = None,
) -> Course:
    """Improve W and V in turn until the optimality falls below ``tol``.

    With ``least_gain``, until a step lowers the loss by no more than this share of it.
    """
    course = Course(start)
    for step in range(1, max_iter + 1):
        W, _ = problem.improve(0, course.factors)
        V, loss = problem.improve(1, Factors(W, course.factors.V))
        course.factors = Factors(W, V)
        if loss is None and _is_checked(step, max_iter):
            loss = problem.loss(course.factors)
        if loss is not None:
            course.losses.append(loss)
        if _is_finished(problem, course, step, tol, max_iter, report, least_gain):
            break
    return course


def alternate_keeping_best(
    problem: FactorizationProblem,
    start: Factors,
    *,
    tol: float,
    max_iter: int,
    report: Report = _nothing,
    least_gain: float | None = None,
) -> Course:
    """The same for steps that may raise the loss: the best factors are kept."""
    course, now = Course(start), start
    for step in range(1, max_iter + 1):
        W, _ = problem.improve(0, now)
        V, loss = problem.improve(1, Factors(W, now.V))
        now = Factors(W, V)
        loss = problem.loss(now) if loss is None else loss
        if loss < course.loss:
            course.factors = now
            course.losses.append(loss)
        if _is_finished(problem, course, step, tol, max_iter, report, least_gain):
            break
    return course


def alternate_extrapolated(
    problem: FactorizationProblem,
    start: Factors,
    *,
    tol: float,
    max_iter: int,
    report: Report = _nothing,
    least_gain: float | None = None,
) -> Course:
    """The same along extrapolated factors, taken back where the loss would rise [Ang2019]_.

    After each half, the factor moves on by a share ``beta`` of its last step, clipped at zero.
    The share grows while the loss falls and shrinks where it does not, so losses never rise. Ends
    early where even steps without extrapolation seem to raise it: that is rounding.
    """
    beta, ceiling = 0.5, 1.0
    course = Course(start)
    ahead = last = start  # where the next step starts; the last factors without extrapolation
    for step in range(1, max_iter + 1):
        W, _ = problem.improve(0, ahead)
        W_ahead = _onwards(W, last.W, beta)
        V, loss = problem.improve(1, Factors(W_ahead, ahead.V))
        found = Factors(W_ahead, V)
        loss = problem.loss(found) if loss is None else loss
        if loss <= course.loss:
            course.losses.append(loss)
            ahead = Factors(W_ahead, _onwards(V, last.V, beta))
            course.factors, last = found, Factors(W, V)
            beta, ceiling = min(ceiling, 1.05 * beta), min(1.0, 1.01 * ceiling)
        else:
            ahead = last = course.factors
            beta, ceiling = beta / 1.5, beta
        stalled = beta < STALLED
        if _is_finished(
            problem, course, step, tol, step if stalled else max_iter, report, least_gain
        ):
            break
        if stalled:
            break
    return course


def alternate_upwards(
    problem: FactorizationProblem,
    start: Factors,
    *,
    tol: float,
    max_iter: int,
    report: Report = _nothing,
    least_gain: float | None = None,
) -> Course:
    """The same for multiplicative updates, whose factors must stay positive [Hien2024]_.

    Only entries that grow are extrapolated, by Nesterov's sequence, which starts again where the
    loss has risen since the last check.
    """
    course = Course(start)
    now = before = start
    t = 1.0
    for step in range(1, max_iter + 1):
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        share, t = (t - 1) / t_next, t_next
        W, _ = problem.improve(0, Factors(_upwards(now.W, before.W, share), now.V))
        V, _ = problem.improve(1, Factors(W, _upwards(now.V, before.V, share)))
        before, now = now, Factors(W, V)
        if step % (CHECK_EVERY // 2) and step < max_iter:
            continue
        loss = problem.loss(now)
        if loss <= course.loss:
            course.factors = now
            course.losses.append(loss)
        else:
            now = before = course.factors
            t = 1.0
        if _is_finished(problem, course, step, tol, max_iter, report, least_gain):
            break
    return course


def _onwards(now: Array, before: Array, share: float) -> Array:
    """A share of the last step further, no less than zero."""
    if now.size < LONG or not (now.flags.c_contiguous and before.flags.c_contiguous):
        return np.maximum(now + share * (now - before), 0.0)
    from isthmus.sparse.factorization.sweep_loops import go_on

    ahead = np.empty_like(now)
    go_on(now.reshape(-1), before.reshape(-1), share, ahead.reshape(-1))
    return ahead


def _upwards(now: Array, before: Array, share: float) -> Array:
    return now + share * np.maximum(now - before, 0.0)


def _is_checked(step: int, max_iter: int) -> bool:
    return step % CHECK_EVERY == 0 or step in (FIRST_CHECK, max_iter)


def _is_finished(
    problem: FactorizationProblem,
    course: Course,
    step: int,
    tol: float,
    max_iter: int,
    report: Report,
    least_gain: float | None,
) -> bool:
    """Measure how far the course has come, now and then; True where it has converged."""
    course.n_iter = step
    if least_gain is not None:
        last = course.losses[-2:]
        course.converged = len(last) == 2 and last[0] - last[1] <= least_gain * last[1]
        return course.converged
    if _is_checked(step, max_iter):
        course.optimality = optimality(problem, course.factors)
        course.converged = course.optimality <= tol
        report(step, course.loss, course.optimality)
    return course.converged
