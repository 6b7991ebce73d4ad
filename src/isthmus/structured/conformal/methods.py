"""How rows that a model has not seen calibrate its sets: split, cross and leave one out."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import n_objects, take
from isthmus.structured.conformal.left_out import LeftOutSmoother, left_out_tables
from isthmus.structured.conformal.objects import chosen, one_output
from isthmus.structured.conformal.ranks import fewest_scores, rank, threshold
from isthmus.structured.conformal.vectors import VectorModel, VectorScores
from isthmus.typing import Array, IntArray


class CalibratedSets(ABC):
    """Base: scores of calibration rows, their groups, and sets of new rows."""

    estimator: Any
    scores: Array
    guaranteed: float
    guarantee: str

    def __init__(self, coverage: float, groups: Any):
        self.coverage, self.groups = coverage, groups

    @abstractmethod
    def sets(self, X: Any, groups: Any) -> list[Any]:
        """One set for each row."""

    def covers(self, X: Any, y: Any, groups: Any) -> Any:
        """Whether the set of each row holds its output."""
        return np.array([take(y, [i])[0] in one for i, one in enumerate(self.sets(X, groups))])

    def parts(self, n: int, groups: Any) -> Iterator[tuple[Any, Any]]:
        """New rows and the calibration rows that count for them, group by group."""
        if self.groups is None:
            yield np.arange(n), np.arange(len(self.scores))
            return
        if groups is None:
            raise ValueError(
                "ConformalSets was fitted with groups: predict needs those of new rows."
            )
        groups = np.asarray(groups)
        for group in np.unique(groups).tolist():
            yield np.flatnonzero(groups == group), np.flatnonzero(self.groups == group)

    def warn_of_few(self) -> None:
        """Say where calibration rows are too few for any promise but everything."""
        counts = [len(self.scores)]
        if self.groups is not None:
            counts = np.unique(self.groups, return_counts=True)[1].tolist()
        if rank(min(counts), self.coverage) > min(counts):
            warn(
                f"{min(counts)} calibration rows are too few for a coverage of {self.coverage}: "
                f"sets contain everything. Needed: {fewest_scores(self.coverage)} or more.",
                UserWarning,
            )

    def promise(self, coverage: float, method: str) -> None:
        """What cross and leave-one-out sets promise."""
        self.guaranteed = max(0.0, float(coverage))
        self.guarantee = (
            f"at least {self.guaranteed:.3g} ({method}) if rows are exchangeable"
            + (" within each group" if self.groups is not None else "")
            + f", and near {self.coverage:g} in practice"
        )


class SplitSets(CalibratedSets):
    """A share of the rows calibrates a model of the others."""

    def __init__(
        self,
        fit: Any,
        scorer: Any,
        X: Any,
        y: Any,
        *,
        order: IntArray,
        share: float,
        coverage: float,
        groups: Any,
    ):
        n = len(order)
        n_held = int(np.clip(np.ceil(share * n), 1, n - 1))
        held, rows = np.sort(order[:n_held]), np.sort(order[n_held:])
        super().__init__(coverage, None if groups is None else groups[held])
        self.model, self.estimator = fit(rows)
        self.scorer = scorer(take(y, rows))
        self.scores = self.scorer.paired(self.model, take(X, held), take(y, held))
        self.warn_of_few()
        self.guaranteed = coverage
        self.guarantee = (
            f"at least {coverage:g} over the draw of calibration and new rows, if they are "
            "exchangeable" + (" within each group" if groups is not None else "")
        )

    def _levels(self, n: int, groups: Any) -> Array:
        levels = np.full(n, np.inf)  # of a group without calibration rows
        for rows, own in self.parts(n, groups):
            levels[rows] = threshold(self.scores[own], self.coverage)
        return levels

    def sets(self, X: Any, groups: Any) -> list[Any]:
        found: list[Any] = self.scorer.sets(self.model, X, self._levels(n_objects(X), groups))
        return found

    def covers(self, X: Any, y: Any, groups: Any) -> Any:
        return self.scorer.paired(self.model, X, y) <= self._levels(n_objects(X), groups)


class CrossSets(CalibratedSets):
    """CV+: every row is scored by the model without its fold [Barber2021]_."""

    def __init__(
        self,
        fit: Any,
        scorer: Any,
        X: Any,
        y: Any,
        *,
        order: IntArray,
        n_folds: int,
        coverage: float,
        groups: Any,
    ):
        super().__init__(coverage, groups)
        n = len(order)
        n_folds = min(n_folds, n)
        self.fold, self.scores = np.empty(n, dtype=np.intp), np.empty(n)
        self.models: list[Any] = []
        self.scorer = scorer(y)
        for number, (train, test) in enumerate(KFold(n_folds).split(order)):
            rows, held = np.sort(order[train]), np.sort(order[test])
            model, _ = fit(rows)
            self.scores[held] = self.scorer.paired(model, take(X, held), take(y, held))
            self.fold[held] = number
            self.models.append(model)
        self.model, self.estimator = fit(np.arange(n))
        size = n / n_folds
        loss = min(2 * (1 - 1 / n_folds) / (size + 1), (1 - n_folds / n) / (n_folds + 1))
        self.promise(1 - 2 * (1 - coverage) - loss, f"CV+ with {n_folds} folds")

    def sets(self, X: Any, groups: Any) -> list[Any]:
        found: list[Any] = [None] * n_objects(X)
        for rows, own in self.parts(n_objects(X), groups):
            part = self._vectors if isinstance(self.scorer, VectorScores) else self._lists
            for place, one in zip(rows.tolist(), part(take(X, rows), own), strict=True):
                found[place] = one
        return found

    def _vectors(self, X: Any, own: IntArray) -> list[Any]:
        found: list[Any] = []
        scores, fold = self.scores[own], self.fold[own]
        units = np.array([self.models[k].units for k in fold])
        for rows in block_slices(n_objects(X), 4 * len(own) * self.model.units.size):
            part = take(X, rows)
            every = np.stack([model.predict(part) for model in self.models], 1)
            spread = np.stack([model.spread(part) for model in self.models], 1)
            centers, radii = self.model.predict(part), scores * spread[:, fold]
            found += self.scorer.plus(centers, every[:, fold], radii, units, self.coverage)
        return found

    def _lists(self, X: Any, own: IntArray) -> list[Any]:
        """Candidates to which fewer than rank(n) left-out scores are smaller."""
        tables = [self.scorer.table(model, X) for model in self.models]
        smaller = np.zeros(tables[0].shape)
        for number, table in enumerate(tables):
            known = np.sort(self.scores[own][self.fold[own] == number])
            smaller += np.searchsorted(known, table, side="left")
        inside = smaller < rank(len(own), self.coverage)
        mean = np.mean(tables, axis=0)
        listed = chosen(self.scorer.candidates, mean, inside, self.scorer.complete)
        if self.scorer.complete:
            return list(listed)
        return [one.accepted_by(self._rule(take(X, [i]), own)) for i, one in enumerate(listed)]

    def _rule(self, x: Any, own: IntArray) -> Any:
        """Whether an object is in the set of one row, whether or not it is a candidate."""

        def accepts(y: Any) -> bool:
            one = one_output(y, self.scorer.known)
            scores = np.array([float(self.scorer.paired(m, x, one)[0]) for m in self.models])
            smaller = (self.scores[own] < scores[self.fold[own]]).sum()
            return bool(smaller < rank(len(own), self.coverage))

        return accepts


class LeftOutSets(CalibratedSets):
    """Jackknife+ in closed form, for smoothers whose choices can be kept."""

    def __init__(
        self, fit: Any, scorer: Any, X: Any, y: Any, *, kind: str, coverage: float, groups: Any,
        owner: Any,
    ):  # fmt: skip
        super().__init__(coverage, groups)
        self.model, self.estimator = fit(np.arange(n_objects(X)))
        self.scorer = scorer(y)
        if kind == "residual":
            self._begin_vectors(X, np.asarray(y, dtype=float).reshape(len(y), -1), owner)
        else:
            self.tables = left_out_tables(kind, self.model, X, y, self.scorer, owner)
            self.scores = self.tables.scores
        self.promise(
            1 - 2 * (1 - coverage), "jackknife+, for the kernel and penalty that were chosen"
        )

    def _begin_vectors(self, X: Any, Y: Array, owner: Any) -> None:
        smoother = getattr(self.estimator, "regressor_", self.estimator)
        self._left_out = LeftOutSmoother(smoother, self._inputs(X), owner)
        self._residuals = self._left_out.errors(Y)
        # Spreads of the outputs without each row.
        n, mean = len(Y), Y.mean(axis=0)
        rest = ((Y - mean) ** 2).sum(axis=0) - (Y - mean) ** 2 * n / max(n - 1, 1)
        units = np.sqrt(np.maximum(rest, 0) / max(n - 1, 1))
        self._units = np.where(units > 0, units, 1.0)
        self.scores = self.scorer.norms(self._residuals, self._units)

    def _inputs(self, X: Any) -> Any:
        """Inputs as the smoother sees them."""
        transform = getattr(self.estimator, "transform_inputs", None)
        return transform(X) if callable(transform) else X

    def sets(self, X: Any, groups: Any) -> list[Any]:
        found: list[Any] = [None] * n_objects(X)
        vectors = isinstance(self.scorer, VectorScores)
        for rows, own in self.parts(n_objects(X), groups):
            part = (self._vectors if vectors else self._lists)(take(X, rows), own)
            for place, one in zip(rows.tolist(), part, strict=True):
                found[place] = one
        return found

    def _vectors(self, X: Any, own: IntArray) -> list[Any]:
        found: list[Any] = []
        model: VectorModel = self.model
        for rows in block_slices(n_objects(X), 4 * len(self.scores) * model.units.size):
            part = take(X, rows)
            W = self._left_out.weights(self._inputs(part))[:, own]
            centers = model.predict(part)
            others = centers[:, None] - W[..., None] * self._residuals[own]
            radii = np.broadcast_to(self.scores[own], W.shape)
            found += self.scorer.plus(centers, others, radii, self._units[own], self.coverage)
        return found

    def _lists(self, X: Any, own: IntArray) -> list[Any]:
        found: list[Any] = []
        known, k = self.scores[own, None], rank(len(own), self.coverage)
        for row in self.tables.rows(X):
            table = row.table()
            inside = (known < table[own]).sum(axis=0) < k
            mean, complete = table.mean(axis=0), self.tables.complete
            (one,) = chosen(self.tables.candidates, mean[None], inside[None], complete)
            found.append(one.accepted_by(row.rule(self.scores, own, k)))
        return found


def model_fitter(
    scorer: Any, estimator: Any, X: Any, y: Any, told: dict[str, Any], wrap: Any = None
) -> Any:
    """A function of rows that fits a copy of the estimator to them, and returns it twice.

    First as the scorer wants it (wrapped together with what it learned from), then as it is.
    """

    def fit(rows: IntArray) -> tuple[Any, Any]:
        own = {name: take(value, rows) for name, value in told.items()}
        part, targets = take(X, rows), take(y, rows)
        if isinstance(scorer, VectorScores):
            model = scorer.fit(clone(estimator), part, targets, own)
            return model, model.estimator
        fitted = clone(estimator).fit(part, targets, **own)
        return (fitted if wrap is None else wrap(fitted, part, targets)), fitted

    return fit
