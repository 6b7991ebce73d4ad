"""Kernel and penalty of kernel ridge regression, chosen by the loss of decoded left-out rows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.vectors.width import same_rows
from isthmus.linalg.ridge import RidgePath
from isthmus.losses.tasks.base import TaskLoss
from isthmus.losses.tasks.collections import n_outputs, take_outputs
from isthmus.regression.ridge import left_out
from isthmus.regression.ridge.search import KERNELS, explore_widths
from isthmus.regression.selection import Choice, Selection, every
from isthmus.smoothers.left_out import left_out_weights
from isthmus.structured.given import Given, fold_pairs
from isthmus.structured.inputs_kernel import gram_matrix, resolved_kernel
from isthmus.typing import Array, IntArray

# Penalties in units of the mean squared length of the centred features.
POWERS = np.arange(-5, 1.01, 0.5)
# A loss that needs whole rows of weights is decoded for so many left-out rows.
MOST_DECODED = 300
# Columns times rows that are worth an exact choice; with more, fewer rows are looked at.
MOST_NUMBERS = 2_000_000


class Judge(NamedTuple):
    """The mean cost of decoded answers for some rows of the training outputs."""

    loss: TaskLoss
    outputs: Any
    given: Given = Given()

    def error(self, answers: Any, rows: IntArray) -> float:
        costs = self.loss.paired(answers, take_outputs(self.outputs, rows))
        return float(np.average(costs, weights=self.counts(rows)))

    def counts(self, rows: IntArray) -> Array | None:
        """How often some of the rows count; None where each counts once."""
        return None if self.given.counts is None else self.given.counts[rows]


def choose_ridge(kernels: Sequence[Any], X: Any, judge: Judge, selection: Selection) -> Choice:
    """The (kernel, penalty) of least loss on left-out rows.

    The weights of left-out rows follow from the fit on all of them, so each penalty costs one
    decoding of the rows.
    """

    def errors(kernel: Any, rows: IntArray) -> Iterator[tuple[float, Any]]:
        kernel = resolved_kernel(kernel, X)
        part = take(X, rows)
        found = left_out_losses(gram_matrix(kernel, part, part), judge, rows, selection)
        return ((error, (kernel, alpha)) for error, alpha in found)

    explore = explore_widths if list(kernels) == list(KERNELS) else every
    with same_rows():
        choice = selection.choose(list(kernels), errors, n_objects(X), explore)
    if not np.isfinite(choice.error):
        raise ValueError("No penalty has a finite loss on rows left out.")
    return choice


def left_out_losses(
    K: Array, judge: Judge, rows: IntArray, selection: Selection
) -> Iterator[tuple[float, float]]:
    """Yield the mean loss of decoded left-out rows and the penalty; ``K`` is overwritten."""
    outputs = take_outputs(judge.outputs, rows)
    prepared = judge.loss.prepare(outputs)
    if not selection.leaves_one_out or judge.given.groups is not None:
        yield from _folds(K, judge, rows, selection)
        return
    counts = judge.counts(rows)
    K, alphas = centred(K, counts)
    if judge.loss.linear:
        values_of = left_out_values(K, _dense(prepared.columns), counts)
        loss: Any = judge.loss

        def of_columns(alpha: float) -> float:
            return judge.error(loss.decode_columns(values_of(alpha), prepared).outputs, rows)

        yield from coarse_to_fine(alphas, of_columns)
        return
    path = RidgePath(K, np.zeros((len(K), 1)), intercept=True, overwrite=True)
    some = np.sort(sample_rows(len(K), min(MOST_DECODED, judge.loss.n_left_out), 0))

    def of_weights(alpha: float) -> float:
        W = left_out_weights(path, alpha, some, counts)
        return judge.error(judge.loss.decode(W, prepared).outputs, rows[some])

    yield from coarse_to_fine(alphas, of_weights)


def centred(K: Array, counts: Array | None) -> tuple[Array, list[float]]:
    """The Gram matrix about its mean, rows scaled by the root of their counts, and penalties."""
    largest = float(np.max(np.abs(K.diagonal()), initial=0.0))
    if counts is None:
        K, _ = left_out.centred(K)
        unit = float(np.mean(K.diagonal()))
    else:
        shares, root = counts / counts.sum(), np.sqrt(counts)
        K, _ = left_out.centred(K, shares)
        unit = float(shares @ K.diagonal())
        K *= root[:, None]
        K *= root
    return K, left_out.penalties_in_units(unit, largest, POWERS)


def left_out_values(K: Array, G: Array, counts: Array | None) -> Callable[[float], Array]:
    """Columns of every row without one of its copies, for a penalty; ``K`` as above."""
    if counts is None:
        path = RidgePath(K, G - G.mean(axis=0), intercept=True)
        return lambda alpha: G - path.loo_residuals(alpha)
    total, root = float(counts.sum()), np.sqrt(counts)[:, None]
    path = RidgePath(K, root * (G - counts @ G / total), intercept=False)
    once = 1 / np.maximum(counts, 1.0)

    def values(alpha: float) -> Array:
        h = 1 - alpha * (path.U_squared @ (1 / (path.eigenvalues + alpha))) + counts / total
        kept = np.maximum(1 - h * once, np.finfo(np.float64).eps)[:, None]
        return G - alpha * path.coefficients(alpha) / root / kept

    return values


def coarse_to_fine(
    alphas: Sequence[float], error: Callable[[float], float]
) -> Iterator[tuple[float, float]]:
    """Errors of every other penalty, then of the neighbours of the best: decoding is dear.

    >>> list(coarse_to_fine([1.0, 2.0, 3.0, 4.0, 5.0], lambda a: abs(a - 4)))
    [(3.0, 1.0), (1.0, 3.0), (1.0, 5.0), (2.0, 2.0), (0.0, 4.0)]
    """
    found = {i: error(alphas[i]) for i in range(0, len(alphas), 2)}
    yield from ((value, alphas[i]) for i, value in found.items())
    best = min(found, key=lambda i: found[i])
    for i in (best - 1, best + 1):
        if 0 <= i < len(alphas):
            yield error(alphas[i]), alphas[i]


def _folds(
    K: Array, judge: Judge, rows: IntArray, selection: Selection
) -> Iterator[tuple[float, float]]:
    """The same with one of several folds left out at once."""
    counts = judge.counts(rows)
    c = np.ones(len(rows)) if counts is None else counts
    _, unit = centred(K.copy(), counts)
    totals, count = np.zeros(len(unit)), 0.0
    for train, test in fold_pairs(selection, rows, judge.given.groups):
        shares, root = c[train] / c[train].sum(), np.sqrt(c[train])
        inner, mean = left_out.centred(K[np.ix_(train, train)], shares)
        inner = root[:, None] * inner * root
        path = RidgePath(inner, np.zeros((len(train), 1)), intercept=True)
        across = ((K[np.ix_(test, train)] - mean) * root) @ path.U
        prepared = judge.loss.prepare(take_outputs(judge.outputs, rows[train]))
        for i, alpha in enumerate(unit):
            W = ((across / (path.eigenvalues + alpha)) @ path.U.T) * root
            W += shares * (1 - W.sum(axis=1, keepdims=True))
            answers = judge.loss.decode(W, prepared).outputs
            totals[i] += judge.error(answers, rows[test]) * c[test].sum()
        count += float(c[test].sum())
    yield from zip((totals / max(count, 1)).tolist(), unit, strict=True)


def rows_to_choose_on(loss: TaskLoss, outputs: Any, selection: Selection) -> Selection:
    """The selection with fewer rows where the loss has very many columns."""
    if not loss.linear or selection.max_rows is None:
        return selection
    few = take_outputs(outputs, slice(0, min(n_outputs(outputs), 500)))
    n_columns = int(loss.prepare(few).columns.shape[1])
    affordable = max(500, MOST_NUMBERS // max(n_columns, 1))
    return Selection(
        selection.criterion, min(selection.max_rows, affordable), selection.random_state
    )


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)
