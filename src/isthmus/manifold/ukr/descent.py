"""Descent on an objective of latent places: limited-memory BFGS, and the published RPROP."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array

Objective: TypeAlias = Callable[[Array], tuple[float, Array]]
# value of the objective, places after a step → whether to stop
Watch: TypeAlias = Callable[[float, Array], bool]

SMALL = 0.05  # share of the first objective below which a fall is measured by that share
PATIENCE = 10  # steps over which the objective must have fallen by the tolerance
EXACT = 1e-12  # of SciPy's own rules, which the rule above comes before
WALL = 1e6  # what L-BFGS sees behind a barrier, in units of its first value
RPROP_FIRST, RPROP_LEAST, RPROP_MOST = 0.01, 1e-6, 50.0


class Descended(NamedTuple):
    """Places found, the objective there, its course, whether it had settled, RPROP's steps."""

    X: Array
    value: float
    curve: list[float]
    settled: bool
    step: Array | None = None


def lbfgs(
    objective: Objective,
    X: Array,
    *,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
    box: float | None = None,
) -> Descended:
    """Limited-memory BFGS until ten steps bring less than ``tol`` of the objective."""
    curve = [objective(X)[0]]
    settled = False
    # In units of the first value, so that it does not matter what the data are measured in; a
    # power of two, so that the division rounds nothing.
    unit = 2.0 ** np.floor(np.log2(abs(curve[0]) or 1.0))

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = objective(x.reshape(X.shape))
        # A line search shortens its step at a high value, but cannot compute with an infinite one.
        return (value / unit if np.isfinite(value) else WALL), gradient.ravel() / unit

    def callback(intermediate_result: Any) -> None:
        nonlocal settled
        curve.append(unit * float(intermediate_result.fun))
        settled = _has_settled(curve, tol)
        if watch is not None and watch(curve[-1], intermediate_result.x.reshape(X.shape)):
            settled = True
        if settled:
            raise StopIteration

    x, left = X.ravel(), max_iter
    while True:
        done_before, fun_before = len(curve), curve[-1]
        found = minimize_lbfgs(
            flat,
            x,
            bounds=None if box is None else [(-box, box)] * X.size,
            callback=callback,
            maxiter=left,
            maxfun=4 * left + 20,
            maxcor=10,
            ftol=EXACT,
            gtol=EXACT,
        )
        x, left = found.x, left - (len(curve) - done_before)
        # Compact kernels have kinks in their slope that a line search can fail at (status 2):
        # forgetting the curvature helps, as long as it brings something.
        if found.status != 2 or settled or left <= 0:
            break
        if len(curve) == done_before or fun_before - curve[-1] <= tol * abs(curve[-1]):
            break
    ended = settled or found.status in (0, 2)
    if found.fun >= WALL:  # it ran out of evaluations in the middle of a line search
        return Descended(X, curve[0], curve, settled=False)
    return Descended(x.reshape(X.shape), unit * float(found.fun), curve, ended)


def rprop(
    objective: Objective,
    X: Array,
    *,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
    box: float | None = None,
    step: Array | None = None,
) -> Descended:
    """Plain RPROP: a step of its own for each coordinate, by the signs of successive slopes.

    Steps grow by 1.2 while the sign stays and halve where it changes, without going back. The
    best places seen are returned. Where the objective is infinite, the step is taken again by
    half. ``step`` goes on with the steps of an earlier run.
    """
    step = np.full(X.shape, RPROP_FIRST) if step is None else step.copy()
    before: Array = np.zeros(X.shape)
    curve: list[float] = []
    best, last, lowest, settled = X, X, np.inf, False
    for _ in range(max_iter):
        value, gradient = objective(X)
        if not np.isfinite(value):
            step = np.maximum(0.5 * step, RPROP_LEAST)
            X = _in_box(last - np.sign(before) * step, box)
            continue
        last = X
        curve.append(value)
        if value < lowest:
            best, lowest = X, value
        settled = step.max() < RPROP_LEAST * 1.5 or (tol > 0 and _has_settled(curve, tol))
        if (watch is not None and watch(value, X)) or settled:
            settled = True
            break
        turn = gradient * before
        # A step is between the two bounds: what grows need not be held against the lower one.
        np.clip(
            np.where(turn > 0, 1.2, np.where(turn < 0, 0.5, 1.0)) * step,
            RPROP_LEAST,
            RPROP_MOST,
            out=step,
        )
        X = X - np.sign(gradient) * step
        before = gradient
        if box is not None:
            step[np.abs(X) > box] = RPROP_LEAST
            X = _in_box(X, box)
    return Descended(best, lowest, curve, settled, step)


def _in_box(X: Array, box: float | None) -> Array:
    return X if box is None else np.clip(X, -box, box)


def _has_settled(curve: Sequence[float], tol: float) -> bool:
    if len(curve) <= PATIENCE:
        return False
    # Few rows can be fitted almost without error, and then it falls by large shares for ever.
    size = max(abs(curve[-1]), SMALL * abs(curve[0]))
    return bool(curve[-1 - PATIENCE] - min(curve[-PATIENCE:]) <= tol * size)


METHODS = {"lbfgs": lbfgs, "rprop": rprop}
