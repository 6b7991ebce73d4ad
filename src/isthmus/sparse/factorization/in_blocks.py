r"""Non-negative factorization in passes: codes are solved where the rows are.

A pass with components V solves the codes W of every row exactly and adds up :math:`W^\top W` and
:math:`X^\top W`, which are all that a better V needs. No codes are held. Between passes V is
extrapolated as in memory [Ang2019]_, and taken back where the loss has risen.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import shortened
from isthmus._progress import ProgressLine
from isthmus.blocks.drawing import draw_rows
from isthmus.blocks.fitting import refuse_blocks
from isthmus.blocks.rows import Rows
from isthmus.sparse.factorization.drivers import TINY, Report, projected_gradient
from isthmus.sparse.factorization.options import scaled_penalties
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.quadratic import Quadratic
from isthmus.typing import Array

# Rows on which a first factorization is made in memory.
FIRST_ROWS, FIRST_TOL = 5000, 1e-3
# A share of extrapolation that rejected steps have worn down to this: rounding decides by now.
STALLED = 1e-3


class CodedRows(NamedTuple):
    """Sums over rows and their codes; ``loss`` has the penalty of the codes in it."""

    gram: Array  # W'W
    cross: Array  # X'W
    loss: float
    squares: float  # of the residuals
    n_rows: int


class CodingPass:
    """Codes of a block that are best for components ``V`` (d, k), and their sums."""

    def __init__(self, V: Array, penalties: tuple[Penalty, Penalty], name: str):
        self.V, self.penalties, self.name = V, penalties, name

    def __call__(self, X: Array) -> CodedRows:
        if X.min() < 0:
            raise ValueError(f"Negative values in data passed to {self.name} (input X).")
        problem = Quadratic.of(np.ascontiguousarray(X, dtype=np.float64), "anls", self.penalties)
        W = problem.solve(self.V)
        residual = problem.X - W @ self.V.T
        squares = float(np.vdot(residual, residual))
        loss = 0.5 * squares + self.penalties[0].value(W)
        return CodedRows(W.T @ W, problem.X.T @ W, loss, squares, len(X))


def merge_coded(a: CodedRows, b: CodedRows) -> CodedRows:
    """Sums over both sets of rows."""
    pairs: Any = zip(a, b, strict=True)
    return CodedRows(*(x + y for x, y in pairs))


@dataclass
class PassCourse:
    """Where the passes have ended."""

    V: Array
    losses: list[float]
    optimality: float
    squares: float
    n_iter: int
    converged: bool


def descend_in_passes(
    rows: Rows,
    V: Array,
    penalties: tuple[Penalty, Penalty],
    *,
    tol: float,
    max_iter: int,
    report: Report,
) -> PassCourse:
    """Passes until the projected gradient of the components is below ``tol`` of its terms.

    That of the codes is zero in every pass, since they are solved exactly.
    """
    beta, ceiling = 0.5, 1.0
    best: PassCourse | None = None
    last = V  # the newest components without extrapolation
    n_iter = 0
    while n_iter < max_iter:
        found = rows.fold(CodingPass(V, penalties, rows.owner), merge_coded)
        n_iter += 1
        loss = found.loss + penalties[1].value(V)
        gradient, better = component_step(V, found, penalties[1])
        if best is None or loss <= best.losses[-1]:
            losses = [loss] if best is None else [*best.losses, loss]
            optimal = component_optimality(V, gradient, found, penalties[1])
            best = PassCourse(V, losses, optimal, found.squares, n_iter, optimal <= tol)
            V, last = np.maximum(better + beta * (better - last), 0.0), better
            plain = better
            beta, ceiling = min(ceiling, 1.05 * beta), min(1.0, 1.01 * ceiling)
        else:
            V = last = plain  # without extrapolation the loss cannot rise
            beta, ceiling = beta / 1.5, beta
        best.n_iter = n_iter
        report(n_iter, best.losses[-1], best.optimality)
        if best.converged or beta < STALLED:
            break
    assert best is not None
    return best


def component_step(V: Array, found: CodedRows, penalty: Penalty) -> tuple[Array, Array]:
    """The gradient of the loss by the components, and components that are best for the codes."""
    G = found.gram + penalty.squared_l1
    G[np.diag_indices_from(G)] += penalty.l2
    B = found.cross - penalty.l1
    from isthmus.sparse.factorization.nnls_loops import solve_rows

    better = V.copy()
    # A component that no row uses stays as it is.
    used = np.diagonal(G) > 0
    part = np.ascontiguousarray(better[:, used])
    solve_rows(part, np.ascontiguousarray(B[:, used]), np.ascontiguousarray(G[np.ix_(used, used)]))
    better[:, used] = part
    return V @ G - B, better


def component_optimality(V: Array, gradient: Array, found: CodedRows, penalty: Penalty) -> float:
    """How far from stationary the components are, as :func:`drivers.optimality` measures it."""
    terms = np.sqrt(np.mean(found.cross**2, axis=0))
    rest = projected_gradient(V, gradient, terms)
    size = np.sqrt(len(rest)) * float(np.linalg.norm(terms))
    return float(np.linalg.norm(rest)) / max(size, TINY)


def check_foldable(owner: Any, sparsity: Any) -> None:
    """Refuse settings under which a row alone does not determine its code."""
    alone = (
        owner.divergence in ("euclidean", 2)
        and owner.fixed is None
        and sparsity is None
        and owner.missing == "nan"
    )
    if alone and isinstance(owner.init, str) and owner.solver in ("auto", "hals", "anls"):
        return
    names = ("divergence", "sparsity", "solver", "missing", "init")
    given = ", ".join(f"{name}={shortened(getattr(owner, name))}" for name in names)
    refuse_blocks(
        owner, f"{given} need the codes of all rows", instead='divergence="euclidean" alone'
    )


def fit_in_passes(
    owner: Any, rows: Rows
) -> tuple[PassCourse, tuple[Penalty, Penalty], np.dtype[Any]]:
    """Factorize some rows in memory, then improve the components by passes over all."""
    rows.require_passes("one pass for each iteration")
    (some,) = draw_rows(rows, FIRST_ROWS)
    first = clone(owner).set_params(tol=max(owner.tol, FIRST_TOL), verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is only a start
        start = first.fit(some).components_
    penalties = scaled_penalties(owner, rows.count(), some.shape[1])
    with ProgressLine(type(owner).__name__, verbose=owner.verbose) as line:

        def report(step: int, loss: float, optimality: float) -> None:
            line.update(iteration=step, objective=loss, optimality=optimality)

        course = descend_in_passes(
            rows,
            np.ascontiguousarray(start.T, dtype=np.float64),
            penalties,
            tol=owner.tol,
            max_iter=owner.max_iter,
            report=report,
        )
    if not any(penalties):  # the scale of a component is arbitrary: it goes to the codes
        sizes = np.linalg.norm(course.V, axis=0)
        course.V = course.V / np.where(sizes > 0, sizes, 1.0)
    return course, penalties, some.dtype
