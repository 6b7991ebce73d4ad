"""Local polynomial regression: Nadaraya-Watson, local linear, local quadratic."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_length, check_piece, check_scale, refusal
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    integer,
    real,
    several,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.linalg.threads import threads_for
from isthmus.regression.capabilities import named_or
from isthmus.regression.local.bandwidth import N_GRID, N_REFINE, common_factor, separate_factors
from isthmus.regression.local.left_out import left_out_error, left_out_parts
from isthmus.regression.selection import CRITERIA, as_selection
from isthmus.smoothers.density_kernels import density_kernel as as_density_kernel
from isthmus.smoothers.local_polynomial import (
    LocalSmoother,
    Smoothed,
    smooth,
    smoothing_weights,
)
from isthmus.typing import Array, IntArray

CHOICES = ("loo", "loo-ard")
# A fit that takes longer is announced, at this many operations per second: a rough figure.
LONG_HOURS, FLOPS = 0.05, 1e9


class LocalPolynomialRegression(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Regression by a polynomial fitted around every query, its bandwidth by leave-one-out.

    At a query :math:`x` the polynomial :math:`p` of the given degree minimises

    .. math:: \sum_i K\big((x_i-x)/h\big)\,\|y_i-p(x_i-x)\|^2, \qquad f(x)=p(0).

    Degree 0 is the Nadaraya-Watson estimator, a weighted mean of outputs; degree
    1 takes away its bias at the border, degree 2 also the bias of curved functions.

    The degree is lowered at queries whose neighbours do not support it: where there are too few of
    them, where they lie too close to a line, or so far away that noise in the outputs would be
    amplified more than fivefold. Far from all data the prediction is the nearest output. The error
    of a bandwidth is the exact leave-one-out error, at the cost of one pass.

    Parameters
    ----------
    degree : {0, 1, 2}, default=1
        Degree of the local polynomial.
    bandwidth : {"loo", "loo-ard"}, float or array-like of shape (n_features,), default="loo"
        A number is in units of the inputs. ``"loo"`` chooses one factor of the
        standard deviations of the inputs, ``"loo-ard"`` then one bandwidth for each
        input by gradient descent: inputs that do not matter are switched off. (statsmodels'
        ``KernelReg`` always searches one for each, which takes longer the more inputs there are.)
    density_kernel : str or DensityKernel, default="gaussian"
        What weighs the neighbours, see :func:`~isthmus.smoothers.density_kernel`. The
        compact kernels leave queries without neighbours, with a warning.
    cross_terms : bool, default=True
        Whether degree 2 has products of two inputs. Without them there are 2q + 1
        terms instead of (q + 1)(q + 2)/2, but the axes of the inputs matter.
    ridge : float, default=1e-8
        Share of the mean diagonal that is added to all terms but the constant, for
        neighbours that lie on a line or a plane.
    cv : Selection, "loo", int or splitter, default="loo"
        Which rows are left out at once, and how many of them at most
        (:class:`~isthmus.regression.Selection`, by default 2000); all other rows predict them.
    verbose : int, default=0
        Above 0, a line with the error reached so far.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (n_features,)
    degree_ : int
        The degree in use: lower than asked for where there are more terms than rows.
    loo_error_ : float
        Mean squared error of the rows left out, summed over outputs.
    loo_score_ : float
        Share of the variance of the outputs that is predicted for rows left out.
    X_fit_, Y_fit_ : the training data

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import LocalPolynomialRegression
    >>> x = np.linspace(0, 3, 40)[:, None]
    >>> y = np.sin(2 * x[:, 0])
    >>> model = LocalPolynomialRegression(2).fit(x, y)
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(2.0)) < 1e-3)
    True
    >>> bool(abs(model.jacobian([[1.0]])[0, 0] - 2 * np.cos(2.0)) < 1e-2)
    True
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "degree": integer(0, 2),
        "bandwidth": choice(*CHOICES)
        | real(0, include_low=False)
        | several(real(0, include_low=False)),
        "density_kernel": named_or(as_density_kernel, "a density kernel or its name"),
        "cross_terms": boolean,
        "ridge": real(0),
        "cv": CRITERIA,
        "verbose": verbosity,
    }

    def __init__(
        self,
        degree: int = 1,
        *,
        bandwidth: Any = "loo",
        density_kernel: Any = "gaussian",
        cross_terms: bool = True,
        ridge: float = 1e-8,
        cv: Any = "loo",
        verbose: int = 0,
    ):
        self.degree = degree
        self.bandwidth = bandwidth
        self.density_kernel = density_kernel
        self.cross_terms = cross_terms
        self.ridge = ridge
        self.cv = cv
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "LocalPolynomialRegression":
        """Keep the data and choose the bandwidth; return self."""
        selection = as_selection(self.cv, self)
        X, Y = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype="float64", ensure_min_samples=2
        )
        Y = np.asarray(Y, dtype=float)
        assert_all_finite(Y, input_name="y")  # None among objects has become NaN
        check_scale(self, X)
        check_scale(self, Y, what="y")
        given = self._given_bandwidth(X.shape[1])
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y
        spread = X.std(axis=0)
        spread[spread == 0] = 1.0
        parts = left_out_parts(selection, len(X))
        self.degree_ = self._affordable_degree(
            len(X), X.shape[1], sum(len(part.rows) for part in parts)
        )
        fit = self._polynomial()
        # Leave-one-out does not change under a shift of the outputs, rounding errors do.
        centered = Y - Y.mean(axis=0)

        if given is not None:
            bandwidth = given
            error = left_out_error(fit, X / bandwidth, centered, parts)[0]
        else:
            # A pass shares its blocks of rows, beside which threads of BLAS would spin.
            with ProgressLine(type(self).__name__, verbose=self.verbose) as line, threads_for(0):
                factor, error = common_factor(
                    fit, X / spread, centered, parts, lambda e: line.update(loo_error=e)
                )
                bandwidth = factor * spread
                if self.bandwidth == "loo-ard":
                    factors, error = separate_factors(
                        fit, X / spread, centered, parts, (factor, error),
                        lambda e: line.update(loo_error=e),
                    )  # fmt: skip
                    bandwidth = factors * spread
        predicted = centered[np.concatenate([part.rows for part in parts])]
        variance = float(np.mean(np.sum(predicted**2, axis=1)))
        self.bandwidth_, self.loo_error_ = bandwidth, error
        self.loo_score_ = 1.0 - error / variance if variance > 0 else 1.0
        self.X_fit_, self.Y_fit_, self._flat = X, Y, flat
        return self

    def predict(self, X: Any) -> Array:
        """Return the outputs for ``X``, shape (n_samples,) or (n_samples, n_outputs).

        Warns where a compact kernel reaches no training row; the output of the
        nearest one is returned there.
        """
        X, dtype = self._queries(X)
        values = self._smoothed(X, self.Y_fit_).values.astype(dtype, copy=False)
        return values[:, 0] if self._flat else values

    def jacobian(self, X: Any) -> Array:
        """Return the derivatives of :meth:`predict` by the inputs.

        Shape (n_samples, n_features), or (n_samples, n_outputs, n_features) for outputs
        of two dimensions.
        """
        X, dtype = self._queries(X)
        h = self.bandwidth_
        found = smooth(
            self._polynomial(), X / h, self.X_fit_ / h, self.Y_fit_, jacobian=True
        ).jacobian
        assert found is not None
        found = (found / h).astype(dtype, copy=False)
        return found[:, 0] if self._flat else found

    def degree_used(self, X: Any) -> IntArray:
        """Return the degree at each row of ``X``: lower where neighbours are few."""
        n_terms = self._smoothed(self._queries(X)[0], self.Y_fit_).n_terms
        return np.where(n_terms == 1, 0, np.where(n_terms == self.n_features_in_ + 1, 1, 2))

    # What is linear in the training outputs ----------------------------------------------

    #: The weights of the training outputs do at every query.
    sums_to_one = True

    @property
    def provides(self) -> frozenset[str]:
        """What the regression can do, see :mod:`isthmus.typing`."""
        return frozenset({"vectors", "predict", "several_outputs", "settled", "weights"})

    def settled(self) -> "LocalPolynomialRegression":
        """Return an unfitted copy with the bandwidths that were chosen."""
        check_is_fitted(self)
        copy: LocalPolynomialRegression = clone(self)
        return copy.set_params(bandwidth=self.bandwidth_)

    def smooth(self, X: Any, G: Any) -> Array:
        """Return predictions at ``X``, had the training outputs been the columns ``G``.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        G : array of shape (n_train,) or (n_train, p)
            A row for each training row, in their order.

        Returns
        -------
        array of shape (n,) or (n, p)
        """
        X, _ = self._queries(X)
        G = np.asarray(G, dtype=float)
        check_length(self, len(self.X_fit_), len(G), what="rows of G as training rows")
        values = self._smoothed(X, G[:, None] if G.ndim == 1 else G).values
        return values[:, 0] if G.ndim == 1 else values

    def weights(self, X: Any) -> Any:
        """Return the weights of the training outputs at ``X``, shape (n, n_train).

        ``weights(X) @ G`` is ``smooth(X, G)``. A SciPy sparse array where the density kernel has
        compact support.
        """
        X, _ = self._queries(X)
        h = self.bandwidth_
        return smoothing_weights(self._polynomial(), X / h, self.X_fit_ / h)

    def _queries(self, X: Any) -> tuple[Array, Any]:
        """Queries in double precision, and the precision they came in."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return X.astype(np.float64, copy=False), X.dtype

    def _smoothed(self, X: Array, outputs: Array) -> Smoothed:
        h = self.bandwidth_
        mean = outputs.mean(axis=0)
        found = smooth(self._polynomial(), X / h, self.X_fit_ / h, outputs - mean)
        found = found._replace(values=found.values + mean)
        n_alone = int(np.count_nonzero(found.mass <= 0))
        if n_alone:
            warn(
                f"{n_alone} of {len(X)} queries have no training row within the bandwidth "
                f"of the {self.density_kernel!r} kernel; they get the output of the nearest one. "
                "A wider bandwidth or the 'gaussian' kernel reaches them.",
                UserWarning,
            )
        return found

    def _polynomial(self) -> LocalSmoother:
        return LocalSmoother(
            check_piece(self.density_kernel, "density_kernel", self, as_density_kernel),
            self.degree_,
            bool(self.cross_terms),
            float(self.ridge),
            adaptive=True,
        )

    def _affordable_degree(self, n: int, q: int, n_left_out: int) -> int:
        """The degree asked for, or a lower one with a warning where rows cannot determine it."""
        degree = int(self.degree)
        n_terms = [1, q + 1, (q + 1) * (q + 2) // 2 if self.cross_terms else 2 * q + 1]
        bearable = max(k for k in range(degree + 1) if k == 0 or n_terms[k] < n)
        advice = (
            "Reduce the inputs first, as by PCA or SupportFeatureMachine, or take KernelRidgeCV, "
            "which is at its best with many."
        )
        if bearable < degree:
            warn(
                f"LocalPolynomialRegression: a polynomial of degree {degree} in {q} inputs has "
                f"{n_terms[degree]} terms, which {n} rows cannot determine; degree {bearable} is "
                f"used. {advice}",
                UserWarning,
            )
        steps = N_GRID + N_REFINE if isinstance(self.bandwidth, str) else 1
        hours = steps * n_left_out * n * n_terms[bearable] ** 2 / FLOPS / 3600
        if hours > LONG_HOURS:
            warn(
                f"LocalPolynomialRegression will take some {60 * hours:.0f} minutes: each of "
                f"{n_left_out} rows left out takes {n_terms[bearable]} terms, {steps} times. "
                f"{advice} Or lower the degree, give a bandwidth, or leave out fewer rows with "
                "cv=Selection(max_rows=...).",
                UserWarning,
            )
        return bearable

    def _given_bandwidth(self, q: int) -> Array | None:
        """The bandwidths as an array, or None where they are to be chosen."""
        if isinstance(self.bandwidth, str):
            return None
        given = np.asarray(self.bandwidth, dtype=float)
        if given.ndim == 1 and len(given) != q:
            expected = f"'loo', 'loo-ard', a float in (0, inf) or {q} of them, one for each input"
            raise ValueError(refusal(self, "bandwidth", expected, self.bandwidth))
        return np.broadcast_to(given, (q,)).copy()
