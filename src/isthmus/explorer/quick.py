"""A first answer where the true one takes long: a learned pre-image, or the nearest row."""

import threading
from typing import Any

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.rows import Rows
from isthmus.kernels.objects import take

_MOST_PAIRS = 600


class Quick:
    """Objects at places at once: learned from some pairs, the nearest row until that is done.

    Parameters
    ----------
    walk : Walk
    rows, places : the rows and their coordinates
    learnable : bool
        Whether the walk's objects are rows of numbers.
    """

    def __init__(self, walk: Any, rows: Rows, places: np.ndarray, learnable: bool):
        self._walk, self._rows, self._places = walk, rows, places
        self._solver: Any = None
        if rows.is_table and learnable:
            self._thread = threading.Thread(target=self._learn, daemon=True)
            self._thread.start()
        else:
            self._thread = None

    def _learn(self) -> None:
        from isthmus.preimage.vectors.learned import LearnedPreimage  # slow to import, seldom used

        chosen = np.sort(sample_rows(len(self._places), _MOST_PAIRS, 0))
        own = np.asarray(self._walk.encode(take(self._rows.objects, chosen)), dtype=float)
        solver = LearnedPreimage("gaussian")
        self._solver = solver.fit(own, self._walk.model, self._places[chosen])

    def wait(self) -> None:
        """Return when the learned answers are there."""
        if self._thread is not None:
            self._thread.join()

    def object_at(self, place: np.ndarray, nearest: int) -> Any:
        """Return a first answer for a place, whose nearest row is told."""
        solver = self._solver
        if solver is None:
            return take(self._rows.objects, [nearest])[0]
        return self._walk.decode(solver.solve(place[None]))[0]
