"""Support feature machine: a linear classifier that uses as few features as possible."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_scale, check_seed
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    condition,
    instance,
    integer,
    none,
    real,
    seed,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.regression.support_features.formulas import (
    NotSeparable,
    Separation,
    frank_wolfe_programs,
    margin,
    middle,
    rescaled_programs,
    separating_plane,
)
from isthmus.regression.support_features.refit import squared_hinge_plane
from isthmus.typing import Array, BoolArray, IntArray

# What an error costs in the refit, raised while classes that can be separated are not.
REFIT_COSTS = (1.0, 10.0, 100.0, 1e3, 1e4)
_SOLVERS = {"rescaled": rescaled_programs, "frank-wolfe": frank_wolfe_programs}


class SupportFeatureMachine(ClassifierMixin, SelectorMixin, Estimator):
    r"""Separate classes with the fewest features, for data with many more features than samples.

    .. math:: \min_{w,b}\ |w|_0+\sum_iC_i\xi_i\quad\text{with}\quad
              y_i(w^\top x_i+b)\ge-\xi_i,\quad w^\top(\mu_+-\mu_-)=1

    (``formulation="mean"``, class means :math:`\mu_\pm` [Klement2013]_) or
    :math:`y_i(w^\top x_i+b)\ge1-\xi_i` (``formulation="margin"`` [Weston2003]_). Counting features
    is hard; a sequence of linear programs, each with the features multiplied by the weights of
    the one before, leaves a few after 3 to 9 of them. More than two classes are treated one
    against the rest. As a transformer it keeps the columns in ``support_``.

    Parameters
    ----------
    formulation : {"mean", "margin"}, default="mean"
        The first one finds planted features much more reliably.
    C : float or None, default=None
        How many features a unit of slack is worth. ``np.inf`` allows no slack and refuses classes
        that no hyperplane separates. None does without slack if it can, else takes 1.
    solver : {"rescaled", "frank-wolfe"}, default="rescaled"
        ``"frank-wolfe"`` lets features come back, through
        :math:`\sum_j\ln(\epsilon+|w_j|)` with :math:`\epsilon` falling from 0.1 to 1e-6; it takes
        about ten times as long.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        Divide features by their standard deviations before counting: the programs prefer features
        on large scales, and so would the published method. ``coef_`` refers to the features as
        given.
    class_weight : "balanced", dict or None, default="balanced"
        Factors of ``C``. scikit-learn's machines have None, by which a small class may be given up
        for a feature less.
    refit : bool, default=True
        Fit the machine of :class:`sklearn.svm.LinearSVC` to the features found, which mostly
        predicts better.
    n_init : int, default=1
        Starts; the first has all features equal, others are drawn at random. The fewest features
        win, then the largest margin.
    max_iter : int, default=30
        Maximum number of linear programs per start (for ``"frank-wolfe"``, per
        :math:`\epsilon`).
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of int
        The features in use, by any class.
    n_support_ : ndarray of int, of shape (1,) or (n_classes,)
        How many each hyperplane uses.
    n_iter_ : int
        Largest number of linear programs that a hyperplane took in its best start.
    classes_ : ndarray

    Notes
    -----
    The result is a local optimum, not provably the sparsest separator, and few samples do not
    determine which features are true. Duplicates of a feature are told apart by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import SupportFeatureMachine
    >>> X = np.random.default_rng(0).normal(size=(60, 1000))
    >>> y = X[:, [3, 5, 8]].sum(axis=1) > 0
    >>> machine = SupportFeatureMachine().fit(X, y)
    >>> machine.support_
    array([3, 5, 8])
    >>> machine.transform(X).shape
    (60, 3)
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "formulation": choice("mean", "margin"),
        "C": real(0, include_low=False)
        | condition("np.inf", lambda value: isinstance(value, Real) and float(value) == np.inf)
        | none,
        "solver": choice(*_SOLVERS),
        "fit_intercept": boolean,
        "standardize": boolean,
        "class_weight": choice("balanced") | instance(dict) | none,
        "refit": boolean,
        "n_init": integer(1),
        "max_iter": integer(1),
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        formulation: str = "mean",
        *,
        C: float | None = None,
        solver: str = "rescaled",
        fit_intercept: bool = True,
        standardize: bool = True,
        class_weight: Any = "balanced",
        refit: bool = True,
        n_init: int = 1,
        max_iter: int = 30,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.formulation = formulation
        self.C = C
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.refit = refit
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Find the features and the hyperplanes for rows ``X`` with classes ``y``; return self."""
        random = check_seed(self.random_state, "random_state", self)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_scale(self, X)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "SupportFeatureMachine needs samples of at least 2 classes. "
                f"Got one class: {classes.tolist()[0]!r}."
            )
        spread = X.std(axis=0)
        # A feature that does not vary separates nothing.
        usable = spread > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300)
        if not usable.any():
            raise ValueError("SupportFeatureMachine needs a feature that varies. Got none.")
        unit = spread if self.standardize else np.ones(X.shape[1])
        # Far from the origin the programs would lose digits, and the refit its constant.
        center = X.mean(axis=0) if self.fit_intercept else np.zeros(X.shape[1])
        Z = (X[:, usable] - center[usable]) / unit[usable]
        positives = [1] if len(classes) == 2 else range(len(classes))
        coef = np.zeros((len(positives), X.shape[1]))
        intercept, n_iter = np.zeros(len(positives)), 0
        with ProgressLine("support features", verbose=self.verbose) as line:
            for row, positive in enumerate(positives):
                signs = np.where(labels == positive, 1.0, -1.0)
                costs = self._costs(signs, classes, labels)
                found = self._separate(Z, signs, costs, classes[positive], random)
                w, b = found.w / unit[usable], found.b
                live = np.flatnonzero(w)
                if self.refit and len(live):
                    w, b = self._refit_weights(Z, signs, costs, live, found)
                    w /= unit[usable]
                coef[row, usable], intercept[row] = w, b - w @ center[usable]
                n_iter = max(n_iter, found.n_programs)
                line.update(hyperplane=row + 1, of=len(positives), features=len(live))
        self.classes_, self.coef_, self.intercept_ = classes, coef, intercept
        self.n_support_ = np.count_nonzero(coef, axis=1)
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self.n_iter_ = n_iter
        return self

    def _separate(self, X: Array, y: Array, costs: Array, name: Any, random: Any) -> Separation:
        """The best of all starts for one hyperplane."""
        if self.formulation == "mean":
            apart = np.abs(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)).max()
            if apart <= 1e-12 * np.abs(X).max():
                raise ValueError(
                    "SupportFeatureMachine: the means of the classes coincide. "
                    "Use formulation='margin'."
                )
        best: tuple[int, float] | None = None
        for i in range(self.n_init):
            start = np.ones(X.shape[1]) if i == 0 else random.uniform(0.1, 1, size=X.shape[1])
            found = self._programs(X, y, costs, start, name)
            if not found.converged:
                warn(
                    f"SupportFeatureMachine: {self.max_iter} linear programs were not enough; "
                    "raise max_iter.",
                    ConvergenceWarning,
                )
            if self.fit_intercept and found.w.any() and not found.slack.any():
                found = found._replace(b=middle(X, y, found.w, found.b))
            rank = (int(np.count_nonzero(found.w)), -margin(X, y, found.w, found.b))
            if best is None or rank < best:
                best, kept = rank, found
        return kept

    def _programs(self, X: Array, y: Array, costs: Array, start: Array, name: Any) -> Separation:
        solve = _SOLVERS[self.solver]
        options: dict[str, Any] = {
            "start": start,
            "max_iter": self.max_iter,
            "formulation": self.formulation,
            "fit_intercept": bool(self.fit_intercept),
        }
        if self.C is not None and np.isfinite(float(self.C)):
            return solve(X, y, costs=float(self.C) * costs, **options)
        try:
            return solve(X, y, costs=None, **options)
        except NotSeparable:
            if self.C is None:
                return solve(X, y, costs=costs, **options)
            raise ValueError(
                f"SupportFeatureMachine: no hyperplane separates class {str(name)!r} from the "
                "rest. Allow slack with C=1.0 or C=None."
            ) from None

    def _costs(self, y: Array, classes: Any, labels: Any) -> Array:
        """Factor of each row's slack; classes are balanced within each of the hyperplanes."""
        if isinstance(self.class_weight, str):
            share = np.mean(y > 0)  # both classes weigh half
            return np.where(y > 0, 0.5 / share, 0.5 / (1.0 - share))
        names = classes[labels]
        return compute_class_weight(self.class_weight, classes=classes, y=names)[labels]

    def _refit_weights(
        self, X: Array, y: Array, costs: Array, live: IntArray, found: Separation
    ) -> tuple[Array, float]:
        """The linear machine on the features found, as soft as the rows allow.

        Where the features separate the classes, so does it: errors are made dearer until none is
        left, and one more program finds a margin where that does not help.
        """
        few, w, v = X[:, live], np.zeros(X.shape[1]), None
        intercept = bool(self.fit_intercept)
        planes: list[tuple[Array, float]] = []
        exact: tuple[Array, float] | None = None
        for C in REFIT_COSTS:
            w[live], b, v = squared_hinge_plane(few, y, C * costs, fit_intercept=intercept, start=v)
            if margin(X, y, w, b) > 0:
                return w, b
            planes.append((w.copy(), b))
            # Features that were found with slack hardly ever separate the classes: ask at once.
            if exact is None and len(found.slack):
                exact = separating_plane(few, y, fit_intercept=intercept)
                if exact is None:  # nor will higher costs separate them
                    return planes[0]
        exact = exact or separating_plane(few, y, fit_intercept=intercept)
        if exact is None:
            return planes[0]
        w[live], b = exact
        return w, b

    def decision_function(self, X: Any) -> Array:
        """Return the value of each hyperplane, shape (n,) or (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        # Of few features it costs little.
        values = X[:, self.support_] @ self.coef_[:, self.support_].T + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> Any:
        """Return the classes of the rows of ``X``."""
        values = self.decision_function(X)
        if len(self.classes_) == 2:
            return self.classes_[(values > 0).astype(int)]
        return self.classes_[values.argmax(axis=1)]

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask = np.zeros(self.coef_.shape[1], dtype=bool)
        mask[self.support_] = True
        return mask
