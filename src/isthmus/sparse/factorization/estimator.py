"""Non-negative matrix factorisation: Euclidean and other losses, sparse parts, missing entries."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_scale
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    choice,
    condition,
    instance,
    integer,
    none,
    numbers,
    real,
    seed,
    several,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.fitting import open_fit
from isthmus.sparse.factorization.divergence import Divergence
from isthmus.sparse.factorization.drivers import Course, Factors
from isthmus.sparse.factorization.gaps import choose_by_gaps, end_of_stages
from isthmus.sparse.factorization.hoyer import HoyerSparseness
from isthmus.sparse.factorization.in_blocks import PassCourse, check_foldable, fit_in_passes
from isthmus.sparse.factorization.options import (
    DIVERGENCES,
    SOLVERS,
    beta_of,
    check_fixed,
    check_sparsity,
    choose_penalties,
    choose_solver,
    n_components_of,
    starts,
    strength_of_codes,
    takes_gaps,
)
from isthmus.sparse.factorization.penalties import ParkSparsity, Penalty
from isthmus.sparse.factorization.solving import descend
from isthmus.sparse.factorization.tables import FactorizationTable, Problem
from isthmus.typing import Array

A_PAIR = condition(
    "a pair (W, H) of arrays of finite numbers", several(numbers(2) | none, length=2).accepts
)


class NonnegativeFactorization(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Explain a non-negative table by few non-negative components.

    .. math:: \min_{W,H\ge0}\ \sum_{ij}d\bigl(x_{ij},(WH)_{ij}\bigr)+\text{penalties}

    with :math:`d(x,y)=\frac12(x-y)^2` (Euclidean), :math:`x\log\frac xy-x+y` (Kullback-Leibler),
    :math:`\frac xy-\log\frac xy-1` (Itakura-Saito) or, between and beyond them,
    :math:`\frac{x^\beta+(\beta-1)y^\beta-\beta xy^{\beta-1}}{\beta(\beta-1)}`, summed over known
    entries. Rows of :math:`W` are codes, rows of :math:`H` components. The problem has local
    minima: what is found is a stationary point, up to ``tol``.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components; None takes the least of 10, samples and features (scikit-learn all
        features, which explains nothing by few).
    divergence : {"euclidean", "kullback-leibler", "itakura-saito"} or float, default="euclidean"
        The loss. Kullback-Leibler suits counts, Itakura-Saito power spectra. A float is
        :math:`\beta`: 2, 1 and 0 are the three.
    solver : str, default="auto"
        Euclidean: ``"hals"``, extrapolated coordinate descent [Ang2019]_; ``"anls"``, exact
        halves [KimPark2011]_; ``"multiplicative"`` [LeeSeung2001]_; ``"als"``, least squares with
        negative entries cut, of which the best iterate is kept since they may rise;
        ``"projected"``, gradient steps cut at zero. Others: ``"extrapolated"`` multiplicative
        updates [Hien2024]_, or ``"multiplicative"`` as published. ``"auto"`` takes the first, and
        where a penalty has put a component to zero the better of it and ``"anls"``; ``"anls"``
        with :class:`ParkSparsity`.
    sparsity : None, float, "hoyer", "park", HoyerSparseness or ParkSparsity, default=None
        Sparse factors, for the Euclidean loss. A float is Hoyer's sparseness of the components.
    alpha_W, alpha_H : float, default="auto" and "same"
        Strength of penalties on codes and components, scaled as in scikit-learn:
        ``alpha_W * n_features * (l1_ratio * sum(W) + 0.5 * (1 - l1_ratio) * sum(W**2))``, and with
        ``alpha_H * n_samples`` for ``H``. ``"auto"`` is 0 for a table without gaps, as in
        scikit-learn. With gaps nothing else bounds what is not seen: the strength is the one with
        the least loss of known entries that are left out in turn, and may be 0 (0 is also taken
        where ``alpha_H``, ``sparsity`` or ``fixed`` is given).
    l1_ratio : float in [0, 1], default=0.0
        Share of the first of the two.
    missing : {"nan", "unstored"}, default="nan"
        What is unknown: NaN in an array, or all that a sparse table does not store.
    init : {"auto", "svd", "random"} or pair (W, H), default="auto"
        Start. ``"svd"`` is NNDSVD with zeros filled; ``"auto"`` takes it where the number of
        components allows.
    fixed : {None, "codes", "components"}, default=None
        Factor of the pair ``init`` that stays as it is; the other one may be None.
    n_init : int, default=1
        Starts, of which the best result is kept; all but the first are random.
    tol : float, default=1e-4
        Ends where the projected gradient is below this share of its terms, for both factors;
        with a Hoyer constraint, where ten iterations lower the loss by less than this share.
    max_iter : int, default=1000
        scikit-learn stops after 200.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Without penalties, rows of Euclidean norm 1, or of sum 1 for the other divergences.
    n_components_ : int
    reconstruction_err_ : float
        Square root of twice the divergence of the training data: the Frobenius norm of the
        residual in the Euclidean case, as in scikit-learn.
    alpha_ : float
        The strength ``alpha_W`` that was taken.
    objective_ : float
        The minimised sum, penalties included.
    objective_path_ : ndarray
        The same along the iterations (for multiplicative updates, at every tenth or so).
    optimality_ : float
        What is compared with ``tol``.
    n_iter_ : int

    See Also
    --------
    ConvexFactorization : components that are mixtures of samples.

    Notes
    -----
    An iteration costs O(n·d·k), or O(k) for each stored or known entry. ``transform`` solves for
    the codes, each row by itself: it is the same for a row alone and among others. With the
    Euclidean loss codes are exact, and ``fit_transform`` returns the same ones; with the other
    divergences it returns those of the descent, which agree up to ``tol``.

    Rows that come in blocks, with the Euclidean loss, are read once for each iteration, after a
    start from at most 5000 of them; their codes are solved anew and not held.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import NonnegativeFactorization
    >>> rng = np.random.default_rng(0)
    >>> parts = np.array([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]])
    >>> X = rng.exponential(size=(50, 3)) * rng.integers(0, 2, size=(50, 3)) @ parts
    >>> model = NonnegativeFactorization(3, random_state=0).fit(X)
    >>> sorted((model.components_ > 0.01).astype(int).tolist())
    [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]]

    A table with a gap is completed:

    >>> holes = X.copy()
    >>> holes[0, 1] = np.nan
    >>> model = NonnegativeFactorization(3, random_state=0, tol=1e-6).fit(holes)
    >>> filled = model.inverse_transform(model.transform(holes))
    >>> bool(abs(filled[0, 1] - X[0, 1]) < 1e-3)
    True
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "divergence": choice(*DIVERGENCES) | real(0, 10),
        "solver": choice(*SOLVERS),
        "sparsity": none
        | real(0, 1)
        | choice("hoyer", "park")
        | instance(HoyerSparseness, ParkSparsity),
        "alpha_W": real(0) | choice("auto"),
        "alpha_H": real(0) | choice("same"),
        "l1_ratio": real(0, 1),
        "missing": choice("nan", "unstored"),
        "init": choice("auto", "svd", "random") | A_PAIR,
        "fixed": none | choice("codes", "components"),
        "n_init": integer(1),
        "tol": real(0),
        "max_iter": integer(1),
        "random_state": seed,
        "verbose": verbosity,
    }

    # In blocks the codes are solved exactly in every pass, in memory they are improved.
    _memmap_as_array = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        divergence: str | float = "euclidean",
        solver: str = "auto",
        sparsity: Any = None,
        alpha_W: float | str = "auto",
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        missing: str = "nan",
        init: Any = "auto",
        fixed: str | None = None,
        n_init: int = 1,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.divergence = divergence
        self.solver = solver
        self.sparsity = sparsity
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.missing = missing
        self.init = init
        self.fixed = fixed
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def provides(self) -> frozenset[str]:
        """What the transformer can do, see :mod:`isthmus.typing`."""
        return frozenset({"transform", "inverse", "vectors"})

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find components of the rows of ``X``; return self."""
        self.fit_transform(X)
        return self

    def _fit_blocks(self, X: Any, y: Any = None) -> Self:
        """The same, of rows that come in blocks: a factorization of some, then passes over all."""
        check_foldable(self, check_sparsity(self))
        rows = open_fit(self, X)
        course, penalties, dtype = fit_in_passes(self, rows)
        self._warn_of_tolerance(course)
        extra = course.losses[-1] - 0.5 * course.squares
        self._keep_components(course.V, course.squares, extra, course, penalties, dtype)
        self.alpha_ = strength_of_codes(self)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find components of the rows of ``X``; return their codes."""
        sparsity = check_sparsity(self)
        check_fixed(self, sparsity)
        X = self._validate(X, reset=True)
        table = FactorizationTable.of(X, self.missing, type(self).__name__)
        solver = choose_solver(self, sparsity, table)
        penalties = choose_penalties(self, sparsity, table)
        stages, reached = choose_by_gaps(self, table, solver, sparsity)
        path = [found for _, found in stages]
        penalties = path[-1] if path else penalties
        problem = self._problem(table, solver, penalties)
        first = (
            [reached]
            if reached is not None
            else [
                end_of_stages(problem, start, solver, path[:-1])
                for start in starts(self, table, solver, penalties)
            ]
        )
        best: Course | None = None
        for start in first:
            with ProgressLine(type(self).__name__, verbose=self.verbose) as line:

                def report(step: int, loss: float, optimality: float, line: Any = line) -> None:
                    line.update(iteration=step, objective=loss, optimality=optimality)

                course = descend(self, problem, start, solver, sparsity, report)
            if best is None or course.loss < best.loss:
                best = course
        assert best is not None
        self._warn_of_tolerance(best)
        codes = self._keep(problem, best, penalties, sparsity, X.dtype)
        self.alpha_ = stages[-1][0] if stages else strength_of_codes(self)
        return codes

    def _warn_of_tolerance(self, course: Course | PassCourse) -> None:
        if not course.converged:
            warn(
                f"{type(self).__name__} did not reach its tolerance: the optimality is "
                f"{course.optimality:.2g} after {course.n_iter} iterations, expected "
                f"{self.tol:g}. Raise max_iter or tol.",
                ConvergenceWarning,
            )

    def transform(self, X: Any) -> Array:
        """Return the codes of rows that are best for ``components_``, each row by itself.

        A constraint on the sparseness of codes is one of the training table and is left out.
        """
        check_is_fitted(self, "components_")
        X = self._validate(X, reset=False)
        table = FactorizationTable.of(X, self.missing, type(self).__name__)
        # Penalties of components do not matter here, those of codes are as in the fit.
        problem = self._problem(table, "hals", self._fitted_penalties)
        V = np.ascontiguousarray(self.components_.T, dtype=np.float64)
        return self._codes(problem, V, None).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Return the tables ``codes @ components_``; of a table with gaps, its completion."""
        check_is_fitted(self, "components_")
        codes = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        if codes.shape[1] != self.n_components_:
            raise ValueError(
                f"{type(self).__name__} needs codes with one column for each of its "
                f"{self.n_components_} components. Got {codes.shape[1]}."
            )
        return codes @ self.components_

    def _validate(self, X: Any, *, reset: bool) -> Any:
        objects = isinstance(X, np.ndarray) and X.dtype.kind == "O"
        if objects and any(value is None for value in X.ravel()):
            raise ValueError(f"{type(self).__name__} takes NaN for a missing entry. Got None in X.")
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite="allow-nan" if takes_gaps(self) else True,
            reset=reset,
        )
        check_scale(self, X)
        return X

    def _problem(
        self, table: FactorizationTable, solver: str, penalties: tuple[Penalty, Penalty]
    ) -> Problem:
        k = n_components_of(self, table.values.shape)
        return table.problem(beta_of(self), solver, penalties, type(self).__name__, k)

    def _keep(
        self, problem: Any, course: Course, penalties: Any, sparsity: Any, dtype: Any
    ) -> Array:
        """Set the fitted attributes; return the codes of the training rows."""
        W, V = course.factors
        constrained = isinstance(sparsity, HoyerSparseness) and sparsity.codes is not None
        per_sample = constrained and sparsity.codes_axis == "sample"
        if not any(penalties) and not per_sample and self.fixed is None:
            # The scale of a component is arbitrary: it goes to the codes.
            by_sum = beta_of(self) != 2
            sizes = V.sum(axis=0) if by_sum else np.linalg.norm(V, axis=0)
            sizes[sizes == 0] = 1.0
            W, V = W * sizes, V / sizes
        # Multiplicative descents end at codes as good as their tolerance; others are made exact.
        free = not (constrained or isinstance(problem, Divergence) or self.fixed == "codes")
        factors = Factors(self._codes(problem, V, W) if free else W, V)
        if isinstance(problem, Divergence):
            error = 2 * problem.divergence(factors)
        else:
            error = problem.squared_error(factors)
        extra = sum(p.value(F) for p, F in zip(penalties, factors, strict=True))
        self._keep_components(V, max(error, 0.0), extra, course, penalties, dtype)
        return factors.W.astype(dtype, copy=False)

    def _keep_components(
        self,
        V: Array,
        error: float,
        extra: float,
        course: Course | PassCourse,
        penalties: tuple[Penalty, Penalty],
        dtype: Any,
    ) -> None:
        self.components_ = np.ascontiguousarray(V.T.astype(dtype))
        self.n_components_ = self._n_features_out = len(self.components_)
        self.reconstruction_err_ = float(np.sqrt(error))
        self.objective_ = 0.5 * error + extra
        self.objective_path_ = np.array(course.losses)
        self.optimality_, self.n_iter_ = course.optimality, course.n_iter
        self._fitted_penalties = penalties

    def _codes(self, problem: Any, V: Array, W: Array | None) -> Array:
        if not isinstance(problem, Divergence):
            return problem.solve(V, W)
        codes, unfinished = problem.solve(V, W)
        if unfinished:
            warn(
                f"{type(self).__name__}: the codes of {unfinished} rows have not converged. "
                "Components that are nearly alike make them ill-determined.",
                ConvergenceWarning,
            )
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # Other divergences count what a sparse table does not store.
        tags.input_tags.sparse = beta_of(self) in (1, 2)
        tags.input_tags.allow_nan = takes_gaps(self)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
