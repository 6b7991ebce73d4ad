r"""The published sampler: Metropolis within Gibbs on :math:`(V,s,W,\tau)`.

Directions have the uniform prior of their Stiefel manifolds, strengths :math:`p(s_j)\propto1/s_j`
and the noise :math:`p(\tau)\propto1/\tau` [Bakir2005]_. As printed, the posterior is improper,
since :math:`1/s` has infinite mass at zero where the likelihood stays positive; here :math:`s` is
kept within bounds, far apart.
"""

from collections.abc import Callable

import numpy as np

from isthmus.optimize.stiefel_sampling import tangent_gaussian_step
from isthmus.regression.rank.bayesian.formulas import (
    Draws,
    RankPrior,
    Streams,
    closed_form,
    log_likelihood,
)
from isthmus.typing import Array

# Between the shares of accepted steps that serve one parameter (0.44) and many (0.23) best.
ACCEPTANCE = 0.3


def published_chain(
    X: Array,
    Y: Array,
    start: tuple[Array, Array, Array, float],
    *,
    likelihood: str,
    prior: RankPrior,
    count: int,
    bounds: tuple[float, float],
    n_warmup: int,
    n_samples: int,
    thin: int,
    rng: np.random.Generator,
    log_prior: Callable[[Array], float] | None = None,
    report: Callable[[int], None] = lambda step: None,
) -> Draws:
    """One chain of the published sampler on centred rows, started at ``V, s, W, noise``.

    Each sweep makes one Metropolis step for W, V, s and the noise in turn. The lengths of the
    steps are adapted during the first ``n_warmup`` sweeps and then left alone. ``count`` outputs
    are behind the rows, which are fewer where Gaussian rows were compressed. ``log_prior`` of the
    strengths, as a density in log s, takes the place of the published flat one.
    """
    V, s, W, noise = start
    power = 2 if likelihood == "gaussian" else 1

    def value(V: Array, s: Array, W: Array, noise: float) -> tuple[float, float]:
        """Logarithms of likelihood and, in terms of log s and log τ, posterior."""
        E = np.abs(Y - ((X @ W) * s) @ V.T)
        fit = float(log_likelihood(np.sum(E**power), count, np.asarray(noise), likelihood))
        # A law of τ² in terms of log τ.
        known = -prior.noise_shape * power * np.log(noise) - prior.noise_rate / noise**power
        return fit, fit + known + (log_prior(s) if log_prior is not None else 0.0)

    steps = np.full(4, 0.1)
    fit, now = value(V, s, W, noise)
    kept = []
    for sweep in range(n_warmup + thin * n_samples):
        for block in range(4):
            new_V, new_s, new_W, new_noise = V, s, W, noise
            if block == 0:
                new_W = tangent_gaussian_step(W, steps[0], rng)
            elif block == 1:
                new_V = tangent_gaussian_step(V, steps[1], rng)
            elif block == 2:
                # Flat in log s, so the prior 1/s and the Jacobian of the step cancel.
                new_s = s * np.exp(steps[2] * rng.standard_normal(len(s)))
            else:
                new_noise = noise * float(np.exp(steps[3] * rng.standard_normal()))
            inside = bounds[0] <= new_s.min() and new_s.max() <= bounds[1]
            new_fit, new = value(new_V, new_s, new_W, new_noise) if inside else (0.0, -np.inf)
            accepted = np.log(rng.random()) < new - now
            if accepted:
                V, s, W, noise, fit, now = new_V, new_s, new_W, new_noise, new_fit, new
            if sweep < n_warmup:
                gain = (sweep + 1) ** -0.6
                steps[block] = min(steps[block] * np.exp(gain * (accepted - ACCEPTANCE)), 3.0)
        if sweep >= n_warmup and (sweep - n_warmup + 1) % thin == 0:
            kept.append((V, s, W, np.zeros(Y.shape[1]), noise, fit))
        report(sweep)
    return Draws(*(np.array(part) for part in zip(*kept, strict=True)))


def published_chains(
    X: Array,
    Y: Array,
    *,
    rank: int,
    likelihood: str,
    prior: RankPrior,
    fit_intercept: bool,
    n_warmup: int,
    n_samples: int,
    thin: int,
    streams: Streams,
    report: Callable[[int], None] = lambda step: None,
) -> Draws:
    """A batch of chains on rows that are centred where there is an intercept."""
    n, o = Y.shape
    V, s, W = closed_form(X, Y, rank)
    gaussian = likelihood == "gaussian"
    count = (n - (gaussian and fit_intercept)) * o
    if gaussian and n > X.shape[1] + o:
        # Rows of a triangle have the same sums of squares as all rows.
        triangle = np.linalg.qr(np.c_[X, Y])[1]
        X, Y = triangle[:, : X.shape[1]], triangle[:, X.shape[1] :]
    unit = float(s.max()) or 1.0
    noise = np.sqrt(np.sum((Y - ((X @ W) * s) @ V.T) ** 2) / (n * o) + prior.noise_rate)
    chains = []
    for rng in streams.generators:
        start = (
            tangent_gaussian_step(V, 0.3, rng),
            np.maximum(s, 1e-3 * unit) * np.exp(0.3 * rng.standard_normal(len(s))),
            tangent_gaussian_step(W, 0.3, rng),
            float(noise),
        )
        chain = published_chain(
            X,
            Y,
            start,
            likelihood=likelihood,
            prior=prior,
            count=count,
            bounds=(1e-6 * unit, 1e6 * unit),
            n_warmup=n_warmup,
            n_samples=n_samples,
            thin=thin,
            rng=rng,
            report=report,
        )
        if gaussian and fit_intercept:
            spread = chain.noise[:, None] / np.sqrt(n)
            chain = chain._replace(intercept=spread * rng.standard_normal((n_samples, o)))
        chains.append(chain)
    return Draws(*(np.stack(part) for part in zip(*chains, strict=True)))
