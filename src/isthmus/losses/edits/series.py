"""Alignment of series as a loss, and its weighted average."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus._parameters import Constraint, boolean, check_parameters, integer
from isthmus.losses.edits.symbols import row_parts
from isthmus.losses.tasks.base import Decoded, TaskLoss, dense_rows
from isthmus.losses.tasks.collections import n_outputs
from isthmus.typing import Array, IntArray, Objects


class PackedSeries(NamedTuple):
    """Training series one after another, where each starts, and whether they had one dimension."""

    values: Array
    starts: IntArray
    flat: bool
    costs: Array


@dataclass
class AlignmentDistance(TaskLoss):
    r"""Dynamic time warping: squared differences along the best alignment of two series.

    The answer starts at the training series of least risk and is averaged as in [Petitjean2011]_,
    each element the weighted mean of the elements that it meets, as long as
    :math:`\sum_iw_iD(y,y_i)` falls. Averages use positive weights alone, the risk uses all.

    Parameters
    ----------
    max_iter : int, default=20
        Maximum number of averages.
    search : bool, default=True
        False answers with the best training series.

    Examples
    --------
    >>> from isthmus.losses import AlignmentDistance
    >>> series = [[0.0, 1.0, 1.0, 0.0], [0.0, 3.0, 0.0]]
    >>> loss = AlignmentDistance()
    >>> loss.cost(series, series)
    array([[0., 5.],
           [5., 0.]])
    >>> loss.decode([[0.5, 0.5]], loss.prepare(series)).outputs[0]
    array([0. , 0.5, 2. , 0. ])
    """

    __module__ = "isthmus.losses"

    max_iter: int = 20
    search: bool = field(default=True, kw_only=True)
    n_left_out: ClassVar[int] = 100

    _constraints: ClassVar[dict[str, Constraint]] = {"max_iter": integer(1), "search": boolean}

    def check(self, outputs: Objects) -> Objects:
        check_parameters(self)
        _pack(outputs)
        return outputs

    def cost(self, Y: Objects, Z: Objects) -> Array:
        check_parameters(self)
        y, z = _pack(Y), _pack(Z)
        if y[0].shape[1] != z[0].shape[1]:
            raise ValueError(
                "AlignmentDistance compares series with the same number of channels. "
                f"Got {y[0].shape[1]} and {z[0].shape[1]}."
            )
        return _costs(y, z)

    def prepare(self, outputs: Objects) -> PackedSeries:
        check_parameters(self)
        packed = _pack(outputs)
        return PackedSeries(*packed, _costs(packed, packed))

    def decode(self, weights: Any, prepared: PackedSeries) -> Decoded:
        weights = weights if hasattr(weights, "shape") else np.asarray(weights, dtype=float)
        n = n_outputs(weights)
        found, risk = np.empty(n, dtype=object), np.empty(n)
        for i in range(n):
            w = dense_rows(weights, slice(i, i + 1))[0].astype(float)
            found[i], risk[i] = self._average(w, prepared)
        return Decoded(found, risk, np.zeros(n, dtype=bool))

    def _average(self, w: Array, p: PackedSeries) -> tuple[Array, float]:
        from isthmus.losses.edits.alignment_loops import add_aligned

        risks = p.costs @ w
        best = int(np.argmin(risks))
        answer, least = p.values[p.starts[best] : p.starts[best + 1]].copy(), float(risks[best])
        D = np.empty((len(answer) + 1, 1 + int(np.diff(p.starts).max())))
        for _ in range(self.max_iter if self.search else 0):
            sums, masses = np.zeros_like(answer), np.zeros(len(answer))
            for j in np.flatnonzero(w > 0):
                z = p.values[p.starts[j] : p.starts[j + 1]]
                add_aligned(answer, z, float(w[j]), D, sums, masses)
            if not (masses > 0).all():
                break
            new = sums / masses[:, None]
            ends = np.array([0, len(new)])
            value = float(_costs((new, ends), (p.values, p.starts))[0] @ w)
            if value >= least - 1e-12 * (1 + abs(least)):
                break
            answer, least = new, value
        return (answer[:, 0] if p.flat else answer), least


def _pack(series: Objects) -> tuple[Array, IntArray, bool]:
    """Series one after another, or what is wrong with one of them."""
    arrays = []
    for position in range(n_outputs(series)):
        try:
            array = np.asarray(series[position], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"AlignmentDistance compares series of numbers. Got {series[position]!r:.60} at "
                f"position {position}."
            ) from error
        if array.ndim not in (1, 2) or not array.size or not np.isfinite(array).all():
            raise ValueError(
                "AlignmentDistance compares series of finite numbers, of shape (length,) or "
                f"(length, channels). Got shape {array.shape} at position {position}."
            )
        arrays.append(array)
    if len({array.shape[1:] for array in arrays}) > 1:
        raise ValueError("AlignmentDistance compares series with the same number of channels.")
    sizes = [len(array) for array in arrays]
    flat = arrays[0].ndim == 1
    values = np.concatenate(arrays)
    return (values[:, None] if flat else values), np.concatenate([[0], np.cumsum(sizes)]), flat


def _costs(y: Any, z: Any) -> Array:
    from isthmus.losses.edits.alignment_loops import warp_matrix

    found = np.empty((len(y[1]) - 1, len(z[1]) - 1))
    values, others = np.ascontiguousarray(y[0]), np.ascontiguousarray(z[0])
    # Compiled code cannot be interrupted; between two blocks of rows a program can.
    for rows in row_parts(y[1], float(len(others)) * others.shape[1]):
        warp_matrix(values, y[1][rows.start : rows.stop + 1], others, z[1], found[rows])
    return found
