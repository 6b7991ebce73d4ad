"""Scores of objects: by probability, by risk, or by distance in feature space."""

from heapq import heappop, heappush
from typing import Any

import numpy as np
from scipy import sparse

from isthmus.kernels.objects import n_objects, object_array
from isthmus.losses.tasks.base import Candidates
from isthmus.losses.tasks.collections import distinct, take_outputs
from isthmus.structured.conformal.sets import ObjectSet, parts_of
from isthmus.typing import Array, BoolArray

# With more candidates only those inside a set are sorted.
MOST_SORTED = 64


class ProbabilityScores:
    """One minus the probability of a class."""

    complete = True

    def __init__(self, outputs: Any):
        classes = np.unique(np.asarray(outputs))
        self.candidates = list(classes)
        self.numbers = {label: i for i, label in enumerate(classes.tolist())}

    def table(self, model: Any, X: Any) -> Array:
        """Scores (n, n_candidates); a class that a model has never seen is the last to be named."""
        found = np.ones((n_objects(X), len(self.candidates)))
        own = [self.numbers[label] for label in model.classes_.tolist()]
        found[:, own] = self.of_probabilities(model.predict_proba(X))
        return found

    def of_probabilities(self, P: Any) -> Array:
        """Scores (n, n_candidates) for probabilities of all of them."""
        return 1 - np.asarray(P)

    def paired(self, model: Any, X: Any, Y: Any) -> Array:
        """The scores of true outputs; a class that was never seen is never in a set."""
        table = self.table(model, X)
        labels = np.asarray(Y).tolist()
        number = np.array([self.numbers.get(label, -1) for label in labels])
        found = table[np.arange(len(number)), number]
        return np.where(number < 0, np.inf, found)

    def sets(self, model: Any, X: Any, levels: Array) -> list[ObjectSet]:
        return listed(self.candidates, self.table(model, X), levels[:, None], True)


class DistanceScores:
    r"""Squared distance :math:`\|c(y)-\hat c(x)\|^2` from the predicted coordinates."""

    complete = False

    def __init__(self, outputs: Any, limit: int):
        self.known = distinct(outputs)[0]
        self.candidates = list(self.known)

    def table(self, model: Any, X: Any) -> Array:
        C = np.asarray(model.predict_coordinates(X))
        points = np.asarray(model.y_features_.transform(self.candidates))
        squares = (C**2).sum(axis=1)[:, None] + (points**2).sum(axis=1)
        return np.asarray(squares - 2 * C @ points.T)

    def paired(self, model: Any, X: Any, Y: Any) -> Array:
        residual = np.asarray(model.y_features_.transform(Y)) - model.predict_coordinates(X)
        return np.asarray((residual**2).sum(axis=1))

    def sets(self, model: Any, X: Any, levels: Array) -> list[ObjectSet]:
        found = listed(self.candidates, self.table(model, X), levels[:, None], False)
        C = np.asarray(model.predict_coordinates(X))

        def rule(i: int) -> Any:
            def accepts(y: Any) -> bool:
                point = np.asarray(model.y_features_.transform([y]))[0]
                return bool(((point - C[i]) ** 2).sum() <= levels[i])

            return accepts

        return [ObjectSet(one.objects, one.scores, False, rule(i)) for i, one in enumerate(found)]


