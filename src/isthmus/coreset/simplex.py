r"""The quadratic program that all machines here are: :math:`\min\alpha^\top M\alpha+v^\top\alpha`.

Over the simplex it is a minimum enclosing ball: with :math:`\eta=\max_j(M_{jj}+v_j)` and
:math:`z_i^2=\eta-M_{ii}-v_i`, the ball around the points :math:`(x_i,z_i)` whose centre has no
component along the :math:`z`, of squared radius
:math:`\sum_i\alpha_i(\eta-v_i)-\alpha^\top M\alpha`.
"""

import numpy as np

from isthmus.typing import Array


def solve_simplex(
    M: Array,
    v: Array,
    start: Array | None = None,
    *,
    tol: float = 1e-10,
    max_iter: int = 1_000_000,
) -> tuple[Array, float]:
    r"""Weights that minimise :math:`\alpha^\top M\alpha+v^\top\alpha`, and the gap that is left.

    Parameters
    ----------
    M : positive semi-definite matrix (n, n).
    v : linear term (n,).
    start : weights to begin with, or None for equal ones.
    tol : stop when the gap :math:`\max_{\alpha_i>0}\partial_i-\min_i\partial_i` is below this; it
        bounds what is left to gain.
    max_iter : maximum number of iterations; each moves weight between two points.

    Returns
    -------
    The weights, and the gap reached.

    Examples
    --------
    >>> import numpy as np
    >>> weights, gap = solve_simplex(np.diag([1.0, 3.0]), np.zeros(2))
    >>> weights.round(6), gap < 1e-9
    (array([0.75, 0.25]), True)
    """
    n = len(v)
    alpha = np.full(n, 1.0 / n) if start is None else np.array(start, dtype=float)
    M = np.ascontiguousarray(M, dtype=float)
    return minimize_from(M, v, alpha, tol=tol, max_iter=max_iter)


def minimize_from(
    M: Array, v: Array, alpha: Array, *, tol: float, max_iter: int = 1_000_000
) -> tuple[Array, float]:
    """As :func:`solve_simplex` from ``alpha`` on, with the first rows and columns of ``M``.

    ``alpha`` is changed in place. The matrix of a core set that grows has room for more points and
    need not be copied.
    """
    from isthmus.coreset.simplex_loops import descend  # compiled on first use

    n = len(alpha)
    gradient = 2.0 * (M[:n, :n] @ alpha) + v
    gap, _ = descend(M, alpha, gradient, tol, max_iter)
    return alpha, float(gap)
