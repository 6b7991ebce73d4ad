"""Dictionaries learned in passes over blocks: codes are made where the signals are."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from isthmus._progress import ProgressLine
from isthmus.blocks.checks import n_rows_of
from isthmus.blocks.drawing import draw_rows
from isthmus.blocks.folding import row_blocks
from isthmus.blocks.rows import Rows
from isthmus.sparse.dictionary.ksvd.formulas import poor_by_usage, pursue_codes
from isthmus.sparse.dictionary.ksvd.stream import CodeSums, atoms_from_sums, map_block, merge
from isthmus.sparse.dictionary.ksvd.update import AtomUpdate
from isthmus.sparse.dictionary.lagrange_dual import map_codes
from isthmus.sparse.l1.feature_sign import sign_search
from isthmus.sparse.pursuit.checks import count_limit, residual_goals
from isthmus.sparse.pursuit.matching import unit_rows
from isthmus.typing import Array

# Signals from which the first atoms are drawn, for each atom and at least.
PER_ATOM, AT_LEAST = 20, 5000
# Sweeps that change the error by less than this share of it change nothing.
STILL = 1e-9


class PassSums(NamedTuple):
    """What one pass tells: sums over codes, their cost, and the signals represented worst.

    ``errors`` (k,) falls; ``worst`` (k, n_features) are what may take the place of poor atoms.
    """

    sums: Any
    cost: float
    n_signals: int
    errors: Array
    worst: Array


class MergePasses:
    """The union of two sets of signals; of the worst ones, ``n_worst`` stay."""

    def __init__(self, merge: Callable[[Any, Any], Any], n_worst: int):
        self.merge, self.n_worst = merge, n_worst

    def __call__(self, a: PassSums, b: PassSums) -> PassSums:
        errors = np.r_[a.errors, b.errors]
        errors, worst = keep_worst(errors, np.r_[a.worst, b.worst], self.n_worst)
        cost, n_signals = a.cost + b.cost, a.n_signals + b.n_signals
        return PassSums(self.merge(a.sums, b.sums), cost, n_signals, errors, worst)


class PenalisedPass:
    """Codes of a block under an L1 penalty, and the sums that the atoms are fitted to."""

    def __init__(self, D: Array, alpha: float, positive: bool):
        self.D, self.alpha, self.positive = D, alpha, positive

    def codes(self, X: Array) -> Array:
        codes = np.zeros((len(X), len(self.D)))
        sign_search(X, self.D, self.alpha, codes, positive=self.positive, n_jobs=None)
        return codes

    def __call__(self, X: Array) -> PassSums:
        X = np.ascontiguousarray(X, dtype=np.float64)
        codes = self.codes(X)
        cost = float(self.alpha * np.abs(codes).sum())
        nothing = np.empty((0, X.shape[1]))
        return PassSums(map_codes(X, codes), cost, len(X), np.empty(0), nothing)


class WorstPass(PenalisedPass):
    """The largest residuals of a block under new atoms, its codes being those of the old ones."""

    def __init__(self, D: Array, alpha: float, positive: bool, new: Array, n_worst: int):
        super().__init__(D, alpha, positive)
        self.new, self.n_worst = new, n_worst

    def __call__(self, X: Array) -> PassSums:
        X = np.ascontiguousarray(X, dtype=np.float64)
        residual = X - self.codes(X) @ self.new
        errors = np.einsum("ij,ij->i", residual, residual)
        return PassSums(None, 0.0, len(X), *keep_worst(errors, residual, self.n_worst))


class PursuitPass:
    """Codes of a block by orthogonal pursuit, the sums that the atoms are fitted to, and more."""

    def __init__(self, D: Array, n_nonzero: int, tol: float | None, rule: str):
        self.D, self.n_nonzero, self.tol, self.rule = D, n_nonzero, tol, rule

    def __call__(self, X: Array) -> PassSums:
        X = np.ascontiguousarray(X, dtype=np.float64)
        goals = residual_goals("KSVD", self.tol, len(X))
        codes = pursue_codes(X, self.D, self.n_nonzero, goals, rule=self.rule)
        errors = codes.errors
        # A signal that is met leaves nothing to learn.
        usable = np.where(errors > 1e-24 * np.einsum("ij,ij->i", X, X), errors, 0.0)
        kept = keep_worst(usable, X, len(self.D))
        return PassSums(map_block(X, codes, len(self.D)), float(errors.sum()), len(X), *kept)


def pursue_in_passes(
    owner: Any, rows: Rows, D: Array, rng: np.random.RandomState, update: AtomUpdate
) -> tuple[CodeSums, list[float], int, int]:
    """Code all signals, improve ``D`` in place by the sums over their codes, and again.

    Returns the sums, the mean squared errors, and the numbers of signals and of passes.
    """
    n_nonzero = count_limit("KSVD", owner.n_nonzero, owner.tol, len(D), D.shape[1])
    history: list[float] = []
    with ProgressLine("KSVD", verbose=owner.verbose) as line:
        for sweep in range(owner.max_iter):
            coder = PursuitPass(D.copy(), n_nonzero, owner.tol, owner.rule)
            found = rows.fold(coder, MergePasses(merge, len(D)))
            atoms_from_sums(D, found.sums, rng.permutation(len(D)), update.n_power)
            history.append(found.cost / found.n_signals)
            line.update(sweep=sweep + 1, error=history[-1])
            if len(history) > 1 and abs(history[-2] - history[-1]) <= STILL * history[-2]:
                break
            if sweep < owner.max_iter - 1:
                put_worst(D, found, n_nonzero, update)
    sums = CodeSums(*(np.array(part) for part in found.sums))
    return sums, history, found.n_signals, len(history)


def put_worst(D: Array, found: PassSums, n_nonzero: int, update: AtomUpdate) -> None:
    """Put the signals that are represented worst in the place of poor atoms, in place."""
    fair = int(found.n_signals * n_nonzero // (2 * len(D)))
    poor = poor_by_usage(
        D,
        found.sums.usage,
        min_usage=min(update.min_usage, max(1, fair)) if update.min_usage else 0,
        max_coherence=update.max_coherence,
    )
    worst = found.worst[found.errors > 0]
    places = np.flatnonzero(poor)[: len(worst)]
    D[places] = unit_rows(worst[: len(places)])[0]


def keep_worst(errors: Array, rows: Array, n: int) -> tuple[Array, Array]:
    """The ``n`` rows of largest error, largest first; the first of equals stays."""
    kept = np.argsort(-errors, kind="stable")[:n]
    return errors[kept], rows[kept]


def squares_of(X: Array) -> tuple[float, int]:
    """Sum of squares of a block, and its number of rows."""
    X = np.asarray(X, dtype=np.float64)
    return float(np.vdot(X, X)), len(X)


def typical_length(rows: Rows) -> float:
    """Root mean square length of all signals."""
    total, n = rows.fold(squares_of, lambda a, b: (a[0] + b[0], a[1] + b[1]))
    rows.n_rows = n
    return float(np.sqrt(total / n))


def first_signals(rows: Rows, n_atoms: int) -> Array:
    """Signals to draw the first atoms from: all of them, or some where there are many."""
    drawn = draw_rows(rows, max(PER_ATOM * n_atoms, AT_LEAST))
    return np.ascontiguousarray(drawn[0], dtype=np.float64)


def batches(rows: Rows, X: Any, batch_size: int) -> Iterator[Array]:
    """Mini-batches in the order of the signals, read here one block at a time."""
    for index, block in enumerate(row_blocks(X)):
        if n_rows_of(block):
            checked = rows.checks[0](block, f"chunk {index}")
            for part in gen_batches(len(checked), batch_size):
                yield np.ascontiguousarray(checked[part], dtype=np.float64)
