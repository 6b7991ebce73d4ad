"""Losses of vectors: of their residuals, entry by entry, and of intervals."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_array

from isthmus._parameters import Constraint, check_parameters, instance, real
from isthmus.losses.absolute import Absolute
from isthmus.losses.base import ResidualLoss
from isthmus.losses.robust import Huber
from isthmus.losses.squared import Squared
from isthmus.losses.tasks.base import Decoded, TaskLoss, dense_rows
from isthmus.losses.tubes import Epsilon, Quantile
from isthmus.typing import Array, IntArray, Objects

# Where the minimum is looked for first, as a number of quantiles of the training outputs.
N_GRID = 65
# Steps of the golden section, which narrow the interval between two of them to 1e-9 of its length.
N_STEPS = 44
GOLDEN = (np.sqrt(5) - 1) / 2


class SortedColumns(NamedTuple):
    """Training outputs (n, d), and the order of each column."""

    Y: Array
    order: IntArray
    flat: bool
    loss: Any


def check_vectors(owner: Any, outputs: Objects) -> Array:
    """Outputs as an array of numbers, (n,) or (n, d)."""
    return check_array(
        outputs, dtype=[np.float64, np.float32], ensure_2d=False, input_name="y", estimator=owner
    )


def sort_columns(outputs: Array, loss: Any = None) -> SortedColumns:
    """The outputs with the order of each column."""
    Y = np.asarray(outputs, dtype=np.float64)
    flat = Y.ndim == 1
    Y = Y[:, None] if flat else Y
    return SortedColumns(Y, np.argsort(Y, axis=0, kind="stable"), flat, loss)


def weighted_quantiles(weights: Any, columns: SortedColumns, levels: Any) -> Array:
    """Quantiles (n, d, n_levels) of the training outputs under rows of weights.

    The smallest output whose cumulative weight is at least the level. Negative weights make the
    cumulative weights fall here and there; they are put in order first, the monotone
    rearrangement of the distribution function [Chernozhukov2010]_.
    """
    W = dense_rows(weights, slice(None))
    levels = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    n_train, d = columns.Y.shape
    found = np.empty((len(W), d, len(levels)))
    for j in range(d):
        order = columns.order[:, j]
        # Equal outputs are one step of the distribution, in whatever order they come.
        y = columns.Y[order, j]
        ends = np.append(np.flatnonzero(np.diff(y) != 0), n_train - 1)
        heights = np.cumsum(W[:, order], axis=1, dtype=np.float64)[:, ends]
        total = heights[:, -1:].copy()
        total[total <= 0] = 1.0
        # Rounding must not push a level that is met exactly to the next output.
        heights /= total
        for i, level in enumerate(levels):
            place = np.sum(heights < level - 1e-12, axis=1)
            found[:, j, i] = y[ends[np.minimum(place, len(ends) - 1)]]
    return found


@dataclass
class VectorLoss(TaskLoss):
    r"""A loss of residuals as a loss of vectors, :math:`\Delta(p,y)=\sum_j\rho(p_j-y_j)`.

    The answer is found entry by entry: the weighted mean for the squared error, the weighted
    median for the absolute one, a weighted quantile for :class:`Quantile`, which gives conditional
    quantiles without another fit. These are exact where no weight is negative; with negative ones
    the mean still is, and a quantile is that of the rearranged distribution. Other losses are
    minimised by a golden section around the best of 65 quantiles.

    Parameters
    ----------
    loss : Absolute, Quantile, Squared, Huber, Epsilon or another loss of residuals

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Quantile, VectorLoss
    >>> loss, y = VectorLoss(Quantile(0.9)), np.arange(10.0)
    >>> loss.decode(np.full((1, 10), 0.1), loss.prepare(y)).outputs
    array([8.])
    """

    __module__ = "isthmus.losses"
    _constraints: ClassVar[dict[str, Constraint]] = {"loss": instance(ResidualLoss)}

    loss: Any

    def check(self, outputs: Objects) -> Array:
        check_parameters(self)
        if self.loss.shape != "cube":
            raise ValueError(
                f"VectorLoss takes losses of single entries, shape='cube'. Got {self.loss!r}."
            )
        return check_vectors(self, outputs)

    def resolve(self, outputs: Objects) -> "VectorLoss":
        """The loss with a threshold or a width in numbers, from the spread of the outputs."""
        return VectorLoss(self._resolved(_as_rows(outputs)))

    def cost(self, Y: Objects, Z: Objects) -> Array:
        A, B = _as_rows(Y), _as_rows(Z)
        loss = self._resolved(B)
        values = [loss.profile(A[:, j, None] - B[None, :, j])[0] for j in range(A.shape[1])]
        return np.sum(values, axis=0)

    def paired(self, Y: Objects, Z: Objects) -> Array:
        A, B = _as_rows(Y), _as_rows(Z)
        return np.asarray(self._resolved(B).profile(A - B)[0].sum(axis=1))

    def prepare(self, outputs: Objects) -> SortedColumns:
        columns = sort_columns(outputs)
        return columns._replace(loss=self._resolved(columns.Y))

    def decode(self, weights: Any, prepared: Any) -> Decoded:
        W = dense_rows(weights, slice(None))
        not_negative = np.asarray((W >= 0).all(axis=1))
        if isinstance(prepared.loss, (Absolute, Quantile)):
            level = 0.5 if isinstance(prepared.loss, Absolute) else prepared.loss.quantile
            P, exact = weighted_quantiles(W, prepared, [level])[:, :, 0], not_negative
        elif isinstance(prepared.loss, Squared):
            total = W.sum(axis=1, keepdims=True)
            P, exact = W @ prepared.Y / np.where(total == 0, 1, total), total[:, 0] > 0
        else:
            P = np.column_stack([_golden_section(W, y, prepared.loss) for y in prepared.Y.T])
            exact = np.zeros(len(W), dtype=bool)
        risk = sum(
            np.einsum("ij,ij->i", W, prepared.loss.profile(P[:, j, None] - prepared.Y[:, j])[0])
            for j in range(P.shape[1])
        )
        return Decoded(P[:, 0] if prepared.flat else P, np.asarray(risk), np.asarray(exact))

    def _resolved(self, Y: Array) -> Any:
        return self.loss.resolve_from(Y - np.median(Y, axis=0))


@dataclass
class IntervalLoss(TaskLoss):
    r"""The interval score: the length of an interval, and a penalty for what lies outside.

    .. math:: \Delta([l,u],y)=(u-l)+\tfrac2\alpha(l-y)_++\tfrac2\alpha(y-u)_+,\qquad
              \alpha=1-\text{coverage},

    whose expected minimum is the interval between the quantiles :math:`\alpha/2` and
    :math:`1-\alpha/2` [GneitingRaftery2007]_. An answer is a pair of numbers for each output:
    shape ``(n, 2)`` for outputs that are numbers, ``(n, d, 2)`` for vectors.

    Parameters
    ----------
    coverage : float in (0, 1), default=0.9

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import IntervalLoss
    >>> loss, y = IntervalLoss(0.8), np.arange(1, 11.0)
    >>> loss.decode(np.full((1, 10), 0.1), loss.prepare(y)).outputs
    array([[1., 9.]])
    """

    __module__ = "isthmus.losses"
    _constraints: ClassVar[dict[str, Constraint]] = {
        "coverage": real(0, 1, include_low=False, include_high=False)
    }

    coverage: float = 0.9

    def check(self, outputs: Objects) -> Array:
        check_parameters(self)
        return check_vectors(self, outputs)

    def cost(self, Y: Objects, Z: Objects) -> Array:
        ends, B = _as_intervals(Y), _as_rows(Z)
        return self._score(ends[:, None, :, 0], ends[:, None, :, 1], B[None]).sum(axis=2)

    def paired(self, Y: Objects, Z: Objects) -> Array:
        ends, B = _as_intervals(Y), _as_rows(Z)
        return self._score(ends[:, :, 0], ends[:, :, 1], B).sum(axis=1)

    def prepare(self, outputs: Objects) -> SortedColumns:
        return sort_columns(outputs)

    def decode(self, weights: Any, prepared: Any) -> Decoded:
        W = dense_rows(weights, slice(None))
        alpha = 1 - self.coverage
        ends = weighted_quantiles(W, prepared, [alpha / 2, 1 - alpha / 2])
        risk = np.zeros(len(W))
        for j in range(ends.shape[1]):
            score = self._score(ends[:, j, :1], ends[:, j, 1:], prepared.Y[None, :, j])
            risk += np.einsum("ij,ij->i", W, score)
        answers = ends[:, 0] if prepared.flat else ends
        return Decoded(answers, risk, np.asarray((W >= 0).all(axis=1)))

    def _score(self, low: Array, high: Array, Y: Array) -> Array:
        outside = np.maximum(low - Y, 0) + np.maximum(Y - high, 0)
        return np.maximum(high - low, 0) + 2 / (1 - self.coverage) * outside


def absolute() -> VectorLoss:
    """The absolute error of vectors."""
    return VectorLoss(Absolute())


def quantile() -> VectorLoss:
    """The quantile loss of vectors at one half; ``VectorLoss(Quantile(q))`` for another one."""
    return VectorLoss(Quantile())


def squared() -> VectorLoss:
    """The squared error of vectors."""
    return VectorLoss(Squared())


def huber() -> VectorLoss:
    """Huber's loss of vectors, its threshold from the spread of the outputs."""
    return VectorLoss(Huber())


