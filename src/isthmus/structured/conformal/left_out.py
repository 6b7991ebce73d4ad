r"""Scores by the model without each training row, in closed form for smoothers.

Kernel ridge regression does not change if a row is added whose output is what it predicts.
Therefore, with the weights :math:`w_i(x)` of row i and any columns :math:`g` of the outputs,

.. math:: \mu_{-i}(x)=\mu(x)-w_i(x)\,e_i,\qquad
          e_i=g_i-\mu_{-i}(x_i)=\frac{g_i-\mu(x_i)}{1-w_i(x_i)}.

Columns may be indicators of classes, coordinates of a feature space, or the costs
:math:`\Delta(y,y_i)` of candidates, whose predictions are their risks.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from isthmus._checks import refusal
from isthmus.kernels.objects import take
from isthmus.losses.tasks.collections import distinct
from isthmus.structured.conformal.objects import ProbabilityScores, above, one_output
from isthmus.typing import Array, IntArray, provides


class LeftOutSmoother:
    """A fitted smoother and what every training row counts; other smoothers are refused.

    ``inputs`` are the training inputs as the smoother sees them.
    """

    def __init__(self, smoother: Any, inputs: Any, owner: Any):
        if not {"weights", "settled"} <= provides(smoother):
            raise TypeError(
                "ConformalSets(method='loo') needs an estimator that provides 'weights' and "
                f"'settled', such as KernelRidgeCV. {type(smoother).__name__} does not: use "
                "method='cross'."
            )
        self.smoother, self.inputs, self.owner = smoother, inputs, owner
        self.hat = _dense(smoother.weights(inputs)).astype(np.float64)
        self.own = np.diagonal(self.hat)
        if (self.own >= 1 - 1e-10).any():
            raise ValueError(
                "ConformalSets(method='loo') needs a smoother that does not pass through its "
                f"training outputs. {type(smoother).__name__} does: raise its penalty, or use "
                "method='cross'."
            )

    def errors(self, G: Array) -> Array:
        r"""Errors :math:`e_i` (n, p) of the columns of every row by the smoother without it.

        Three rows are refitted; a smoother for which the closed form does not hold is refused.
        """
        found = (G - self.hat @ G) / (1 - self.own)[:, None]
        n = len(G)
        for i in sorted({0, n // 2, n - 1}):
            rows = np.delete(np.arange(n), i)
            targets = G[rows] if G.shape[1] > 1 else G[rows, 0]
            without = self.smoother.settled().fit(take(self.inputs, rows), targets)
            told = G[i] - np.asarray(without.predict(take(self.inputs, [i])), float).reshape(-1)
            if np.abs(told - found[i]).max() > 1e-4 * max(float(G.std()), 1e-300):
                expected = "'split' or 'cross' where the closed form of left-out rows does not hold"
                raise ValueError(refusal(self.owner, "method", expected, "loo"))
        return found

    def weights(self, inputs: Any) -> Array:
        """Weights (n, n_train) at new inputs."""
        return _dense(self.smoother.weights(inputs))


class LeftOutColumns(ABC):
    """Scores of candidates that follow from predicted columns, row by row of new inputs.

    A subclass says what the columns are, and what candidates score for values of them.
    """

    candidates: list[Any]
    complete: bool = True

    def __init__(self, model: Any, smoother: Any, X: Any, G: Array, number: Any, owner: Any):
        self.model = model
        self._left_out = LeftOutSmoother(smoother, self.inputs(X), owner)
        self._errors = self._left_out.errors(G)
        self._G = G
        places = np.arange(len(G)), number
        # Of each row by the model without it: the score of its own output.
        self.scores = self.of_columns(G - self._errors)[places]

    def inputs(self, X: Any) -> Any:
        """Inputs as the smoother sees them."""
        return self.model.transform_inputs(X)

    @abstractmethod
    def of_columns(self, values: Array) -> Array:
        """Scores (n, n_candidates) for values (n, p) of the columns."""

    def rows(self, X: Any) -> Iterator["LeftOutRow"]:
        """The weights of each new row, and its columns by the models without one row."""
        W = self._left_out.weights(self.inputs(X))
        for w, center in zip(W, W @ self._G, strict=True):
            yield LeftOutRow(self, w, center - w[:, None] * self._errors)

    def of_object(self, row: "LeftOutRow", y: Any) -> Array | None:
        """Scores (n_train,) of an object that need not be a candidate; None where all are."""
        return None


class LeftOutRow(NamedTuple):
    """One new row: its weights (n_train,) and columns (n_train, p) without each training row."""

    owner: LeftOutColumns
    weights: Array
    values: Array

    def table(self) -> Array:
        """Scores (n_train, n_candidates) by the models without one row."""
        return self.owner.of_columns(self.values)

    def rule(self, scores: Array, own: IntArray, k: int) -> Any:
        """Whether an object is in the set; None where the list is complete."""
        if self.owner.complete:
            return None

        def accepts(y: Any) -> bool:
            found = np.asarray(self.owner.of_object(self, y))
            return bool((scores[own] < found[own]).sum() < k)

        return accepts


class LeftOutRisk(LeftOutColumns):
    """Risk of a candidate above that of the best one: the columns are costs of candidates."""

    complete = False

    def __init__(self, model: Any, X: Any, owner: Any):
        gamma = model.preimage_
        found, number = distinct(gamma.objects_)
        self._known, self.candidates = found, list(found)
        costs = np.asarray(gamma.loss_.cost(found, gamma.objects_), dtype=float).T
        super().__init__(model, model.regressor_, X, costs, number, owner)

    def of_columns(self, values: Array) -> Array:
        return above(values, values.min(axis=1, keepdims=True))

    def of_object(self, row: LeftOutRow, y: Any) -> Array:
        gamma = self.model.preimage_
        costs = np.asarray(gamma.loss_.cost(one_output(y, self._known), gamma.objects_), float)[0]
        left_out = self._left_out
        errors = (costs - left_out.hat @ costs) / (1 - left_out.own)
        risks = row.weights @ costs - row.weights * errors
        return np.maximum(above(risks, row.values.min(axis=1)), 0.0)


class LeftOutDistance(LeftOutColumns):
    """Squared distance in the output feature space: the columns are coordinates."""

    complete = False

    def __init__(self, model: Any, X: Any, y: Any, owner: Any):
        found, number = distinct(y)
        self.candidates = list(found)
        self._points = np.asarray(model.y_features_.transform(self.candidates))
        super().__init__(model, model.regressor_, X, self._points[number], number, owner)

    def of_columns(self, values: Array) -> Array:
        squares = (values**2).sum(axis=1)[:, None] + (self._points**2).sum(axis=1)
        return np.asarray(squares - 2 * values @ self._points.T)

    def of_object(self, row: LeftOutRow, y: Any) -> Array:
        point = np.asarray(self.model.y_features_.transform([y]))[0]
        return np.asarray(((row.values - point) ** 2).sum(axis=1))


class LeftOutProbability(LeftOutColumns):
    """Scores of classes or label sets by probabilities: the columns are indicators."""

    def __init__(self, model: Any, X: Any, y: Any, scorer: Any, owner: Any):
        if not hasattr(model, "indicator_regressor_"):
            raise TypeError(
                "ConformalSets(method='loo') of classes is in closed form for "
                f"DependencyClassifier. Got {type(model).__name__}: use method='cross'."
            )
        self.candidates, self.complete, self._scorer = scorer.candidates, scorer.complete, scorer
        if isinstance(scorer, ProbabilityScores):
            number = np.array([scorer.numbers[label] for label in np.asarray(y).tolist()])
            G = np.eye(len(self.candidates))[number]
        else:
            G = np.asarray(y.toarray() if sparse.issparse(y) else y, dtype=float)
            number = scorer.places(G)
        super().__init__(model, model.indicator_regressor_.regressor, X, G, number, owner)

    def inputs(self, X: Any) -> Any:
        return self.model.model_.transform_inputs(X)

    def of_columns(self, values: Array) -> Array:
        return np.asarray(self._scorer.of_probabilities(self.model.probabilities_from(values)))

    def of_object(self, row: LeftOutRow, y: Any) -> Array:
        return np.asarray(self._scorer.of_labels(self.model.probabilities_from(row.values), y))


def left_out_tables(kind: str, model: Any, X: Any, y: Any, scorer: Any, owner: Any) -> Any:
    """Scores of objects by the models without each row, for the score that is named."""
    if kind == "risk":
        return LeftOutRisk(model, X, owner)
    if kind == "distance":
        return LeftOutDistance(model, X, y, owner)
    return LeftOutProbability(model, X, y, scorer, owner)


def _dense(W: Any) -> Array:
    return np.asarray(W.toarray() if sparse.issparse(W) else W)
