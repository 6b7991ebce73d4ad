"""Outputs of rows in blocks: which rows count, and what a least-squares start is to see."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.medians import fold_medians
from isthmus.blocks.moments import Moments, merge
from isthmus.blocks.rows import Rows
from isthmus.losses.base import Loss, clip_far
from isthmus.regression.rank.in_blocks import block_moments
from isthmus.typing import Array, BoolArray


class MissingOutputsError(ValueError):
    """Outputs are missing where a closed form is looked for."""


class KeptRows(NamedTuple):
    """Rows of a block that have an output and a weight; ``weights`` None where all are one."""

    X: Array
    Y: Array  # NaN where an output is missing
    weights: Array | None
    loss: Loss

    @property
    def entries(self) -> tuple[Array, Array | None]:
        """Outputs with zeros where they are missing, and weights (n, 1), (n, o) or None."""
        weights = None if self.weights is None else self.weights[:, None]
        missing = np.isnan(self.Y)
        if not missing.any():
            return self.Y, weights
        return np.where(missing, 0.0, self.Y), (1.0 if weights is None else weights) * ~missing


def keep_rows(loss: Loss, X: Array, Y: Any, weights: Any, start: int) -> KeptRows:
    """The rows of a block that count."""
    Y = np.asarray(Y, dtype=np.float64).reshape(len(X), -1)
    keep = ~np.isnan(Y).all(axis=1)
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError("Negative values in data passed to `sample_weight`.")
        keep &= weights > 0
    loss = loss.for_rows(slice(start, start + len(X)))
    loss.check_outputs(Y)
    if keep.all():
        return KeptRows(X, Y, weights, loss)
    return KeptRows(
        X[keep], Y[keep], None if weights is None else weights[keep], loss.for_rows(keep)
    )


class Survey(NamedTuple):
    """Sums over the rows that count; those of outputs have one number for each."""

    n_rows: int
    n_kept: int
    weight: float
    observed: Array
    total: Array  # of the observed outputs
    weights: Array  # of the observed outputs
    weighted: Array  # total


def survey_block(X: Array, Y: Any, weights: Any = None, *, start: int, state: Loss) -> Survey:
    """What is to be known of a block before anything else."""
    kept = keep_rows(state, X, Y, weights, start)
    values, w = kept.entries
    seen = ~np.isnan(kept.Y)
    shares = seen.astype(float) if w is None else np.broadcast_to(w, values.shape)
    return Survey(
        len(X),
        len(kept.X),
        float(len(kept.X) if kept.weights is None else kept.weights.sum()),
        seen.sum(axis=0),
        values.sum(axis=0),
        shares.sum(axis=0),
        (shares * values).sum(axis=0),
    )


def survey_rows(owner: Any, rows: Rows, loss: Loss) -> Survey:
    """Sums over all rows; an output that no row has is refused."""
    found: Survey = rows.fold(survey_block, add_up, state=loss, numbered=True)
    require_every_output(owner, found.observed)
    return found


def add_up(a: Any, b: Any) -> Any:
    """Sums over two sets of rows."""
    return type(a)(*(x + y for x, y in zip(a, b, strict=True)))


@dataclass(frozen=True)
class Working:
    """Outputs to which a least-squares fit is a good start, from numbers of all rows."""

    loss: Loss
    fill: Array | None = None  # in the place of what is missing
    middle: Array | None = None
    deviation: Array | None = None
    weighted: bool = False  # whether rows that do not count are given a weight of zero

    def filled(self, Y: Array) -> Array:
        return Y if self.fill is None else np.where(np.isnan(Y), self.fill, Y)

    def outputs(self, Y: Array) -> Array:
        Y = self.filled(Y)
        if self.middle is None or self.deviation is None:
            return self.loss.working_outputs(Y)
        return clip_far(Y, self.middle, self.deviation.copy())

    def __call__(self, X: Array, Y: Any, weights: Any = None) -> tuple[Array, ...]:
        """The block as a regression under the squared loss is to see it."""
        Y = np.asarray(Y, dtype=np.float64).reshape(len(X), -1)
        if weights is None and not self.weighted:
            return X, self.outputs(Y)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        return X, self.outputs(Y), w * ~np.isnan(Y).all(axis=1)


def _observed(X: Array, Y: Any, weights: Any = None, *, start: int, state: Working) -> Any:
    return keep_rows(state.loss, X, Y, weights, start).Y, None


def _filled(X: Array, Y: Any, weights: Any = None, *, start: int, state: Working) -> Any:
    kept = keep_rows(state.loss, X, Y, weights, start)
    return state.filled(kept.Y), kept.weights


def _deviations(X: Array, Y: Any, weights: Any = None, *, start: int, state: Working) -> Any:
    Y, weights = _filled(X, Y, weights, start=start, state=state)
    return np.abs(Y - np.asarray(state.middle)), weights


def working_outputs(rows: Rows, loss: Loss, survey: Survey) -> Working:
    """How outputs are made working ones: medians over all rows where the loss needs them."""
    o = len(survey.observed)
    found = Working(loss, weighted=survey.n_kept < survey.n_rows)
    if (survey.observed < survey.n_kept).any():
        found = replace(found, fill=fold_medians(rows, _observed, o, state=found))
    if loss.clips_outputs:
        found = replace(found, middle=fold_medians(rows, _filled, o, state=found))
        found = replace(found, deviation=fold_medians(rows, _deviations, o, state=found))
    return found


def working_moments(rows: Rows, working: Working) -> Moments:
    """Moments of inputs and working outputs."""
    found: Moments = rows.mapped(working).fold(block_moments, merge)
    return found


def require_every_output(owner: Any, observed: Array) -> None:
    """Refuse outputs that no row has."""
    unseen = np.flatnonzero(observed == 0)
    if len(unseen):
        raise ValueError(
            f"{type(owner).__name__} needs at least one value of every output. "
            f"Output {unseen[0]} is missing in all rows."
        )


def refuse_missing(X: Array, Y: Any, *weights: Any) -> tuple[Any, ...]:
    """The block as it is, unless an output is missing in it."""
    if np.isnan(np.asarray(Y, dtype=np.float64)).any():
        raise MissingOutputsError("Outputs are missing, which takes an iteration.")
    return X, Y, *weights


def rows_with_outputs(owner: Any, Y: Array, weights: Array | None) -> BoolArray:
    """Which rows have an output and a weight; every output must be seen at least once."""
    missing = np.isnan(Y)
    if weights is None and not missing.any():
        return np.ones(len(Y), dtype=bool)
    observed = ~missing
    keep: BoolArray = np.asarray(observed.any(axis=1))
    if weights is not None:
        keep &= weights > 0
    require_every_output(owner, observed[keep].sum(axis=0))
    return keep
