"""What slow feature analysis has learned: sums, and axes, found when they are asked for."""

from typing import Any

import numpy as np

from isthmus._deferred import Deferred
from isthmus.features.slow.episodes import last_rows
from isthmus.features.slow.expander import BLOCK_VALUES
from isthmus.features.slow.formulas import Roots, SlowAxes, discount, extended
from isthmus.features.slow.online import OnlineState
from isthmus.features.slow.settings import (
    SlowSettings,
    count_components,
    has_all_axes,
    has_enough_rows,
    slow_axes,
    warn_of_too_many_functions,
)
from isthmus.features.slow.sums import Sums, added, closed, opened
from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array

# Values in a block from which rows are not kept to wait for others.
LEAST_SUMMED = 5000
DEFERRED = ("mean_", "rank_", "components_", "slowness_", "patterns_", "n_components_")


class Stream:
    """Fitted attributes of slow features, and how further rows change them."""

    mean_ = Deferred()
    rank_ = Deferred()
    components_ = Deferred()
    slowness_ = Deferred()
    patterns_ = Deferred()
    n_components_ = Deferred()
    _steps_in_place = False  # partial_fit makes new arrays
    _roots: Roots | None
    _state: OnlineState | None
    _tail: Array
    _pending: tuple[SlowSettings, int | None] | None = None
    _waiting: tuple[Array, ...] = ()  # rows of a stream that are not in the sums yet
    _sums: Sums | None = None  # products that are not in the roots yet
    n_components: int | None
    graph: str
    forgetting: float

    def _sum(self, rows: Array, settings: SlowSettings) -> bool:
        """Add many rows to sums of products as they come; False where that cannot be.

        Rows with numbers that are not finite are among these.
        """
        later = self._pending is not None and self._pending[0] == settings and self.forgetting == 1
        if not later or rows.size < LEAST_SUMMED or rows.dtype != np.float64:
            return False
        self._take_waiting()
        if self._grow_sums(rows, settings.lags):
            self._pending = (settings, self.n_components)
            return True
        return False

    def _add(self, Phi: Array, settings: SlowSettings, *, new_episode: bool) -> None:
        """Add expanded rows to the roots of a stream: at once, or later with others."""
        assert self._roots is not None  # the exact solver was fitted
        later = self._pending is not None and self._pending[0] == settings
        if not later or new_episode or self.forgetting != 1:
            self._absorb()
            tail = self._tail[:0] if new_episode else self._tail
            self._roots = discount(self._roots, self.forgetting ** len(Phi))
            self._extend(tail, Phi, settings.lags)
        else:
            self._waiting = (*self._waiting, Phi.copy())
            if sum(rows.size for rows in self._waiting) >= BLOCK_VALUES:
                self._take_waiting()
        if self.forgetting == 1 and has_enough_rows(self._roots):
            self._defer(settings)
        else:
            self._store(self.expander_, self._roots, None, settings)

    def _defer(self, settings: SlowSettings) -> None:
        """Leave the axes to whoever asks for them."""
        for name in DEFERRED:
            self.__dict__.pop(name, None)
        self._pending = (settings, self.n_components)

    def _absorb(self) -> None:
        """Bring all rows and sums into the roots."""
        self._take_waiting()
        self._close_sums()

    def _close_sums(self) -> None:
        """Bring the sums into the roots."""
        if self._sums is not None:
            assert self._roots is not None  # or there were no sums
            self._roots, self._sums = closed(self._sums, self._roots), None

    def _take_waiting(self) -> None:
        """Add the rows that wait, together: small blocks cost as little as large ones.

        They wait until they have been added: who asks for axes may interrupt this.
        """
        if self._waiting:
            assert self._pending is not None  # rows wait for somebody who asks
            rows, lags = np.concatenate(self._waiting), self._pending[0].lags
            if not self._grow_sums(rows, lags):
                self._extend(self._tail, rows, lags)

    def _grow_sums(self, rows: Array, lags: list[int]) -> bool:
        """Add rows to sums of products; without sums, and False, where squares would cost digits.

        Sums that have grown as far as they may become roots, and new ones begin.
        """
        assert self._roots is not None  # the exact solver was fitted
        if self._sums is None or (found := added(self._sums, self._tail, rows, lags)) is None:
            self._close_sums()
            sums = opened(self._roots)
            found = None if sums is None else added(sums, self._tail, rows, lags)
        if found is not None:
            tail = last_rows(rows, max(lags)).copy()
            self._sums, self._tail, self._waiting = found, tail, ()
        return found is not None

    def _extend(self, tail: Array, rows: Array, lags: list[int]) -> None:
        assert self._roots is not None
        n, k = len(tail) + len(rows), tail.shape[1]
        with scratch(n, k) as Phi, threads_for(n * k**2):
            np.concatenate((tail, rows), out=Phi)
            roots = extended(self._roots, Phi, lags, overlap=len(tail))
            end = last_rows(Phi, max(lags)).copy()
        self._roots, self._tail, self._waiting = roots, end, ()

    def _settle(self) -> None:
        """Find the axes of the sums of a stream."""
        assert self._pending is not None  # or nobody asks
        self._absorb()
        settings, n_components = self._pending
        found = slow_axes(self._roots, None, settings)
        n = count_components(self, found, n_components, exact=True)
        self._keep(found, n)

    def __getstate__(self) -> Any:
        if vars(self).get("_pending") is not None:
            self._settle()
        return super().__getstate__()

    def _store(
        self,
        expander: Any,
        roots: Roots | None,
        state: OnlineState | None,
        settings: SlowSettings,
        *,
        later: bool = False,
    ) -> None:
        """Find the axes and keep everything; nothing is changed if that fails.

        They can wait, if ``later``, where it is certain that there are enough.
        """
        if later and roots is not None and has_all_axes(self, roots, settings):
            self.expander_, self._roots, self._state = expander, roots, None
            self._waiting, self._sums = (), None
            self._defer(settings)
            return
        found = slow_axes(roots, state, settings)
        n = count_components(self, found, self.n_components, exact=roots is not None)
        if roots is not None and self.graph == "time" and not settings.alpha:
            warn_of_too_many_functions(found, roots)
        self.expander_ = expander
        self._roots, self._state = roots, state
        self._keep(found, n)

    def _keep(self, found: SlowAxes, n: int) -> None:
        self.mean_, self.rank_ = found.mean, found.rank
        # Contiguous, as it comes back from disk: products then round the same.
        self.components_ = np.ascontiguousarray(found.axes[:, :n].T)
        self.slowness_ = found.slowness[:n]
        self.patterns_ = found.patterns[:n]
        self.n_components_ = n
        self._pending, self._waiting, self._sums = None, (), None
