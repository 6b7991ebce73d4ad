"""Slow features of a signal that comes in blocks: the moments and the last rows of each."""

from functools import reduce
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.checks import n_rows_of
from isthmus.blocks.rows import Rows
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.features.slow.episodes import last_rows
from isthmus.features.slow.expander import expand, expand_blocks, fit_expander
from isthmus.features.slow.formulas import Roots, map_block, merge
from isthmus.features.slow.neighborhoods import require_differences
from isthmus.kernels.objects import take
from isthmus.typing import Array


class SignalBlock(NamedTuple):
    """Moments of a stretch of a signal, and its last expanded rows."""

    roots: Roots | None
    end: Array
    longest: int


class SignalMap:
    """What is summed over the blocks of a signal."""

    def __init__(self, expander: Any, lags: list[int]):
        self.expander, self.lags = expander, lags

    def __call__(self, X: Any, ids: Any = None, *, overlap: int) -> SignalBlock:
        found, end, longest = [], None, 0
        for rows, before in segments(n_rows_of(X), ids, overlap):
            segment = take(X, rows)
            found += list(self._roots(segment, before))
            end, longest = expand(self.expander, last_rows(segment, max(self.lags))), len(segment)
        return SignalBlock(reduce(merge, found), np.array(end), longest)

    def _roots(self, rows: Any, before: int) -> Any:
        """Moments of the rows after the first ``before``, expanded a few at a time."""
        tail = expand(self.expander, take(rows, slice(0, before))) if before else None
        for Phi in expand_blocks(self.expander, take(rows, slice(before, None))):
            n = 0 if tail is None else len(tail)
            both = Phi if tail is None else np.vstack([tail, Phi])
            yield map_block(both, self.lags, overlap=n)
            tail = last_rows(both, max(self.lags))


def segments(n: int, ids: Any, overlap: int) -> list[tuple[slice, int]]:
    """Stretches of rows of one episode each, with how many of their first rows were counted before.

    >>> segments(6, np.array([0, 1, 1, 1, 2, 2]), 2)
    [(slice(1, 4, None), 1), (slice(4, 6, None), 0)]
    """
    if ids is None:
        return [(slice(0, n), overlap)]
    ids = np.asarray(ids)
    ends = [0, *(np.flatnonzero(ids[1:] != ids[:-1]) + 1), n]
    return [
        (slice(int(a), int(b)), max(overlap - int(a), 0)) for a, b in pairwise(ends) if b > overlap
    ]


def merge_blocks(a: SignalBlock, b: SignalBlock) -> SignalBlock:
    """A stretch of a signal and the one that follows."""
    assert a.roots is not None
    assert b.roots is not None
    return SignalBlock(merge(a.roots, b.roots), b.end, max(a.longest, b.longest))


def signal_roots(rows: Rows, expander: Any, lags: list[int]) -> tuple[Roots, Array]:
    """Moments of a whole signal, and its last expanded rows."""
    found = rows.fold(SignalMap(expander, lags), merge_blocks, overlap=max(lags))
    require_differences(found.roots, lags, found.longest)
    return found.roots, found.end


def expander_in_blocks(owner: Any, rows: Rows, X: Any) -> Any:
    """A fitted transformer of rows to their expansion; None where it is linear."""
    if isinstance(owner.expansion, Integral):
        return fit_expander(owner.expansion, rows.first(), n_landmarks=0, random_state=None)
    rows.require_passes("landmarks first")
    return KernelPCA(
        kernel=owner.expansion,
        n_landmarks=min(int(owner.n_landmarks), rows.count()),
        random_state=owner.random_state,
    ).fit(X)
