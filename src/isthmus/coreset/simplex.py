r"""The quadratic program that all machines here are: :math:`\min\alpha^\top M\alpha+v^\top\alpha`.

Over the simplex it is a minimum enclosing ball: with :math:`\eta=\max_j(M_{jj}+v_j)` and
:math:`z_i^2=\eta-M_{ii}-v_i`, the ball around the points :math:`(x_i,z_i)` whose centre has no
component along the :math:`z`, of squared radius
:math:`\sum_i\alpha_i(\eta-v_i)-\alpha^\top M\alpha`.
"""

from typing import Any

import numpy as np

from isthmus._checks import check_float, check_int
from isthmus._door import with_door
from isthmus.typing import Array

TIE = 1e-10  # what counts as equal where points join one by one, as a share of the gap
NUMBERS = 100_000_000  # entries that a part of the descent looks at


@with_door
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
    M, v, alpha = _check_program(M, v, start)
    check_float(tol, "tol", "solve_simplex")
    check_int(max_iter, "max_iter", "solve_simplex", low=1)
    return minimize_from(M, v, alpha, tol=tol, max_iter=max_iter)


def _check_program(M: Any, v: Any, start: Any) -> tuple[Array, Array, Array]:
    """The matrix, the linear term and the first weights, or what is wrong with them."""
    M = np.ascontiguousarray(M, dtype=float)
    v = np.asarray(v, dtype=float)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or not len(M):
        raise ValueError(f"solve_simplex expected a square matrix M. Got shape {M.shape} instead.")
    n = len(M)
    alpha = np.full(n, 1.0 / n) if start is None else np.array(start, dtype=float)
    for name, values in (("v", v), ("start", alpha)):
        if values.shape != (n,):
            raise ValueError(
                f"solve_simplex expected {name} of shape ({n},), one entry per row of M. Got "
                f"shape {values.shape} instead."
            )
    for name, values in (("M", M), ("v", v), ("start", alpha)):
        if not np.isfinite(values).all():
            raise ValueError(
                f"solve_simplex expected finite numbers. Got NaN or infinity in {name}."
            )
    if alpha.min() < 0 or abs(alpha.sum() - 1) > 1e-8:
        raise ValueError(
            "solve_simplex expected a start with entries of at least 0 that sum to 1. Got a sum of "
            f"{alpha.sum():g} and a least entry of {alpha.min():g}."
        )
    return M, v, alpha


def minimize_from(
    M: Array,
    v: Array,
    alpha: Array,
    *,
    tol: float,
    max_iter: int = 1_000_000,
    tie: float = 0.0,
    gradient: Array | None = None,
) -> tuple[Array, float]:
    """As :func:`solve_simplex` from ``alpha`` on, with the first rows and columns of ``M``.

    ``tie`` is what counts as equal: with :data:`TIE` the path of a small program does not depend
    on the units of its data.

    ``alpha`` is changed in place, and so is the ``gradient`` there, if it is known. The matrix of a
    core set that grows has room for more points and need not be copied.
    """
    from isthmus.coreset.simplex_loops import descend  # compiled on first use

    n = len(alpha)
    if gradient is None:
        gradient = 2.0 * (M[:n, :n] @ alpha) + v
    # In parts of about half a second, so that an interrupt is answered between two; an even number
    # of steps, because every other one is longer.
    part, gap = 2 * max(1, NUMBERS // n // 2), np.inf
    while max_iter > 0:
        gap, done = descend(M, alpha, gradient, tol, min(part, max_iter), tie)
        if done < min(part, max_iter):
            break
        max_iter -= done
    return alpha, float(gap)
