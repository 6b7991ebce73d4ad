"""Supervised reduction by distance correlation."""

from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    having,
    integer,
    none,
    real,
    seed,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.sampling import sample_rows
from isthmus.features.distance_correlation.formulas import (
    ColumnProducts,
    Reduction,
    block_factors,
    column_products,
    correlations,
    largest_spread,
)
from isthmus.features.distance_correlation.mapping import LinearPart, fit_map, linear_map
from isthmus.features.distance_correlation.settings import (
    OF_DISTANCES,
    SOLVERS,
    ReductionSettings,
    check_settings,
)
from isthmus.features.distance_correlation.solvers import find_coordinates, side_correlations
from isthmus.features.distance_correlation.tables import as_tables, standardize
from isthmus.regression.left_out import left_out_predictions
from isthmus.typing import Array, IntArray


class DistanceCorrelationReduction(
    LinearPart, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator
):
    r"""A few coordinates that depend strongly on both inputs and outputs (DisCoMax).

    .. math:: \max_Z\ f(Z)=2(1-w)\,\rho^2(X,Z)+2w\,\rho^2(Z,Y)

    over all coordinates :math:`Z` of the n training rows, with the squared distance correlation
    :math:`\rho^2` [Tonde2016]_, [Szekely2007]_. The coordinates are free, not a projection of the
    inputs; a map learned along with them gives the coordinates of new rows.

    At exponent 2, used in [Tonde2016]_, :math:`\rho^2` is the RV coefficient: it sees linear
    dependence only, and the maximum is known in closed form, the leading singular vectors of the
    two tables side by side. At exponent 1, ``solver="gradient"``, it is zero only under
    independence.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of columns of ``X`` and ``y`` together, and fewer than the rows.
    solver : {"exact", "semi", "mm", "gradient", "published"}, default="exact"
        ``"exact"``: the global maximum at exponent 2 by one decomposition. ``"semi"``: inputs and
        outputs at ``exponent``, coordinates at 2; also a global maximum by one decomposition.
        ``"mm"``: as ``"exact"`` by a monotone iteration from a random start. ``"gradient"``:
        quasi-Newton at ``exponent``, from the exact solution, O(n²d) per iteration.
        ``"published"``: the algorithm of [Tonde2016]_, which does not maximise f; for comparison.
    y_weight : float in [0, 1], default=0.5
        The weight w of the outputs. 0.5 is the published sum; 0 gives principal components.
    exponent : float in (0, 2), default=1
        Exponent of the distances with ``"semi"`` and ``"gradient"``; the others have exponent 2.
    mapping : {"auto", "analytic", "learned", "linear"}, default="auto"
        Where the coordinates of new rows come from. ``"analytic"`` (exact and mm): they are linear
        in inputs and outputs, so only the outputs have to be predicted. ``"learned"``: a regression
        of the coordinates on the inputs. ``"linear"`` (gradient): the search is restricted to
        projections :math:`Z=XB`, nothing else is learned. ``"auto"`` is analytic where possible,
        and learned otherwise.
    regressor : multi-output regressor, "stacked" or None, default=None
        Predicts the outputs (analytic) or the coordinates (learned). None is kernel ridge on
        columns scaled by a power of their distance correlation with what is predicted, those
        without any left out if that helps; columns, power, kernel and penalty are chosen by
        leave-one-out, and landmarks used beyond 4000 rows. ``"stacked"`` mixes it with kernel
        ridge in other metrics and with randomised trees, weighted by left-out predictions of the
        training rows: several times slower, and the right setting where predictions are made from
        the coordinates.
    crossfit : int or None, default=None
        With a number of folds, :meth:`fit_transform` predicts each row with its fold left out, so
        that a model trained on its result meets coordinates as uncertain as those that
        :meth:`transform` will give it. It then differs from ``fit(X, y).transform(X)``. See the
        notes.
    labels : bool or "auto", default="auto"
        Whether outputs are labels, equal or different, rather than numbers. "auto" treats strings
        and booleans as labels.
    standardize : bool, default=True
        Give all columns of inputs and outputs unit variance; labels are left alone.
    n_landmarks : int, default=2000
        Maximum number of rows, drawn at random, that ``"semi"`` and ``"gradient"`` work on.
    max_iter : int or None, default=None
        Maximum number of iterations. None is 500 for the gradient and mm, 4 outer ones for the
        published algorithm.
    tol : float, default=1e-6
        Tolerance, relative to the objective (mm), to its gradient, to the change (published).
    random_state : int, RandomState or None, default=None
        Draws the landmarks and the start of mm.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_rows, n_components)
        The maximiser. It contains the outputs of the rows: do not train a predictor of them on it.
    rows_ : ndarray of shape (n_rows,)
        The training rows it belongs to: all of them, or the landmarks of the gradient.
    objective_ : float
        f of ``embedding_``.
    x_correlation_, y_correlation_ : float
        The squared distance correlations of which it is the weighted sum.
    ties_ : ndarray of shape (2, n_components) or None
        Contributions of each coordinate to the two, up to a common factor (exponent 2 only).
    history_ : ndarray
        f after each iteration of the solver.
    components_ : ndarray of shape (n_components, n_features)
        How coordinates depend on centred and scaled inputs (analytic, linear; none if learned).
    output_components_ : ndarray of shape (n_components, n_outputs)
        How they depend on centred and scaled outputs (analytic).
    regressor_ : fitted regressor or None
    classes_ : ndarray or None
        The labels, where outputs are labels.
    n_iter_ : int

    See Also
    --------
    isthmus.structured.DistanceCorrelationRegressor : the same followed by a regression.
    sklearn.cross_decomposition.PLSRegression : projections of largest covariance.

    Notes
    -----
    Components of the exact solution are nested: with three components they are the first three of
    five.

    Cross-fitting helps where the regression inside follows its training outputs too closely and
    few components are kept. With many of them it can do harm: coordinates that identify rows let a
    flexible model compare left-out predictions with those of neighbours, which have seen the
    output that it should learn.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import DistanceCorrelationReduction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> reduction = DistanceCorrelationReduction(2).fit(X, y)
    >>> reduction.transform(X[:3]).shape
    (3, 2)
    >>> bool(reduction.objective_ <= 2)
    True

    A projection by true distance correlation finds the one direction that matters.

    >>> projection = DistanceCorrelationReduction(
    ...     1, solver="gradient", mapping="linear", y_weight=1
    ... ).fit(X, y)
    >>> b = projection.components_[0]
    >>> bool(abs(b[0]) > 0.95 * np.linalg.norm(b))
    True
    """

    __module__ = "isthmus.features"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "solver": choice(*SOLVERS),
        "y_weight": real(0, 1),
        "exponent": real(0, 2, include_low=False),
        "mapping": choice("auto", "analytic", "learned", "linear"),
        "regressor": having("fit", "predict", text="a regressor") | choice("stacked") | none,
        "crossfit": integer(2) | none,
        "labels": boolean | choice("auto"),
        "standardize": boolean,
        "n_landmarks": integer(3),
        "max_iter": integer(1) | none,
        "tol": real(0),
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        solver: str = "exact",
        y_weight: float = 0.5,
        exponent: float = 1.0,
        mapping: str = "auto",
        regressor: Any = None,
        crossfit: int | None = None,
        labels: Any = "auto",
        standardize: bool = True,
        n_landmarks: int = 2000,
        max_iter: int | None = None,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.solver = solver
        self.y_weight = y_weight
        self.exponent = exponent
        self.mapping = mapping
        self.regressor = regressor
        self.crossfit = crossfit
        self.labels = labels
        self.standardize = standardize
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """Coordinates that are learned from the outputs, also with folds left out."""
        return frozenset({"transform", "supervised", "crossfit", "embedding", "vectors"})

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> "DistanceCorrelationReduction":
        """Find coordinates of the rows of ``X`` and a map for new ones; return self."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Array:
        """Fit, and return the coordinates that the map gives to ``X``.

        With ``crossfit`` what the map learns for a row leaves out its fold.
        """
        X, targets = self._fit(X, y)
        n_folds = self.crossfit
        if self.regressor_ is None or n_folds is None or len(targets) < 2 * n_folds:
            return self._coordinates(X)
        Z = np.empty((len(X), self._n_features_out))
        others = np.setdiff1d(np.arange(len(X)), self.rows_)
        if len(others):
            Z[others] = self._coordinates(X[others])
        part = X[self.rows_]
        predicted = left_out_predictions(self.regressor_, part, targets, n_folds)
        Z[self.rows_] = self._coordinates(part, predicted)
        return Z

    def _fit(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Fit; return the standardized inputs and what the regression of the map was trained on."""
        settings = check_settings(self)
        X, Y, classes = as_tables(self, X, y)
        inputs = standardize(self, X, "X", scale=self.standardize)
        outputs = standardize(self, Y, "y", scale=self.standardize and classes is None)
        d = self._check_n_components(settings, min(len(X) - 1, X.shape[1] + Y.shape[1]))
        rng = check_random_state(self.random_state)
        rows = self._landmarks(settings, len(X), d, rng)
        if settings.solver in OF_DISTANCES:
            part = inputs.values[rows], outputs.values[rows]
            products = column_products(*part)
        else:
            part = inputs.values, outputs.values
            products = column_products(*part, (inputs.scatter, outputs.scatter))
        directions, found = self._solve(settings, *part, products, d, rng)
        # The objective does not depend on scale: give the widest coordinate unit variance.
        factor = 1 / max(largest_spread(found.Z), np.finfo(float).tiny)
        Z = factor * found.Z

        weights = None
        if settings.mapping == "linear":
            mapped = linear_map(factor * np.asarray(directions))
        elif settings.mapping == "analytic":
            loadings = factor * np.asarray(found.loadings)
            of_x, of_y = block_factors(*part, settings.y_weight, products)
            p = X.shape[1]
            components = (of_x * loadings[:p]).T, (of_y * loadings[p:]).T
            weights = np.hstack(components).T
            mapped = fit_map(
                self.regressor, inputs.values, outputs.values, components, products.all
            )
        else:
            mapped = fit_map(self.regressor, part[0], Z)

        self.embedding_, self.rows_, self.classes_ = Z, rows, classes
        self._loadings = mapped.components, mapped.output_components
        self.regressor_ = mapped.regressor
        self._inputs = inputs.mean, inputs.scale
        self.history_, self.n_iter_ = np.array(found.values), max(len(found.values) - 1, 1)
        found_ties = side_correlations(settings, *part, Z, products, weights)
        self.x_correlation_, self.y_correlation_, self.ties_ = found_ties
        self.objective_ = _weighted_sum(settings.y_weight, found_ties.of_x, found_ties.of_y)
        return inputs.values, mapped.targets

    def _check_n_components(self, settings: ReductionSettings, largest: int) -> int:
        why = "columns of X and y, rows - 1"
        d = check_int(self.n_components, "n_components", self, low=1, high=largest, why=why)
        if settings.solver == "published" and d < 2:
            raise ValueError("The published solver needs n_components of at least 2. Got 1.")
        return d

    def _landmarks(
        self, settings: ReductionSettings, n: int, d: int, rng: np.random.RandomState
    ) -> IntArray:
        """The rows to find coordinates for: all of them, or as many as distances allow."""
        if settings.solver not in OF_DISTANCES:
            return np.arange(n)
        return sample_rows(n, check_int(self.n_landmarks, "n_landmarks", self, low=d + 2), rng)

    def _solve(
        self,
        settings: ReductionSettings,
        X: Array,
        Y: Array,
        products: ColumnProducts,
        d: int,
        rng: np.random.RandomState,
    ) -> tuple[Array | None, Reduction]:
        """Directions of a linear map, if one was asked for, and coordinates."""
        name = type(self).__name__
        with ProgressLine(f"{name} ({settings.solver})", verbose=self.verbose) as line:

            def watch(step: int, value: float) -> None:
                line.update(step=step, objective=value)

            directions, found = find_coordinates(settings, X, Y, products, d, rng, watch)
        if not found.converged:
            warn(
                f"{name} with solver={settings.solver!r} did not reach tol={self.tol:g} in "
                f"{len(found.values) - 1} iterations: raise max_iter or tol.",
                ConvergenceWarning,
            )
        return directions, found

    # Use ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the coordinates of ``X``, shape (n, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean, scale = self._inputs
        return self._coordinates((X - mean) / scale)

    def _coordinates(self, X: Array, predicted: Array | None = None) -> Array:
        """Coordinates of standardized inputs, given what the regression predicts for them."""
        if predicted is None and self.regressor_ is not None:
            predicted = np.asarray(self.regressor_.predict(X)).reshape(len(X), -1)
        of_x, of_y = self._loadings
        if of_x is None:
            return np.asarray(predicted)
        Z = X @ of_x.T
        if predicted is not None and of_y is not None:
            Z += predicted @ of_y.T
        return np.asarray(Z)

    def at_components(self, n_components: int) -> "DistanceCorrelationReduction":
        """The same fit with only its first coordinates; exact solutions are nested."""
        check_is_fitted(self)
        (B, C), ties = self._loadings, self.ties_
        if self.solver != "exact" or B is None or C is None or ties is None:
            raise ValueError(
                "Only exact solutions with an analytic map are nested. Got "
                f"solver={self.solver!r}, mapping={self.mapping!r}: fit again instead."
            )
        high, why = self._n_features_out, "those fitted"
        d = check_int(n_components, "n_components", self, low=1, high=high, why=why)
        fewer = copy(self)
        fewer.n_components = n_components
        fewer.embedding_, fewer.ties_ = self.embedding_[:, :d], ties[:, :d]
        fewer.__dict__.update(_loadings=(B[:d], C[:d]))
        of_x, of_y = correlations(ties[:, :d], fewer.embedding_)
        fewer.x_correlation_, fewer.y_correlation_ = float(of_x), float(of_y)
        fewer.objective_ = _weighted_sum(self.y_weight, of_x, of_y)
        fewer.history_ = np.array([fewer.objective_])
        return fewer


def _weighted_sum(y_weight: float, of_x: float, of_y: float) -> float:
    return float(2 * (1 - y_weight) * of_x + 2 * y_weight * of_y)
