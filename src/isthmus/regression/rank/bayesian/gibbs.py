r"""A Gibbs sampler of rank-limited regression in factor form, for both likelihoods.

The model is :math:`y_i=AB^\top x_i+b+\varepsilon_i` with independent entries
:math:`A,B\sim N(0,\kappa)` and :math:`\kappa\sim\mathrm{InvGamma}`. Given :math:`B`, this is ridge
regression for :math:`A`, and the other way round, so both are drawn exactly. Laplace noise is a
mixture of Gaussians, :math:`\varepsilon\sim N(0,v)`, :math:`v\sim\mathrm{Exp}(2\tau^2)`; given
the :math:`v`, everything is Gaussian again [ParkCasella2008]_.

All functions work on a batch of chains, the first dimension of every array of a
:class:`GibbsState`; outputs may be the same for all chains or have that dimension too.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.regression.rank.bayesian.formulas import (
    Draws,
    RankPrior,
    Streams,
    closed_form,
    laplace_weights,
    log_likelihood,
    orthonormal_factors,
    principal_axes,
    transpose_each,
)
from isthmus.typing import Array


class GibbsState(NamedTuple):
    """Factors (C, n_outputs, rank) and (C, k, rank), intercept (C, n_outputs), noise and scale."""

    A: Array
    B: Array
    intercept: Array
    noise: Array
    scale: Array


class GaussianData(NamedTuple):
    """Sums over rows in the inputs' principal axes, which are all that Gaussian noise asks for.

    ``spectrum`` (k,) is the inputs' scatter, ``cross`` (..., n_outputs, k) that of outputs with
    inputs, ``total`` (...) the squares of all outputs; ``n_free`` the number of outputs less those
    that an intercept, integrated out by centring, has used up.
    """

    spectrum: Array
    cross: Array
    total: Array
    n_free: int

    def log_likelihood(self, state: GibbsState) -> Array:
        """Logarithm of the likelihood of each chain but for a constant."""
        return log_likelihood(self.errors(state), self.n_free, state.noise, "gaussian")

    def errors(self, state: GibbsState) -> Array:
        """Sum of squared residuals of each chain."""
        linear = 2 * np.sum(self.cross * (state.A @ transpose_each(state.B)), axis=(-2, -1))
        gram = transpose_each(self.spectrum[:, None] * state.B) @ state.B
        squared = np.sum((transpose_each(state.A) @ state.A) * gram, axis=(-2, -1))
        return np.maximum(self.total - linear + squared, 0)

    def sweep(self, state: GibbsState, prior: RankPrior, streams: Streams) -> GibbsState:
        """One draw of everything given the rest, O(k n_outputs rank) whatever the rows."""
        _, B, intercept, noise, scale = state
        (k, r), o = B.shape[1:], self.cross.shape[-2]
        precision = noise[:, None, None] ** -2.0
        ridge = 1 / scale[:, None, None]

        # Rows of A share P = B'X'XB / τ² + I/κ.
        P = precision * (transpose_each(self.spectrum[:, None] * B) @ B) + ridge * np.eye(r)
        A = _gaussian_rows(P, precision * (self.cross @ B), transpose_each(streams.normal(r, o)))

        # In the axes of A'A and X'X the entries of B are independent. To stay in them is free,
        # since the law of (A, B) is the same for every rotation of both.
        strength, axes = np.linalg.eigh(transpose_each(A) @ A)
        A = A @ axes
        curvature = self.spectrum[:, None] * strength[:, None, :]
        target = transpose_each(self.cross) @ A
        if 4 * k * r > self.n_free:
            # B follows the outputs so closely that given it the noise could hardly change.
            noise = self._noise_without_B(noise, curvature, target, ridge, prior, streams)
            precision = noise[:, None, None] ** -2.0
        Q = precision * curvature + ridge
        B = precision * target / Q + streams.normal(k, r) / np.sqrt(Q)

        fitted = np.sum((curvature * B - 2 * target) * B, axis=(1, 2))
        error = np.maximum(self.total + fitted, 0)
        shape = prior.noise_shape + self.n_free / 2
        noise = np.sqrt((prior.noise_rate + error / 2) / streams.gamma(shape))
        return _rescale(GibbsState(A, B, intercept, noise, scale), prior, streams)

    def _noise_without_B(
        self,
        noise: Array,
        curvature: Array,
        target: Array,
        ridge: Array,
        prior: RankPrior,
        streams: Streams,
    ) -> Array:
        """The noise after a few Metropolis steps given A alone, B integrated out.

        Steps of all lengths are tried, so that there is nothing to tune.
        """

        def log_density(noise: Array) -> Array:
            """In terms of log τ."""
            precision = noise**-2.0
            weight = precision[:, None, None]
            Q = weight * curvature + ridge
            gain = np.sum((weight * target) ** 2 / Q - np.log(Q), axis=(1, 2)) / 2
            free = self.n_free + 2 * prior.noise_shape
            return gain - free * np.log(noise) - (self.total / 2 + prior.noise_rate) * precision

        now = log_density(noise)
        lengths = 0.03 * 50 ** streams.uniform(10)
        factors = np.exp(lengths * streams.normal(10))
        thresholds = np.log(streams.uniform(10))
        for step in range(10):
            moved = noise * factors[:, step]
            then = log_density(moved)
            accepted = thresholds[:, step] < then - now
            noise, now = np.where(accepted, moved, noise), np.where(accepted, then, now)
        return noise


class LaplaceData(NamedTuple):
    """Rows in the inputs' principal axes, (n, k), and outputs, (..., n, n_outputs)."""

    X: Array
    Y: Array
    fit_intercept: bool

    def residuals(self, state: GibbsState) -> Array:
        """What each chain leaves unexplained, shape (C, n, n_outputs)."""
        return self.Y - state.intercept[:, None] - (self.X @ state.B) @ transpose_each(state.A)

    def log_likelihood(self, state: GibbsState) -> Array:
        """Logarithm of the likelihood of each chain but for a constant."""
        errors = np.abs(self.residuals(state)).sum(axis=(1, 2))
        count = self.Y.shape[-2] * self.Y.shape[-1]
        return log_likelihood(errors, count, state.noise, "laplace")

    def sweep(self, state: GibbsState, prior: RankPrior, streams: Streams) -> GibbsState:
        """One draw of everything given the rest, O(n rank (k² + n_outputs rank))."""
        _, B, intercept, _, scale = state
        (n, k), r = self.X.shape, B.shape[2]
        error = np.abs(self.residuals(state))
        o = error.shape[2]
        # Noise without the weights, then the weights given the noise: one joint draw.
        shape = prior.noise_shape + n * o
        noise = (prior.noise_rate + error.sum(axis=(1, 2))) / streams.gamma(shape)
        weights = laplace_weights(error, noise[:, None, None], streams)

        # For each output, weighted regression on the r combinations and a constant.
        ridge = 1 / scale[:, None]
        Z = self.X @ B
        penalty = np.broadcast_to(ridge, (len(Z), r))
        if self.fit_intercept:
            Z = np.concatenate([Z, np.ones((len(Z), n, 1))], axis=2)
            penalty = np.concatenate([penalty, np.zeros((len(Z), 1))], axis=1)
        q = Z.shape[2]
        products = (Z[:, :, :, None] * Z[:, :, None, :]).reshape(len(Z), n, q * q)
        P = (transpose_each(weights) @ products).reshape(len(Z), o, q, q)
        P += penalty[:, None, :, None] * np.eye(q)
        H = transpose_each(weights * self.Y) @ Z
        A = _gaussian_rows(P, H[:, :, None, :], streams.normal(o, 1, q))[:, :, 0]
        if self.fit_intercept:
            A, intercept = A[:, :, :r], A[:, :, r]

        # One column of B after the other, in the axes of A'A, where they are least entangled. In
        # row i, the weighted sums over outputs are all that matters: G = A'wA and U = A'w(y - b).
        _, axes = np.linalg.eigh(transpose_each(A) @ A)
        A, B = A @ axes, B @ axes
        squares = (A[:, :, :, None] * A[:, :, None, :]).reshape(len(A), o, r * r)
        G = (weights @ squares).reshape(len(A), n, r, r)
        U = (weights * (self.Y - intercept[:, None])) @ A
        XB = self.X @ B
        normal = streams.normal(r, 1, k)
        for j in range(r):
            own = G[:, :, j, j, None]
            others = np.sum(G[:, :, j] * XB, axis=2, keepdims=True) - own * XB[:, :, j, None]
            P = transpose_each(self.X * own) @ self.X + ridge[:, :, None] * np.eye(k)
            h = transpose_each(U[:, :, j, None] - others) @ self.X
            B[:, :, j] = _gaussian_rows(P, h, normal[:, j])[:, 0]
            XB[:, :, j] = (self.X @ B[:, :, j, None])[:, :, 0]
        return _rescale(GibbsState(A, B, intercept, noise, scale), prior, streams)


