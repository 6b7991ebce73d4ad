"""Slow features of a signal that comes in blocks: the moments and both ends of each."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.rows import Rows
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.features.slow.episodes import episodes_by_id, last_rows
from isthmus.features.slow.expander import expand, fit_expander
from isthmus.features.slow.formulas import Roots, merge
from isthmus.features.slow.neighborhoods import require_differences, sum_episodes
from isthmus.kernels.objects import n_objects, take
from isthmus.typing import Array


class Edge(NamedTuple):
    """The first or the last expanded rows of a stretch of a signal, and of which episode."""

    rows: Array
    episode: Any
    length: int  # of the part of the episode that lies in the stretch


class Stretch(NamedTuple):
    """Moments of a stretch of a signal, and its two ends."""

    roots: Roots
    start: Edge
    end: Edge
    single: bool  # whether all rows are of one episode
    longest: int


class SignalMap:
    """What is summed over the blocks of a signal."""

    def __init__(self, expander: Any, lags: list[int]):
        self.expander, self.lags = expander, lags

    def __call__(self, X: Any, ids: Any = None) -> Stretch:
        episodes = [X] if ids is None else episodes_by_id(X, ids)
        names = (None, None) if ids is None else (np.asarray(ids)[0], np.asarray(ids)[-1])
        reach, lengths = max(self.lags), [n_objects(rows) for rows in episodes]
        ends = take(episodes[0], slice(0, reach)), last_rows(episodes[-1], reach)
        start, end = (np.array(expand(self.expander, rows)) for rows in ends)
        return Stretch(
            sum_episodes(self.expander, episodes, self.lags),
            Edge(start, names[0], lengths[0]),
            Edge(end, names[1], lengths[-1]),
            len(episodes) == 1,
            max(lengths),
        )


class StretchMerge:
    """A stretch of a signal and the one that follows, with the differences across the seam."""

    def __init__(self, lags: list[int]):
        self.lags = lags

    def __call__(self, a: Stretch, b: Stretch) -> Stretch:
        if a.end.episode != b.start.episode:
            longest = max(a.longest, b.longest)
            return Stretch(merge(a.roots, b.roots), a.start, b.end, False, longest)
        reach = max(self.lags)
        both, length = np.vstack([a.end.rows, b.start.rows]), a.end.length + b.start.length
        start, end = a.start, b.end
        if a.single:
            start = Edge(np.vstack([start.rows, b.start.rows])[:reach], start.episode, length)
        if b.single:
            end = Edge(last_rows(np.vstack([a.end.rows, end.rows]), reach), end.episode, length)
        seam = [differences_at(both, len(a.end.rows), lag) for lag in self.lags]
        roots = merge(a.roots, b.roots, seam)
        longest = max(a.longest, b.longest, length)
        return Stretch(roots, start, end, a.single and b.single, longest)


def differences_at(rows: Array, seam: int, lag: int) -> Array:
    """Differences over ``lag`` rows from before the seam, which precedes that row, to behind it.

    >>> differences_at(np.array([[0.0], [1.0], [3.0], [6.0]]), 2, 1).tolist()
    [[2.0]]
    """
    later = np.arange(max(seam, lag), min(seam + lag, len(rows)))
    return np.asarray(rows[later] - rows[later - lag])


def signal_roots(rows: Rows, expander: Any, lags: list[int]) -> tuple[Roots, Array]:
    """Moments of a whole signal, and its last expanded rows."""
    found = rows.fold(SignalMap(expander, lags), StretchMerge(lags))
    require_differences(found.roots, lags, found.longest)
    return found.roots, found.end.rows


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
