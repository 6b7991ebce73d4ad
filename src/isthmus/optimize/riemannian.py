r"""Quasi-Newton descent over matrices of fixed rank.

The matrices :math:`F=V\operatorname{diag}(s)W^\top` of rank :math:`r` form a smooth manifold. A
tangent vector at :math:`F` is :math:`VMW^\top+U_pW^\top+VV_p^\top` with :math:`V^\top U_p=0`,
:math:`W^\top V_p=0`, and its length is that of the three blocks; neither :math:`F` nor its gradient
is ever formed, only products of the gradient with :math:`V` and :math:`W` [Vandereycken2013]_. A
free vector :math:`b` (an intercept) is carried along.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from isthmus.linalg.products import product
from isthmus.typing import Array

# Steps down a sphere before it counts how much shorter they make the gradient: far away the
# manifold is more curved than the sphere.
PATIENCE = 5


class FixedRank(NamedTuple):
    """The matrix ``V diag(s) W'`` and a free vector ``b``."""

    V: Array
    s: Array
    W: Array
    b: Array


FixedRank.__module__ = "isthmus.optimize"


class Slope(NamedTuple):
    """Value of a function of ``(F, b)`` and its gradient G as ``G W`` and ``G' V``; that in b."""

    value: float
    GW: Array
    GtV: Array
    gb: Array


Slope.__module__ = "isthmus.optimize"


class FixedRankResult(NamedTuple):
    """Where the descent came to; ``path`` holds the values on the way."""

    point: FixedRank
    value: float
    optimality: float
    n_iter: int
    converged: bool
    path: list[float]


FixedRankResult.__module__ = "isthmus.optimize"


Objective = Callable[[FixedRank], Slope]


def minimize_fixed_rank(
    fun: Objective,
    start: FixedRank,
    *,
    tol: float = 1e-6,
    scale: float | None = None,
    max_iter: int = 500,
    memory: int = 10,
    curvature: float | None = None,
    sphere: bool = False,
    callback: Callable[[int, float, float], None] | None = None,
) -> FixedRankResult:
    """Minimise ``fun`` over matrices of the rank of ``start`` by Riemannian L-BFGS.

    Parameters
    ----------
    fun : callable
        ``fun(point)`` returns a :class:`Slope`.
    start : FixedRank
    tol : float
        Stop when the length of the Riemannian gradient is at most ``tol * scale``.
    scale : float, optional
        A gradient that counts as large; by default that at the start.
    max_iter, memory : int
    curvature : float, optional
        About the mean second derivative of the function over all matrices, for the length of the
        first step.
    sphere : bool, default=False
        Over all matrices, all second derivatives are ``curvature``, or at most that. Steps then
        follow the gradient to the bottom of that sphere, without a memory, as long as each after
        the first few makes the gradient shorter by half.
    callback : callable, optional
        Called with iteration, value and optimality.

    Returns
    -------
    FixedRankResult
        ``optimality`` is the length of the gradient over ``scale``. Values never rise, but for
        rounding errors.

    Notes
    -----
    The memory of the quasi-Newton method is carried to each new point by projection on its
    tangent space, O(memory (n_rows + n_columns) r²) an iteration besides ``fun``.
    """
    point, slope = start, fun(start)
    g = riemannian_gradient(point, slope)
    size = _length(g)
    scale = max(size, np.finfo(float).tiny) if scale is None else scale
    path = [slope.value]
    steps: Array = np.empty((0, len(g)))
    changes: Array = np.empty((0, len(g)))
    n_iter, remembers = 0, not sphere
    while n_iter < max_iter and size > tol * scale:
        n_iter += 1
        direction = -_two_loop(g, steps, changes)
        if direction @ g > -1e-10 * _length(direction) * size:
            steps, changes = steps[:0], changes[:0]
            direction = -g
        t = 1.0 if len(steps) else _first_step(point, direction, curvature)
        found = _backtrack(fun, point, slope, g, direction, t)
        if found is None:
            if not len(steps):
                break  # the gradient itself gives no descent: rounding has the last word
            steps, changes = steps[:0], changes[:0]
            continue
        t, new, new_slope, new_g = found
        new_size = _length(new_g)
        remembers = remembers or (new_size > 0.5 * size and n_iter >= PATIENCE)
        if remembers and new_size > tol * scale:
            steps, changes = _remember(
                point, new, np.vstack([steps, changes, t * direction, g]), new_g, memory
            )
        point, slope, g, size = new, new_slope, new_g, new_size
        path.append(slope.value)
        if callback is not None:
            callback(n_iter, slope.value, size / scale)
    return FixedRankResult(point, slope.value, size / scale, n_iter, size <= tol * scale, path)


