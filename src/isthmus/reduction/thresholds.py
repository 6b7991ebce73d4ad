"""Thresholds of a short classifier, chosen again on data that it has not seen."""

from typing import Any

import numpy as np

from isthmus.reduction.machines import CompressedClassifier, pairs
from isthmus.typing import Array, BoolArray

N_FOLDS = 5


def set_thresholds(machine: CompressedClassifier, X: Any, y: Any) -> BoolArray:
    """Move the intercepts where rows left out say that it helps; return which rows are right.

    One threshold for every pair of classes is many parameters: fitted to some rows, they look
    better there than anywhere else. So they are fitted to four fifths of the rows and judged on
    the last, five times over, and kept (fitted to all rows) only if that makes fewer errors than
    the intercepts that the machine came with. What is returned is the judgement, row by row.
    """
    y = np.asarray(y)
    own = machine.expansion_.offset.copy()
    values = machine.pair_values(X)
    as_it_is = machine.decide(values) == y
    left_out = np.zeros(len(y), dtype=bool)
    fold = np.arange(len(y)) % N_FOLDS
    for k in range(min(N_FOLDS, len(y)) if len(y) > 1 else 0):
        here = fold == k
        shift = threshold_shifts(machine, values[~here], y[~here])
        left_out[here] = machine.decide(values[here] - shift) == y[here]
    if left_out.sum() <= as_it_is.sum():
        return as_it_is
    machine.expansion_.offset[:] = own - threshold_shifts(machine, values, y)
    return left_out


def threshold_shifts(machine: CompressedClassifier, values: Array, y: Array) -> Array:
    """For each pair of classes, the threshold that separates their rows with the fewest errors."""
    n = len(machine.classes_)
    shifts = np.zeros(values.shape[1])
    for column, (i, j) in enumerate(pairs(n)):
        # A positive value means the second of two classes, but the first of a pair.
        yes = j if n == 2 else i
        of_pair = np.isin(y, machine.classes_[[i, j]])
        shifts[column] = best_threshold(
            values[of_pair, column], y[of_pair] == machine.classes_[yes]
        )
    return shifts


def best_threshold(values: Array, positive: BoolArray) -> float:
    """The number t closest to 0 such that ``values > t`` makes the fewest errors.

    >>> import numpy as np
    >>> best_threshold(np.array([-1.0, 1.0, 2.0]), np.array([False, False, True]))
    1.5
    """
    v = np.sort(values)
    between = (v[:-1] + v[1:])[v[1:] > v[:-1]] / 2
    ends = [v[0] - 1.0, v[-1] + 1.0] if len(v) else []
    cuts = np.concatenate([[0.0], between, ends])
    # Wrong at a cut: positives not above it, and negatives above it.
    yes, no = np.sort(values[positive]), np.sort(values[~positive])
    errors = np.searchsorted(yes, cuts, "right") + len(no) - np.searchsorted(no, cuts, "right")
    best = np.flatnonzero(errors == errors.min())
    return float(cuts[best[np.abs(cuts[best]).argmin()]])
