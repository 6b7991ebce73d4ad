"""Scores of objects: by probability, by risk, or by distance in feature space."""

from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from scipy import sparse

from isthmus.kernels.objects import n_objects, object_array
from isthmus.losses.tasks.base import Candidates
from isthmus.losses.tasks.collections import distinct, take_outputs
from isthmus.structured.conformal.sets import ObjectSet
from isthmus.typing import Array, BoolArray

# Label sets of up to this many labels are all listed.
MOST_LABELS = 14
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


class LabelSetScores:
    """Squared distance of a label set, as zeros and ones, from the predicted probabilities."""

    complete = True

    def __init__(self, outputs: Any, limit: int):
        labels = _as_table(outputs)
        n_labels = labels.shape[1]
        self.complete = n_labels <= MOST_LABELS
        if self.complete:
            numbers = np.arange(2**n_labels)[:, None]
            self._table = ((numbers >> np.arange(n_labels)) & 1).astype(float)
        else:
            self._table = np.asarray(distinct(labels)[0], dtype=float)
        self.known = self._table.astype(labels.dtype)
        self.candidates = list(self.known)

    def places(self, labels: Array) -> Array:
        """The numbers of label sets among the candidates."""
        known = {row.tobytes(): i for i, row in enumerate(self._table > 0)}
        return np.array([known[row.tobytes()] for row in np.asarray(labels) > 0])

    def marginals(self, model: Any, X: Any) -> Array:
        found = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
        if isinstance(found, list):  # a table of classes for each label, of one class or of two
            found = np.column_stack(
                [
                    np.asarray(p) @ (np.asarray(classes) == 1).astype(float)
                    for p, classes in zip(found, model.classes_, strict=True)
                ]
            )
        return np.asarray(found, dtype=np.float64)

    def table(self, model: Any, X: Any) -> Array:
        return self.of_probabilities(self.marginals(model, X))

    def of_probabilities(self, P: Array) -> Array:
        """Scores (n, n_candidates) for probabilities of the labels."""
        rest = (P**2).sum(axis=1)[:, None]
        # A label costs 1 - 2p more where it is named.
        return np.asarray(rest + (1 - 2 * P) @ self._table.T)

    def paired(self, model: Any, X: Any, Y: Any) -> Array:
        P = self.marginals(model, X)
        return np.asarray((P**2).sum(axis=1) + ((1 - 2 * P) * _as_table(Y)).sum(axis=1))

    def sets(self, model: Any, X: Any, levels: Array) -> list[ObjectSet]:
        P = self.marginals(model, X)
        found = listed(self.candidates, self.of_probabilities(P), levels[:, None], self.complete)
        if self.complete:
            return found

        def rule(p: Array, level: float) -> Any:
            return lambda y: bool(self.of_labels(p[None], y)[0] <= level)

        return [replace(one, accepts=rule(P[i], levels[i])) for i, one in enumerate(found)]

    def of_labels(self, P: Array, y: Any) -> Array:
        """Scores (n,) of one label set, whether or not it is a candidate."""
        return np.asarray((P**2).sum(axis=1) + (1 - 2 * P) @ np.asarray(y, dtype=float))


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


def _as_table(outputs: Any) -> Any:
    return outputs.toarray() if sparse.issparse(outputs) else np.asarray(outputs)


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
    outside = np.where(inside, table, np.inf)
    order = np.argsort(outside, axis=1, kind="stable")
    scores = np.take_along_axis(table, order, axis=1)
    names = object_array(candidates)[order].tolist()
    return [
        ObjectSet(objects[:count], row[:count], complete)
        for objects, row, count in zip(names, scores, inside.sum(axis=1).tolist(), strict=True)
    ]


def _best_first(candidates: list[Any], row: Array, keep: BoolArray, complete: bool) -> ObjectSet:
    own = np.flatnonzero(keep)
    own = own[np.argsort(row[own], kind="stable")]
    return ObjectSet([candidates[j] for j in own], row[own], complete)
