r"""The linear machine on the features found: squared hinge loss, by Newton's method.

.. math:: \min_{w,b}\ \frac12\|w\|^2+\frac12(b/s)^2+\sum_iC_i\max(0,1-y_i(w^\top x_i+b))^2

is :class:`sklearn.svm.LinearSVC` with ``dual=False`` and ``intercept_scaling=s``. It is quadratic
between the places where a row begins or ceases to count, so whole Newton steps soon end exactly.
"""

import numpy as np

from isthmus.linalg.products import product
from isthmus.typing import Array, BoolArray

# The constant is penalised like a weight: in large units hardly at all.
CONSTANT = 100.0
# Newton steps at most, and the share of the first gradient at which they end.
MAX_STEPS, GRADIENT = 200, 1e-10


def squared_hinge_plane(
    X: Array, y: Array, costs: Array, *, fit_intercept: bool, start: Array | None = None
) -> tuple[Array, float, Array]:
    """Weights, constant, and both as one vector, from where a similar problem may start.

    >>> import numpy as np
    >>> X, y = np.array([[2.0], [1.0], [-1.0], [-2.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    >>> w, b, _ = squared_hinge_plane(X, y, np.full(4, 1e6), fit_intercept=True)
    >>> w.round(4), round(b, 4) + 0.0
    (array([1.]), 0.0)
    """
    Z = np.hstack([X, np.full((len(X), 1), CONSTANT)]) if fit_intercept else X
    Z = y[:, None] * Z
    v = np.zeros(Z.shape[1]) if start is None else start
    loss, gradient, short = _loss(Z, costs, v)
    goal = GRADIENT * float(np.linalg.norm(2.0 * costs @ Z))
    for _ in range(MAX_STEPS):
        if np.linalg.norm(gradient) <= goal:
            break
        part = Z[short] * np.sqrt(2.0 * costs[short])[:, None]
        step = -np.linalg.solve(product(part.T, part) + np.eye(len(v)), gradient)
        fall, share = float(gradient @ step), 1.0
        while True:
            new_loss, new_gradient, new_short = _loss(Z, costs, v + share * step)
            if new_loss <= loss + 1e-4 * share * fall or share < 1e-10:
                break
            share /= 2
        if not new_loss < loss:
            break  # rounding: no descent is left
        v = v + share * step
        loss, gradient, short = new_loss, new_gradient, new_short
    return (v[:-1], CONSTANT * float(v[-1]), v) if fit_intercept else (v, 0.0, v)


def _loss(Z: Array, costs: Array, v: Array) -> tuple[float, Array, BoolArray]:
    """The objective, its gradient, and which rows count."""
    missing = 1.0 - Z @ v
    short = missing > 0
    missing = np.where(short, missing, 0.0)
    pull = costs * missing
    return 0.5 * float(v @ v) + float(pull @ missing), v - 2.0 * pull @ Z, short