class RiskScores:
    """Risk of an answer above that of the best one, under the weights of the training outputs."""

    complete = False

    def __init__(self, outputs: Any, limit: int):
        self.limit = limit
        self.known = distinct(outputs)[0]
        self.candidates = list(self.known)

    def weights(self, model: Any, X: Any) -> Any:
        """Weights of the training outputs, as a table."""
        W = model.regressor_.weights(model.transform_inputs(X))
        return W.toarray() if sparse.issparse(W) else np.asarray(W)

    def paired(self, model: Any, X: Any, Y: Any) -> Array:
        W, gamma = self.weights(model, X), model.preimage_
        return above(np.asarray(gamma.objective(W, Y)), gamma.decode(W).risk)

    def table(self, model: Any, X: Any) -> Array:
        W, gamma = self.weights(model, X), model.preimage_
        known = Candidates(gamma.objects_, gamma.loss_)
        costs = gamma.loss_.cost(self.known, known.outputs)
        return above(np.asarray(known.masses(W) @ costs.T), gamma.decode(W).risk[:, None])

    def sets(self, model: Any, X: Any, levels: Array) -> list[ObjectSet]:
        """Answers met by moves from the best one, in order of their risk."""
        W, gamma = self.weights(model, X), model.preimage_
        decoded = gamma.decode(W)
        tables = self.table(model, X)
        return [self._grow(gamma, W, decoded, tables, i, levels[i]) for i in range(len(W))]

    def _grow(
        self, gamma: Any, W: Any, decoded: Any, tables: Array, i: int, level: float
    ) -> ObjectSet:
        w, least, loss = W[i : i + 1], decoded.risk[i], gamma.loss_

        def accepts(y: Any) -> bool:
            return bool(above(gamma.objective(w, one_output(y, self.known)), least)[0] <= level)

        near = np.flatnonzero(tables[i] <= level)
        heap: list[tuple[float, int, Any]] = [(0.0, 0, decoded.outputs[i])]
        for j in near:
            heappush(heap, (float(tables[i, j]), len(heap), self.candidates[j]))
        seen: set[Any] = set()
        objects: list[Any] = []
        scores: list[float] = []
        count = len(heap)
        while heap and len(objects) < self.limit:
            score, _, y = heappop(heap)
            key = _key(y)
            if key in seen:
                continue
            seen.add(key)
            objects.append(y)
            scores.append(score)
            if np.isfinite(level):
                others, risks = loss.neighbours(y, w[0], gamma.prepared_)
                for other, more in zip(others, above(risks, least).tolist(), strict=True):
                    if more <= level:
                        count += 1
                        heappush(heap, (more, count, other))
        complete = loss.finite and len(objects) < self.limit
        return ObjectSet(objects, np.array(scores), bool(complete), accepts)


def above(risks: Array, least: Any) -> Array:
    """By how much risks are above the least ones; what is but a rounding error is nothing."""
    more = np.asarray(risks) - least
    return np.where(more <= 1e-9 * (1 + np.abs(least)), 0.0, more)


def one_output(y: Any, known: Any) -> Any:
    """A collection of one output, of the kind of those known."""
    if isinstance(known, np.ndarray) and known.dtype.kind != "O":
        return np.asarray(y)[None]
    return take_outputs([y], [0])


def _key(y: Any) -> Any:
    return tuple(y.tolist() if isinstance(y, np.ndarray) else y) if hasattr(y, "__len__") else y


def listed(candidates: list[Any], table: Array, levels: Array, complete: bool) -> list[ObjectSet]:
    """Candidates whose score is at most the level of their row, best first."""
    return chosen(candidates, table, table <= levels, complete)


def chosen(
    candidates: list[Any], table: Array, inside: BoolArray, complete: bool
) -> list[ObjectSet]:
    """Candidates that are inside, row by row, best first."""
    if len(candidates) > MOST_SORTED:
        return [
            _best_first(candidates, row, keep, complete)
            for row, keep in zip(table, inside, strict=True)
        ]
    order = np.argsort(np.where(inside, table, np.inf), axis=1, kind="stable")
    counts = inside.sum(axis=1)
    first = np.arange(len(candidates)) < counts[:, None]  # those inside come first in each row
    # One list and one array of all rows, which the sets are parts of.
    names = object_array(candidates)[order[first]].tolist()
    scores = np.take_along_axis(table, order, axis=1)[first]
    return parts_of(names, scores, [0, *np.cumsum(counts).tolist()], complete)


def _best_first(candidates: list[Any], row: Array, keep: BoolArray, complete: bool) -> ObjectSet:
    own = np.flatnonzero(keep)
    own = own[np.argsort(row[own], kind="stable")]
    return ObjectSet([candidates[j] for j in own], row[own], complete)
