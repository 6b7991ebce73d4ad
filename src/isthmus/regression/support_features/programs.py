r"""Small linear programs with moduli, by HiGHS, with as little around it as SciPy allows.

The dual has a row for each variable and a column for each constraint,

.. math:: \max_{\lambda,\mu}\ b^\top\lambda+d^\top\mu\quad\text{with}\quad
          |A^\top\lambda+E^\top\mu|\le c,\quad 0\le\lambda\le p,

so that few variables make a small program, penalties are bounds, and zero is a point to start from.
HiGHS solves it in less time than ``scipy.optimize.linprog`` takes to check its tables. The binding
below that is SciPy's own business: where it is missing, is another one, or finds no optimum,
``linprog`` is asked and has the last word.
"""

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from isthmus.typing import Array


class Program(NamedTuple):
    r"""Least :math:`c^\top|x|+p^\top\xi` where :math:`Ax+\xi\ge b`, :math:`\xi\ge0`, :math:`Ex=d`.

    Costs are at least zero; ``equal`` may have no rows; ``penalties`` of None allow no slack.
    """

    cost: Array
    A: Array
    b: Array
    equal: Array
    d: Array
    penalties: Array | None


class Optimum(NamedTuple):
    """Variables, slacks (none without penalties) and the multipliers of both constraints."""

    x: Array
    slack: Array
    rows: Array
    equal: Array


class Infeasible(ValueError):
    """No point satisfies the constraints."""


def optimum(program: Program) -> Optimum:
    """The least point of a program.

    >>> none, two = np.zeros((0, 1)), np.array([2.0])
    >>> at_least_two = Program(np.ones(1), np.eye(1), two, none, np.zeros(0), None)
    >>> optimum(at_least_two).x.tolist()
    [2.0]
    """
    try:
        found = _by_highs(program)
    except (ImportError, AttributeError, TypeError):
        found = None
    return by_scipy(program) if found is None else found


def by_scipy(program: Program) -> Optimum:
    """The same by ``linprog`` as it is stated, which says what went wrong."""
    m, n = program.A.shape
    slacks = np.eye(m) if program.penalties is not None else np.zeros((m, 0))
    penalties = np.zeros(0) if program.penalties is None else program.penalties
    without = np.zeros((len(program.d), slacks.shape[1]))
    equal = np.hstack([program.equal, -program.equal, without])
    found: Any = linprog(
        np.concatenate([program.cost, program.cost, penalties]),
        -np.hstack([program.A, -program.A, slacks]),
        -program.b,
        equal if len(equal) else None,
        program.d if len(equal) else None,
        method="highs",
    )
    if found.status == 2:
        raise Infeasible(found.message)
    if found.status != 0:
        raise RuntimeError(f"The linear program was not solved: {found.message}")
    x = found.x[:n] - found.x[n : 2 * n]
    multipliers = found.eqlin.marginals if len(equal) else np.zeros(0)
    return Optimum(x, found.x[2 * n :], -found.ineqlin.marginals, multipliers)


@cache
def _options() -> Any:
    """Options of HiGHS, which copies them."""
    core: Any = import_module("scipy.optimize._highspy._core")
    options = core.HighsOptions()
    options.output_flag = options.log_to_console = False
    options.presolve = "off"  # a full table has nothing to be simplified first
    options.simplex_strategy = int(core.simplex_constants.SimplexStrategy.kSimplexStrategyPrimal)
    return options


def _by_highs(program: Program) -> Optimum | None:
    core: Any = import_module("scipy.optimize._highspy._core")
    m, n, k, infinite = *program.A.shape, len(program.d), core.kHighsInf
    penalties = np.full(m, infinite) if program.penalties is None else program.penalties
    # A column of the dual is a row here. As arrays: an object of HiGHS would take them one by one.
    columns = np.vstack([program.A, program.equal])
    model = (
        m + k,
        n,
        columns.size,
        int(core.MatrixFormat.kColwise),
        int(core.ObjSense.kMinimize),
        0.0,
        -np.concatenate([program.b, program.d]),
        np.concatenate([np.zeros(m), np.full(k, -infinite)]),
        np.concatenate([penalties, np.full(k, infinite)]),
        -program.cost,
        program.cost,
        np.arange(0, columns.size + 1, n, dtype=np.int32),
        np.tile(np.arange(n, dtype=np.int32), m + k),
        columns.ravel(),
        np.zeros(m + k, dtype=np.int32),  # no variable is an integer
    )
    solver = core._Highs()
    steps = (
        lambda: solver.passOptions(_options()),
        lambda: solver.passModel(*model),
        solver.run,
    )
    if any(step() == core.HighsStatus.kError for step in steps):
        return None
    status = solver.getModelStatus()
    if status == core.HighsModelStatus.kUnbounded:
        raise Infeasible("No point satisfies the constraints.")
    if status != core.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    multipliers = np.array(solution.col_value)
    allowed = m if program.penalties is not None else 0
    # What is missing at a row whose multiplier has reached its penalty.
    slack = np.maximum(-np.array(solution.col_dual[:allowed]), 0.0)
    return Optimum(-np.array(solution.row_dual), slack, multipliers[:m], multipliers[m:])
