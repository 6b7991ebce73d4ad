r"""What every loss of objects offers: costs, and the answer of least expected cost.

A smoother says how much each training output :math:`y_i` counts for a new input,
:math:`w_i(x)`. The right answer for a loss :math:`\Delta` is then

.. math:: \hat y(x)=\arg\min_y\sum_iw_i(x)\,\Delta(y,y_i)

[Ciliberto2020]_. A :class:`TaskLoss` knows its costs and how to find that minimum; it says of
which answers it can prove that they are one.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from isthmus._piece import Piece
from isthmus.losses.tasks.collections import distinct, n_outputs, take_outputs
from isthmus.typing import Array, BoolArray, IntArray, Objects

# Costs of every pair of distinct outputs are kept up to this many pairs.
MOST_PAIRS = 4_000_000
# Beyond it, the candidates of a row are the outputs that count most there.
N_CANDIDATES = 40


class Decoded(NamedTuple):
    """Answers, their risk and whether each of them is proved to be the best possible one.

    ``outputs`` holds one answer per row of weights; ``risk`` (n,) is the weighted sum of their
    costs; ``exact`` (n,) is True where no other answer whatever has a lower risk.
    """

    outputs: Objects
    risk: Array
    exact: BoolArray


Decoded.__module__ = "isthmus.losses"


class TaskLoss(Piece, ABC):
    """Base class of losses of objects; a subclass defines ``cost`` and, if it can, ``decode``.

    Attributes
    ----------
    finite : bool
        Whether the outputs that were seen are all there are, so that the best of them is the best
        of all.
    linear : bool
        Whether the answer depends on the weights through a fixed set of columns alone: then the
        loss is a :class:`LinearTaskLoss`, and no weights need be formed.
    """

    __module__ = "isthmus.losses"

    finite: ClassVar[bool] = False
    linear: ClassVar[bool] = False
    #: How many left-out rows are decoded to judge a kernel and a penalty: fewer where it is slow.
    n_left_out: ClassVar[int] = 300

    @abstractmethod
    def cost(self, Y: Objects, Z: Objects) -> Array:
        """Costs (n, m) of answering ``Y[i]`` where ``Z[j]`` is right; not negative."""

    def paired(self, Y: Objects, Z: Objects) -> Array:
        """Costs (n,) of answering ``Y[i]`` where ``Z[i]`` is right."""
        pairs = range(n_outputs(Y))
        return np.array(
            [
                float(np.asarray(self.cost(take_outputs(Y, [i]), take_outputs(Z, [i])))[0, 0])
                for i in pairs
            ]
        )

    def check(self, outputs: Objects) -> Objects:
        """The outputs in the form that the loss computes with, or an error that says why not."""
        return outputs

    def resolve(self, outputs: Objects) -> "TaskLoss":
        """The loss with numbers for what the training outputs are to say; often itself."""
        return self

    def for_choice(self) -> "TaskLoss":
        """The same loss with a cheaper search, to judge kernels and penalties by; often itself."""
        return self

    def prepare(self, outputs: Objects) -> Any:
        """Whatever is computed once for the training outputs; ``decode`` is given it."""
        return Candidates(outputs, self)

    def decode(self, weights: Any, prepared: Any) -> Decoded:
        """The answers of least risk for rows of weights (n, n_train), dense or sparse.

        ``prepared`` is what :meth:`prepare` made of the training outputs. Here the best of the
        distinct training outputs is taken; a subclass that can search further does.
        """
        return best_candidates(self, weights, prepared)

    def neighbours(self, answer: Any, weights: Array, prepared: Any) -> tuple[list[Any], Array]:
        """Answers a small change away from one, and their risks under a row of weights.

        Sets of answers grow by them; a loss that has no such changes returns none.
        """
        return [], np.empty(0)

    def risk(self, weights: Any, objects: Objects, outputs: Objects) -> Array:
        """Weighted cost (n,) of answering ``objects[i]`` for each row of weights."""
        found = np.empty(n_outputs(objects))
        for i in range(len(found)):
            costs = np.asarray(self.cost(take_outputs(objects, [i]), outputs), dtype=float)[0]
            found[i] = dense_rows(weights, slice(i, i + 1))[0] @ costs
        return found


class LinearTaskLoss(TaskLoss):
    r"""Base of losses whose answer needs only :math:`\sum_iw_ig(y_i)` for some columns ``g``.

    A regression of the columns is then enough, whether or not it is a smoother.
    """

    __module__ = "isthmus.losses"

    linear: ClassVar[bool] = True

    @abstractmethod
    def columns(self, outputs: Objects, prepared: Any) -> Any:
        """The columns (n, p) of outputs, dense or sparse."""

    @abstractmethod
    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        """The answers for expected values (n, p) of the columns."""

    @abstractmethod
    def prepare(self, outputs: Objects) -> Any:
        """What is known of the training outputs; it has an attribute ``columns``, theirs."""

    def decode(self, weights: Any, prepared: Any) -> Decoded:
        values = weights @ prepared.columns
        if sparse.issparse(values):
            values = values.toarray()
        return self.decode_columns(np.asarray(values), prepared)


class Candidates:
    """The distinct training outputs, which of them each row has, and what may be answered.

    ``answers`` are the candidates; None means the distinct outputs themselves.
    """

    def __init__(self, outputs: Objects, loss: TaskLoss, answers: Objects = None):
        self.outputs, self.number = distinct(outputs)
        self.given = answers is not None
        self.answers = distinct(answers)[0] if answers is not None else self.outputs
        self._loss = loss
        self._costs: Array | None = None
        places = np.arange(len(self.number)), self.number
        shape = len(self.number), n_outputs(self.outputs)
        self._group = sparse.csr_array((np.ones(len(self.number)), places), shape=shape)

    @property
    def few(self) -> bool:
        """Whether the costs of all pairs of an answer and an output can be kept."""
        return n_outputs(self.answers) * n_outputs(self.outputs) <= MOST_PAIRS

    @property
    def complete(self) -> bool:
        """Whether the best candidate is the best of all answers."""
        return self.few and (self.given or self._loss.finite)

    def masses(self, weights: Any) -> Array:
        """Weights of the distinct outputs (n, n_distinct)."""
        found = weights @ self._group
        return np.asarray(found.toarray() if sparse.issparse(found) else found)

    def costs(self) -> Array:
        """Costs (n_answers, n_distinct) of every pair, computed once."""
        if self._costs is None:
            self._costs = check_costs(self._loss, self._loss.cost(self.answers, self.outputs))
        return self._costs


def best_candidates(loss: TaskLoss, weights: Any, prepared: Candidates) -> Decoded:
    """The best candidate for each row.

    Where there are too many to compare all pairs, the candidates of a row are the training outputs
    that count most there.
    """
    masses = prepared.masses(weights)
    if prepared.few:
        risks = masses @ prepared.costs().T
        chosen = np.argmin(risks, axis=1)
        risk = risks[np.arange(len(risks)), chosen]
        answers = take_outputs(prepared.answers, chosen)
    else:
        chosen, risk = _best_of_few(loss, masses, prepared.outputs)
        answers = take_outputs(prepared.outputs, chosen)
    return Decoded(answers, risk, np.full(len(masses), prepared.complete))


def _best_of_few(loss: TaskLoss, masses: Array, outputs: Objects) -> tuple[IntArray, Array]:
    chosen, risk = np.empty(len(masses), dtype=np.intp), np.empty(len(masses))
    for i, row in enumerate(masses):
        support = np.flatnonzero(row)
        few = support[np.argsort(-row[support], kind="stable")[:N_CANDIDATES]]
        if not len(few):
            few = support = np.arange(1)
        costs = loss.cost(take_outputs(outputs, few), take_outputs(outputs, support))
        risks = check_costs(loss, costs) @ row[support]
        best = int(np.argmin(risks))
        chosen[i], risk[i] = few[best], risks[best]
    return chosen, risk


def check_costs(loss: TaskLoss, costs: Any) -> Array:
    """Costs as an array, refused where one is negative or not a number."""
    costs = np.asarray(costs, dtype=np.float64)
    if not np.isfinite(costs).all() or (costs < 0).any():
        worst = costs[~np.isfinite(costs)][0] if not np.isfinite(costs).all() else costs.min()
        raise ValueError(
            f"The costs of {type(loss).__name__} must be finite and not negative. "
            f"Got {worst:.6g} for a pair of outputs."
        )
    return costs


def dense_rows(weights: Any, rows: slice) -> Array:
    """Some rows of weights as an array."""
    part = weights[rows]
    return np.asarray(part.toarray() if sparse.issparse(part) else part)
