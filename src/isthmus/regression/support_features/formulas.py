r"""The fewest features that separate two classes, by a sequence of linear programs.

.. math:: \min_{w,b}\ \sum_j\ln(\epsilon+|w_j|)+\sum_iC_i\xi_i

over :math:`y_i(w^\top x_i+b)\ge1-\xi_i` (margin) or :math:`y_i(w^\top x_i+b)\ge-\xi_i` with
:math:`w^\top(\mu_+-\mu_-)=1` (mean). The sum of logarithms counts features as
:math:`\epsilon\to0`. It is concave, so Frank and Wolfe's method takes whole steps: each minimises
the linearisation, a linear program with costs :math:`1/(\epsilon+|w_j|)`.
"""

from typing import Any, NamedTuple

import numpy as np

from isthmus.regression.support_features.programs import Infeasible, Program, optimum
from isthmus.typing import Array

# Share of the largest weight below which a weight counts as zero.
NEGLIGIBLE = 1e-9
# Features for each row in the first of several programs, and what rounding may add to a price.
FEATURES_PER_ROW, PRICED = 1, 1e-9
# Last to first: how sharply the logarithm counts.
SCHEDULE = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


class Separation(NamedTuple):
    """A separating hyperplane: weights, constant, slacks, and how it was found.

    ``history`` has, after each program, the number of features (rescaled) or the objective
    (Frank-Wolfe); both never rise.
    """

    w: Array
    b: float
    slack: Array
    n_programs: int
    history: tuple[float, ...]
    converged: bool


class NotSeparable(ValueError):
    """No hyperplane satisfies the constraints."""


def linear_step(X: Array, y: Array, scale: Array, **program: Any) -> tuple[Array, float, Array]:
    r"""One linear program: least :math:`\sum_j|w_j|/s_j+\sum_iC_i\xi_i`, as weights and constant.

    ``scale`` are the :math:`s_j`; the variables are :math:`w_j/s_j`, which are of order one.
    ``costs`` of None means no slack.

    >>> import numpy as np
    >>> X = np.array([[2.0, 1.0], [-2.0, 1.0]])
    >>> w, b, _ = linear_step(X, np.array([1.0, -1.0]), np.ones(2), formulation="margin",
    ...     costs=None, fit_intercept=True)
    >>> w, b
    (array([0.5, 0. ]), 0.0)
    """
    return _linear_program(X, y, scale, **program)[:3]


def priced_step(X: Array, y: Array, scale: Array, **program: Any) -> tuple[Array, float, Array]:
    r"""The program of :func:`linear_step` with few of its features at a time.

    A feature is left out at the optimum if its price does not reach its cost,
    :math:`s_j|\sum_i\lambda_iy_ix_{ij}+\mu(\mu_+-\mu_-)_j|\le1`, where the multipliers are those of
    the rows and of the means. After each program those join that violate this most.
    """
    m, n = X.shape
    size = FEATURES_PER_ROW * m
    if n <= 2 * size:
        return linear_step(X, y, scale, **program)
    signed, apart = y[:, None] * X, X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    chosen = np.sort(np.argpartition(-np.abs(apart) * scale, size)[:size])
    while True:
        try:
            part, b, slack, rows, equal = _linear_program(X[:, chosen], y, scale[chosen], **program)
        except NotSeparable:  # by these features
            return linear_step(X, y, scale, **program)
        price = np.abs(rows @ signed + equal * apart) * scale
        price[chosen] = 0.0
        joining = np.flatnonzero(price > 1 + PRICED)
        if not len(joining):
            w = np.zeros(n)
            w[chosen] = part
            return w, b, slack
        if len(joining) > size:
            joining = joining[np.argpartition(-price[joining], size)[:size]]
        chosen = np.union1d(chosen, joining)


def _linear_program(
    X: Array,
    y: Array,
    scale: Array,
    *,
    formulation: str,
    costs: Array | None,
    fit_intercept: bool,
) -> tuple[Array, float, Array, Array, float]:
    """Weights, constant, slacks, and the multipliers of the rows and of the means."""
    m, n = X.shape
    Z = y[:, None] * (X * scale)
    # The solver takes weights below 1e-7 for zero: they are counted in units of the largest entry.
    unit = 2.0 ** np.round(np.log2(np.abs(Z).max() or 1.0))
    Z, scale, costs = Z / unit, scale / unit, None if costs is None else costs * unit
    A = np.hstack([Z, y[:, None]]) if fit_intercept else Z
    cost = np.concatenate([np.ones(n), np.zeros(int(fit_intercept))])
    equal = np.zeros((int(formulation == "mean"), len(cost)))
    if formulation == "mean":
        equal[0, :n] = (X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)) * scale
    least = np.full(m, 1.0 if formulation == "margin" else 0.0)
    try:
        found = optimum(Program(cost, A, least, equal, np.ones(len(equal)), costs))
    except Infeasible as error:
        raise NotSeparable(str(error)) from None
    rows, both = found.rows / unit, float(found.equal.sum()) / unit
    b = float(found.x[n]) if fit_intercept else 0.0
    return found.x[:n] * scale + 0.0, b + 0.0, found.slack, rows, both


