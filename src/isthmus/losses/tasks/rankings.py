"""Rankings: how far two orders of the same items are apart."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from isthmus.losses.tasks.base import Decoded, LinearTaskLoss
from isthmus.typing import Array, BoolArray, IntArray, Objects

# So many items are ordered exactly, by dynamic programming over their subsets.
MOST_ITEMS = 10


class RankedItems(NamedTuple):
    """Columns of the training rankings, and the rank that counts as first."""

    columns: Array
    first: int
    n_items: int
    dtype: Any


def check_rankings(owner: Any, outputs: Objects) -> Any:
    """Ranks (n, n_items): each row holds 0 … n_items - 1, or 1 … n_items, in some order."""
    Y = check_array(outputs, dtype=None, input_name="y", estimator=owner)
    m = Y.shape[1]
    if Y.dtype.kind not in "iuf" or m < 2 or not _are_permutations(Y, m):
        raise ValueError(
            f"{type(owner).__name__} needs rankings, a table whose rows hold the ranks "
            f"0 to {m - 1} or 1 to {m} of the items, each once and without ties. "
            f"Got {np.asarray(Y)[:1].tolist()!r:.60} in the first row."
        )
    return Y


def _are_permutations(Y: Array, m: int) -> bool:
    first = Y.min()
    return bool(first in (0, 1) and (np.sort(Y, axis=1) == np.arange(m) + first).all())


class RankingLoss(LinearTaskLoss):
    """Base of losses of rankings, which are rows of ranks."""

    __module__ = "isthmus.losses"

    def check(self, outputs: Objects) -> Any:
        return check_rankings(self, outputs)

    def prepare(self, outputs: Objects) -> RankedItems:
        Y = np.asarray(outputs)
        return RankedItems(self.columns(Y, None), int(Y.min()), Y.shape[1], Y.dtype)


@dataclass
class Spearman(RankingLoss):
    r"""Sum of squared differences of ranks, as a share of its largest value :math:`m(m^2-1)/3`.

    It is half of one minus Spearman's rank correlation. The answer orders the items by their
    weighted mean rank (Borda's count). Exact, also for negative weights.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Spearman
    >>> Y = np.array([[0, 1, 2], [0, 2, 1], [2, 0, 1]])
    >>> Spearman().decode(np.array([[0.4, 0.3, 0.3]]), Spearman().prepare(Y)).outputs
    array([[0, 1, 2]])
    """

    __module__ = "isthmus.losses"

    def cost(self, Y: Objects, Z: Objects) -> Array:
        A, B = np.asarray(Y, dtype=np.float64), np.asarray(Z, dtype=np.float64)
        squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
        return np.maximum(squares, 0) / _most_squares(A.shape[1])

    def paired(self, Y: Objects, Z: Objects) -> Array:
        A, B = np.asarray(Y, dtype=np.float64), np.asarray(Z, dtype=np.float64)
        return np.asarray(((A - B) ** 2).sum(axis=1) / _most_squares(A.shape[1]))

    def columns(self, outputs: Objects, prepared: Any) -> Array:
        Y = np.asarray(outputs, dtype=np.float64)
        return np.column_stack([Y, np.ones(len(Y))])

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        mean, total = values[:, :-1], values[:, -1]
        ranks = _ranks_of(np.argsort(mean, axis=1, kind="stable")) + prepared.first
        # Σ w (r - y)² of two permutations of the same numbers: twice the squares less twice r'Σwy.
        squares = float((np.arange(prepared.n_items) + prepared.first) @ (
            np.arange(prepared.n_items) + prepared.first))  # fmt: skip
        risk = 2 * total * squares - 2 * np.einsum("ij,ij->i", ranks, mean)
        answers = ranks.astype(prepared.dtype)
        exact = np.ones(len(ranks), dtype=bool)
        return Decoded(answers, risk / _most_squares(prepared.n_items), exact)


@dataclass
class Kendall(RankingLoss):
    r"""Share of pairs of items that are in the wrong order, Kendall's distance.

    The answer is a weighted Kemeny ranking: with the weight :math:`A_{ab}` of the rankings that
    have ``a`` before ``b`` it minimises the sum of :math:`A_{ba}` over all ``a`` placed before
    ``b``. Up to ten items it is found exactly, by dynamic programming over subsets; beyond, from
    the order of mean ranks by moving single items to better places. An answer that reaches
    :math:`\sum_{a<b}\min(A_{ab},A_{ba})` is known to be the best.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Kendall
    >>> Y = np.array([[0, 1, 2], [0, 2, 1], [2, 0, 1]])
    >>> Kendall().decode(np.array([[0.4, 0.3, 0.3]]), Kendall().prepare(Y)).outputs
    array([[0, 1, 2]])
    """

    __module__ = "isthmus.losses"

    def cost(self, Y: Objects, Z: Objects) -> Array:
        A, B = (self.columns(part, None)[:, :-1] for part in (Y, Z))
        different = A.sum(axis=1)[:, None] + B.sum(axis=1) - 2 * A @ B.T
        return np.maximum(different, 0) / A.shape[1]

    def paired(self, Y: Objects, Z: Objects) -> Array:
        A, B = (self.columns(part, None)[:, :-1] for part in (Y, Z))
        return np.asarray(np.abs(A - B).mean(axis=1))

    def columns(self, outputs: Objects, prepared: Any) -> Array:
        Y = np.asarray(outputs, dtype=np.float64)
        a, b = np.triu_indices(Y.shape[1], 1)
        return np.column_stack([Y[:, a] < Y[:, b], np.ones(len(Y))]).astype(np.float64)

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        m = prepared.n_items
        a, b = np.triu_indices(m, 1)
        before = np.zeros((len(values), m, m))  # weight of a before b
        before[:, a, b] = values[:, :-1]
        before[:, b, a] = values[:, -1:] - values[:, :-1]
        exact: BoolArray
        if m <= MOST_ITEMS:
            orders, exact = kemeny_orders(before), np.ones(len(values), dtype=bool)
        else:
            borda = np.argsort(before.sum(axis=1), axis=1, kind="stable")
            orders = np.array([improve_order(o, B) for o, B in zip(borda, before, strict=True)])
            least = np.minimum(before[:, a, b], before[:, b, a]).sum(axis=1)
            reached = _order_costs(orders, before)
            exact = reached <= least + 1e-9 * np.abs(values[:, -1]) * len(a)
        risk = _order_costs(orders, before) / len(a)
        ranks = _ranks_of(orders) + prepared.first
        return Decoded(ranks.astype(prepared.dtype), risk, exact)


def kemeny_orders(before: Array) -> IntArray:
    """Orders (n, m), first item first, of least weighted disagreement; O(n 2^m m²).

    ``before[i, a, b]`` is the weight of ``a`` before ``b``. The cost of a set of items that come
    first is the least over its last item.
    """
    n, _, m = before.shape
    least, last = np.full((2**m, n), np.inf), np.zeros((2**m, n), dtype=np.intp)
    least[0] = 0.0
    inside = ((np.arange(2**m)[:, None] >> np.arange(m)) & 1).astype(np.float64)
    for members in range(1, 2**m):
        for item in np.flatnonzero(inside[members]):
            rest = members & ~(1 << int(item))
            # Everything in the rest comes before the item: wrong where the item was before it.
            cost = least[rest] + before[:, item, :] @ inside[rest]
            better = cost < least[members]
            least[members, better], last[members, better] = cost[better], item
    orders = np.empty((n, m), dtype=np.intp)
    state = np.full(n, 2**m - 1)
    for place in range(m - 1, -1, -1):
        orders[:, place] = last[state, np.arange(n)]
        state = state & ~(1 << orders[:, place])
    return orders


def improve_order(order: IntArray, before: Array) -> IntArray:
    """The order after moving single items to where they cost least, until none gains."""
    order, m = order.copy(), len(order)
    improved = True
    while improved:
        improved = False
        for item in range(m):
            rest = order[order != item]
            place = int(np.flatnonzero(order == item)[0])
            # Cost of the item at place p: those before it that should follow, and the reverse.
            costs = np.concatenate([[0], np.cumsum(before[item, rest])]) + np.concatenate(
                [np.cumsum(before[rest, item][::-1])[::-1], [0]]
            )
            best = int(np.argmin(costs))
            if costs[best] < costs[place] - 1e-12:
                order = np.insert(rest, best, item)
                improved = True
    return order


def _order_costs(orders: IntArray, before: Array) -> Array:
    """Weighted number of pairs in the wrong order (n,)."""
    ranks = _ranks_of(orders)
    wrong = ranks[:, :, None] > ranks[:, None, :]  # a is after b
    return np.asarray((before * wrong).sum(axis=(1, 2)))


def _ranks_of(orders: IntArray) -> IntArray:
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(orders.shape[1])[None], axis=1)
    return ranks


def _most_squares(m: int) -> float:
    return m * (m**2 - 1) / 3