def _gaussian_rows(P: Array, H: Array, Z: Array) -> Array:
    """Rows drawn from N(P⁻¹h, P⁻¹) for the rows h of ``H``, by standard normal rows ``Z``."""
    L = np.linalg.cholesky(P)
    return transpose_each(
        np.linalg.solve(
            transpose_each(L), np.linalg.solve(L, transpose_each(H)) + transpose_each(Z)
        )
    )


def _rescale(state: GibbsState, prior: RankPrior, streams: Streams) -> GibbsState:
    r"""Move along what the likelihood cannot see, then draw the scale of the factors.

    Columns :math:`e^{u/2}a` and :math:`e^{-u/2}b` have the same product, and with little noise
    plain Gibbs hardly moves :math:`u`. Its law on that orbit,
    :math:`\exp(\tfrac{o-k}2u-(\|a\|^2e^u+\|b\|^2e^{-u})/2\kappa)`, is log-concave; one Metropolis
    step with Student's t about its mode nearly always accepts [LiuSabatti2000]_.
    """
    A, B, intercept, noise, scale = state
    (o, r), k = A.shape[1:], B.shape[1]
    # The columns of any axes will do, but not of axes that depend on A and B: these would turn
    # with the move, which would then not preserve volume as the law above presumes.
    axes = np.linalg.qr(streams.normal(r, r))[0]
    A, B = A @ axes, B @ axes
    tilt = (o - k) / 2
    a = np.sum(A * A, axis=1) / (2 * scale[:, None])
    b = np.sum(B * B, axis=1) / (2 * scale[:, None])
    # Root of tilt - a e^u + b e^-u = 0, by the sign of tilt that does not cancel.
    root = np.sqrt(tilt**2 + 4 * a * b) + abs(tilt)
    mode = np.log(root / (2 * a)) if tilt >= 0 else np.log(2 * b / root)
    width = (a * np.exp(mode) + b * np.exp(-mode)) ** -0.5
    df = 5.0
    t = streams.student(df, r)
    u = mode + width * t

    def log_target(u: Array) -> Array:
        return tilt * u - a * np.exp(u) - b * np.exp(-u)

    def log_proposal(t: Array) -> Array:
        return -(df + 1) / 2 * np.log1p(t * t / df)

    with np.errstate(over="ignore"):  # a far tail of t has no mass under the target
        gain = log_target(u) - log_target(np.zeros_like(u))
    gain += log_proposal(-mode / width) - log_proposal(t)
    stretch = np.exp(np.where(np.log(streams.uniform(r)) < gain, u, 0) / 2)[:, None]
    A, B = A * stretch, B / stretch
    squares = np.sum(A * A, axis=(1, 2)) + np.sum(B * B, axis=(1, 2))
    shape = prior.scale_shape + (o + k) * r / 2
    scale = (prior.scale_rate + squares / 2) / streams.gamma(shape)
    return GibbsState(A, B, intercept, noise, scale)


