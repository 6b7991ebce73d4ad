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
    rounding: float | None = None,
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
    rounding : float, optional
        Relative rounding error of the values; by default that of the type of ``Z``.
    verbose : int
        1 shows a progress line on a terminal.

    Returns
    -------
    SolverResult
        Values never exceed those at the start.
    """
    # Compiled code is loaded when it is asked for.
    from isthmus.optimize.lbfgs_loops import STEPS, next_trials

    tol = max(tol, 100 * float(np.finfo(Z.dtype).eps))  # single precision gets no further
    n, d = Z.shape
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    box = np.empty((2, d), dtype=Z.dtype)
    box[0], box[1] = low, high
    x = np.clip(Z, *box)
    rows: IntArray = np.arange(n)
    f, g = (np.array(part, dtype=Z.dtype, order="C") for part in fun(x, rows))
    optimality = np.abs(np.clip(x - g, *box) - x).max(axis=1, initial=0.0)
    largest = float(optimality.max(initial=0.0)) if scale is None else scale
    threshold = tol * np.maximum(optimality, largest)
    converged = optimality <= threshold
    rows = np.flatnonzero(~converged)
    trial = np.empty((len(rows), d), dtype=Z.dtype)
    length = max(1, min(memory, max_iter))
    S, Y = np.empty((2, n * length, d), dtype=Z.dtype)
    count = np.zeros((n, 5), dtype=np.int64)
    point = x, f, g, np.empty_like(x), S, Y, np.zeros((n, length)), count, np.ones(n)
    rounding = float(np.finfo(Z.dtype).eps) if rounding is None else rounding
    limits = threshold, first_length, max_iter, 4 * rounding
    state = (*point, box, optimality, converged, *limits)
    line = ProgressLine("minimise", verbose=verbose)
    n_open = next_trials(rows, trial, f[:0], g[:0], *state) if max_iter > 0 else 0
    while n_open:
        rows, trial = rows[:n_open], trial[:n_open]
        if line.active:
            line.update(
                step=count[:, STEPS].max(),
                open=n_open,
                objective=f.mean(),
                optimality=optimality.max(),
            )
        # One kind of array, so that one loop is compiled.
        f_new, g_new = (np.ascontiguousarray(part, dtype=Z.dtype) for part in fun(trial, rows))
        n_open = next_trials(rows, trial, f_new, g_new, *state)
    line.close()
    n_iter = int(count[:, STEPS].max(initial=0))
    message = f"{int(converged.sum())} of {n} problems converged in {n_iter} iterations"
    return SolverResult(x, f, optimality, n_iter, converged, message)
