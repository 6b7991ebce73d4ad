"""Small linear programs by HiGHS, with as little around it as SciPy allows.

A program of a hundred rows takes HiGHS less time than ``scipy.optimize.linprog`` takes to check
its tables and to sort bounds by the basis. The binding below it is SciPy's own business, so where
it is missing, is another one, or finds no optimum, ``linprog`` is asked and has the last word.
"""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from isthmus.typing import Array, BoolArray


class Program(NamedTuple):
    r"""Least :math:`c^\top x` where :math:`Ax\le b`, :math:`Ex=d`, :math:`x\ge0` but where free.

    ``equal`` may have no rows; ``simplify`` lets the solver look for what it can leave out first.
    """

    cost: Array
    A: Any
    b: Array
    equal: Array
    d: Array
    free: BoolArray
    simplify: bool


class Optimum(NamedTuple):
    """The variables, and the multipliers of both kinds of rows."""

    x: Array
    rows: Array
    equal: Array


class Infeasible(ValueError):
    """No point satisfies the constraints."""


def optimum(program: Program) -> Optimum:
    """The least point of a program.

    >>> none = np.zeros((0, 1))
    >>> free, two = np.zeros(1, dtype=bool), np.array([2.0])
    >>> at_least_two = Program(np.ones(1), -np.eye(1), -two, none, np.zeros(0), free, True)
    >>> optimum(at_least_two).x.tolist()
    [2.0]
    """
    try:
        found = _by_highs(program)
    except (ImportError, AttributeError, TypeError):
        found = None
    return by_scipy(program) if found is None else found


def by_scipy(program: Program) -> Optimum:
    """The same by ``linprog``, which says what went wrong."""
    bounds = [(None if free else 0, None) for free in program.free]
    found: Any = linprog(
        program.cost,
        program.A,
        program.b,
        program.equal if len(program.equal) else None,
        program.d if len(program.equal) else None,
        bounds,
        method="highs",
        options={"presolve": program.simplify},
    )
    if found.status == 2:
        raise Infeasible(found.message)
    if found.status != 0:
        raise RuntimeError(f"The linear program was not solved: {found.message}")
    equal = found.eqlin.marginals if len(program.equal) else np.zeros(0)
    return Optimum(found.x, found.ineqlin.marginals, equal)


def _by_highs(program: Program) -> Optimum | None:
    core: Any = import_module("scipy.optimize._highspy._core")
    if sparse.issparse(program.A):
        A = sparse.vstack([program.A, program.equal], format="csc")
    else:
        A = sparse.csc_array(np.vstack([program.A, program.equal]))
    m, n, infinite = len(program.b), len(program.cost), core.kHighsInf
    # As arrays: an object of HiGHS would take their numbers one by one.
    model = (
        n,
        len(program.d) + m,
        A.nnz,
        int(core.MatrixFormat.kColwise),
        int(core.ObjSense.kMinimize),
        0.0,
        program.cost,
        np.where(program.free, -infinite, 0.0),
        np.full(n, infinite),
        np.concatenate([np.full(m, -infinite), program.d]),
        np.concatenate([program.b, program.d]),
        A.indptr,
        A.indices,
        A.data,
        np.zeros(n, dtype=np.int32),  # no variable is an integer
    )
    # The options of linprog.
    options = core.HighsOptions()
    options.output_flag = options.log_to_console = False
    options.presolve = "on" if program.simplify else "off"
    options.simplex_strategy = int(core.simplex_constants.SimplexStrategy.kSimplexStrategyDual)
    solver = core._Highs()
    steps = (
        lambda: solver.passOptions(options),
        lambda: solver.passModel(*model),
        solver.run,
    )
    if any(step() == core.HighsStatus.kError for step in steps):
        return None
    status = solver.getModelStatus()
    if status == core.HighsModelStatus.kInfeasible:
        raise Infeasible("No point satisfies the constraints.")
    if status != core.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    multipliers = np.array(solution.row_dual)
    return Optimum(np.array(solution.col_value), multipliers[:m], multipliers[m:])
