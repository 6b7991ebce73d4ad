r"""Training above a floor of the latent density, by a logarithmic barrier.

Minimises :math:`R(X)-\mu\sum_j\log(p_j-\eta)`, where :math:`p_j` is the density at the place of
row j in units of a kernel's peak, while :math:`\mu` falls. A floor of :math:`\eta=k/N` says that
every row shall have neighbours worth k rows at its own place.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from isthmus.manifold.ukr.density import latent_densities
from isthmus.manifold.ukr.descent import METHODS, Descended
from isthmus.manifold.ukr.objective import ManifoldObjective
from isthmus.typing import Array

FIRST_WEIGHT = 1e-3  # of the barrier, in units of the objective where a stage begins
WEIGHT_FALL = 0.5  # from one round to the next
ROUND = 25  # steps with the same weight
SHRINK = 0.8
MOST_SHRINKS = 100


def draw_together(objective: ManifoldObjective, X: Array, floor: float) -> Array:
    """Shrink the places about their mean until every latent density is above the floor."""
    N = len(objective.targets)
    centre = X.mean(axis=0)
    for _ in range(MOST_SHRINKS):
        centres = X if objective.outputs is None else X[N:]
        if np.all(latent_densities(X[:N], centres, objective.smoother.kernel) > floor):
            return X
        X = centre + SHRINK * (X - centre)
    raise ValueError(
        "UnsupervisedKernelRegression has found no places with a latent density above the floor "
        f"{floor:g}. Lower it."
    )


def descend_above(
    objective: ManifoldObjective,
    X: Array,
    floor: float,
    *,
    method: str,
    max_iter: int,
    tol: float,
    box: float | None = None,
) -> Descended:
    """Minimise with every latent density above the floor; steps that would cross are refused."""
    X = draw_together(objective, X, floor)
    value = objective(X)[0]
    weight, curve, settled = FIRST_WEIGHT * value, [], False
    carried: dict[str, Any] = {}
    for begin in range(0, max_iter, ROUND):
        fenced = replace(objective, barrier=(floor, weight))
        steps = min(ROUND, max_iter - begin)
        done = METHODS[method](fenced, X, max_iter=steps, tol=0.0, box=box, **carried)
        if method == "rprop":
            carried["step"] = done.step
        curve += done.curve
        before, now = value, objective(done.X)[0]
        X, value, weight = done.X, now, WEIGHT_FALL * weight
        if tol > 0 and before - now <= tol * abs(now):
            settled = True
            break
    return Descended(X, value, curve, settled)
