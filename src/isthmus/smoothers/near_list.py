"""Lists of near pairs that are kept while places move by little.

A list of all pairs a little farther apart than the kernel reaches holds every pair within reach for
as long as no place has moved by more than half the difference: a step of a descent then looks at
these pairs alone, and the search through cells is made anew once in many steps.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from isthmus.smoothers.pairs import Pairs, all_at_once, lent_pairs, list_pairs, most_pairs
from isthmus.typing import Array

SKIN = 0.25  # by which a list reaches farther than the kernel, as a share of its radius
LEAST_USES = 4  # a list that would serve fewer steps is not made


@dataclass
class _State:
    """The places of the last call; a list, the places it was made for, memory for its pairs."""

    last: Array
    made_for: Array | None = None
    candidates: Pairs | None = None
    room: Pairs | None = None


class NearPairs:
    """Near pairs of places that move step by step: one for each run, and for one thread."""

    def __init__(self) -> None:
        self._state: _State | None = None

    @contextmanager
    def lent(self, X: Array, n_points: int, support: float) -> Iterator[Pairs | None]:
        """Near pairs of the first ``n_points`` places with the others, or with themselves.

        As :func:`isthmus.smoothers.pairs.lent_pairs` has them, in another order within a point.
        """
        X = np.ascontiguousarray(X)
        points, centres = X[:n_points], X[n_points:] if len(X) > n_points else X
        few = all_at_once(points, centres, support)
        found = None if few else self._kept(X, points, centres, support)
        if found is not None:
            yield found
            return
        with lent_pairs(points, centres, support) as pairs:
            yield pairs

    def _kept(self, X: Array, points: Array, centres: Array, support: float) -> Pairs | None:
        """Pairs by the list, made anew where that pays; None where there is none."""
        from isthmus.smoothers.near_loops import farthest_move, pairs_kept

        state, radius = self._state, float(np.sqrt(support))
        if state is None or state.last.shape != X.shape:
            self._state = _State(X.copy())
            return None
        allowed = (0.5 * SKIN * radius) ** 2
        if state.made_for is None or not farthest_move(X, state.made_for) <= allowed:
            state.made_for = None
            move = farthest_move(X, state.last)
            if LEAST_USES**2 * move <= allowed:
                self._make(state, X, points, centres, support)
        state.last[:] = X
        if state.made_for is None or state.candidates is None or state.room is None:
            return None
        n_found = pairs_kept(points, centres, support, *state.candidates[:2], *state.room)
        indptr, indices, squared = state.room
        return Pairs(indptr, indices[:n_found], squared[:n_found])

    def _make(self, state: _State, X: Array, points: Array, centres: Array, support: float) -> None:
        most = most_pairs(len(points) * len(centres))
        found = list_pairs(points, centres, (1.0 + SKIN) ** 2 * support, most)
        if found is None:
            return
        n = len(found.indices)
        state.made_for, state.candidates = X.copy(), found
        state.room = Pairs(np.empty_like(found.indptr), np.empty(n, np.int32), np.empty(n))
