"""Sets of outputs that hold the true one with a chosen probability."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length, refusal
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, having, integer, none, real, seed
from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import n_objects, object_array, take
from isthmus.structured.conformal.objects import (
    DistanceScores,
    LabelSetScores,
    ProbabilityScores,
    RiskScores,
    chosen,
)
from isthmus.structured.conformal.ranks import fewest_scores, rank, threshold
from isthmus.structured.conformal.vectors import VectorScores, left_out_residuals
from isthmus.structured.dependency import DependencyEstimator
from isthmus.typing import Array, IntArray, provides

SCORES = ("auto", "residual", "probability", "labels", "risk", "distance")


class ConformalSets(Estimator):
    r"""Predict a set for each row that holds the true output with probability ``coverage``.

    Whatever the estimator, and however wrong it is: rows only have to be exchangeable. A score
    :math:`S(x,y)` says how badly an output fits; scores of rows that the estimator did not learn
    from tell how bad the true output's usually is [Vovk2005]_, and the set holds all outputs that
    are not worse, :math:`\{y:S(x,y)\le q\}`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A regressor, a classifier with probabilities, or :class:`DependencyEstimator` for other
        objects, which need a ``loss`` or ``y_features``. None is ``DependencyEstimator()``.
    coverage : float in (0, 1), default=0.9
        The probability :math:`1-\alpha`.
    method : {"split", "cross", "loo"}, default="split"
        ``"split"`` keeps a share of the rows for calibration: coverage is at least
        :math:`1-\alpha`. ``"cross"`` (CV+) leaves out one of ``cv`` folds at a time, ``"loo"``
        (jackknife+) single rows, in closed form, for vectors and a smoother whose choices can be
        kept: both are guaranteed about :math:`1-2\alpha`, and near :math:`1-\alpha` in practice
        [Barber2021]_.
    score_by : {"auto", "residual", "probability", "labels", "risk", "distance"}, default="auto"
        Distance from the prediction (vectors), one minus the probability (classes), distance from
        the probabilities (label sets), risk above that of the best answer (with a ``loss``), or
        distance in the output feature space (with ``y_features``).
    shape : {"auto", "interval", "ball", "box"}, default="auto"
        Of sets of vectors: ``"auto"`` is an interval for one output and a ball for several. Boxes
        are in units of the spread of each output, and need ``method="split"``.
    calibration : float in (0, 1), default=0.25
        Share of rows that ``"split"`` keeps.
    cv : int, default=10
        Number of folds of ``"cross"``.
    max_size : int, default=50
        How many words or graphs a set lists at most, where any of them may be the answer.
    random_state : int, RandomState or None, default=0
        Seed of the split.

    Attributes
    ----------
    estimator_ : the fitted estimator
    scores_ : ndarray
        Scores of the rows that calibrate.
    guarantee_ : str
        What is promised of the coverage, and on what condition.
    guaranteed_coverage_ : float
        The probability that is promised.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.structured import ConformalSets
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = X[:, 0] + rng.normal(size=400)
    >>> sets = ConformalSets(Ridge(), coverage=0.8).fit(X[:300], y[:300])
    >>> bool(0.7 < sets.covers(X[300:], y[300:]).mean() < 0.9)
    True
    """

    __module__ = "isthmus.structured"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "estimator": having("fit", "predict", text="an estimator") | none,
        "coverage": real(0, 1, include_low=False, include_high=False),
        "method": choice("split", "cross", "loo"),
        "score_by": choice(*SCORES),
        "shape": choice("auto", "interval", "ball", "box"),
        "calibration": real(0, 1, include_low=False, include_high=False),
        "cv": integer(2),
        "max_size": integer(1),
        "random_state": seed,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        coverage: float = 0.9,
        method: str = "split",
        score_by: str = "auto",
        shape: str = "auto",
        calibration: float = 0.25,
        cv: int = 10,
        max_size: int = 50,
        random_state: Any = 0,
    ):
        self.estimator = estimator
        self.coverage = coverage
        self.method = method
        self.score_by = score_by
        self.shape = shape
        self.calibration = calibration
        self.cv = cv
        self.max_size = max_size
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        own = DependencyEstimator() if self.estimator is None else self.estimator
        if hasattr(own, "__sklearn_tags__"):
            tags.input_tags = own.__sklearn_tags__().input_tags
        return tags

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> "ConformalSets":
        """Fit the estimator and calibrate; return self.

        Parameters
        ----------
        X, y : inputs and outputs, as many of each
        groups : array of shape (n,) or None, default=None
            With groups, coverage holds within each of them, and ``predict`` needs the groups of new
            rows. For ``method="split"``.
        """
        if y is None:
            raise ValueError("ConformalSets requires y to be passed, but the target y is None.")
        X = self._rows(X)
        n = n_objects(X)
        check_length(self, n, n_objects(y), what="outputs as inputs")
        if groups is not None and self.method != "split":
            raise ValueError(refusal(self, "method", "'split' where groups are given", self.method))
        estimator = DependencyEstimator() if self.estimator is None else clone(self.estimator)
        self._kind = self._kind_of(estimator, y)
        if self._kind == "residual":
            y = np.asarray(y, dtype=np.float64)
            if not np.isfinite(y).all():
                raise ValueError("ConformalSets expected finite numbers in y. Got NaN or infinity.")
        order = check_random_state(self.random_state).permutation(n)
        fit = {"split": self._fit_split, "cross": self._fit_cross, "loo": self._fit_loo}
        fit[self.method](estimator, X, y, order, groups)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any, *, groups: Any = None) -> Any:
        """Return one set for each row, as a 1-D array.

        Sets of vectors are :class:`Interval`, :class:`Ball` or :class:`Box`, others
        :class:`ObjectSet`; all answer ``y in set`` and have a ``size``.
        """
        check_is_fitted(self)
        X = self._rows(X)
        if self.method == "split":
            levels = self._levels(n_objects(X), groups)
            if self._kind == "residual":
                return object_array(self._scorer.around(self._centers(X), levels))
            return object_array(self._scorer.sets(self.estimator_, X, levels))
        if self._kind == "residual":
            return object_array(self._plus_sets(X))
        return object_array(self._cross_lists(X))

    def covers(self, X: Any, y: Any, *, groups: Any = None) -> Any:
        """Return for each row whether its set holds ``y``, as booleans."""
        check_is_fitted(self)
        X = self._rows(X)
        check_length(self, n_objects(X), n_objects(y), what="outputs as inputs")
        if self.method != "split":
            sets = self.predict(X)
            return np.array([take(y, [i])[0] in one for i, one in enumerate(sets)])
        Y = np.asarray(y, dtype=float).reshape(len(y), -1) if self._kind == "residual" else y
        return self._scorer.paired(self.estimator_, X, Y) <= self._levels(n_objects(X), groups)

    def score(self, X: Any, y: Any) -> float:
        """Return the share of rows whose set holds ``y``."""
        return float(np.mean(self.covers(X, y)))

    # Fitting ----------------------------------------------------------------------------

    def _fit_split(self, estimator: Any, X: Any, y: Any, order: IntArray, groups: Any) -> None:
        n = len(order)
        n_calibration = int(np.clip(np.ceil(self.calibration * n), 1, n - 1))
        held, rows = np.sort(order[:n_calibration]), np.sort(order[n_calibration:])
        self.estimator_ = estimator.fit(take(X, rows), take(y, rows))
        self._scorer = self._scorer_of(take(y, rows))
        self.scores_ = self._paired(self.estimator_, take(X, held), take(y, held))
        if groups is None:
            self._thresholds: dict[Any, float] | None = None
            self._level = threshold(self.scores_, self.coverage)
            smallest = n_calibration
        else:
            check_length(self, n, len(groups), what="groups as inputs")
            own = np.asarray(groups)[held]
            self._thresholds = {
                group: threshold(self.scores_[own == group], self.coverage)
                for group in np.unique(own).tolist()
            }
            self._level = np.inf  # a group without calibration rows
            smallest = min(int((own == group).sum()) for group in self._thresholds)
        if rank(smallest, self.coverage) > smallest:
            warn(
                f"{smallest} calibration rows are too few for a coverage of {self.coverage}: sets "
                f"hold everything. Needed: {fewest_scores(self.coverage)} or more.",
                UserWarning,
            )
        self.guaranteed_coverage_ = self.coverage
        self.guarantee_ = (
            f"at least {self.coverage:g} over the draw of calibration and new rows, if they are "
            "exchangeable" + (" within each group" if groups is not None else "")
        )

    def _fit_cross(self, estimator: Any, X: Any, y: Any, order: IntArray, groups: Any) -> None:
        n = len(order)
        folds = min(int(self.cv), n)
        self._fold = np.empty(n, dtype=np.intp)
        self._models, self.scores_ = [], np.empty(n)
        self._scorer = self._scorer_of(y)
        for number, (train, test) in enumerate(KFold(folds).split(order)):
            rows, held = np.sort(order[train]), np.sort(order[test])
            model = clone(estimator).fit(take(X, rows), take(y, rows))
            self.scores_[held] = self._paired(model, take(X, held), take(y, held))
            self._fold[held] = number
            self._models.append(model)
        self.estimator_ = estimator.fit(X, y)
        alpha = 1 - self.coverage
        size = n / folds
        loss = min(2 * (1 - 1 / folds) / (size + 1), (1 - folds / n) / (folds + 1))
        self._promise(1 - 2 * alpha - loss, f"CV+ with {folds} folds")

    def _fit_loo(self, estimator: Any, X: Any, y: Any, order: IntArray, groups: Any) -> None:
        if self._kind != "residual":
            raise ValueError(
                "ConformalSets(method='loo') is for outputs that are numbers: use 'split' or "
                f"'cross'. Got the score {self._kind!r}."
            )
        self.estimator_ = estimator.fit(X, y)
        smoother = getattr(self.estimator_, "regressor_", self.estimator_)
        words = provides(smoother)
        plain = getattr(self.estimator_, "x_features_", None) is None
        if not {"weights", "settled"} <= words or not plain:
            raise TypeError(
                "ConformalSets(method='loo') needs an estimator that provides 'weights' and "
                f"'settled', such as KernelRidgeCV. {type(smoother).__name__} does not: use "
                "method='cross'."
            )
        self._scorer, self._smoother = self._scorer_of(y), smoother
        self._residuals, _ = left_out_residuals(smoother, X, y.reshape(len(y), -1), self)
        self.scores_ = self._scorer.norms(self._residuals)
        self._promise(
            1 - 2 * (1 - self.coverage), "jackknife+, for the kernel and penalty that were chosen"
        )

    def _promise(self, coverage: float, method: str) -> None:
        self.guaranteed_coverage_ = max(0.0, float(coverage))
        self.guarantee_ = (
            f"at least {self.guaranteed_coverage_:.3g} ({method}) if rows are exchangeable, and "
            f"near {self.coverage:g} in practice"
        )

    def _rows(self, X: Any) -> Any:
        """Inputs of which rows can be taken; the estimator checks the rest."""
        listed = hasattr(X, "shape") or hasattr(X, "__len__")
        if isinstance(X, (str, bytes, set, frozenset, dict)) or not listed:
            raise TypeError(
                "ConformalSets expected a table or a list of inputs. "
                f"Got {X!r:.40} of type {type(X).__name__} instead."
            )
        if not sparse.issparse(X):
            return X
        if not self.__sklearn_tags__().input_tags.sparse:
            raise TypeError(
                f"Sparse input is not supported by the estimator of {type(self).__name__}: give a "
                "dense table, X.toarray()."
            )
        return sparse.csr_array(X)

    # Scores -----------------------------------------------------------------------------

    def _kind_of(self, estimator: Any, y: Any) -> str:
        """Which score, checked against what the estimator can do."""
        if self.score_by != "auto":
            return self.score_by
        table = np.asarray(y) if isinstance(y, np.ndarray) or hasattr(y, "iloc") else None
        labels = (
            table is not None
            and table.ndim == 2
            and table.dtype.kind in "iubf"
            and bool(np.isin(table, (0, 1)).all())
        )
        if getattr(estimator, "loss", None) is not None and isinstance(
            estimator, DependencyEstimator
        ):
            return "risk"
        if labels:
            return "labels"
        if is_classifier(estimator):
            return "probability"
        if getattr(estimator, "y_features", None) is not None:
            return "distance"
        return "residual"

    def _scorer_of(self, y: Any) -> Any:
        if self._kind == "residual":
            Y = np.asarray(y, dtype=float).reshape(len(y), -1)
            shape = self.shape
            if shape == "auto":
                shape = "interval" if Y.shape[1] == 1 else "ball"
            if shape == "interval" and Y.shape[1] > 1:
                raise ValueError(
                    refusal(self, "shape", "'ball' or 'box' for several outputs", shape)
                )
            if shape == "box" and self.method != "split":
                # Their units would know the calibration rows.
                raise ValueError(refusal(self, "shape", "'ball' unless method='split'", shape))
            return VectorScores(shape, Y.std(axis=0))
        kinds: dict[str, Any] = {
            "labels": LabelSetScores,
            "distance": DistanceScores,
            "risk": RiskScores,
        }
        if self._kind == "probability":
            return ProbabilityScores(y)
        return kinds[self._kind](y, self.max_size)

    def _paired(self, model: Any, X: Any, y: Any) -> Array:
        Y = np.asarray(y).reshape(len(y), -1) if self._kind == "residual" else y
        return np.asarray(self._scorer.paired(model, X, Y), dtype=np.float64)

    def _levels(self, n: int, groups: Any) -> Array:
        if self._thresholds is None:
            return np.full(n, self._level)
        if groups is None:
            raise ValueError(
                "ConformalSets was fitted with groups: predict needs those of new rows."
            )
        check_length(self, n, len(groups), what="groups as inputs")
        known = self._thresholds
        return np.array([known.get(group, np.inf) for group in np.asarray(groups).tolist()])

    # Sets -------------------------------------------------------------------------------

    def _centers(self, X: Any) -> Array:
        return self._scorer.predict(self.estimator_, X)

    def _plus_sets(self, X: Any) -> list[Any]:
        """Sets of vectors from the models without each row, in blocks of new rows."""
        found: list[Any] = []
        n_scores, d = len(self.scores_), self._centers(take(X, slice(0, 1))).shape[1]
        for rows in block_slices(n_objects(X), 3 * n_scores * d):
            part = take(X, rows)
            centers = self._centers(part)
            if self.method == "loo":
                moved = self._smoother.weights(part)[..., None] * self._residuals
                others = centers[:, None] - moved
            else:
                every = np.stack([self._scorer.predict(model, part) for model in self._models], 1)
                others = every[:, self._fold]
            found += self._scorer.plus(centers, others, self.scores_, self.coverage)
        return found

    def _cross_lists(self, X: Any) -> list[Any]:
        """Candidates to which fewer than rank(n) left-out scores are smaller."""
        tables = [self._scorer.table(model, X) for model in self._models]
        smaller = np.zeros(tables[0].shape)
        for number, table in enumerate(tables):
            own = np.sort(self.scores_[self._fold == number])
            smaller += np.searchsorted(own, table, side="left")
        inside = smaller < rank(len(self.scores_), self.coverage)
        mean = np.mean(tables, axis=0)
        return list(chosen(self._scorer.candidates, mean, inside, self._scorer.complete))
