r"""Training above a floor of the latent density, by a logarithmic barrier.

Minimises :math:`R(X)-\mu\sum_j\log(p_j-\eta)`, where :math:`p_j` is the density at the place of
row j in units of a kernel's peak, while :math:`\mu` falls. A floor of :math:`\eta=k/N` says that
every row shall have neighbours worth k rows at its own place.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from isthmus.manifold.ukr.density import latent_densities
from isthmus.manifold.ukr.train import SOLVERS, Problem, Trained
from isthmus.typing import Array

FIRST_WEIGHT = 1e-3  # of the barrier, in units of the objective where a stage begins
WEIGHT_FALL = 0.5  # from one round to the next
ROUND = 25  # steps with the same weight
SHRINK = 0.8
MOST_SHRINKS = 100


def lifted(problem: Problem, X: Array, floor: float) -> Array:
    """Places drawn together about their mean until every density is above the floor."""
    N = len(problem.targets)
    centre = X.mean(axis=0)
    for _ in range(MOST_SHRINKS):
        centres = X if problem.outputs is None else X[N:]
        if np.all(latent_densities(X[:N], centres, problem.smoother.kernel) > floor):
            return X
        X = centre + SHRINK * (X - centre)
    raise ValueError(
        "UnsupervisedKernelRegression has found no places with a latent density above the floor "
        f"{floor:g}. Lower it."
    )


def train_above(
    problem: Problem,
    X: Array,
    floor: float,
    *,
    solver: str,
    max_iter: int,
    tol: float,
    box: float | None = None,
) -> Trained:
    """Minimise with every latent density above the floor; steps that would cross are refused."""
    X = lifted(problem, X, floor)
    value = problem(X)[0]
    weight, curve, settled = FIRST_WEIGHT * value, [], False
    carried: dict[str, Any] = {}
    for begin in range(0, max_iter, ROUND):
        fenced = replace(problem, barrier=(floor, weight))
        steps = min(ROUND, max_iter - begin)
        done = SOLVERS[solver](fenced, X, max_iter=steps, tol=0.0, box=box, **carried)
        if solver == "rprop":
            carried["step"] = done.step
        curve += done.curve
        before, now = value, problem(done.X)[0]
        X, value, weight = done.X, now, WEIGHT_FALL * weight
        if tol > 0 and before - now <= tol * abs(now):
            settled = True
            break
    return Trained(X, value, curve, settled)
