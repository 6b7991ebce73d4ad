"""Whether the draws that are missing could change a finding.

The missing draws are made up many times over, the experiment judges each completed set, and a
finding is settled if nearly all of them agree with it. A made-up draw is one of the known ones,
moved by an error of their mean and spread as Student's t has it: with few draws it may lie far off.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from isthmus_experiments.outcome import Row

__all__ = ["OPEN", "SETTLED", "TOO_FEW", "complete_draws", "settled_rows"]

SETTLED, OPEN, TOO_FEW = "settled", "open", "too few draws"
WAYS = 200  # how often the missing draws are made up
SURE = 0.99  # share of them in which a settled finding is the same


def settled_rows(
    rows: Sequence[Row],
    judge: Callable[[list[Any]], Sequence[Row]],
    values: list[Any],
    n: int,
    *,
    period: int = 1,
    ways: int = WAYS,
) -> list[str]:
    """Say of each row whether it is settled, open, or stands on too few draws; "" if not judged.

    Parameters
    ----------
    rows : sequence of Row
        What the known draws gave.
    judge : callable ``(values) -> rows``
        The rows of a completed set.
    values : list
        The known draws.
    n : int
        How many there are in a complete set.
    period : int
        Draws ``i`` and ``i + period`` are of one kind; others have nothing in common.
    ways : int
        How often the missing draws are made up.
    """
    rng = np.random.default_rng(0)
    counts = [len(values[i::period]) for i in range(min(period, len(values)))]
    alone = any(c == 1 and n > i + period for i, c in enumerate(counts))
    same, judged = np.zeros(len(rows)), np.zeros(len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(0 if alone else ways):
            found = {row.quantity: row for row in judge(complete_draws(values, n, rng, period))}
            for i, row in enumerate(rows):
                then = found.get(row.quantity, row).finding
                same[i] += then == row.finding
                judged[i] += then != "informs"
    return [_word(row, s, j, ways, alone) for row, s, j in zip(rows, same, judged, strict=True)]


def _word(row: Row, same: float, judged: float, ways: int, alone: bool) -> str:
    if row.finding == "informs":
        # Not judged yet, but it will be.
        return TOO_FEW if judged > ways / 2 or (alone and "not judged" in row.verdict) else ""
    if alone:
        return TOO_FEW
    return SETTLED if same >= SURE * ways else f"{OPEN}, {same / ways:.0%}"


def complete_draws(
    values: list[Any], n: int, rng: np.random.Generator, period: int = 1
) -> list[Any]:
    """Return ``values`` and as many made-up ones as are missing of ``n``.

    It ends before where nothing is known of a kind of draw.

    >>> len(complete_draws([{"a": 1.0}, {"a": 2.0}], 5, np.random.default_rng(0)))
    5
    """
    known = len(values)
    made = {
        kind: iter(_made_up(values[kind::period], len(range(kind, n, period)), rng))
        for kind in range(min(period, known))
    }
    out = list(values)
    for i in range(known, n):
        if i % period not in made:
            break
        out.append(next(made[i % period]))
    return out


def _made_up(known: list[Any], n: int, rng: np.random.Generator) -> Iterator[Any]:
    """Yield draws that may have followed ``known``, of one population."""
    leaves = [_leaves(value) for value in known]
    picked = rng.integers(len(known), size=n)
    alike = len({len(one) for one in leaves}) == 1
    moves = [
        j
        for j in range(len(leaves[0]) if alike else 0)
        if all(isinstance(one[j], float) for one in leaves)
    ]
    if len(known) == 1 or not moves:
        yield from (known[i] for i in picked)
        return
    X = np.array([[one[j] for j in moves] for one in leaves])
    freedom = len(known) - 1
    apart = X - X.mean(axis=0)
    wide = np.sqrt(freedom / rng.chisquare(freedom))
    shift = wide * rng.standard_normal(len(known)) @ apart / np.sqrt(freedom * len(known))
    low = np.where(X.min(axis=0) >= 0, 0.0, -np.inf)  # a distance stays one
    made = X.mean(axis=0) + shift + wide * np.sqrt(len(known) / freedom) * apart[picked]
    for i, values in zip(picked, np.maximum(made, low).tolist(), strict=True):
        changed = list(leaves[i])
        for j, value in zip(moves, values, strict=True):
            changed[j] = value
        yield _with_leaves(known[i], iter(changed))


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value]


def _with_leaves(value: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(value, dict):
        return {key: _with_leaves(inner, leaves) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_leaves(inner, leaves) for inner in value]
    return next(leaves)
