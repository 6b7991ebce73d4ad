"""Linear regression with a Gaussian prior, in closed form."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg, optimize
from scipy.special import ndtri
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import LARGEST, check_float, check_scale, refusal
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, boolean, none, numbers, real
from isthmus.blocks.fitting import open_fit, require_outputs
from isthmus.blocks.moments import Moments, merge
from isthmus.regression.outputs import check_outputs
from isthmus.regression.rank.in_blocks import block_moments
from isthmus.regression.rank.reduced_rank_formulas import (
    Scatter,
    about_origin,
    joint_moments,
    scatter_of,
)
from isthmus.typing import Array

# The noise that is searched, as a share of the signal along the strongest direction.
RATIO_RANGE = (1e-10, 1e6)
# Below this a sum of squares has hardly any digits, and what is divided by it overflows.
SMALLEST = 1e-200


class LinearPosterior(NamedTuple):
    r"""Weights given moments of rows, in the coordinates in which their prior is white.

    With :math:`\Sigma_p=RR^\top` and :math:`R^\top X^\top XR=U\Lambda U^\top` the mean is
    :math:`RU(\Lambda+\alpha)^{-1}U^\top R^\top X^\top y`, and :math:`\sigma^2` times
    :math:`\mathrm{root}\,\mathrm{root}^\top`, :math:`\mathrm{root}=RU(\Lambda+\alpha)^{-1/2}`, the
    covariance; :math:`\alpha` is the noise variance over the scale of the prior.
    """

    eigenvalues: Array
    R_U: Array
    projections: Array  # U'R'X'Y
    squares: Array  # Σ y²
    n_rows: float  # less one for a fitted mean

    def coef(self, alpha: float) -> Array:
        """Mean of the weights, shape (n_outputs, n_features)."""
        return (self.R_U @ (self.projections / (self.eigenvalues + alpha)[:, None])).T

    def root(self, alpha: float) -> Array:
        """Square root of their covariance in units of the noise variance."""
        return self.R_U / np.sqrt(self.eigenvalues + alpha)

    def fits(self, alpha: float) -> Array:
        r""":math:`y^\top(X\Sigma_pX^\top+\alpha I)^{-1}y` for each output."""
        explained = np.sum(self.projections**2 / (self.eigenvalues + alpha)[:, None], axis=0)
        return np.maximum((self.squares - explained) / alpha, np.finfo(np.float64).tiny)

    def log_likelihood(self, alpha: float, scales: Array) -> float:
        r"""Log marginal likelihood, outputs having the covariance
        :math:`\mathrm{scale}\,(X\Sigma_pX^\top+\alpha I)`."""
        n, q, d = self.n_rows, len(scales), len(self.eigenvalues)
        log_det = float(np.sum(np.log(self.eigenvalues + alpha))) + (n - d) * np.log(alpha)
        value = np.sum(self.fits(alpha) / scales + n * np.log(scales))
        return -0.5 * float(value + q * (log_det + n * np.log(2 * np.pi)))

    def best_ratio(self) -> float:
        """The ratio of noise to prior of largest likelihood, the scale being the best."""
        top = float(self.eigenvalues[-1])
        if top < SMALLEST:
            # The rows do not vary: no ratio explains more than another, so take ordinary ones.
            top = 1.0

        def loss(log_alpha: float) -> float:
            alpha = float(np.exp(log_alpha))
            return -self.log_likelihood(alpha, self.fits(alpha) / self.n_rows)

        low, high = (float(np.log(ratio * top)) for ratio in RATIO_RANGE)
        # Several tops are possible: a coarse look first.
        grid = np.linspace(low, high, 60)
        best = int(np.argmin([loss(t) for t in grid]))
        ends = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)]))
        found = optimize.minimize_scalar(loss, bounds=ends, method="bounded")
        return float(np.exp(found.x))


def linear_posterior(scatter: Scatter, n_rows: float, prior: Array) -> LinearPosterior:
    """Posterior of the weights from second moments; ``prior`` is their covariance."""
    R = linalg.cholesky(prior, lower=True, check_finite=False)
    eigenvalues, U = linalg.eigh(R.T @ scatter.xx @ R, check_finite=False)
    R_U = R @ U
    return LinearPosterior(
        np.maximum(eigenvalues, 0), R_U, R_U.T @ scatter.yx.T, scatter.yy_diagonal, n_rows
    )


class BayesianLinearRegression(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Linear regression with a Gaussian prior of any covariance, in closed form.

    The model is :math:`y=w^\top x+b+\varepsilon` with noise of variance :math:`\sigma^2`, weights
    :math:`w\sim N(0,\Sigma_p)` and nothing assumed about :math:`b`. Given rows, with
    :math:`A=X^\top X/\sigma^2+\Sigma_p^{-1}`,

    .. math:: w\mid X,y\sim N(A^{-1}X^\top y/\sigma^2,\ A^{-1}),

    whose mean is ridge regression with the penalty :math:`\sigma^2\Sigma_p^{-1}`. It is a Gaussian
    process with the kernel :math:`x^\top\Sigma_pz`, at a cost that does not grow with the rows.

    Parameters
    ----------
    prior_covariance : float, sequence of float or array of shape (d, d), default=1.0
        :math:`\Sigma_p`: a multiple of the identity, a diagonal or a positive definite matrix.
    noise : float or None, default=None
        Standard deviation of the noise. None learns it from the marginal likelihood, together
        with the scale of the prior, of which ``prior_covariance`` then gives the shape alone.
    fit_intercept : bool, default=True

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Posterior means.
    intercept_ : float or ndarray of shape (n_outputs,)
    covariance_ : ndarray of shape (n_features, n_features)
        Of the weights of an output, in units of its noise variance.
    noise_, prior_scale_ : float or ndarray of shape (n_outputs,)
        Standard deviation of the noise, and the factor of the prior's standard deviations.
    log_marginal_likelihood_ : float
        Of all outputs, about their mean where an intercept is fitted.
    moments_ : Moments
        Of the rows so far.

    See Also
    --------
    GaussianProcess : with kernels that are not linear.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import BayesianLinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [1.0, 0.0, -2.0] + 3 + 0.5 * rng.normal(size=200)
    >>> model = BayesianLinearRegression().fit(X, y)
    >>> model.coef_.round(1) + 0.0
    array([ 1.,  0., -2.])
    >>> bool(0.45 < model.noise_ < 0.55)
    True
    >>> low, high = model.predict_interval(X[:1], 0.9)
    >>> bool(low[0] < high[0])
    True
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "prior_covariance": real(0, include_low=False) | numbers(1, 2),
        "noise": real(0, LARGEST, include_low=False) | none,
        "fit_intercept": boolean,
    }

    def __init__(
        self, prior_covariance: Any = 1.0, *, noise: float | None = None, fit_intercept: bool = True
    ):
        self.prior_covariance = prior_covariance
        self.noise = noise
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows ``X`` and outputs ``y``; return self."""
        X, Y, flat = self._check_data(X, y, reset=True)
        self._update(joint_moments(X, Y), flat)
        return self

    def _fit_blocks(self, X: Any, y: Any = None) -> Self:
        """The same, of rows that come in blocks."""
        rows = open_fit(self, X, y)
        require_outputs(self, rows)
        self._update(rows.fold(block_moments, merge), rows.checks[1].ndim == 1)
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Take in more rows: the answer is that of a fit on all of them."""
        first = not hasattr(self, "moments_")
        X, Y, flat = self._check_data(X, y, reset=first)
        moments = joint_moments(X, Y)
        if not first:
            if len(moments.mean) != len(self.moments_.mean) or flat != self._flat:
                raise ValueError(
                    "BayesianLinearRegression.partial_fit needs outputs of as many columns as "
                    f"before: expected {len(self.moments_.mean) - X.shape[1]}, got {Y.shape[1]}."
                )
            moments = merge(self.moments_, moments)
        self._update(moments, flat)
        return self

    def _check_data(self, X: Any, y: Any, *, reset: bool) -> tuple[Array, Array, bool]:
        X = validate_data(self, X, dtype=np.float64, reset=reset)
        Y = np.asarray(check_outputs(self, y, len(X)), dtype=np.float64)
        check_scale(self, X)
        check_scale(self, Y, what="y")
        return X, Y.reshape(len(Y), -1), Y.ndim == 1

    def _prior(self, d: int) -> Array:
        given = self.prior_covariance
        expected = f"a positive float, {d} of them or a symmetric matrix of shape ({d}, {d})"
        try:
            S = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(refusal(self, "prior_covariance", expected, given)) from error
        if S.ndim < 2:
            S = np.diag(np.broadcast_to(S, (d,))) if S.shape in ((), (d,)) else S
        if (
            isinstance(given, bool)
            or S.shape != (d, d)
            or not np.isfinite(S).all()
            or not np.allclose(S, S.T)
        ):
            raise ValueError(refusal(self, "prior_covariance", expected, given))
        smallest = float(linalg.eigvalsh(S)[0])
        if smallest <= 0:
            raise ValueError(
                "The 'prior_covariance' parameter of BayesianLinearRegression must be positive "
                f"definite. Got a smallest eigenvalue of {smallest:.3g}."
            )
        return S

    def _update(self, moments: Moments, flat: bool) -> None:
        d = self.n_features_in_
        prior = self._prior(d)
        used = moments if self.fit_intercept else about_origin(moments)
        n_rows = max(moments.count - bool(self.fit_intercept), 1)
        posterior = linear_posterior(scatter_of(used, d), n_rows, prior)
        q = len(moments.mean) - d
        if self.noise is None:
            alpha = posterior.best_ratio()
            scales = posterior.fits(alpha) / n_rows
        else:
            alpha, scales = float(self.noise) ** 2, np.ones(q)
        coef = posterior.coef(alpha)
        self._root = posterior.root(alpha)
        self._center = used.mean[:d]
        self._intercept_variance = 1 / moments.count if self.fit_intercept else 0.0
        self._flat, self.moments_ = flat, moments
        self.covariance_ = self._root @ self._root.T
        self.log_marginal_likelihood_ = posterior.log_likelihood(alpha, scales)
        intercept = used.mean[d:] - coef @ self._center
        self._noises = np.sqrt(alpha * scales)
        self.coef_ = coef[0] if flat else coef
        self.intercept_, self.noise_, self.prior_scale_ = (
            float(value[0]) if flat else value
            for value in (intercept, self._noises, np.sqrt(scales))
        )

    def predict(self, X: Any, return_std: bool = False, *, latent: bool = False) -> Any:
        """Return the means of the outputs, and with ``return_std`` also their spread.

        That is the standard deviation of a new output; with ``latent``, of the linear
        function alone.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean = X @ np.atleast_2d(self.coef_).T + self.intercept_
        if not return_std:
            return self._as_given(mean)
        along = (X - self._center) @ self._root
        unit = np.einsum("ij,ij->i", along, along) + self._intercept_variance
        std = np.sqrt(unit + (not latent))[:, None] * self._noises
        return self._as_given(mean), self._as_given(std)

    def predict_interval(
        self, X: Any, level: float = 0.9, *, latent: bool = False
    ) -> tuple[Array, Array]:
        """Return the ends of intervals that hold a new output with probability ``level``.

        With ``latent`` they are to hold the linear function itself.
        """
        check_float(level, "level", self, high=1.0)
        mean, std = self.predict(X, return_std=True, latent=latent)
        reach = ndtri((1 + level) / 2) * std
        return mean - reach, mean + reach

    def sample(
        self, X: Any, n_samples: int = 1, random_state: Any = None, *, latent: bool = False
    ) -> Array:
        """Draw outputs for the rows of ``X`` as the model expects to see them.

        Returns an array of shape (n_samples, n_rows, n_outputs), without the last for outputs that
        were given as a vector. With ``latent`` they are without noise.
        """
        mean = self.predict(X).reshape(np.shape(X)[0], -1)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        rng = check_random_state(random_state)
        d, q = self._root.shape[1], mean.shape[1]
        weights = rng.standard_normal((n_samples, d, q))
        shift = np.sqrt(self._intercept_variance) * rng.standard_normal((n_samples, 1, q))
        unit = ((X - self._center) @ self._root) @ weights + shift
        if not latent:
            unit += rng.standard_normal(unit.shape)
        return self._as_given(mean + self._noises * unit)

    def _as_given(self, Y: Array) -> Array:
        return Y[..., 0] if self._flat else Y