def _remember(
    old: FixedRank, new: FixedRank, stack: Array, new_g: Array, memory: int
) -> tuple[Array, Array]:
    """Steps and changes of the gradient, with the latest ones, in the tangent space at ``new``.

    ``stack`` holds the former steps, as many changes, the latest step and the gradient before it.
    """
    carried = _transport(old, new, stack)
    m = len(stack) // 2 - 1
    s, y = carried[-2], new_g - carried[-1]
    steps, changes = carried[:m], carried[m : 2 * m]
    if s @ y > 1e-10 * _length(s) * _length(y):
        steps = np.vstack([steps, s])[-memory:]
        changes = np.vstack([changes, y])[-memory:]
    return steps, changes


# A tangent vector is kept flat, [M, Up, Vp, b], so that lengths are plain dot products. ---------


def _length(xi: Array) -> float:
    return math.sqrt(xi @ xi)


def _split(xi: Array, point: FixedRank) -> tuple[Array, Array, Array, Array]:
    """Blocks of one flat tangent vector, or of a stack of them."""
    (o, r), d = point.V.shape, len(point.W)
    first, second, third = r * r, (r + o) * r, (r + o + d) * r
    lead = xi.shape[:-1]
    return (
        xi[..., :first].reshape(*lead, r, r),
        xi[..., first:second].reshape(*lead, o, r),
        xi[..., second:third].reshape(*lead, d, r),
        xi[..., third:],
    )


def _flatten(M: Array, Up: Array, Vp: Array, b: Array) -> Array:
    lead = M.shape[:-2]
    return np.concatenate([part.reshape(*lead, -1) for part in (M, Up, Vp)] + [b], axis=-1)


def _project(point: FixedRank, GW: Array, GtV: Array, gb: Array) -> Array:
    """Tangent vector nearest to a matrix known by its products with W and V."""
    M = point.V.T @ GW
    Up = GW - point.V @ M
    Vp = GtV - point.W @ np.swapaxes(M, -1, -2)
    return _flatten(M, Up, Vp, gb)


def riemannian_gradient(point: FixedRank, slope: Slope) -> Array:
    """Gradient on the manifold as a flat vector, whose length is that of the slope."""
    return _project(point, slope.GW, slope.GtV, slope.gb)


def _transport(old: FixedRank, new: FixedRank, xi: Array) -> Array:
    """Project tangent vectors at ``old``, the rows of ``xi``, on the tangent space at ``new``."""
    M, Up, Vp, b = _split(xi, old)
    left = old.V @ M + Up  # the matrix is left W' + V Vp'
    WW, VV = product(old.W.T, new.W), product(old.V.T, new.V)
    GW = left @ WW + old.V @ (np.swapaxes(Vp, -1, -2) @ new.W)
    GtV = old.W @ (np.swapaxes(left, -1, -2) @ new.V) + Vp @ VV
    return _project(new, GW, GtV, b)


