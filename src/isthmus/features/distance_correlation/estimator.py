"""Supervised reduction by distance correlation."""

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_choice, check_float, check_int, former_fit_kept
from isthmus._progress import ProgressLine
from isthmus.dependence.distances import distance_correlation
from isthmus.features.distance_correlation.formulas import (
    Products,
    Reduction,
    block_factors,
    column_products,
    column_ties,
    correlations,
    exact_reduction,
    joint_table,
    monotone_reduction,
)
from isthmus.features.distance_correlation.mapping import fitted_map, left_out_predictions
from isthmus.features.distance_correlation.tables import as_tables, standardised
from isthmus.typing import Array

SOLVERS = ("exact", "mm", "gradient", "published")


class DistanceCorrelationReduction(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Few coordinates that are tied to the inputs and to the outputs (DisCoMax).

    .. math:: \max_Z\ f(Z)=2(1-w)\,\rho^2(X,Z)+2w\,\rho^2(Z,Y)

    over all coordinates :math:`Z` of the n training rows, with the squared distance correlation
    :math:`\rho^2` [Tonde2016]_, [Szekely2007]_. The coordinates are free, not a projection of the
    inputs; a map learned along with them gives those of new rows.

    At exponent 2, which the document takes, :math:`\rho^2` is the RV coefficient: it sees linear
    ties only, and the maximum is known in closed form, the leading singular vectors of the two
    tables side by side. At exponent 1, ``solver="gradient"``, it is zero only under
    independence.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of columns of ``X`` and ``y`` together, and less than the rows.
    solver : {"exact", "mm", "gradient", "published"}, default="exact"
        ``"exact"``: the global maximum at exponent 2 by one decomposition. ``"mm"``: the same by a
        monotone iteration from a random start. ``"gradient"``: quasi-Newton at ``exponent``, from
        the exact solution, O(n²d) a step. ``"published"``: the algorithm of the document, which
        does not maximise f; for comparison.
    weight : float in [0, 1], default=0.5
        The share w of the outputs. 0.5 is the published sum; 0 gives principal components.
    exponent : float in (0, 2), default=1
        Of the distances, with ``solver="gradient"``; the other solvers are for exponent 2.
    mapping : {"auto", "analytic", "learned", "linear"}, default="auto"
        Where coordinates of new rows come from. ``"analytic"`` (exact and mm): they are linear in
        inputs and outputs, so only the outputs have to be predicted. ``"learned"``: a regression
        of the coordinates on the inputs. ``"linear"`` (gradient): the search is restricted to
        projections :math:`Z=XB`, nothing else is learned. ``"auto"`` is analytic where it can be,
        and learned otherwise.
    regressor : multi-output regressor, "stacked" or None, default=None
        Predicts the outputs (analytic) or the coordinates (learned). None is kernel ridge on
        columns scaled by a power of their distance correlation with what is predicted; the power,
        the kernel and the penalty are chosen by leave-one-out, and landmarks are used beyond 4000
        rows. ``"stacked"`` mixes it with kernel ridge in other metrics and with randomised trees,
        weighted by left-out predictions of the training rows: several times slower, and the
        setting to take where the coordinates are to predict.
    crossfit : int or None, default=None
        With a number of folds, :meth:`fit_transform` predicts each row with its fold left out, so
        that a model trained on its result meets coordinates as uncertain as :meth:`transform`
        will give it. It then differs from ``fit(X, y).transform(X)``. See the notes.
    labels : bool or "auto", default="auto"
        Whether outputs are labels, equal or different, rather than numbers. "auto" takes strings
        and booleans for labels.
    scale : bool, default=True
        Give all columns of inputs and outputs unit variance; labels are left alone.
    n_landmarks : int, default=2000
        The gradient works on at most so many rows, drawn at random.
    max_iter : int or None, default=None
        None is 500 steps of the gradient and of mm, 4 outer ones of the published algorithm.
    tol : float, default=1e-6
        Relative: of the objective (mm), of its gradient, of the change (published).
    random_state : int, RandomState or None, default=None
        Draws landmarks and the start of mm.
    verbose : int, default=0

    Attributes
    ----------
    embedding_ : ndarray of shape (n_rows, n_components)
        The maximiser. It holds the outputs of the rows: do not train a predictor of them on it.
    rows_ : ndarray of shape (n_rows,)
        Training rows it belongs to: all of them, or the landmarks of the gradient.
    objective_ : float
        f of ``embedding_``.
    x_correlation_, y_correlation_ : float
        The squared distance correlations whose weighted sum it is.
    history_ : ndarray
        f after each step of the solver.
    components_ : ndarray of shape (n_components, n_features) or None
        How coordinates depend on centred and scaled inputs (analytic, linear).
    output_components_ : ndarray of shape (n_components, n_outputs) or None
        How they depend on centred and scaled outputs (analytic).
    regressor_ : fitted regressor or None
    classes_ : ndarray or None
        The labels, where outputs are labels.
    n_iter_ : int

    See Also
    --------
    isthmus.structured.DistanceCorrelationRegressor : the same with a regression behind it.
    sklearn.cross_decomposition.PLSRegression : projections of largest covariance.

    Notes
    -----
    Components of the exact solution are nested: those of three are the first three of five.

    Cross-fitting helps where the regression inside follows its training outputs too closely, and
    few components are kept. With many of them it can do harm: coordinates that tell rows
    apart let a flexible model compare left-out predictions with those of neighbours, which
    have seen the output that it is to learn.

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

    >>> projection = DistanceCorrelationReduction(1, solver="gradient", mapping="linear", weight=1)
    >>> b = projection.fit(X, y).components_[0]
    >>> bool(abs(b[0]) > 0.95 * np.linalg.norm(b))
    True
    """

    __module__ = "isthmus.features"

    def __init__(
        self,
        n_components: int = 2,
        *,
        solver: str = "exact",
        weight: float = 0.5,
        exponent: float = 1.0,
        mapping: str = "auto",
        regressor: Any = None,
        crossfit: int | None = None,
        labels: Any = "auto",
        scale: bool = True,
        n_landmarks: int = 2000,
        max_iter: int | None = None,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.solver = solver
        self.weight = weight
        self.exponent = exponent
        self.mapping = mapping
        self.regressor = regressor
        self.crossfit = crossfit
        self.labels = labels
        self.scale = scale
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
        """Coordinates that are learned from outputs, also with folds left out."""
        return frozenset({"transform", "supervised", "crossfit", "embedding", "vectors"})

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> "DistanceCorrelationReduction":
        """Find coordinates of the rows of ``X`` and a map for new ones; return self."""
        with former_fit_kept(self):
            self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Array:
        """Fit, and return the coordinates of ``X`` that the map gives them.

        With ``crossfit`` what is learned in the map leaves the fold of each row out.
        """
        with former_fit_kept(self):
            X, targets = self._fit(X, y)
        n_folds = (
            None if self.crossfit is None else check_int(self.crossfit, "crossfit", self, low=2)
        )
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
        """Fit; returns the scaled inputs and what the map's regression was trained on."""
        solver, mapping, weight = self._check_parameters()
        X, Y, classes = as_tables(self, X, y)
        inputs = standardised(self, X, "X", scale=self.scale)
        outputs = standardised(self, Y, "y", scale=self.scale and classes is None)
        n_most = min(len(X) - 1, X.shape[1] + Y.shape[1])
        d = check_int(
            self.n_components,
            "n_components",
            self,
            low=1,
            high=n_most,
            why="columns of X and y, rows - 1",
        )
        if solver == "published" and d < 2:
            raise ValueError("The published solver needs n_components of at least 2. Got 1.")
        rows = np.arange(len(X))
        rng = check_random_state(self.random_state)
        if solver == "gradient" and len(X) > check_int(
            self.n_landmarks, "n_landmarks", self, low=d + 2
        ):
            rows = np.sort(rng.choice(len(X), self.n_landmarks, replace=False))
        part = inputs.values[rows], outputs.values[rows]
        products = column_products(*part)
        B, found = self._solve(solver, mapping, *part, products, d, weight, rng)
        # The objective knows no scale: let the widest coordinate have unit variance.
        factor = 1 / max(float(found.Z.std(axis=0).max()), np.finfo(float).tiny)

        p = X.shape[1]
        C: Array | None = None
        targets: Array = np.empty((0, d))
        regressor = None
        if mapping == "linear":
            B = factor * np.asarray(B)
        elif mapping == "analytic":
            loadings = factor * np.asarray(found.loadings)
            of_x, of_y = block_factors(*part, weight, products)
            B, C = of_x * loadings[:p], of_y * loadings[p:]
            targets = outputs.values
            regressor = fitted_map(self.regressor, inputs.values, targets)
        else:
            targets = factor * found.Z
            regressor = fitted_map(self.regressor, part[0], targets)

        self.embedding_, self.rows_ = factor * found.Z, rows
        self.components_ = None if B is None else B.T
        self.output_components_ = None if C is None else C.T
        self.regressor_, self.classes_ = regressor, classes
        self._inputs = inputs.mean, inputs.scale
        self.history_, self.n_iter_ = np.array(found.values), max(len(found.values) - 1, 1)
        if solver == "gradient":
            ties = [
                distance_correlation(side, self.embedding_, exponent=self.exponent, squared=True)
                for side in part
            ]
            self._set_objective(*ties)
        else:
            self._ties = np.array(
                [
                    column_ties(side, self.embedding_, norm)
                    for side, norm in zip(part, products.norms, strict=True)
                ]
            )
            self._set_objective(*correlations(self._ties, self.embedding_))
        return inputs.values, targets

    def _set_objective(self, of_x: float, of_y: float) -> None:
        self.x_correlation_, self.y_correlation_ = float(of_x), float(of_y)
        self.objective_ = float(2 * (1 - self.weight) * of_x + 2 * self.weight * of_y)

    def _solve(
        self,
        solver: str,
        mapping: str,
        X: Array,
        Y: Array,
        products: Products,
        d: int,
        weight: float,
        rng: np.random.RandomState,
    ) -> tuple[Array | None, Reduction]:
        """Directions of a linear map, if that was asked for, and coordinates."""
        A = joint_table(X, Y, weight, products)
        given = (
            {}
            if self.max_iter is None
            else {"max_iter": check_int(self.max_iter, "max_iter", self, low=1)}
        )
        B = None
        with ProgressLine(f"{type(self).__name__} ({solver})", verbose=self.verbose) as line:

            def watch(step: int, value: float) -> None:
                line.update(step=step, objective=value)

            control: Any = {"tol": check_float(self.tol, "tol", self), "watch": watch, **given}
            if solver == "exact":
                factors = block_factors(X, Y, weight, products)
                f = np.repeat(factors, (X.shape[1], Y.shape[1]))
                gram = None if products.all is None else f[:, None] * products.all * f
                found = exact_reduction(A, d, gram)
            elif solver == "mm":
                start = np.random.default_rng(rng.randint(2**31))
                found = monotone_reduction(A, d, start, **control)
            elif solver == "published":
                from isthmus.features.distance_correlation.published import published_reduction

                found, _ = published_reduction(A, X, d, **control)
            else:
                B, found = self._climb(mapping, X, Y, A, d, weight, control)
        if not found.converged:
            steps = len(found.values) - 1
            warnings.warn(
                f"{type(self).__name__} with solver={solver!r} did not reach tol={self.tol:g} in "
                f"{steps} steps: raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return B, found

    def _climb(
        self, mapping: str, X: Array, Y: Array, A: Array, d: int, weight: float, control: Any
    ) -> tuple[Array | None, Reduction]:
        from isthmus.features.distance_correlation.gradient import (
            first_directions,
            free_reduction,
            linear_reduction,
            wanted_distances,
        )

        exponent = float(self.exponent)
        S = wanted_distances(X, Y, weight, exponent)
        if mapping == "linear":
            start = first_directions(S, X, A, d, exponent)
            return linear_reduction(S, X, start, exponent, **control)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # any of equal starts will do
            start = exact_reduction(A, d).Z
        # Columns without signal have no slope either: give them a little of everything.
        noise = np.random.default_rng(0).standard_normal(start.shape)
        start = start + 1e-3 * np.sqrt(np.mean(start**2)) * noise
        return None, free_reduction(S, start, exponent, **control)

    # Use ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the coordinates of ``X``, shape (n, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean, scale = self._inputs
        return self._coordinates((X - mean) / scale)

    def _coordinates(self, X: Array, predicted: Array | None = None) -> Array:
        """Coordinates of scaled inputs, with what the regression says of them or is said to."""
        if predicted is None and self.regressor_ is not None:
            predicted = np.asarray(self.regressor_.predict(X)).reshape(len(X), -1)
        if self.components_ is None:
            return np.asarray(predicted)
        Z = X @ self.components_.T
        if predicted is not None and self.output_components_ is not None:
            Z += predicted @ self.output_components_.T
        return np.asarray(Z)

    def at_components(self, n_components: int) -> "DistanceCorrelationReduction":
        """The same fit with its first coordinates only; exact solutions are nested."""
        check_is_fitted(self)
        B, C = self.components_, self.output_components_
        if self.solver != "exact" or B is None or C is None:
            raise ValueError(
                "Only exact solutions with an analytic map are nested. Got "
                f"solver={self.solver!r}, mapping={self.mapping!r}: fit again instead."
            )
        fewer = copy(self)
        fewer.n_components = n_components
        d = check_int(
            fewer.n_components,
            "n_components",
            fewer,
            low=1,
            high=self._n_features_out,
            why="those fitted",
        )
        fewer.embedding_ = self.embedding_[:, :d]
        fewer.components_, fewer.output_components_ = B[:d], C[:d]
        fewer._ties = self._ties[:, :d]
        fewer._set_objective(*correlations(fewer._ties, fewer.embedding_))
        fewer.history_ = np.array([fewer.objective_])
        return fewer

    # Checks -------------------------------------------------------------------------

    def _check_parameters(self) -> tuple[str, str, float]:
        solver = check_choice(self.solver, "solver", self, SOLVERS)
        mapping = check_choice(
            self.mapping, "mapping", self, ("auto", "analytic", "learned", "linear")
        )
        analytic = solver in ("exact", "mm")
        if mapping == "auto":
            mapping = "analytic" if analytic else "learned"
        missing = {"analytic": not analytic, "linear": solver != "gradient", "learned": False}
        if missing[mapping]:
            raise ValueError(
                f"The 'mapping' parameter of {type(self).__name__} cannot be {mapping!r} with "
                f"solver={solver!r}: 'analytic' needs 'exact' or 'mm', 'linear' needs 'gradient', "
                "and 'learned' goes with all."
            )
        if isinstance(self.regressor, str):
            check_choice(self.regressor, "regressor", self, ("stacked",))
        if solver == "gradient":
            exponent = check_float(self.exponent, "exponent", self, include_low=False, high=2.0)
            if exponent == 2:
                raise ValueError(
                    f"The 'exponent' parameter of {type(self).__name__} must be below 2 with "
                    "solver='gradient'. Got 2: use solver='exact', which has a closed form."
                )
        return solver, mapping, check_float(self.weight, "weight", self, high=1.0)
