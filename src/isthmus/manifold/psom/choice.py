"""How smooth: by generalised cross-validation, by leaving one out, or by a known noise."""

from typing import Any

import numpy as np
from scipy import optimize

from isthmus.manifold.psom.smoothing import IterativeSmoother, NodeFit, NodeSmoother
from isthmus.typing import Array

RULES = ("gcv", "loo", "noise", "discrepancy")
# Decades of smoothness around the point where data and roughness have equal trace.
DECADES = (-4.0, 10.0)
XTOL = 0.05  # decades


def criterion(
    rule: str,
    fit: NodeFit,
    weights: Array,
    noise: float | None = None,
    n_rows: int | None = None,
) -> float:
    """The score of a fit that is minimised, by samples with weights (n,).

    ``n_rows`` says how many rows there are where the samples only stand for them.
    """
    squares = weights * np.einsum("ij,ij->i", fit.residual, fit.residual)
    n = n_rows or len(squares)
    if noise is not None:
        # Unbiased for the squared distance to the truth, but for a constant (Mallows).
        return float(squares.sum() / n + 2 * noise**2 * fit.residual.shape[1] * fit.dof / n)
    if rule == "loo":
        if fit.leverage is None:
            raise ValueError(
                'smoothness="loo" needs the leverage of every sample, which grids of this size do '
                'not give. Take "gcv", or a smaller grid.'
            )
        # A sample that alone decides its node has leverage 1 and nothing to say when left out.
        left_out = np.maximum(1 - fit.leverage, 1e-10)
        return float(np.mean(squares / left_out**2))
    return float(n * squares.sum() / max(n - fit.dof, 1e-10 * n) ** 2)


def choose_smoothness(
    smoother: NodeSmoother,
    rule: str,
    weights: Array,
    *,
    noise: float | None = None,
    n_rows: int | None = None,
) -> tuple[float, list[dict[str, float]]]:
    """The smoothness with the smallest criterion, or that leaves a known noise, and all tried."""
    origin = np.log10(smoother.scale())
    low, high = origin + DECADES[0], origin + DECADES[1]
    tried: dict[float, float] = {}

    if rule == "discrepancy":

        def excess(log_lam: float) -> float:
            at: Any = smoother.at
            skip = isinstance(smoother, IterativeSmoother)
            fit = at(10**log_lam, with_dof=False) if skip else at(10**log_lam)
            squares = np.sum(weights[:, None] * fit.residual**2)
            left = squares / ((n_rows or len(weights)) * fit.residual.shape[1])
            tried[log_lam] = float(left)
            return float(np.log(max(left, 1e-300)) - 2 * np.log(noise or 1.0))

        # What is left over grows with the smoothness.
        if excess(low) >= 0:
            best = low
        elif excess(high) <= 0:
            best = high
        else:
            best = float(optimize.brentq(excess, low, high, xtol=XTOL))
    else:

        def score(log_lam: float) -> float:
            tried[log_lam] = criterion(rule, smoother.at(10**log_lam), weights, noise, n_rows)
            return tried[log_lam]

        coarse = np.linspace(low, high, 8)
        values = [score(x) for x in coarse]
        k = int(np.argmin(values))
        around = coarse[max(k - 1, 0)], coarse[min(k + 1, len(coarse) - 1)]
        found = optimize.minimize_scalar(
            score, bounds=around, method="bounded", options={"xatol": XTOL, "maxiter": 20}
        )
        best = float(found.x) if found.fun <= values[k] else float(coarse[k])
    path = [{"smoothness": 10.0**x, "score": tried[x]} for x in sorted(tried)]
    return 10.0**best, path
