"""Core sets of rows that are read block by block, certified over all rows.

A core set of a union lies among core sets of its parts, nearly: each block is solved by itself, the
core points of neighbouring blocks are joined and solved again, and so on to one set. The
machine is then solved on that set. One more pass over *all* rows measures how far outside the
solution any of them is, which bounds the distance to the optimum over all of them (the gap); where
it is too large, the worst rows join the set and the machine is solved again.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from isthmus._warnings import warn
from isthmus.blocks.rows import Rows
from isthmus.kernels.drawn import checked_block
from isthmus.kernels.objects import concatenate, n_objects, take
from isthmus.typing import Array, IntArray, Objects

# Rows of a class that stand for a block in which there is no other.
ALONE = 64
# Points of both sets above which their core sets are joined by solving again.
JOINED = 4000
# Rows that join in one round, and rounds.
WORST, ROUNDS = 512, 30


class CoreRows(NamedTuple):
    """Rows with their numbers; ``y`` is None where there are no labels."""

    numbers: IntArray
    X: Objects
    y: Any

    def join(self, other: "CoreRows") -> "CoreRows":
        """The rows of both, each once."""
        new = np.flatnonzero(~np.isin(other.numbers, self.numbers))
        numbers = np.concatenate([self.numbers, other.numbers[new]])
        X = concatenate(self.X, take(other.X, new))
        y = None if self.y is None else np.concatenate([self.y, other.y[new]])
        return CoreRows(numbers, X, y)

    def part(self, rows: IntArray) -> "CoreRows":
        """Some of them."""
        y = None if self.y is None else self.y[rows]
        return CoreRows(self.numbers[rows], take(self.X, rows), y)


class Certificate(NamedTuple):
    """The largest violation of each machine, and the rows that violate most."""

    violation: Array  # (n_machines,)
    worst: CoreRows
    sizes: Array  # of their violations


@dataclass(frozen=True)
class CoreSets:
    """How one machine is fitted to rows in blocks.

    Parameters
    ----------
    machine : unfitted estimator, its kernel resolved
    support : function of the fitted machine, giving the rows that carry weight
    violations : function of the fitted machine, objects and labels, giving how far outside the
        solution each object is for each machine, (n, n_machines)
    """

    machine: Any
    support: Callable[[Any], IntArray]
    violations: Callable[[Any, Objects, Any], Array]

    def solve(self, rows: CoreRows) -> Any:
        """The machine on some rows."""
        with warnings.catch_warnings():
            # What counts is the certificate over all rows.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clone(self.machine).fit(rows.X, *([] if rows.y is None else [rows.y]))

    def core(self, rows: CoreRows) -> CoreRows:
        """The rows that carry weight."""
        if n_objects(rows.X) < 3:
            return rows
        if rows.y is not None and len(np.unique(rows.y)) < 2:
            return rows.part(np.unique(np.linspace(0, len(rows.y) - 1, ALONE).astype(int)))
        return rows.part(np.asarray(self.support(self.solve(rows))))

    def map_block(self, X: Any, y: Any = None, *, start: int) -> CoreRows:
        """The core set of one block."""
        X = checked_block(self.machine.kernel, X)
        return self.core(CoreRows(np.arange(start, start + n_objects(X)), X, y))

    def merge(self, a: CoreRows, b: CoreRows) -> CoreRows:
        """The core set of two: both together, or that of both where they are many."""
        both = a.join(b)
        return self.core(both) if len(both.numbers) > JOINED else both

    def certify(self, X: Any, y: Any = None, *, start: int, state: Any) -> Certificate:
        """The largest violations in one block, of which rows in the core set have none."""
        fitted, inside = state
        X = checked_block(self.machine.kernel, X)
        numbers = np.arange(start, start + n_objects(X))
        found = self.violations(fitted, X, y)
        found[np.isin(numbers, inside)] = -np.inf
        sizes = found.max(axis=1)
        worst = np.sort(np.argsort(-sizes, kind="stable")[:WORST])
        rows = CoreRows(numbers, X, None if y is None else np.asarray(y)).part(worst)
        return Certificate(found.max(axis=0), rows, sizes[worst])


def merge_certificates(a: Certificate, b: Certificate) -> Certificate:
    """Of the rows of both."""
    sizes = np.concatenate([a.sizes, b.sizes])
    worst = np.sort(np.argsort(-sizes, kind="stable")[:WORST])
    rows = a.worst.join(b.worst).part(worst)
    return Certificate(np.maximum(a.violation, b.violation), rows, sizes[worst])


def fit_core_sets(
    rows: Rows, sets: CoreSets, allowed: Callable[[Any], Array]
) -> tuple[Any, IntArray, Array]:
    """The machine, the numbers of the rows it was solved on, and the gaps over all rows.

    ``allowed(fitted)`` are the violations at which each machine is accurate enough.
    """
    core = rows.fold(sets.map_block, sets.merge, numbered=True)
    for _ in range(ROUNDS):
        fitted = sets.solve(core)
        state = (fitted, core.numbers)
        found = rows.fold(sets.certify, merge_certificates, state=state, numbered=True)
        enough = allowed(fitted)
        if np.all(found.violation <= enough):
            break
        if np.any(np.atleast_1d(fitted.gap_) > enough):
            # Not even the core set is solved that well: more rows would not help.
            warn(
                f"{type(sets.machine).__name__} reached a gap of {np.max(fitted.gap_):.3g} on "
                f"{len(core.numbers)} rows, where {enough.min():.3g} was asked for; over all rows "
                "gap_ tells. Raise epsilon or max_core of the solver.",
                ConvergenceWarning,
            )
            break
        core = core.join(found.worst.part(np.flatnonzero(found.sizes > enough.min())))
    else:
        warn(
            f"{type(sets.machine).__name__} reached {ROUNDS} rounds with a violation of "
            f"{found.violation.max():.3g}, where {enough.min():.3g} was asked for: gap_ tells how "
            "far from the optimum it may be. Raise epsilon of the solver.",
            ConvergenceWarning,
        )
    gaps = np.maximum(np.atleast_1d(fitted.gap_), found.violation)
    return fitted, core.numbers, gaps


def take_over(model: Any, fitted: Any) -> None:
    """Give what one machine has learned to another."""
    parameters = model.get_params(deep=False)
    for name, value in vars(fitted).items():
        if name not in parameters:
            setattr(model, name, value)


def accuracy(machine: Any) -> float:
    """The share of the objective that the gap may have, by the machine's solver."""
    solver = getattr(machine, "solver", "core")
    epsilon = getattr(solver, "epsilon", "auto")
    found = type(machine).solver_defaults.epsilon if isinstance(epsilon, str) else epsilon
    return max(float(found), 1e-9)
