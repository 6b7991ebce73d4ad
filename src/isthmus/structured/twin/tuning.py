"""How a twin process chooses the widths and noises that it was not given."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import pdist, squareform

from isthmus.optimize.boxes import minimize_in_box
from isthmus.typing import Array

# Widths as multiples of the median distance, and noise as a share of the kernel's diagonal.
SCALES = tuple(2.0**power for power in range(-5, 4))
NOISES = tuple(10.0**power for power in range(-6, 2))
NOISE_RANGE = (1e-6, 1.0)


class Knob(NamedTuple):
    """A parameter to choose: its values in order, and where to begin."""

    values: Sequence[Any]
    start: int


def pattern_search(
    error: Callable[[Mapping[str, Any]], float],
    knobs: Mapping[str, Knob],
    *,
    max_trials: int = 40,
) -> tuple[dict[str, Any], float]:
    """Change one parameter at a time by one value, as long as it helps; stop where nothing does.

    >>> knobs = {"a": Knob((0, 1, 2, 3), 0), "b": Knob((0, 1, 2, 3), 3)}
    >>> pattern_search(lambda p: (p["a"] - 2) ** 2 + (p["b"] - 1) ** 2, knobs)
    ({'a': 2, 'b': 1}, 0)
    """
    at = {name: knob.start for name, knob in knobs.items()}
    known: dict[tuple[int, ...], float] = {}

    def trial(places: Mapping[str, int]) -> float:
        key = tuple(places.values())
        if key not in known:
            if len(known) >= max_trials:
                return np.inf
            known[key] = error({name: knobs[name].values[i] for name, i in places.items()})
        return known[key]

    best, improved = trial(at), True
    while improved:
        improved = False
        for name, knob in knobs.items():
            for notch in (1, -1):
                while 0 <= at[name] + notch < len(knob.values):
                    moved = {**at, name: at[name] + notch}
                    value = trial(moved)
                    if not value < best:
                        break
                    at, best, improved = moved, value, True
    return {name: knobs[name].values[i] for name, i in at.items()}, best


def negative_log_likelihood(
    theta: Array, squared_distances: Array, targets: Array
) -> tuple[float, Array]:
    r"""Negative log likelihood of a Gaussian process, and its gradient.

    The kernel is :math:`\sigma^2(e^{-\gamma\|x-z\|^2}+\alpha\delta)`. ``theta`` is
    :math:`(\log\gamma,\log\alpha)`; the best :math:`\sigma^2`, common to the :math:`q` columns of
    targets, is inserted. Up to a constant the value is

    .. math:: \tfrac q2\log|K|+\tfrac{nq}2\log\operatorname{tr}(T^\top K^{-1}T).
    """
    gamma, alpha = np.exp(theta)
    n, q = targets.shape
    E = np.exp(-gamma * squared_distances)
    K = E + alpha * np.eye(n)
    factor = linalg.cho_factor(K, lower=True, check_finite=False)
    A = linalg.cho_solve(factor, targets, check_finite=False)
    inverse = linalg.cho_solve(factor, np.eye(n), check_finite=False)
    fit = float(np.sum(targets * A))
    value = q * np.log(np.diagonal(factor[0])).sum() + 0.5 * n * q * np.log(fit)
    by_width = -gamma * squared_distances * E
    slope = [
        0.5 * q * np.sum(inverse * by_width) - 0.5 * n * q * np.sum(A * (by_width @ A)) / fit,
        0.5 * q * alpha * np.trace(inverse) - 0.5 * n * q * alpha * np.sum(A * A) / fit,
    ]
    return float(value), np.array(slope)


def most_likely_parameters(
    X: Array, targets: Array, *, gamma: float | None = None, noise: float | None = None
) -> tuple[float, float]:
    """Width and noise with the largest marginal likelihood; what is given is kept."""
    D = squareform(pdist(X, "sqeuclidean"))
    targets = targets - targets.mean(axis=0)
    middle = float(np.median(D[D > 0])) if np.any(D > 0) else 1.0
    if not np.any(targets):
        return gamma or 0.5 / middle, noise or 1e-2
    start = np.log([gamma or 0.5 / middle, noise or 1e-2])
    slack = np.log(1e3)
    bounds = [
        (start[0], start[0]) if gamma is not None else (start[0] - slack, start[0] + slack),
        (start[1], start[1]) if noise is not None else tuple(np.log(NOISE_RANGE)),
    ]
    found = minimize_in_box(
        lambda log: negative_log_likelihood(log, D, targets), start, bounds, max_iter=50
    )
    best = np.exp(found.x)
    return float(best[0]), float(best[1])
