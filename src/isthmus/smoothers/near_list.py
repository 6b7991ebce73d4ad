"""Lists of near pairs that are kept while places move by little.

A list of all pairs a little farther apart than the kernel reaches holds every pair within reach for
as long as no place has moved by more than half the difference: a step of a descent then looks at
these pairs alone, and the search through cells is made anew once in many steps.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from isthmus.smoothers import pairs as pair_lists
from isthmus.smoothers.mutual import MutualPairs, lent_mutual, list_mutual
from isthmus.smoothers.pairs import Pairs, lent_pairs, list_pairs, most_pairs
from isthmus.typing import Array, IntArray

SKIN = 0.25  # by which a list reaches farther than the kernel, as a share of its radius
LEAST_USES = 4  # a list that would serve fewer steps is not made
PATIENCE = 20  # steps before a list is tried again that would have been too long
# Where weights never vanish, lists reach many units of length, and farther by a smaller share.
THIN_SKIN = 0.08


@dataclass
class _State:
    """The places of the last call; a list, the places it was made for, memory for its pairs.

    The pairs of sorted places are listed once, and ``order`` says which is which.
    """

    last: Array
    made_for: Array | None = None
    candidates: Pairs | None = None
    room: Pairs | None = None
    order: IntArray | None = None
    wait: int = 0


class NearPairs:
    """Near pairs of places that move step by step: one for each run, and for one thread."""

    def __init__(self) -> None:
        self._state: _State | None = None

    @contextmanager
    def lent(
        self,
        X: Array,
        n_points: int,
        support: float,
        *,
        vanishing: bool = True,
        mutual: bool = False,
    ) -> Iterator[Pairs | MutualPairs | None]:
        """Near pairs of the first ``n_points`` places with the others, or with themselves.

        As :func:`isthmus.smoothers.pairs.lent_pairs` has them, in another order within a point.
        Unless weights beyond the ``support`` are ``vanishing``, there may be none at any time.
        ``mutual`` pairs of places that are their own centres are listed once.
        """
        X = np.ascontiguousarray(X)
        points, centres = X[:n_points], X[n_points:] if len(X) > n_points else X
        found = None
        if len(points) * len(centres) >= pair_lists.FEW and np.isfinite(support):
            skin = SKIN if vanishing else THIN_SKIN
            found = self._kept(X, points, centres, support, skin, mutual)
        if found is not None or not vanishing:
            yield found
            return
        lent = lent_mutual(X, support) if mutual else lent_pairs(points, centres, support)
        with lent as pairs:
            yield pairs

    def _kept(
        self,
        X: Array,
        points: Array,
        centres: Array,
        support: float,
        skin: float,
        mutual: bool,
    ) -> Pairs | MutualPairs | None:
        """Pairs by the list, made anew where that pays; None where there is none."""
        from isthmus.smoothers.near_loops import farthest_move, pairs_kept

        state, radius = self._state, float(np.sqrt(support))
        if state is None or state.last.shape != X.shape:
            self._state = _State(X.copy())
            return None
        allowed = (0.5 * skin * radius) ** 2
        if mutual != (state.order is not None):
            state.made_for = None  # the list is of the other kind
        if state.made_for is None or not farthest_move(X, state.made_for) <= allowed:
            state.made_for, state.wait = None, state.wait - 1
            if state.wait <= 0 and LEAST_USES**2 * farthest_move(X, state.last) <= allowed:
                _make(state, X, points, centres, (1.0 + skin) ** 2 * support, mutual)
        state.last[:] = X
        if state.made_for is None or state.candidates is None or state.room is None:
            return None
        if state.order is not None:
            points = centres = X[state.order]
        n_found = pairs_kept(points, centres, support, *state.candidates[:2], *state.room)
        indptr, indices, squared = state.room
        found = Pairs(indptr, indices[:n_found], squared[:n_found])
        if state.order is None:
            return found
        return MutualPairs(np.array(points.T, order="C"), state.order, found)


def _make(
    state: _State, X: Array, points: Array, centres: Array, reach: float, mutual: bool
) -> None:
    order = None
    if mutual:
        both = list_mutual(X, reach)
        found = None if both is None else both.pairs
        order = None if both is None else both.order
    else:
        found = list_pairs(points, centres, reach, most_pairs(len(points) * len(centres)))
    if found is None:
        state.wait = PATIENCE
        return
    n = len(found.indices)
    state.made_for, state.candidates, state.order = X.copy(), found, order
    state.room = Pairs(np.empty_like(found.indptr), np.empty(n, np.int32), np.empty(n))
