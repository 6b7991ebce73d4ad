"""What the samplers of rank-limited regression share: streams, priors, start, draws."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.slices import block_slices
from isthmus.regression.rank.bayesian.convergence import convergence
from isthmus.regression.rank.reduced_rank_formulas import Scatter, factors, rank_paths
from isthmus.typing import Array


class Streams:
    """Random numbers of a batch of chains, each from its own generator.

    What a chain draws does not depend on the chains it is batched with, so the result of a fit
    does not depend on the number of processes.
    """

    def __init__(self, generators: Sequence[np.random.Generator]):
        self.generators = list(generators)

    def __len__(self) -> int:
        return len(self.generators)

    def normal(self, *shape: int) -> Array:
        """Standard normal draws of shape (n_chains, *shape)."""
        return np.stack([g.standard_normal(shape) for g in self.generators])

    def uniform(self, *shape: int) -> Array:
        """Uniform draws from [0, 1) of shape (n_chains, *shape)."""
        return np.stack([g.random(shape) for g in self.generators])

    def student(self, df: float, *shape: int) -> Array:
        """Draws of Student's t of shape (n_chains, *shape)."""
        return np.stack([g.standard_t(df, shape) for g in self.generators])

    def gamma(self, shape: float) -> Array:
        """One gamma draw of unit rate for each chain."""
        return np.array([g.standard_gamma(shape) for g in self.generators])


class RankPrior(NamedTuple):
    r"""Inverse-gamma laws :math:`p(x)\propto x^{-a-1}e^{-b/x}` of noise and scale.

    ``noise_*`` belong to :math:`\tau^2` with Gaussian and to :math:`\tau` with Laplace noise;
    shape 0 is the published :math:`p(\tau)\propto1/\tau`, kept from zero by the rate.
    ``scale_*`` belong to the variance :math:`\kappa` of the entries of both factors.
    """

    noise_shape: float
    noise_rate: float
    scale_shape: float
    scale_rate: float


class Draws(NamedTuple):
    """Kept draws, each of shape (n_chains, n_samples, ...), of ``F = V diag(s) W'``."""

    V: Array
    s: Array
    W: Array
    intercept: Array
    noise: Array
    log_likelihood: Array


def weak_prior(X: Array, Y: Array, rank: int, likelihood: str) -> RankPrior:
    """The prior in the units of centred data, with which no result depends on those units.

    Expected under the scale ``k0`` is that the map explains about what the outputs vary, but the
    tails are Cauchy's. The noise is kept from falling far below a thousandth of the outputs.
    """
    n, o = Y.shape
    varies_x = float(np.sum(X * X)) / n
    varies_y = float(np.sum(Y * Y)) / n
    varies_x, varies_y = varies_x or 1.0, varies_y or 1.0
    k0 = np.sqrt(varies_y / (rank * o * varies_x))
    floor = 1e-3 * np.sqrt(varies_y / o)
    rate = floor**2 / 2 if likelihood == "gaussian" else floor
    return RankPrior(0.0, rate, 0.5, k0 / 2)


def principal_axes(X: Array) -> tuple[Array, Array]:
    """Axes ``Q`` (n_features, k) that the rows span and the sums of squares along them (k,)."""
    n, d = X.shape
    if n >= d:
        spectrum, Q = linalg.eigh(X.T @ X, check_finite=False)
    else:
        _, sigma, Qt = linalg.svd(X, full_matrices=False, check_finite=False)
        spectrum, Q = sigma[::-1] ** 2, Qt[::-1].T
    keep = spectrum > max(n, d) * np.finfo(float).eps * spectrum[-1]
    keep[-1] = True
    return Q[:, keep], np.maximum(spectrum[keep], 0)


def closed_form(X: Array, Y: Array, rank: int) -> tuple[Array, Array, Array]:
    """Factors ``V, s, W`` of the rank-limited least squares map of centred rows."""
    S_xx = X.T @ X
    alpha = 1e-8 * max(float(np.trace(S_xx)) / len(S_xx), np.finfo(float).tiny)
    path = next(rank_paths(Scatter(S_xx, Y.T @ X, np.sum(Y * Y, axis=0)), [alpha]))
    return factors(path.coef(rank), path.basis[:, :rank])


def transpose_each(M: Array) -> Array:
    """Each matrix of a batch transpose_each."""
    return np.swapaxes(M, -1, -2)


def orthonormal_factors(A: Array, B: Array) -> tuple[Array, Array, Array]:
    """Singular factors ``V, s, W`` of each ``A B'`` in a batch, at the cost of its rank."""
    Q_a, R_a = np.linalg.qr(A)
    Q_b, R_b = np.linalg.qr(B)
    U, s, Tt = np.linalg.svd(R_a @ transpose_each(R_b))
    return Q_a @ U, s, Q_b @ transpose_each(Tt)


def log_likelihood(error: Array, count: float, noise: Array, likelihood: str) -> Array:
    r"""Logarithm of the likelihood of ``count`` outputs but for a constant.

    ``error`` is the sum of squared (Gaussian) or absolute (Laplace) residuals. The published
    formulas leave out :math:`-n\log\tau`, without which the noise runs to infinity.
    """
    misfit = error / (2 * noise**2) if likelihood == "gaussian" else error / noise
    return -count * np.log(noise) - misfit


def laplace_weights(error: Array, noise: Array, streams: Streams) -> Array:
    r"""Precisions :math:`1/v` of Laplace residuals of size ``error``, as if they were Gaussian.

    They are inverse Gaussian with mean :math:`1/(\tau|e|)` and shape :math:`1/\tau^2`, drawn as
    the smaller or larger root of a quadratic [MSH1976]_, written so that nothing cancels at
    :math:`e=0`.
    """
    half = streams.normal(*error.shape[1:]) ** 2 * (noise / 2)
    root = error + half + np.sqrt(half * (half + 2 * error))
    smaller = streams.uniform(*error.shape[1:]) * (root + error) < root
    # The larger root is never taken at e = 0.
    square = np.where(smaller, 1.0, error**2)
    return np.where(smaller, 1 / root, root / square) / noise


def diagnostics(draws: Draws) -> tuple[dict[str, Array], dict[str, Array]]:
    """Split R-hat and bulk effective sample size of the map and of what belongs to it."""
    rhat, ess = {}, {}
    for name in ("s", "intercept", "noise", "log_likelihood"):
        rhat[name], ess[name] = convergence(getattr(draws, name))
    (C, S, o, _), d = draws.V.shape, draws.W.shape[2]
    rhat["coef"], ess["coef"] = np.empty((o, d)), np.empty((o, d))
    # Several arrays of the size of all draws are in use at once.
    for rows in block_slices(o, 8 * C * S * d):
        coef = (draws.V[:, :, rows] * draws.s[:, :, None]) @ transpose_each(draws.W)
        rhat["coef"][rows], ess["coef"][rows] = convergence(coef)
    return rhat, ess
