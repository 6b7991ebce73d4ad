"""Medians of rows that are read block by block, exactly, by passes that count.

A median is no sum over rows, but the number of values below a threshold is. Doubles are ordered as
their bits are, so that each pass counts the values by their next twelve bits and keeps the one of
4096 bins in which the median lies. When few values are left, one more pass collects them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.rows import Rows
from isthmus.typing import Array

# Bits that a pass looks at.
DIGIT = 12
# Values of a column that are collected at last.
FEW = 4096
# A share of all weights that is rounding.
ROUNDING = 1e-12

Columns = Callable[..., tuple[Array, Array | None]]


class Bracket(NamedTuple):
    """Where the lower and the upper median of each column lie, (2, n_columns) each.

    ``prefix`` are the first bits of their keys, ``below`` the weight of the values before these.
    """

    n_bits: int
    prefix: Any
    below: Array


def fold_medians(rows: Rows, columns: Columns, n_columns: int, *, state: Any = None) -> Array:
    """Medians over all rows of what ``columns`` makes of each block, exactly.

    Parameters
    ----------
    rows : Rows
        Read two to six times, depending on how many values there are.
    columns : callable
        ``columns(*parts, start=..., state=state)`` returns values (m, n_columns) and their weights,
        (m,), (m, n_columns) or None. Values that are NaN or have no weight do not count.
    n_columns : int
    state : object

    Returns
    -------
    ndarray of shape (n_columns,)
        The mean of the two middle values of an even number; NaN where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.blocks import open_rows
    >>> X = np.arange(10.0)[:, None] ** 2
    >>> rows = open_rows("squares", X, block_size=3)
    >>> fold_medians(rows, lambda X, start, state: (X, None), 1)
    array([20.5])
    """
    rows.require_passes("medians are found by counting")
    bracket = Bracket(0, np.zeros((2, n_columns), dtype=np.uint64), np.zeros((2, n_columns)))
    half, counting = np.zeros(n_columns), Counting(columns, n_columns)
    left = np.inf
    while left > FEW and bracket.n_bits < 64:
        sums, counts = rows.fold(counting, _add, state=(bracket, state), numbered=True)
        if bracket.n_bits == 0:
            half = sums[0].sum(axis=1) / 2
        bracket, left = _narrow(bracket, sums, counts, half)
    if bracket.n_bits == 64:  # so many equal values that no others are left
        ends = _values(bracket.prefix)
    else:
        found = rows.fold(Collecting(columns), _append, state=(bracket, state), numbered=True)
        ends = np.array([_pick(v, w, bracket, half[j], j) for j, (v, w) in enumerate(found)]).T
    return np.where(half > 0, (ends[0] + ends[1]) / 2, np.nan)


@dataclass(frozen=True)
class Counting:
    """Weights and numbers of the values of one block by their next bits."""

    columns: Columns
    n_columns: int

    def __call__(self, *parts: Any, start: int, state: Any) -> tuple[Array, Array]:
        bracket, given = state
        bits = min(DIGIT, 64 - bracket.n_bits)
        sums, counts = np.zeros((2, 2, self.n_columns, 2**bits))
        found = self.columns(*parts, start=start, state=given)
        for j, (values, weights) in enumerate(_each_column(*found)):
            keys = _keys(values)
            same = bracket.prefix[0, j] == bracket.prefix[1, j]
            for target in range(1 if same else 2):
                here = _inside(keys, bracket, target, j)
                digits = _digits(keys[here], bracket.n_bits, bits)
                number = np.bincount(digits, minlength=2**bits)
                counts[target, j] = number
                sums[target, j] = number
                if weights is not None:
                    sums[target, j] = np.bincount(digits, weights[here], minlength=2**bits)
            if same:
                sums[1, j], counts[1, j] = sums[0, j], counts[0, j]
        return sums, counts


@dataclass(frozen=True)
class Collecting:
    """The values of one block that lie in the brackets, and their weights, for each column."""

    columns: Columns

    def __call__(self, *parts: Any, start: int, state: Any) -> list[tuple[Array, Array]]:
        bracket, given = state
        found = []
        columns = self.columns(*parts, start=start, state=given)
        for j, (values, weights) in enumerate(_each_column(*columns)):
            keys = _keys(values)
            inside = _inside(keys, bracket, 0, j) | _inside(keys, bracket, 1, j)
            kept = values[inside]
            found.append((kept, np.ones(len(kept)) if weights is None else weights[inside]))
        return found


def _each_column(values: Array, weights: Array | None) -> Iterator[tuple[Array, Array | None]]:
    """The values of each column that count, and their weights."""
    for j in range(values.shape[1]):
        column = np.asarray(values[:, j], dtype=np.float64) + 0.0  # -0 and 0 are one value
        w = weights if weights is None or weights.ndim == 1 else weights[:, j]
        counts = ~np.isnan(column) if w is None else ~np.isnan(column) & (w > 0)
        yield column[counts], None if w is None else w[counts]


def _keys(values: Array) -> Any:
    """Unsigned integers in the order of the values."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign)


