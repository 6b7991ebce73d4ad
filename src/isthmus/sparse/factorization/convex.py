"""Factorisation by mixtures of samples: archetypes, and convex non-negative factorisation."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import (
    check_int,
    check_scale,
)
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, integer, real, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.linalg.threads import openmp
from isthmus.sparse.factorization.convex_formulas import (
    ConvexCourse,
    Mixture,
    cluster_means,
    furthest_rows,
    hull_candidates,
    mixed_descent,
    multiplicative_convex,
    single_rows,
)
from isthmus.sparse.factorization.nnls import nonnegative_least_squares, simplex_least_squares
from isthmus.typing import Array, IntArray

# Starts on a cone are compared by so many iterations on so many rows; most are clusterings.
TRIAL_STEPS, TRIAL_ROWS, N_CLUSTERINGS = 20, 500, 12


class ConvexFactorization(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Explain rows by components that are themselves mixtures of rows.

    .. math:: \min_{C,M}\ \tfrac12\|X-C\,MX\|_F^2,\qquad C\ge0,\ M\ge0,

    where with ``constraint="simplex"`` the rows of :math:`C` and :math:`M` sum to one: the
    components are *archetypes* on the hull of the data, and every row is described by shares of
    them [Cutler1994]_. With ``"cone"`` sums are free (convex non-negative factorisation,
    [Ding2010]_). The data may be negative. Local minima exist; see ``n_init``.

    Parameters
    ----------
    n_components : int, default=3
        Number of components, at most the number of samples.
    constraint : {"simplex", "cone"}, default="simplex"
    candidates : {"all", "hull"}, default="all"
        Which rows are fitted and mixed. ``"hull"``, for many rows: only corners of the hulls in
        planes of leading principal axes [Thurau2011]_; codes are then found for all rows.
    n_axes : int, default=5
        Number of those axes.
    solver : {"auto", "multiplicative"}, default="auto"
        ``"auto"`` moves one component at a time to the nearest point of the hull, exactly.
        ``"multiplicative"`` has the published updates for the cone, with n × n memory.
    n_init : int, default=1
        Starts, of which the best result is kept.
    tol : float, default=1e-5
        Ends where components have less than this share to gain: on the simplex by their duality
        gaps, of the squared norm of the centred data; on the cone by the best row, or by what an
        iteration has gained over the last ten, of the loss.
    max_iter : int, default=2000
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    mixing_ : csr_array of shape (n_components, n_samples)
        The mixtures: ``components_ = mixing_ @ X``.
    candidates_ : ndarray of int
        The rows that were fitted.
    reconstruction_err_ : float
        Frobenius norm of the residual of all rows.
    objective_path_ : ndarray
        Half of its square on the fitted rows, along the iterations; it never rises.
    optimality_ : float
    n_iter_ : int

    See Also
    --------
    NonnegativeFactorization : free components of non-negative data.

    Notes
    -----
    An iteration costs O(n·d·k) and memory O(n·(d + k)); no n × n matrix is made.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import ConvexFactorization
    >>> corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> shares = np.random.default_rng(0).dirichlet([0.3, 0.3, 0.3], size=300)
    >>> model = ConvexFactorization(3, random_state=0).fit(shares @ corners)
    >>> bool(all(np.linalg.norm(model.components_ - c, axis=1).min() < 0.1 for c in corners))
    True
    >>> model.transform([[2.0, 1.0]]).sum().round(12)
    np.float64(1.0)
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "constraint": choice("simplex", "cone"),
        "candidates": choice("all", "hull"),
        "n_axes": integer(1),
        "solver": choice("auto", "multiplicative"),
        "n_init": integer(1),
        "tol": real(0),
        "max_iter": integer(1),
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        n_components: int = 3,
        *,
        constraint: str = "simplex",
        candidates: str = "all",
        n_axes: int = 5,
        solver: str = "auto",
        n_init: int = 1,
        tol: float = 1e-5,
        max_iter: int = 2000,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.constraint = constraint
        self.candidates = candidates
        self.n_axes = n_axes
        self.solver = solver
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

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find components of the rows of ``X``; return the codes of the rows."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        check_scale(self, X)
        self._check_parameters(len(X))
        random = check_random_state(self.random_state)
        simplex = self.constraint == "simplex"
        # Weights that sum to one do not see the origin: without it no digits are lost.
        offset = X.mean(axis=0, dtype=np.float64) if simplex else np.zeros(X.shape[1])
        rows = X - offset
        chosen = self._candidates(rows)
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:

            def report(step: int, loss: float, optimality: float) -> None:
                line.update(iteration=step, objective=loss, optimality=optimality)

            fits = [self._descend(rows[chosen], random, report) for _ in range(int(self.n_init))]
        best = min(fits, key=lambda fit: fit.losses[-1])
        if not best.converged:
            warn(
                f"{type(self).__name__} did not reach its tolerance: the optimality is "
                f"{best.optimality:.2g} after {best.n_iter} iterations, expected {self.tol:g}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.components_ = (best.components + offset).astype(X.dtype)
        self.n_components_ = self._n_features_out = len(self.components_)
        self.candidates_ = chosen
        self.mixing_ = _table(best, chosen, len(X))
        codes = self._codes(X)
        self.reconstruction_err_ = float(np.linalg.norm(X - codes @ self.components_))
        self.objective_path_ = np.array(best.losses)
        self.optimality_, self.n_iter_ = best.optimality, best.n_iter
        return codes.astype(X.dtype, copy=False)

    def transform(self, X: Any) -> Array:
        """Return the codes of rows that are best for ``components_``."""
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        return self._codes(X).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows ``codes @ components_``."""
        check_is_fitted(self, "components_")
        codes = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        if codes.shape[1] != self.n_components_:
            raise ValueError(
                f"{type(self).__name__} needs codes with one column for each of its "
                f"{self.n_components_} components. Got {codes.shape[1]}."
            )
        return codes @ self.components_

    def _check_parameters(self, n: int) -> None:
        check_int(
            self.n_components, "n_components", self, low=1, high=n, why="the number of samples"
        )
        if self.constraint == "simplex" and self.solver == "multiplicative":
            raise ValueError(
                f"The 'solver' parameter of {type(self).__name__} must be 'auto' with "
                "constraint='simplex': the multiplicative updates are those of the cone. Got "
                "'multiplicative' instead."
            )
        if self.constraint == "cone" and self.candidates == "hull":
            raise ValueError(
                f"The 'candidates' parameter of {type(self).__name__} must be 'all' with "
                "constraint='cone': corners of a hull need not span the cone. Got 'hull' instead."
            )

    def _candidates(self, rows: Array) -> IntArray:
        everyone = np.arange(len(rows))
        if self.candidates == "all":
            return everyone
        corners = hull_candidates(rows, int(self.n_axes))
        return corners if len(corners) >= self.n_components else everyone

    def _descend(self, rows: Array, random: Any, report: Any) -> ConvexCourse:
        k = int(self.n_components)
        if self.solver == "multiplicative":
            with openmp():
                labels = KMeans(k, n_init=1, random_state=random).fit_predict(rows)
            codes = np.eye(k)[labels] + np.finfo(float).eps
            return multiplicative_convex(
                rows, k, codes, tol=self.tol, max_iter=self.max_iter, report=report
            )
        simplex = self.constraint == "simplex"
        if simplex:
            start = single_rows(rows, furthest_rows(rows, k, int(random.randint(len(rows)))))
        else:
            start = self._start_on_cone(rows, random)
        return mixed_descent(
            rows, start, simplex=simplex, tol=self.tol, max_iter=self.max_iter, report=report
        )

    def _start_on_cone(self, rows: Array, random: Any) -> list[Mixture]:
        """Rows far apart or means of clusters, whichever leads lower in a few iterations.

        Rows far apart are corners of a hull; the edges of a cone may be anywhere among them.
        """
        k, n = int(self.n_components), len(rows)
        far = single_rows(rows, furthest_rows(rows, k, int(random.randint(n))))
        if k > len(np.unique(rows, axis=0)):
            return far

        def clusters(X: Array) -> list[Mixture]:
            with openmp():
                labels = KMeans(k, n_init=1, random_state=random).fit_predict(X)
            return cluster_means(X, labels, k)

        few = np.sort(random.permutation(n)[: max(TRIAL_ROWS, k)])
        if n == len(few) or k > len(np.unique(rows[few], axis=0)):
            return _lowest(rows, [far, *(clusters(rows) for _ in range(N_CLUSTERINGS))])
        best = _lowest(rows[few], [clusters(rows[few]) for _ in range(N_CLUSTERINGS)])
        mapped = [m._replace(rows=few[m.rows]) for m in best]
        return _lowest(rows, [far, mapped, clusters(rows)])

    def _codes(self, X: Array) -> Array:
        simplex = self.constraint == "simplex"
        solve = simplex_least_squares if simplex else nonnegative_least_squares
        return solve(X, self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _lowest(rows: Array, starts: list[list[Mixture]]) -> list[Mixture]:
    """Where the start leads that leads lowest on a cone, in a few iterations."""
    trials = [
        mixed_descent(
            rows, start, simplex=False, tol=0.0, max_iter=TRIAL_STEPS, report=lambda *_: None
        )
        for start in starts
    ]
    return min(trials, key=lambda trial: trial.losses[-1]).mixtures


def _table(best: ConvexCourse, chosen: IntArray, n: int) -> csr_array:
    """The mixtures over all rows."""
    sizes = [len(m.rows) for m in best.mixtures]
    weights = np.concatenate([m.weights for m in best.mixtures])
    columns = np.concatenate([chosen[m.rows] for m in best.mixtures])
    return csr_array((weights, columns, np.cumsum([0, *sizes])), shape=(len(sizes), n))
