"""Rows kept from training, which say when to stop."""

from typing import Any

import numpy as np

from isthmus.manifold.projection import Search, best_ends
from isthmus.manifold.ukr.map import map_of_rows
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.typing import Array

EVERY = 5  # steps between looks at the held-out rows
PATIENCE = 4  # looks without a better one before training stops
SEARCH = Search(n_init=1, max_iter=5, tol=1e-7)


class HeldOutRows:
    """Rows kept from training: the places at which they project best are kept."""

    def __init__(self, rows: Array, outputs: Array, smoother: LocalSmoother):
        self.rows, self.outputs, self.smoother = rows, outputs, smoother
        self.best: Array | None = None
        self.lowest, self.looks = np.inf, 0

    def tell_to_stop(self, X: Array) -> bool:
        """Look at the map with the places ``X``; True where looks have brought nothing lately."""
        now = map_of_rows(X, X, self.outputs, self.smoother)
        error = best_ends(now, self.rows, None, SEARCH).error
        self.looks += 1
        if error.mean() < self.lowest:
            self.best, self.lowest, self.looks = X.copy(), float(error.mean()), 0
        return self.looks >= PATIENCE


class TrainingWatch:
    """Shows the course of training, and asks the held-out rows when to stop."""

    def __init__(self, report: Any, held: HeldOutRows | None):
        self.report, self.held, self.step = report, held, 0

    def __call__(self, value: float, X: Array) -> bool:
        self.step += 1
        self.report(step=self.step, objective=value)
        if self.held is None or self.step % EVERY:
            return False
        return self.held.tell_to_stop(X)