def _values(keys: Any) -> Array:
    """The numbers of which :func:`_keys` made integers."""
    sign = np.uint64(1) << np.uint64(63)
    return np.where(keys & sign, keys & ~sign, ~keys).view(np.float64)


def _inside(keys: Any, bracket: Bracket, target: int, j: int) -> Any:
    if bracket.n_bits == 0:
        return np.ones(len(keys), dtype=bool)
    return keys >> np.uint64(64 - bracket.n_bits) == bracket.prefix[target, j]


def _digits(keys: Any, n_bits: int, bits: int) -> Any:
    mask = np.uint64(2**bits - 1)
    return ((keys >> np.uint64(64 - n_bits - bits)) & mask).astype(np.intp)


def _reached(total: Array, half: Array, target: int) -> Any:
    """Where the weights up to here reach the lower or the upper median."""
    return total >= half * (1 - ROUNDING) if target == 0 else total > half * (1 + ROUNDING)


def _first(reached: Any, there: Any) -> Any:
    """The first place that is reached; the last where there is something if rounding hides it."""
    last = there.shape[-1] - 1 - np.argmax(there[..., ::-1], axis=-1)
    return np.where(reached.any(axis=-1), reached.argmax(axis=-1), last)


def _narrow(bracket: Bracket, sums: Array, counts: Array, half: Array) -> tuple[Bracket, float]:
    """The bins in which the medians lie, and how many values these hold."""
    bits = min(DIGIT, 64 - bracket.n_bits)
    prefix, below = bracket.prefix.copy(), bracket.below.copy()
    left = np.zeros(prefix.shape)
    for target in range(2):
        total = bracket.below[target][:, None] + np.cumsum(sums[target], axis=1)
        digit = _first(_reached(total, half[:, None], target), counts[target] > 0)
        columns = np.arange(len(half))
        below[target] = total[columns, digit] - sums[target][columns, digit]
        left[target] = counts[target][columns, digit]
        prefix[target] = (prefix[target] << np.uint64(bits)) | digit.astype(np.uint64)
    return Bracket(bracket.n_bits + bits, prefix, below), float(left.max())


def _pick(values: Array, weights: Array, bracket: Bracket, half: float, j: int) -> list[float]:
    """The lower and the upper median of one column among the values that are left."""
    ends = []
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    for target in range(2):
        here = _inside(_keys(values), bracket, target, j)
        if not here.any():
            ends.append(np.nan)
            continue
        total = bracket.below[target, j] + np.cumsum(weights[here])
        place = _first(_reached(total, np.asarray(half), target), np.ones(len(total), dtype=bool))
        ends.append(float(values[here][place]))
    return ends


def _add(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    return a[0] + b[0], a[1] + b[1]


def _append(a: list[Any], b: list[Any]) -> list[Any]:
    return [
        tuple(np.concatenate(pair) for pair in zip(x, y, strict=True))
        for x, y in zip(a, b, strict=True)
    ]
