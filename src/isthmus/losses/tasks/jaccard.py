"""Jaccard distance of label sets, by adding and dropping labels."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.losses.tasks.base import Candidates, Decoded, TaskLoss, dense_rows
from isthmus.losses.tasks.f_measure import F1, SizedLabels
from isthmus.losses.tasks.label_sets import (
    as_sparse,
    check_label_sets,
    like_given,
    overlaps,
    paired_overlaps,
)
from isthmus.typing import Array, BoolArray, Objects

# With so few labels all sets are compared.
MOST_LABELS = 10


class WeightedSets(NamedTuple):
    """Distinct label sets, and the columns from which a first answer is found."""

    candidates: Candidates
    D: Array  # (n_distinct, n_labels)
    sized: SizedLabels


@dataclass
class Jaccard(TaskLoss):
    r"""Jaccard distance of label sets, :math:`1-|h\wedge y|/|h\vee y|`; zero for two empty ones.

    Unlike F1, it is not a sum over labels even when the size of the answer is known. Up to ten
    labels every set is compared, which is exact. Beyond that, the search begins at the answer for
    F1 and at the labels of more than half the weight, and adds or drops the label that helps most
    until none does; all such moves of a row cost two matrix products.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Jaccard
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    >>> Jaccard().decode(np.array([[0.4, 0.3, 0.3]]), Jaccard().prepare(Y)).outputs
    array([[1, 1, 0]])
    """

    __module__ = "isthmus.losses"
    finite: ClassVar[bool] = False

    def _of(self, shared: Array, n_answer: Array, n_truth: Array) -> Array:
        union = n_answer + n_truth - shared
        return np.where(union == 0, 0.0, 1 - shared / np.where(union == 0, 1, union))

    def cost(self, Y: Objects, Z: Objects) -> Array:
        return self._of(*overlaps(Y, Z))

    def paired(self, Y: Objects, Z: Objects) -> Array:
        return self._of(*paired_overlaps(Y, Z))

    def check(self, outputs: Objects) -> Any:
        return check_label_sets(self, outputs)

    def prepare(self, outputs: Objects) -> WeightedSets:
        dense = as_sparse(outputs).toarray()
        candidates = Candidates(dense, self)
        return WeightedSets(candidates, candidates.outputs, F1().prepare(outputs))

    def decode(self, weights: Any, prepared: Any) -> Decoded:
        m = prepared.sized.n_labels
        if m <= MOST_LABELS:
            return self._best_of_all(prepared.candidates.masses(weights), prepared)
        n = weights.shape[0]
        H, value = np.zeros((n, m), dtype=bool), np.empty(n)
        for rows in block_slices(n, 6 * len(prepared.D)):
            W = dense_rows(weights, rows)
            masses = prepared.candidates.masses(W)
            starts = (
                F1().decode(W, prepared.sized).outputs,
                masses @ prepared.D > 0.5 * masses.sum(axis=1, keepdims=True),
            )
            found = [ascend(as_sparse(s).toarray() > 0, masses, prepared.D) for s in starts]
            second = found[1][1] > found[0][1]
            H[rows] = np.where(second[:, None], found[1][0], found[0][0])
            value[rows] = np.maximum(found[0][1], found[1][1])
        total = np.asarray(weights.sum(axis=1)).ravel()
        answers = like_given(H, prepared.sized.template)
        return Decoded(answers, total - value, np.zeros(n, dtype=bool))

    def _best_of_all(self, masses: Array, prepared: WeightedSets) -> Decoded:
        m = prepared.sized.n_labels
        every = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
        risks = masses @ self.cost(every, prepared.D).T
        best = np.argmin(risks, axis=1)
        answers = like_given(every[best], prepared.sized.template)
        return Decoded(answers, risks[np.arange(len(best)), best], np.ones(len(best), dtype=bool))


def ascend(H: BoolArray, masses: Array, D: Array) -> tuple[BoolArray, Array]:
    """Label sets at which no single label more or less raises the weighted Jaccard index.

    ``H`` (n, m) are the starts, ``masses`` (n, n_sets) the weights of the sets ``D``.
    """
    H = H.copy()
    value = jaccard_values(H, masses, D)
    active = np.arange(len(H))
    while len(active):
        moved = toggle_values(H[active], masses[active], D)
        best = np.argmax(moved, axis=1)
        reached = moved[np.arange(len(active)), best]
        up = reached > value[active] + 1e-12
        active, best = active[up], best[up]
        H[active, best] = ~H[active, best]
        value[active] = reached[up]
    return H, value


def jaccard_values(H: BoolArray, masses: Array, D: Array) -> Array:
    """Weighted Jaccard indices (n,)."""
    shared, union = _shared_and_union(H, D)
    return np.sum(masses * _index(shared, union), axis=1)


def toggle_values(H: BoolArray, masses: Array, D: Array) -> Array:
    """Weighted Jaccard indices (n, m) after each label is added or dropped."""
    shared, union = _shared_and_union(H, D)
    # Adding a label of a set raises what is shared, adding another one raises the union.
    inside, outside = _index(shared + 1, union), _index(shared, union + 1)
    added = (masses * outside).sum(axis=1, keepdims=True) + (masses * (inside - outside)) @ D
    inside, outside = _index(shared - 1, union), _index(shared, union - 1)
    dropped = (masses * outside).sum(axis=1, keepdims=True) + (masses * (inside - outside)) @ D
    return np.where(H, dropped, added)


def _shared_and_union(H: BoolArray, D: Array) -> tuple[Array, Array]:
    shared = H.astype(np.float64) @ D.T
    return shared, H.sum(axis=1)[:, None] + D.sum(axis=1) - shared


def _index(shared: Array, union: Array) -> Array:
    return np.where(union <= 0, 1.0, shared / np.where(union <= 0, 1, union))