def rescaled_programs(
    X: Array, y: Array, *, start: Array, max_iter: int, **program: Any
) -> Separation:
    r"""The limit :math:`\epsilon=0`: multiply the features by the weights found, and solve again.

    A feature whose weight is zero is out for good, so the programs shrink fast. With ``start`` of
    ones the first program is the l1 support vector machine.
    """
    scale = start.astype(np.float64)
    w = scale.copy()
    history = []
    converged = False
    for _ in range(max_iter):
        live = np.flatnonzero(scale)
        part, b, slack = priced_step(X[:, live], y, scale[live], **program)
        part[np.abs(part) <= NEGLIGIBLE * np.abs(part).max()] = 0
        before, w = w, np.zeros(X.shape[1])
        w[live] = part
        history.append(float(np.count_nonzero(part)))
        scale = np.abs(w)
        if not w.any() or (
            np.array_equal(w != 0, before != 0) and np.allclose(w, before, rtol=1e-6)
        ):
            converged = True
            break
    return Separation(w, b, slack, len(history), tuple(history), converged)


def frank_wolfe_programs(
    X: Array, y: Array, *, start: Array, max_iter: int, **program: Any
) -> Separation:
    r"""Whole Frank-Wolfe steps with :math:`\epsilon` falling; features may come back.

    ``max_iter`` programs for each :math:`\epsilon`. A step ends at an :math:`\epsilon` when the
    linearisation promises no decrease, which means that the point is stationary.
    """
    w: Array = np.zeros(X.shape[1])
    slack: Array = np.zeros(len(y))
    scale: Array = start.astype(np.float64)
    history: list[float] = []
    n_programs, converged = 0, True
    for i, epsilon in enumerate(SCHEDULE):
        for step in range(max_iter):
            n_programs += 1
            new, b, new_slack = priced_step(X, y, scale, **program)
            slopes = 1 / scale
            promised = slopes @ (np.abs(w) - np.abs(new))
            promised += _spent(slack, program) - _spent(new_slack, program)
            first = i == 0 and step == 0
            if not first and promised <= 1e-7 * (1 + int(np.count_nonzero(w))):
                break
            w, slack, b_used = new, new_slack, b
            scale = epsilon + np.abs(w)
            history.append(float(np.log(epsilon + np.abs(w)).sum() + _spent(slack, program)))
        else:
            converged = False
        scale = SCHEDULE[min(i + 1, len(SCHEDULE) - 1)] + np.abs(w)
    w[np.abs(w) <= NEGLIGIBLE * np.abs(w).max()] = 0
    return Separation(w, b_used, slack, n_programs, tuple(history), converged)


def separating_plane(X: Array, y: Array, *, fit_intercept: bool) -> tuple[Array, float] | None:
    """Weights and constant with a margin to both classes, or None where there are none.

    >>> import numpy as np
    >>> y = np.array([1.0, -1.0, 1.0])
    >>> separating_plane(np.array([[1.0], [2.0], [3.0]]), y, fit_intercept=True) is None
    True
    """
    try:
        w, b, _ = linear_step(
            X,
            y,
            np.ones(X.shape[1]),
            formulation="margin",
            costs=None,
            fit_intercept=fit_intercept,
        )
    except NotSeparable:
        return None
    return w, middle(X, y, w, b) if fit_intercept else b


def middle(X: Array, y: Array, w: Array, b: float) -> float:
    """The constant halfway between the classes where ``w`` tells them apart, else ``b``."""
    values = X @ w
    low, high = values[y < 0].max(), values[y > 0].min()
    return -(low + high) / 2 if low < high else b


def margin(X: Array, y: Array, w: Array, b: float) -> float:
    """Smallest signed distance of a point from the hyperplane; 0 if there is none."""
    return float((y * (X @ w + b)).min() / np.linalg.norm(w)) if w.any() else 0.0


def _spent(slack: Array, program: dict[str, Any]) -> float:
    costs = program["costs"]
    return 0.0 if costs is None else float(costs @ slack)
