"""Limited-memory quasi-Newton for many small problems at once.

SciPy solves one problem per call. Pre-images and twin processes pose thousands of the same form,
whose values and gradients come from one matrix product; here every row of ``Z`` is a problem
with its own step length and memory, and rows that have converged leave the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.typing import Array, BoolArray, IntArray

# fun(Z, rows) -> values (n,), gradients (n, d) of the problems named by ``rows``
RowObjective = Callable[[Array, IntArray], tuple[Array, Array]]
# steps and changes of gradients (memory, n, d), and one over their products (memory, n)
Memory = tuple[Array, Array, Array]


@dataclass
class SolverResult:
    """The solutions of a batch of problems."""

    __module__ = "isthmus.optimize"

    x: Array
    value: Array
    optimality: Array
    n_iter: int
    converged: BoolArray
    message: str


def minimize_rows(
    fun: RowObjective,
    Z: Array,
    *,
    bounds: tuple[float, float] | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    memory: int = 8,
    scale: float | None = None,
    first_length: float = 1.0,
    verbose: int = 0,
) -> SolverResult:
    """Minimise ``fun`` for every row of ``Z`` by L-BFGS with backtracking.

    Parameters
    ----------
    fun : callable
        ``fun(Z, rows)`` returns values and gradients of the problems whose numbers are
        ``rows``, at the points ``Z``.
    Z : ndarray of shape (n, d)
        Starting points; not changed.
    bounds : (low, high), optional
        A box for all variables; the step is projected on it.
    tol : float
        A row has converged when the largest entry of its (projected) gradient is below
        ``tol`` times that at its start, or below ``tol * scale``.
    max_iter, memory : int
    scale : float, optional
        Size of a gradient entry that counts as large; by default the largest at the start.
    first_length : float
        Longest first step. A start that is nearer than that costs an evaluation.
    verbose : int
        1 shows a progress line on a terminal.

    Returns
    -------
    SolverResult
        Values never exceed those at the start.
    """
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    tol = max(tol, 100 * float(np.finfo(Z.dtype).eps))  # single precision gets no further
    n = len(Z)
    x = np.clip(Z, low, high)
    rows: IntArray = np.arange(n)
    f, g = fun(x, rows)
    value, point = f.copy(), x.copy()
    start = _optimality(x, g, low, high)
    optimality = start.copy()
    reference = np.maximum(start, float(start.max(initial=0.0)) if scale is None else scale)
    converged = start <= tol * reference
    # Rows still at work; all state below is kept for them alone.
    rows = np.flatnonzero(~converged)
    x, f, g = x[rows], f[rows], g[rows]
    # The memory grows with the steps, the latest first.
    S, Y, rho = (np.zeros((0, *shape), x.dtype) for shape in (x.shape, x.shape, x.shape[:1]))
    n_iter = 0
    line = ProgressLine("minimise", verbose=verbose)
    for n_iter in range(1, max_iter + 1):
        if not len(rows):
            break
        line.update(
            step=n_iter, open=len(rows), objective=value.mean(), optimality=optimality.max()
        )
        direction = _descent_direction(x, g, (S, Y, rho), low, high)
        first = ~rho.any(axis=0)
        # Without curvature a unit gradient step has no meaning: start with a known length.
        length = np.linalg.norm(direction, axis=1)
        step = np.where(first, first_length / np.maximum(length, 1e-300), 1.0)
        step = np.minimum(step, 1.0) if n_iter == 1 else step
        x_new, f_new, g_new, moved = _backtrack(fun, rows, x, f, g, direction, step, low, high)
        S, Y, rho = _remember((S, Y, rho), x_new - x, g_new - g, memory)
        x, f, g = x_new, f_new, g_new
        criterion = _optimality(x, g, low, high)
        done = criterion <= tol * reference[rows]
        stuck = ~moved & first  # the gradient itself gave no descent: rounding has the last word
        rho[:, ~moved] = 0
        value[rows], point[rows], optimality[rows] = f, x, criterion
        converged[rows] = done | stuck
        stay = ~(done | stuck)
        if not stay.all():
            rows, x, f, g = rows[stay], x[stay], f[stay], g[stay]
            S, Y, rho = S[:, stay], Y[:, stay], rho[:, stay]
    line.close()
    message = f"{int(converged.sum())} of {n} problems converged in {n_iter} iterations"
    return SolverResult(point, value, optimality, n_iter, converged, message)


def _optimality(x: Array, g: Array, low: float, high: float) -> Array:
    """Largest entry of the projected gradient."""
    return np.abs(np.clip(x - g, low, high) - x).max(axis=1, initial=0.0)


def _descent_direction(x: Array, g: Array, memory: Memory, low: float, high: float) -> Array:
    """Quasi-Newton directions; where one does not descend, the gradient, and memory is void."""
    S, Y, rho = memory
    free = ~(((x <= low) & (g > 0)) | ((x >= high) & (g < 0)))
    direction = -_two_loop(np.where(free, g, 0), S, Y, rho)
    direction *= free
    slope = np.einsum("ij,ij->i", direction, g)
    bad = slope >= -1e-14 * np.linalg.norm(direction, axis=1) * np.linalg.norm(g, axis=1)
    direction[bad] = np.where(free, -g, 0)[bad]
    rho[:, bad] = 0
    return direction


def _remember(memory: Memory, s: Array, y: Array, length: int) -> Memory:
    """The memory with the latest steps and changes of gradients first."""
    S, Y, rho = (part[: length - 1] for part in memory)
    curvature = np.einsum("ij,ij->i", s, y)
    keep = curvature > 1e-12 * np.einsum("ij,ij->i", y, y) ** 0.5 * np.linalg.norm(s, axis=1)
    latest = np.where(keep, 1 / np.where(keep, curvature, 1), 0)
    return np.concatenate([s[None], S]), np.concatenate([y[None], Y]), np.vstack([latest, rho])


def _two_loop(q: Array, S: Array, Y: Array, rho: Array) -> Array:
    """Inverse-Hessian product of every row; entries of the memory with ``rho = 0`` are void."""
    memory = len(S)
    a = np.zeros_like(rho)
    q = q.copy()
    for i in range(memory):
        a[i] = rho[i] * np.einsum("ij,ij->i", S[i], q)
        q -= a[i][:, None] * Y[i]
    if not memory:
        return q
    valid = rho > 0
    newest = valid.argmax(axis=0)  # the first valid one is the latest
    index = np.arange(rho.shape[1])
    y = Y[newest, index]
    yy = np.einsum("ij,ij->i", y, y)
    has = valid.any(axis=0) & (yy > 0)
    gamma = np.where(has, 1 / np.where(has, rho[newest, index] * yy, 1), 1.0)
    q *= gamma[:, None]
    for i in reversed(range(memory)):
        b = rho[i] * np.einsum("ij,ij->i", Y[i], q)
        q += (a[i] - b)[:, None] * S[i]
    return q


def _backtrack(
    fun: RowObjective,
    rows: IntArray,
    x: Array,
    f: Array,
    g: Array,
    direction: Array,
    step: Array,
    low: float,
    high: float,
    *,
    shrink: float = 0.3,
    max_halvings: int = 25,
) -> tuple[Array, Array, Array, BoolArray]:
    """Armijo step of every row; rows that find none stay where they are."""
    x_new, f_new, g_new = x.copy(), f.copy(), g.copy()
    waiting = np.arange(len(rows))
    step = step.copy()
    for _ in range(max_halvings):
        trial = np.clip(x[waiting] + step[waiting, None] * direction[waiting], low, high)
        value, gradient = fun(trial, rows[waiting])
        decrease = np.einsum("ij,ij->i", g[waiting], trial - x[waiting])
        # Near the minimum a descent is smaller than the rounding error of the value.
        slack = 4 * np.finfo(value.dtype).eps * np.abs(f[waiting])
        ok = (value <= f[waiting] + 1e-4 * decrease + slack) & (decrease < 0)
        took = waiting[ok]
        x_new[took], f_new[took], g_new[took] = trial[ok], value[ok], gradient[ok]
        waiting = waiting[~ok]
        if not len(waiting):
            break
        step[waiting] *= shrink
    moved = np.ones(len(rows), dtype=bool)
    moved[waiting] = False
    return x_new, f_new, g_new, moved
