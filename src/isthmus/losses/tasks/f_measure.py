"""F1 of label sets, maximised exactly."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from isthmus.blocks.slices import block_slices
from isthmus.losses.tasks.base import Decoded
from isthmus.losses.tasks.label_sets import OverlapLoss, as_sparse, like_given
from isthmus.typing import Array, IntArray, Objects


class SizedLabels(NamedTuple):
    """Which label occurs in sets of which size: a column for each such pair, and one for none."""

    columns: Any  # csr, (n, n_pairs + 1)
    labels: IntArray  # (n_pairs,)
    sizes: IntArray  # (n_pairs,)
    template: Any

    @property
    def n_labels(self) -> int:
        return int(self.template.shape[1])


@dataclass
class F1(OverlapLoss):
    r"""One minus the F1 measure of label sets, :math:`1-\frac{2|h\wedge y|}{|h|+|y|}`.

    Two empty sets agree: their F1 is one. With
    :math:`P_{js}=\sum_iw_iy_{ij}[|y_i|=s]` the expected F1 of an answer of ``k`` labels is
    :math:`\sum_{j\in h}\Delta_{jk}`, :math:`\Delta_{jk}=\sum_sP_{js}\frac2{s+k}`: for each ``k``
    take the ``k`` largest, then the best ``k``, or the empty set [Dembczynski2011]_. It is exact,
    also for negative weights. Only the ``k`` are tried that bounds by their neighbours leave open
    (:mod:`isthmus.losses.tasks.f_measure_loops`): about a dozen of a thousand, in a millisecond.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import F1
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    >>> F1().decode(np.array([[0.4, 0.35, 0.25]]), F1().prepare(Y)).outputs
    array([[1, 1, 0]])
    """

    __module__ = "isthmus.losses"

    def from_overlap(self, shared: Array, n_answer: Array, n_truth: Array, m: int) -> Array:
        both = np.asarray(n_answer + n_truth)
        empty = both == 0
        return np.where(empty, 0.0, 1 - 2 * shared / np.where(empty, 1, both))

    def prepare(self, outputs: Objects) -> SizedLabels:
        Y = as_sparse(outputs)
        sizes = np.asarray(Y.sum(axis=1)).ravel().astype(np.intp)
        entries = Y.tocoo()
        keys = np.unique(_pair_keys(entries.row, entries.col, sizes, Y.shape[1]))
        prepared = SizedLabels(
            None, keys % max(Y.shape[1], 1), keys // max(Y.shape[1], 1), outputs[:0]
        )
        return prepared._replace(columns=self.columns(outputs, prepared))

    def columns(self, outputs: Objects, prepared: Any) -> Any:
        Y = as_sparse(outputs)
        sizes = np.asarray(Y.sum(axis=1)).ravel().astype(np.intp)
        entries = Y.tocoo()
        known = prepared.sizes * Y.shape[1] + prepared.labels
        keys = _pair_keys(entries.row, entries.col, sizes, Y.shape[1])
        place = np.searchsorted(known, keys)
        found = (place < len(known)) & (known[np.minimum(place, len(known) - 1)] == keys) \
            if len(known) else np.zeros(len(keys), dtype=bool)  # fmt: skip
        empty = np.flatnonzero(sizes == 0)
        rows = np.concatenate([entries.row[found], empty])
        columns = np.concatenate([place[found], np.full(len(empty), len(known))])
        shape = (Y.shape[0], len(known) + 1)
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        from isthmus.losses.tasks.f_measure_loops import best_label_sets

        n = len(values)
        H, best = np.zeros((n, prepared.n_labels), dtype=bool), np.array(values[:, -1], dtype=float)
        # The weights of all outputs: a set of size s is counted s times.
        shares, risk = np.append(1 / np.maximum(prepared.sizes, 1), 1.0), np.empty(n)
        # Compiled code cannot be interrupted; between two blocks of rows a program can. Columns
        # are often laid out one after the other: few rows at a time are copied.
        for rows in block_slices(n, 16 * values.shape[1]):
            block = np.ascontiguousarray(values[rows], dtype=np.float64)
            risk[rows] = block @ shares
            if len(prepared.labels):
                best_label_sets(block, prepared.labels, prepared.sizes, H[rows], best[rows])
        risk -= best
        return Decoded(like_given(H, prepared.template), risk, np.ones(n, dtype=bool))


def largest_f1(P: Array, sizes: Array, empty: Array) -> tuple[Array, Array]:
    """Label sets (n, m) of largest expected F1, and their values: every size of answer in turn.

    The plain formula, with which the compiled search is compared. ``P`` (n, S, m) are the weights
    of a label in sets of each of the ``sizes``, ``empty`` (n,) the weight of the empty set.
    """
    n, _, m = P.shape
    H, best = np.zeros((n, m), dtype=bool), np.array(empty, dtype=np.float64)
    for k in range(1, m + 1):
        gain = np.einsum("s,nsm->nm", 2 / (sizes + k), P)
        top = np.argsort(-gain, axis=1, kind="stable")[:, :k]
        value = np.take_along_axis(gain, top, axis=1).sum(axis=1)
        for i in np.flatnonzero(value > best):
            best[i], H[i] = value[i], False
            H[i, top[i]] = True
    return H, best


def _pair_keys(rows: IntArray, labels: IntArray, sizes: IntArray, m: int) -> IntArray:
    return sizes[rows] * m + labels
