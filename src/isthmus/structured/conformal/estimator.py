"""Sets of outputs that hold the true one with a chosen probability."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length, refusal, shortened
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, having, integer, none, real, seed
from isthmus.kernels.objects import n_objects, object_array
from isthmus.regression.outputs import check_counts
from isthmus.structured.conformal.label_sets import LabelModel, LabelSetScores
from isthmus.structured.conformal.methods import CrossSets, LeftOutSets, SplitSets, model_fitter
from isthmus.structured.conformal.objects import (
    DistanceScores,
    ProbabilityScores,
    RiskScores,
)
from isthmus.structured.conformal.vectors import VectorScores
from isthmus.structured.dependency import DependencyEstimator
from isthmus.structured.given import routing_of, takes_weights

SCORES = ("auto", "residual", "probability", "labels", "risk", "distance")


class ConformalSets(Estimator):
    r"""Predict for each row a set that contains the true output with probability ``coverage``.

    This holds whatever the estimator and however wrong it is, as long as new rows come from the
    same source as the old ones (the rows are exchangeable). A score :math:`S(x,y)` says how badly
    an output fits. Its values on rows that the estimator did not learn from show how large it
    usually is for the true output [Vovk2005]_, and the set contains all outputs that fit no worse,
    :math:`\{y:S(x,y)\le q\}`.

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
        (jackknife+) single rows, in closed form, for a smoother whose choices can be kept: kernel
        ridge regression of vectors, the square with a ``loss`` or ``y_features``, and
        :class:`DependencyClassifier`. Both are guaranteed about :math:`1-2\alpha`, and near
        :math:`1-\alpha` in practice [Barber2021]_.
    score_by : {"auto", "residual", "probability", "labels", "risk", "distance"}, default="auto"
        Distance from the prediction (vectors), one minus the probability (classes), distance from
        the probabilities in units of the covariance of errors on training rows (label sets; plain
        distance with ``method="loo"``), risk above that of the best answer (with a ``loss``), or
        distance in the output feature space (with ``y_features``).
    shape : {"auto", "interval", "ball", "box"}, default="auto"
        Of sets of vectors: ``"auto"`` is an interval for one output and a ball for several. Boxes
        are in units of the spread of each output.
    calibration : float in (0, 1), default=0.25
        Share of rows that ``"split"`` keeps.
    cv : int, default=10
        Number of folds of ``"cross"``.
    max_size : int, default=50
        How many words or graphs a set lists at most, where any of them may be the answer.
    scale : "local", regressor or None, default=None
        What residuals are divided by, so that sets are wide where the estimator is bad: their mean
        size among the nearest training rows, or a regression of it on the inputs, learned from
        residuals of rows left out of five folds. None makes all sets equally wide. Not for
        ``method="loo"``.
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
        "scale": choice("local") | having("fit", "predict", text="a regressor") | none,
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
        scale: Any = None,
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
        self.scale = scale
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        own = DependencyEstimator() if self.estimator is None else self.estimator
        if hasattr(own, "__sklearn_tags__"):
            tags.input_tags = own.__sklearn_tags__().input_tags
        return tags

    def get_metadata_routing(self) -> Any:
        """What it asks for itself, and its estimator, see scikit-learn's metadata routing."""
        return routing_of(self)

    def fit(
        self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> "ConformalSets":
        """Fit the estimator and calibrate; return self.

        Parameters
        ----------
        X, y : inputs and outputs, as many of each
        groups : array of shape (n,) or None, default=None
            With groups, coverage holds within each of them, and ``predict`` needs the groups of new
            rows.
        sample_weight : array of shape (n,) or None, default=None
            For the estimator's fit. Calibration counts every row once: that is what exchangeable
            rows promise.
        **fit_params
            With ``sklearn.set_config(enable_metadata_routing=True)``, what the estimator has asked
            for.
        """
        if y is None:
            raise ValueError("ConformalSets requires y to be passed, but the target y is None.")
        X = self._rows(X)
        n = n_objects(X)
        check_length(self, n, n_objects(y), what="outputs as inputs")
        if n == 0:
            raise ValueError("ConformalSets needs at least 2 rows. Got none.")
        estimator = DependencyEstimator() if self.estimator is None else self.estimator
        kind = self._kind_of(estimator, y)
        if kind == "residual":
            y = np.asarray(y, dtype=np.float64)
            if not np.isfinite(y).all():
                raise ValueError("ConformalSets expected finite numbers in y. Got NaN or infinity.")
        elif sparse.issparse(y):
            y = sparse.csr_array(y)
        if groups is not None:
            groups = np.asarray(groups)
            check_length(self, n, len(groups), what="groups as inputs")
        counts = check_counts(self, sample_weight, n)
        told = told_to(self, estimator, counts, groups, fit_params)
        self._calibrated = self._calibrate(kind, estimator, X, y, groups, told)
        self._kind, self.estimator_ = kind, self._calibrated.estimator
        self.scores_ = np.asarray(self._calibrated.scores, dtype=np.float64)
        self.guaranteed_coverage_ = self._calibrated.guaranteed
        self.guarantee_ = self._calibrated.guarantee
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
        return object_array(self._calibrated.sets(X, self._check_groups(X, groups)))

    def covers(self, X: Any, y: Any, *, groups: Any = None) -> Any:
        """Return for each row whether its set holds ``y``, as booleans."""
        check_is_fitted(self)
        X = self._rows(X)
        check_length(self, n_objects(X), n_objects(y), what="outputs as inputs")
        return self._calibrated.covers(X, y, self._check_groups(X, groups))

    def score(self, X: Any, y: Any) -> float:
        """Return the share of rows whose set holds ``y``."""
        return float(np.mean(self.covers(X, y)))

    def _calibrate(self, kind: str, estimator: Any, X: Any, y: Any, groups: Any, told: Any) -> Any:
        shape = self._shape(y) if kind == "residual" else "auto"

        def scorer(outputs: Any) -> Any:
            return self._scorer_of(kind, shape, outputs)

        if self.scale is not None and (kind != "residual" or self.method == "loo"):
            expected = "None but for outputs that are numbers, and method='split' or 'cross'"
            raise ValueError(refusal(self, "scale", expected, self.scale))
        first = scorer(y) if kind == "residual" else None
        wrap = LabelModel if kind == "labels" and self.method != "loo" else None
        fit = model_fitter(first, estimator, X, y, told, wrap)
        order = check_random_state(self.random_state).permutation(n_objects(X))
        common = {"coverage": float(self.coverage), "groups": groups}
        if self.method == "split":
            share = float(self.calibration)
            return SplitSets(fit, scorer, X, y, order=order, share=share, **common)
        if self.method == "cross":
            return CrossSets(fit, scorer, X, y, order=order, n_folds=int(self.cv), **common)
        return LeftOutSets(fit, scorer, X, y, kind=kind, owner=self, **common)

    def _check_groups(self, X: Any, groups: Any) -> Any:
        if groups is not None:
            check_length(self, n_objects(X), len(groups), what="groups as inputs")
        return groups

    def _rows(self, X: Any) -> Any:
        """Inputs of which rows can be taken; the estimator checks the rest."""
        if hasattr(X, "__array__") and not hasattr(X, "shape"):
            X = np.asarray(X)
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
        labels = sparse.issparse(y) or (
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

    def _shape(self, y: Any) -> str:
        several = np.ndim(y) > 1 and np.shape(y)[1] > 1
        if self.shape == "auto":
            return "ball" if several else "interval"
        if self.shape == "interval" and several:
            expected = "'ball' or 'box' for several outputs"
            raise ValueError(refusal(self, "shape", expected, self.shape))
        return self.shape

    def _scorer_of(self, kind: str, shape: str, y: Any) -> Any:
        if kind == "residual":
            return VectorScores(shape, self.scale)
        if kind == "probability":
            return ProbabilityScores(y)
        kinds: dict[str, Any] = {
            "labels": LabelSetScores,
            "distance": DistanceScores,
            "risk": RiskScores,
        }
        return kinds[kind](y, self.max_size)


def told_to(
    model: ConformalSets, estimator: Any, sample_weight: Any, groups: Any, more: dict[str, Any]
) -> dict[str, Any]:
    """What the estimator's fit is told besides inputs and outputs."""
    if get_config()["enable_metadata_routing"]:
        told = {"sample_weight": sample_weight, "groups": groups, **more}
        told = {name: value for name, value in told.items() if value is not None}
        if not told or model.estimator is None:
            return {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        return dict(process_routing(model, "fit", **told)["estimator"]["fit"])
    if more:
        raise TypeError(
            f"ConformalSets.fit got unexpected arguments {', '.join(sorted(more))}. "
            "sklearn.set_config(enable_metadata_routing=True) lets the estimator ask for them."
        )
    if sample_weight is None:
        return {}
    if not takes_weights(estimator):
        raise TypeError(
            f"ConformalSets was given sample_weight, and {shortened(estimator)} takes none."
        )
    return {"sample_weight": np.asarray(sample_weight)}