def epsilon() -> VectorLoss:
    """The tube loss of vectors."""
    return VectorLoss(Epsilon())


def _as_rows(Y: Objects) -> Array:
    Y = np.asarray(Y, dtype=np.float64)
    return Y[:, None] if Y.ndim == 1 else Y


def _as_intervals(Y: Objects) -> Array:
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim not in (2, 3) or Y.shape[-1] != 2:
        raise ValueError(
            "IntervalLoss compares intervals, an array of shape (n, 2) or (n, d, 2), with outputs. "
            f"Got shape {Y.shape} instead."
        )
    return Y[:, None] if Y.ndim == 2 else Y


def _golden_section(W: Array, y: Array, loss: Any) -> Array:
    """Minima (n,) of the weighted loss of a number, near the best of a grid."""
    grid = np.quantile(y, np.linspace(0, 1, N_GRID))
    best = np.argmin(W @ loss.profile(grid - y[:, None])[0], axis=1)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, N_GRID - 1)]

    def risk(p: Array) -> Array:
        return np.einsum("ij,ij->i", W, loss.profile(p[:, None] - y)[0])

    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = risk(a), risk(b)
    for _ in range(N_STEPS):
        left = at_a < at_b
        low, high = np.where(left, low, a), np.where(left, b, high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        at_new = risk(new)
        a, b = np.where(left, new, b), np.where(left, a, new)
        at_a, at_b = np.where(left, at_new, at_b), np.where(left, at_a, at_new)
    return np.where(at_a < at_b, a, b)