def gibbs_chains(
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
    Q, spectrum = principal_axes(X)
    Z = X @ Q
    (n, o), k = Y.shape, len(spectrum)
    data: GaussianData | LaplaceData
    if likelihood == "gaussian":
        total = np.asarray(np.sum(Y * Y))
        data = GaussianData(spectrum, Y.T @ Z, total, (n - fit_intercept) * o)
    else:
        data = LaplaceData(Z, Y, fit_intercept)
    state = _start(Z, Y, rank, prior, streams)
    kept: list[GibbsState] = []
    fits = []
    for sweep in range(n_warmup + thin * n_samples):
        state = data.sweep(state, prior, streams)
        if sweep >= n_warmup and (sweep - n_warmup + 1) % thin == 0:
            fits.append(data.log_likelihood(state))
            if likelihood == "gaussian" and fit_intercept:
                spread = state.noise[:, None] / np.sqrt(n)
                state = state._replace(intercept=spread * streams.normal(o))
            kept.append(state)
        report(sweep)
    A, B, intercept, noise, scale = (np.stack(part, axis=1) for part in zip(*kept, strict=True))
    B = Q @ B
    if k < X.shape[1]:
        # Of directions in which no row lies, the prior is all there is to know.
        G = streams.normal(n_samples, X.shape[1], rank)
        B += np.sqrt(scale)[..., None, None] * (G - Q @ (Q.T @ G))
    return Draws(*orthonormal_factors(A, B), intercept, noise, np.stack(fits, axis=1))


def _start(Z: Array, Y: Array, rank: int, prior: RankPrior, streams: Streams) -> GibbsState:
    """Factors of the closed form, spread out by the scale of the prior."""
    k, o = Z.shape[1], Y.shape[1]
    V, s, W = closed_form(Z, Y, min(rank, k, o))
    spread = np.sqrt(prior.scale_rate)
    A = spread * streams.normal(o, rank)
    B = spread * streams.normal(k, rank)
    A[:, :, : len(s)] += V * np.sqrt(s)
    B[:, :, : len(s)] += W * np.sqrt(s)
    residual = np.sqrt(np.mean((Y - ((Z @ W) * s) @ V.T) ** 2))
    # Outputs that are met exactly leave none, but the prior keeps the noise from zero.
    residual = max(residual, np.sqrt(prior.noise_rate))
    chains = len(streams)
    return GibbsState(
        A,
        B,
        np.zeros((chains, o)),
        np.full(chains, residual),
        np.full(chains, 2 * prior.scale_rate),
    )
