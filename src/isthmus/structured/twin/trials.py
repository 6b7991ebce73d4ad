"""Errors of left-out predictions, by which settings of a twin process are compared."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.threads import in_threads, threads_for
from isthmus.regression.selection import Selection
from isthmus.structured.twin.bridge import (
    AskedInputs,
    InputFactor,
    TwinQuery,
    ask_inputs,
    exact_bridge,
    factor_inputs,
)
from isthmus.structured.twin.inverse import OutputInverse
from isthmus.structured.twin.landscape import box_around
from isthmus.structured.twin.recall import Recall
from isthmus.structured.twin.search import TwinSearch, best_outputs
from isthmus.structured.twin.sides import approximate_bridge, as_twin_search, make_sides
from isthmus.typing import Array

# Rough solutions are enough to compare settings.
ROUGH = TwinSearch(n_init=1, tol=1e-2, max_iter=30)
MAX_HELD_OUT = 150
# Known pairs from which folds are asked side by side.
LEAST_SHARED = 400
# Standard errors by which the first folds must say no, and pieces of a fold that say how far rows
# are independent.
CERTAIN, N_PIECES = 4.0, 10
# Settings of the inputs that are remembered: a second round tries those of the first again.
N_ASKED = 12


class Fold(NamedTuple):
    """Known inputs and outputs, left-out ones, and what trials before found of the known."""

    X: Any
    Y: Any
    new: Any
    truth: Any
    recall: Recall
    asked: Recall  # what the known inputs say of the left-out ones, which is small


def make_folds(selection: Selection, X: Any, Y: Any) -> list[Fold]:
    """The folds of the pairs, with at most a few left-out pairs each."""
    folds = []
    for known, left in selection.splits(n_objects(X)):
        left = left[:: -(-len(left) // MAX_HELD_OUT)]
        pairs = take(X, known), take(Y, known), take(X, left), take(Y, left)
        folds.append(Fold(*pairs, Recall(), Recall(N_ASKED)))
    return folds


class BestTrial(NamedTuple):
    """The settings with the least error so far, by the errors of each left-out pair."""

    error: float
    rows: list[Array]


def is_positive(changes: Sequence[Array]) -> bool:
    """Whether the mean of the numbers, one array a fold, is positive beyond doubt.

    Its standard error is the larger of two: that of independent numbers, and that of means of
    pieces, since neighbours in a sequence err together.
    """
    if min(map(len, changes)) < 2 * N_PIECES:
        return False
    every = np.concatenate(changes)
    mean = every.mean()
    # Most are not; what says so first costs least.
    return bool(
        mean > 0
        and mean > CERTAIN * _standard_error(every)
        and mean > CERTAIN * _standard_error(np.concatenate([piece_means(c) for c in changes]))
    )


def piece_means(numbers: Array) -> Array:
    """Means of pieces in their order, whose lengths differ by one at most, the longer first."""
    shorter, n_longer = divmod(len(numbers), N_PIECES)
    lengths = np.full(N_PIECES, shorter)
    lengths[:n_longer] += 1
    return np.asarray(np.add.reduceat(numbers, np.cumsum(lengths) - lengths) / lengths)


def _standard_error(numbers: Array) -> float:
    return float(numbers.std() / np.sqrt(len(numbers) - 1))


class Trials:
    """Settings by the mean absolute error of left-out vectors; by the share of others wrong."""

    def __init__(self, model: Any, folds: list[Fold], candidates: Any):
        self.model, self.folds, self.candidates = model, folds, candidates
        self.margin = as_twin_search(model).margin
        self.best: BestTrial | None = None

    def error(self, settings: Mapping[str, Any]) -> float:
        """The mean error of all folds; infinite where there is no process under the settings.

        It is infinite, too, where the folds asked so far show that it is not the least.
        """
        errors: list[Array | None] = [None] * len(self.folds)

        def ask(i: int) -> None:
            if not self._is_lost(errors[:i]):
                errors[i] = self._row_errors(self.folds[i], settings)

        side_by_side = max(n_objects(fold.X) for fold in self.folds) >= LEAST_SHARED
        try:
            if not side_by_side:
                with threads_for(0):
                    for i in range(len(self.folds)):
                        ask(i)
            else:
                # A fold is long enough for a thread, and its calls to BLAS too short for two.
                in_threads(ask, range(len(self.folds)))
        except ValueError:
            return np.inf  # where all settings fail, the last fit says why
        done = [rows for rows in errors if rows is not None]
        if len(done) < len(errors):
            return np.inf
        # The first folds alone decide, so that the number of threads does not: of folds asked side
        # by side, some may be done before the first ones have spoken.
        if side_by_side and any(self._is_lost(errors[:i]) for i in range(len(errors))):
            return np.inf
        error = float(np.mean([rows.mean() for rows in done]))
        if self.best is None or error < self.best.error:
            self.best = BestTrial(error, done)
        return error

    def _is_lost(self, errors: Sequence[Array | None]) -> bool:
        """Whether the first folds show a larger error than those of the best trial."""
        done = [rows for rows in errors if rows is not None]
        if self.best is None or not done or len(done) < len(errors):
            return False
        pairs = zip(done, self.best.rows, strict=False)
        return is_positive([rows - least for rows, least in pairs])

    def _row_errors(self, fold: Fold, settings: Mapping[str, Any]) -> Array:
        bridge, query = self._query(fold, settings)
        vectors = bridge.sides.y_kernel.vectors
        box = box_around(fold.Y, self.margin) if vectors and self.candidates is None else None
        tried = fold.Y if self.candidates is None else self.candidates
        guess = best_outputs(bridge, query, box, tried, ROUGH, rough=True).outputs
        if vectors:
            return np.asarray(np.abs(guess - fold.truth).mean(axis=1))
        return np.array([float(a != b) for a, b in zip(guess, fold.truth, strict=True)])

    def _query(self, fold: Fold, settings: Mapping[str, Any]) -> tuple[Any, TwinQuery]:
        """Bridge and queries of one trial, with the side that it shares with trials before."""
        model, (X, Y, new, _, recall, _) = self.model, fold
        sides, learner = make_sides(model, X, Y, settings, recall)
        bridge = approximate_bridge(model, sides, X, Y)
        if bridge is not None:
            return bridge, bridge.query(new)
        x_key, y_key = ((settings.get(f"{side}_scale"), settings[f"alpha_{side}"]) for side in "xy")
        # What is learned depends on both sides, and is not met again.
        x_own = learner is None or sides.x_kernel is not learner.x_kernel_
        y_own = learner is None or sides.y_kernel is not learner.y_kernel_
        x_recall, x_asked = (recall, fold.asked) if x_own else (Recall(), Recall())
        y_recall = recall if y_own else Recall()

        inverse = y_recall(
            "outputs", y_key, lambda: OutputInverse(sides.y_kernel, Y, sides.y_noise)
        )
        if learner is None and not getattr(sides.y_kernel, "certain", False):
            inverse.factor  # noqa: B018  the whole matrix tells whether it is one of a kernel
        inputs = InputFactor(None, None)
        if model.criterion == "inverse_kl":
            inputs = x_recall("inputs", x_key, lambda: factor_inputs("inverse_kl", sides, X))

        def ask() -> AskedInputs:
            factor = inputs.factor or factor_inputs(model.criterion, sides, X).factor
            return ask_inputs(sides, factor, X, Y, new)

        bridge = exact_bridge(model.criterion, sides, X, Y, inputs, inverse)
        return bridge, bridge.judged(x_asked("inputs", x_key, ask))