def _retract(point: FixedRank, xi: Array) -> FixedRank:
    """Best approximation of ``F + xi`` of the same rank, from factors of size 2r.

    ``F + xi = [V, Up] [[S + M, I], [I, 0]] [W, Vp]'``; factorising the outer parts whole keeps
    the result orthonormal also where few dimensions are left beside ``V`` or ``W``.
    """
    M, Up, Vp, b = _split(xi, point)
    r = len(point.s)
    # SciPy's, as the decomposition below: two libraries would keep each other's threads waiting.
    Qa, Ra = _qr_beside(point.V, Up)
    Qb, Rb = _qr_beside(point.W, Vp)
    left, right = Ra[:, :r], Rb[:, :r]
    core = (left * point.s + left @ M + Ra[:, r:]) @ right.T
    core += left @ Rb[:, r:].T
    u, s, vt, failed = lapack.dgesdd(core, full_matrices=0)
    if failed:
        raise np.linalg.LinAlgError("The singular values of a step did not converge.")
    return FixedRank(product(Qa, u[:, :r]), s[:r], product(Qb, vt[:r].T), point.b + b)


def _qr_beside(A: Array, B: Array) -> tuple[Array, Array]:
    """Thin QR factors of ``[A, B]``; SciPy's own function spends its time on questions."""
    n, r = A.shape
    both = np.empty((n, 2 * r), order="F")
    both[:, :r], both[:, r:] = A, B
    factors, tau, _, _ = lapack.dgeqrf(both, overwrite_a=1)
    k = len(tau)
    R = factors[:k] * _upper(k, 2 * r)
    return lapack.dorgqr(factors[:, :k], tau, overwrite_a=1)[0], R


@lru_cache(maxsize=64)
def _upper(n: int, m: int) -> Array:
    """Ones on and above the diagonal."""
    ones = np.asfortranarray(np.triu(np.ones((n, m))))
    ones.flags.writeable = False  # it is shared
    return ones


def _two_loop(g: Array, steps: Array, changes: Array) -> Array:
    r"""Product of the quasi-Newton inverse Hessian with ``g``; the last pair is the newest.

    With the rows :math:`S` of steps and :math:`Y` of changes, the recursion over the pairs solves
    two triangular systems in the upper triangle of :math:`SY^\top`.
    """
    if not len(steps):
        return g
    R = steps @ changes.T
    a, _ = lapack.dtrtrs(R, steps @ g)
    q = (g - a @ changes) * (R[-1, -1] / (changes[-1] @ changes[-1]))
    c, _ = lapack.dtrtrs(R, R.diagonal() * a - changes @ q, trans=1)
    return np.asarray(q + c @ steps)


def _first_step(point: FixedRank, direction: Array, curvature: float | None) -> float:
    """How far to go along the gradient: to where it would vanish, or by the size of the point."""
    if curvature is not None and curvature > 0.0:
        return 1.0 / curvature
    here = np.sqrt(np.sum(point.s**2) + np.sum(point.b**2))
    return max(float(here), 1.0) / _length(direction)


def _backtrack(
    fun: Objective,
    point: FixedRank,
    slope: Slope,
    g: Array,
    direction: Array,
    t: float,
    *,
    max_halvings: int = 30,
) -> tuple[float, FixedRank, Slope, Array] | None:
    """Armijo step along the retraction, ``t`` or shorter; None where there is none.

    Near the minimum rounding errors of the value hide its decrease; there a shorter gradient is
    as good a proof.
    """
    rounding = 1e-13 * abs(slope.value)
    descent = float(direction @ g)
    for _ in range(max_halvings):
        new = _retract(point, t * direction)
        new_slope = fun(new)
        new_g = riemannian_gradient(new, new_slope)
        enough = new_slope.value <= slope.value + 1e-4 * t * descent
        if enough or (new_slope.value <= slope.value + rounding and _length(new_g) < _length(g)):
            return t, new, new_slope, new_g
        # The parabola through what is known, kept within reason.
        bend = new_slope.value - slope.value - t * descent
        best = -descent * t * t / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.0
        t = min(max(best, 0.1 * t), 0.5 * t)
    return None
