"""Rank-limited regression with its uncertainty."""

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_float, check_seed
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    integer,
    jobs,
    seed,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.regression.rank.base import RankLimitedRegressor
from isthmus.regression.rank.bayesian.formulas import Draws, Streams, diagnostics, weak_prior
from isthmus.regression.rank.bayesian.gibbs import gibbs_chains
from isthmus.regression.rank.bayesian.published import published_chains
from isthmus.regression.rank.reduced_rank import (
    A_RANK,
    ReducedRankRegression,
    chooses_rank,
)
from isthmus.regression.rank.reduced_rank_formulas import factors
from isthmus.typing import Array

SAMPLERS = {"gibbs": gibbs_chains, "published": published_chains}
# Chains whose R-hat is above this do not agree.
RHAT_LIMIT = 1.05


class BayesianStiefelRegression(RankLimitedRegressor):
    r"""Linear regression of limited rank, with a posterior instead of one answer.

    The model is :math:`y=Fx+b+\varepsilon` with :math:`F=V\operatorname{diag}(s)W^\top` of rank
    :math:`r`, and noise that is Gaussian (standard deviation :math:`\tau`) or, for outputs with
    outliers, Laplace (density :math:`e^{-|\varepsilon|/\tau}/2\tau`). Draws from the posterior
    give predictions, their uncertainty and new data like the old.

    Parameters
    ----------
    rank : int, None or "cv", default=None
        Number of combinations of inputs. None and ``"cv"`` take the choice of
        :class:`ReducedRankRegression`.
    likelihood : {"gaussian", "laplace"}, default="gaussian"
        Law of the noise.
    sampler : {"gibbs", "published"}, default="gibbs"
        See Notes.
    n_chains, n_samples : int, default=4, 250
        Number of chains, and of draws kept from each.
    n_warmup : int, default=250
        Number of draws discarded at the beginning of each chain.
    thin : int or "auto", default="auto"
        Sweeps between two draws. ``"auto"`` is 1, but 4 for ``"gibbs"`` with Laplace noise and 10
        for ``"published"``, in which one sweep takes a chain less far.
    fit_intercept : bool, default=True
        Have a constant :math:`b`, with a flat prior.
    n_jobs : int or None, default=None
        Number of processes among which the chains are shared. One process runs all chains at once
        as products of stacked matrices, which is best unless the problem is large. The result
        does not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shape (n_outputs, n_features) and (n_outputs,)
        Posterior means. A mean of matrices of rank r may have a higher one.
    V_, s_, W_ : ndarrays of shape (n_outputs, rank_), (rank_,), (n_features, rank_)
        The leading singular vectors and values of ``coef_``.
    noise_ : float
        Posterior mean of :math:`\tau`.
    best_coef_ : ndarray of shape (n_outputs, n_features)
        The draw of highest likelihood, which is what [Bakir2005]_ keeps.
    samples_ : dict of ndarrays
        All draws, chain after chain: ``"V"``, ``"s"``, ``"W"``, ``"intercept"``, ``"noise"``, and
        ``"log_likelihood"`` (but for a constant).
    rhat_, ess_ : dict of ndarrays
        Split R-hat and bulk effective sample size of ``"coef"``, ``"s"``, ``"intercept"``,
        ``"noise"`` and ``"log_likelihood"``; an R-hat above 1.05 warns.
    rank_ : int

    See Also
    --------
    ReducedRankRegression : the limit of little noise, in closed form.

    Notes
    -----
    **Priors.** Both samplers have the directions :math:`V` and :math:`W` uniform on their Stiefel
    manifolds and independent of :math:`s`, so inputs are best given comparable scales, and
    :math:`p(\tau)\propto1/\tau` (kept from zero at about a thousandth of the outputs, or data
    without noise would have no proper posterior). They differ in the strengths.

    ``"gibbs"`` has :math:`F=AB^\top` with independent entries :math:`N(0,\kappa)` of both factors,
    so that :math:`s` are the singular values of a product of Gaussian matrices, much like a
    penalty :math:`\sum_js_j/\kappa`. :math:`\kappa\sim\mathrm{InvGamma}(\frac12,\frac{\kappa_0}2)`
    has heavy tails about a :math:`\kappa_0` at which the map explains the variance of the outputs.

    ``"published"`` has :math:`p(s_j)\propto1/s_j` between 10⁻⁶ and 10⁶ times the largest strength
    of the closed form, and moves :math:`W,V,s,\tau` in turn by random walks along geodesics
    [Bakir2005]_, whose lengths are adapted during the warm-up. Its intercept with Laplace noise is
    that of the means. It needs many more sweeps.

    **Outliers** hardly move the map under the Laplace likelihood, but one :math:`\tau` serves all
    outputs, so they do widen what is said about it.

    **Cost** of a sweep of ``"gibbs"``: O(n_features · n_outputs · rank) with Gaussian noise,
    whatever the number of rows; O(n_samples · rank · (n_features² + n_outputs · rank)) with
    Laplace noise, a mixture of Gaussians [ParkCasella2008]_. With more features than rows
    it is the number of rows that counts.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import BayesianStiefelRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> F = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 6))
    >>> Y = X @ F.T + rng.laplace(scale=0.3, size=(200, 5))
    >>> Y[:3] += 1000
    >>> model = BayesianStiefelRegression(2, likelihood="laplace", random_state=0).fit(X, Y)
    >>> bool(np.abs(model.coef_ - F).max() < 0.15)
    True
    >>> mean, std = model.predict(X[:4], return_std=True)
    >>> mean.shape, std.shape
    ((4, 5), (4, 5))
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "rank": A_RANK,
        "likelihood": choice("gaussian", "laplace"),
        "sampler": choice(*SAMPLERS),
        "n_chains": integer(1),
        "n_samples": integer(4),
        "n_warmup": integer(0),
        "thin": choice("auto") | integer(1),
        "fit_intercept": boolean,
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        rank: int | str | None = None,
        *,
        likelihood: str = "gaussian",
        sampler: str = "gibbs",
        n_chains: int = 4,
        n_samples: int = 250,
        n_warmup: int = 250,
        thin: int | str = "auto",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.rank = rank
        self.likelihood = likelihood
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_samples = n_samples
        self.n_warmup = n_warmup
        self.thin = thin
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Draw from the posterior given rows ``X`` and outputs ``y``; return self."""
        X, Y, _ = self._check_data(X, y, None)
        if len(X) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two rows. Got n_samples = 1.")
        dtype, X = X.dtype, np.asarray(X, dtype=np.float64)
        if chooses_rank(self.rank):
            # The penalty of the prior is a weak one: so is that of the choice.
            closed = ReducedRankRegression(alpha=0.0, cv=5, fit_intercept=self.fit_intercept)
            rank = closed.fit(X, Y).rank_
        else:
            rank = self._check_rank(X.shape[1], Y.shape[1])
        x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        if self.fit_intercept:
            x_mean, y_mean = X.mean(axis=0), Y.mean(axis=0)
        draws = self._draws(X - x_mean, Y - y_mean, rank)
        # From the intercept at the means to the one at zero.
        at_mean = np.einsum("csor,csr->cso", draws.V * draws.s[..., None, :], x_mean @ draws.W)
        draws = draws._replace(intercept=draws.intercept + y_mean - at_mean)
        self._set_diagnostics(draws)
        self._set_posterior(draws, dtype)
        return self

    def _draws(self, X: Array, Y: Array, rank: int) -> Draws:
        n_chains = int(self.n_chains)
        if self.thin == "auto":
            slow = 4 if self.likelihood == "laplace" else 1
            thin = 10 if self.sampler == "published" else slow
        else:
            thin = int(self.thin)
        settings: dict[str, Any] = {
            "rank": rank,
            "likelihood": self.likelihood,
            "prior": weak_prior(X, Y, rank, self.likelihood),
            "fit_intercept": bool(self.fit_intercept),
            "n_warmup": thin * int(self.n_warmup),
            "n_samples": int(self.n_samples),
            "thin": thin,
        }
        first = check_seed(self.random_state, "random_state", self).randint(2**31 - 1)
        generators = np.random.default_rng(first).spawn(n_chains)
        sampler = SAMPLERS[self.sampler]
        n_groups = min(effective_n_jobs(self.n_jobs), n_chains)
        if n_groups == 1:
            with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
                return sampler(
                    X,
                    Y,
                    streams=Streams(generators),
                    report=lambda sweep: line.update(sweep=sweep + 1),
                    **settings,
                )
        ends = np.linspace(0, n_chains, n_groups + 1).astype(int)
        groups = Parallel(n_jobs=n_groups)(
            delayed(sampler)(X, Y, streams=Streams(generators[start:stop]), **settings)
            for start, stop in pairwise(ends)
        )
        return Draws(*(np.concatenate(parts) for parts in zip(*groups, strict=True)))

    def _set_diagnostics(self, draws: Draws) -> None:
        self.rhat_, self.ess_ = diagnostics(draws)
        worst = max(self.rhat_, key=lambda name: np.max(self.rhat_[name]))
        if np.max(self.rhat_[worst]) > RHAT_LIMIT:
            warn(
                f"The chains of {type(self).__name__} do not agree: R-hat of '{worst}' is "
                f"{np.max(self.rhat_[worst]):.3f}, above {RHAT_LIMIT}. Raise n_warmup and "
                "n_samples, or lower the rank.",
                ConvergenceWarning,
            )

    def _set_posterior(self, draws: Draws, dtype: Any) -> None:
        flat = Draws(*(part.reshape(-1, *part.shape[2:]) for part in draws))
        scaled = flat.V * flat.s[:, None]
        S, o, r = scaled.shape
        # The mean over draws and the sum over rank in one product.
        wide = np.moveaxis(scaled, 1, 0).reshape(o, S * r)
        coef = wide @ np.swapaxes(flat.W, 1, 2).reshape(S * r, -1) / S
        best = int(np.argmax(flat.log_likelihood))
        basis = np.linalg.svd(coef, full_matrices=False)[0][:, :r]
        self.V_, self.s_, self.W_ = (part.astype(dtype) for part in factors(coef, basis))
        self.coef_ = coef.astype(dtype)
        self.intercept_ = flat.intercept.mean(axis=0).astype(dtype)
        self.noise_ = float(flat.noise.mean())
        self.best_coef_ = (scaled[best] @ flat.W[best].T).astype(dtype)
        self.samples_ = flat._asdict()
        self.rank_ = r

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the posterior mean of the outputs, and with ``return_std`` also their spread.

        The spread is the standard deviation of a new output: of noise and of what the
        posterior leaves open about the map.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        mean = X @ self.coef_.T + self.intercept_
        if not return_std:
            return self._as_given(mean)
        draws = self.samples_
        noise = np.mean(draws["noise"] ** 2) * (1 if self.likelihood == "gaussian" else 2)
        variance = np.full(mean.shape, noise)
        n_draws = len(draws["noise"])
        for some in block_slices(n_draws, mean.size):
            variance += np.sum((self._outputs(X, some) - mean) ** 2, axis=0) / n_draws
        return self._as_given(mean), self._as_given(np.sqrt(variance).astype(mean.dtype))

    def sample(self, X: Any, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw outputs for the rows of ``X`` as the model expects to see them.

        Returns an array of shape (n_samples, n_rows, n_outputs), without the last for outputs that
        were given as a vector. Each of the ``n_samples`` uses one draw of the posterior for all
        rows, so that what rows have in common is kept.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rng = check_random_state(random_state)
        n_draws = len(self.samples_["noise"])
        # No draw twice before all have had their turn.
        rounds = -(-n_samples // n_draws)
        which = np.concatenate([rng.permutation(n_draws) for _ in range(rounds)])[:n_samples]
        Y = self._outputs(X, which)
        noise = rng.standard_normal if self.likelihood == "gaussian" else rng.laplace
        Y += self.samples_["noise"][which, None, None] * noise(size=Y.shape)
        return self._as_given(Y.astype(X.dtype, copy=False))

    def predict_interval(
        self, X: Any, level: float = 0.9, *, n_samples: int = 1000, random_state: Any = 0
    ) -> tuple[Array, Array]:
        """Return the ends of intervals that hold a new output with probability ``level``.

        They are quantiles of ``n_samples`` draws of each output, equally much left out on both
        sides.
        """
        check_float(level, "level", self, high=1.0)
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rng = check_random_state(random_state)
        shares = [(1 - level) / 2, (1 + level) / 2]
        ends = [
            np.quantile(self.sample(X[rows], n_samples, rng), shares, axis=0)
            for rows in block_slices(len(X), n_samples * len(self.intercept_))
        ]
        low, high = np.concatenate(ends, axis=1)
        return low, high

    def _outputs(self, X: Array, which: Any) -> Array:
        """Outputs without noise of some draws, shape (n_draws, n_rows, n_outputs)."""
        V, s, W, b = (self.samples_[name][which] for name in ("V", "s", "W", "intercept"))
        return ((X @ W) * s[:, None]) @ np.swapaxes(V, 1, 2) + b[:, None]

    def _as_given(self, Y: Array) -> Array:
        return Y[..., 0] if self._flat else Y
