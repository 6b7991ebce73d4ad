"""Ball vector machine: no quadratic programs, many small steps."""

import numpy as np

from isthmus.coreset.program import (
    ROUNDING,
    CoreProblem,
    CoreSolution,
    gram_column,
    negative_share,
)

# Without an epsilon: how far outside a point may be, as a share of the centre's squared length.
SHARE = 0.1


def solve_ball(
    problem: CoreProblem, start: int, *, epsilon: float | None, max_iter: int = 100_000
) -> CoreSolution:
    r"""Move the centre until all points are within :math:`(1+\epsilon)r`.

    The radius :math:`r=\sqrt\eta` is known beforehand where all points have the same length,
    and no program is solved: the centre moves towards the farthest point until that touches
    the sphere. This takes :math:`O(1/\epsilon^2)` steps.

    The centre :math:`c=M\alpha` is the machine, and its squared length :math:`\alpha^\top M\alpha`
    is a small share of :math:`\eta`: a tolerance in units of the radius may exceed it. Without an
    ``epsilon`` a point may be outside by a tenth of that squared length, so that every point is at
    :math:`\langle c,x_i\rangle\ge0.45\|c\|^2`, where the ball itself has one half.
    """
    m = len(problem)
    alpha = np.zeros(m)
    alpha[start] = 1.0
    diagonal = problem.diag()
    eta = float(np.max(diagonal + problem.v))
    values = gram_column(problem, start)  # M α
    quadratic, linear, radii = float(diagonal[start]), float(problem.v[start]), []
    shortfall, distance, allowed = None, np.inf, 0.0
    negative = negative_share(problem, np.arange(m))
    # Without a proper kernel no step has a meaning.
    for _ in range(max_iter if negative < ROUNDING else 1):
        squared = eta - problem.v - 2 * values + quadratic
        p = int(squared.argmax())
        distance = np.sqrt(max(squared[p], 0.0))
        radii.append(float(distance))
        outside = squared[p] - eta  # ‖c‖² - 2⟨c, x_p⟩
        allowed = SHARE * quadratic if epsilon is None else (2 * epsilon + epsilon**2) * eta
        if outside <= max(allowed, 1e-14 * eta):
            break
        b = 1 - np.sqrt(eta) / distance
        towards = gram_column(problem, p)
        alpha *= 1 - b
        alpha[p] += b
        quadratic = (1 - b) ** 2 * quadratic + 2 * b * (1 - b) * values[p] + b**2 * diagonal[p]
        values = (1 - b) * values + b * towards
        linear = (1 - b) * linear + b * problem.v[p]
    else:
        shortfall = (
            f"The ball vector machine has made max_iter={max_iter} steps, and one point is still "
            f"{distance / np.sqrt(eta) - 1:.2g} radii outside the ball, where "
            f"{np.sqrt(1 + allowed / eta) - 1:.2g} was asked for."
        )
    wrong = int(np.sum(values <= 0))
    if shortfall is None and wrong and epsilon is not None:
        shortfall = (
            f"BallVectorSolver(epsilon={epsilon:.2g}) has stopped while {wrong} of {m} training "
            "objects are on the wrong side of their own machine, all within the tolerance: it is "
            "no classifier yet. Take a smaller epsilon, or 'auto'."
        )
    used = np.flatnonzero(alpha > 0)
    gap = max(float(2 * quadratic + linear - np.min(2 * values + problem.v)), 0.0)
    return CoreSolution(
        used,
        alpha[used],
        quadratic + linear,
        gap,
        max(eta - linear - quadratic, 0.0),
        len(used),
        radii,
        shortfall,
        negative,
    )
