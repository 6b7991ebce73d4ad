"""Covariances given by their spectrum: mixtures of Gaussians over frequencies."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus._parameters import Constraint, choice, integer, numbers
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.lags import Lags, common_lags
from isthmus.typing import Array

TWO_PI = 2 * np.pi
# Differences at a time, which stay in the cache with what is computed from them.
BLOCK_NUMBERS = 2**14
# Differences of evenly spaced numbers up to which calls cost more than what they compute, so that
# all components are computed at once.
MOST_AT_ONCE = 2**12


class Waves(NamedTuple):
    """One component on some pairs: weight times envelope, and by column the angles' cosines."""

    envelope: Array  # (n, m)
    angles: Array  # (d, n, m)
    cosines: Array  # (d, n, m)

    @property
    def values(self) -> Array:
        return self.envelope * np.multiply.reduce(self.cosines)

    @property
    def others(self) -> Array:
        """(d, n, m), or what is multiplied like it: the cosines of the other columns."""
        cosines = self.cosines
        if len(cosines) == 1:
            return np.ones((1, 1, 1), dtype=cosines.dtype)
        # Products without one column from both ends: dividing by a cosine may divide by zero.
        before, after = np.ones_like(cosines), np.ones_like(cosines)
        np.cumprod(cosines[:-1], axis=0, out=before[1:])
        np.cumprod(cosines[:0:-1], axis=0, out=after[-2::-1])
        return before * after


@dataclass
class SpectralMixture(Kernel):
    r"""Spectral mixture covariance, whose spectrum is a mixture of Gaussians [Wilson2013]_.

    .. math:: k(x,z)=\sum_qw_q\prod_je^{-2\pi^2\tau_j^2\sigma_{qj}^2}\cos(2\pi\mu_{qj}\tau_j),
              \qquad\tau=x-z .

    A component has the frequency :math:`\mu_{qj}` in column :math:`j`, and forgets its phase over a
    distance of :math:`1/(2\pi\sigma_{qj})`: with :math:`\mu_q=0` it is a Gaussian of that width,
    with :math:`\sigma_q=0` it repeats for ever. With enough components it approximates every
    stationary covariance. In a :class:`~isthmus.regression.GaussianProcess` all weights,
    frequencies and deviations above zero are learned; those that are zero stay zero.

    Parameters
    ----------
    n_components : int, default=4
        Number of components where ``frequencies`` is ``"auto"``.
    weights : sequence of float or "auto", default="auto"
        One per component; ``"auto"`` gives all the same weight and a sum of one.
    frequencies : array of shape (n_components, n_columns) or "auto", default="auto"
        In periods per unit of the column. ``"auto"`` begins with zero and goes on in equal ratios
        from one period over the range of the data up to half of what evenly spaced rows resolve.
    deviations : array of shape (n_components, n_columns) or "auto", default="auto"
        Standard deviations of the frequencies; ``"auto"`` is half of the first frequencies, so that
        the components together cover all of them, and half a period over the range for zero.

    Notes
    -----
    The likelihood has many maxima in the frequencies: give those that are known, take several
    starts (``n_init``), or both. O(n² Q d) operations; where one
    column is evenly spaced, gaps allowed, O(n Q) of them and a look-up in a table for each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import SpectralMixture
    >>> k = SpectralMixture(frequencies=[[0.5]], deviations=[[0.0]])  # one period in two units
    >>> k(np.array([[0.0], [1.0], [2.0]]))[0].round(4)
    array([ 1., -1.,  1.])
    """

    __module__ = "isthmus.kernels"

    n_components: int = 4
    weights: Any = field(default="auto", kw_only=True)
    frequencies: Any = field(default="auto", kw_only=True)
    deviations: Any = field(default="auto", kw_only=True)
    stationary = True
    offers = frozenset({"gradient"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "weights": choice("auto") | numbers(1),
        "frequencies": choice("auto") | numbers(2),
        "deviations": choice("auto") | numbers(2),
    }

    def resolve(self, X: Array) -> "SpectralMixture":
        n, d = X.shape
        reach = np.ptp(X, axis=0).astype(np.float64)
        reach[reach == 0] = 1.0
        Q = self.n_components
        given = [p for p in (self.weights, self.frequencies, self.deviations) if not _is_auto(p)]
        if given:
            Q = len(given[-1])
        periods = _first_periods(Q, n ** (1 / d))
        mu = periods[:, None] / reach if _is_auto(self.frequencies) else self.frequencies
        wide = 0.5 * np.maximum(periods, 1.0)[:, None] / reach
        sigma = wide if _is_auto(self.deviations) else self.deviations
        w = np.full(Q, 1 / Q) if _is_auto(self.weights) else self.weights
        fixed = replace(
            self,
            n_components=Q,
            weights=_tuples(w),
            frequencies=_tuples(mu),
            deviations=_tuples(sigma),
        )
        fixed.check_shapes(d)
        return fixed

    def check_shapes(self, d: int) -> None:
        """Refuse parameters that do not fit together, or ``d`` columns."""
        w, mu, sigma = self._arrays(np.float64)
        if mu.shape != sigma.shape or mu.shape != (len(w), d):
            raise ValueError(
                f"SpectralMixture needs frequencies and deviations of shape ({len(w)}, {d}), one "
                f"row for each weight and one column for each of X. Got {mu.shape} and "
                f"{sigma.shape}."
            )
        if min(w.min(), mu.min(), sigma.min()) < 0:
            raise ValueError(
                "The weights, frequencies and deviations of SpectralMixture must not be negative. "
                f"Got {min(w.min(), mu.min(), sigma.min()):g}."
            )

    def _arrays(self, dtype: Any) -> tuple[Array, Array, Array]:
        return (
            np.asarray(self.weights, dtype=dtype),
            np.asarray(self.frequencies, dtype=dtype),
            np.asarray(self.deviations, dtype=dtype),
        )

    def _components(self, tau: Array) -> Iterator[tuple[int, Waves]]:
        """Number of a component and its waves at signed differences (d, n, m)."""
        w, mu, sigma = self._arrays(tau.dtype)
        squares = tau * tau
        for q in range(len(w)):
            exponents = np.einsum("jnm,j->nm", squares, -0.5 * (TWO_PI * sigma[q]) ** 2)
            envelope = np.exp(exponents, out=exponents)
            envelope *= w[q]
            angles = (TWO_PI * mu[q])[:, None, None] * tau
            yield q, Waves(envelope, angles, np.cos(angles))

    def _blocks(self, X: Array, Z: Array) -> Iterator[tuple[slice, slice, Array]]:
        """Rows, columns and their differences; of a symmetric matrix up to the diagonal."""
        width = X.shape[1] * max(1, len(Z))
        for rows in block_slices(len(X), width, block_size=max(1, BLOCK_NUMBERS // width)):
            columns = slice(0, rows.stop if Z is X else len(Z))
            yield rows, columns, X[rows].T[:, :, None] - Z[columns].T[:, None, :]

    def gram(self, X: Array, Z: Array) -> Array:
        lags = _lags(X, Z)
        if lags is not None:
            if len(lags.distances) > MOST_AT_ONCE:
                return lags.spread(self._at(lags.distances[None, None])[0])
            envelopes, angles = self._on_line(lags.distances)
            return lags.spread(np.add.reduce(envelopes * np.cos(angles), axis=0))
        K = np.empty((len(X), len(Z)), dtype=np.result_type(X, Z))
        for rows, columns, tau in self._blocks(X, Z):
            K[rows, columns] = self._at(tau)
            if Z is X:
                K[: rows.start, rows] = K[rows, : rows.start].T
        return K

    def _at(self, tau: Array) -> Array:
        """Values at signed differences (d, n, m)."""
        return np.asarray(sum(waves.values for _, waves in self._components(tau)))

    def diag(self, X: Array) -> Array:
        total = 1.0 if _is_auto(self.weights) else float(np.sum(self.weights))
        return np.full(len(X), total, dtype=np.result_type(np.asarray(X), np.float32))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        _, mu, sigma = self._arrays(np.result_type(X, Z))
        result = np.zeros(X.shape, dtype=np.result_type(X, Z))
        for rows in block_slices(len(X), 6 * X.shape[1] * max(1, len(Z))):
            tau = X[rows].T[:, :, None] - Z.T[:, None, :]
            for q, waves in self._components(tau):
                weight = W[rows] * waves.envelope
                decay = (sigma[q] * TWO_PI)[:, None, None] ** 2 * tau * waves.cosines
                slope = decay + TWO_PI * mu[q][:, None, None] * np.sin(waves.angles)
                result[rows] -= np.einsum("nm,jnm->nj", weight, slope * waves.others)
        return result

    def diag_gradient(self, X: Array) -> Array:
        return np.zeros_like(X)

    # What is learned: the logarithms of all parameters above zero, in one row.

    def log_parameters(self) -> Array:
        values = np.concatenate([part.ravel() for part in self._arrays(np.float64)])
        return np.log(values[values > 0])

    def with_log_parameters(self, theta: Array) -> "SpectralMixture":
        parts = self._arrays(np.float64)
        values = np.concatenate([part.ravel() for part in parts])
        values[values > 0] = np.exp(theta)
        ends = np.cumsum([part.size for part in parts])[:-1]
        w, mu, sigma = (
            v.reshape(part.shape) for v, part in zip(np.split(values, ends), parts, strict=True)
        )
        return replace(self, weights=_tuples(w), frequencies=_tuples(mu), deviations=_tuples(sigma))

    def parameter_gradient(self, X: Any, Z: Any, W: Array, K: Array | None = None) -> Array:
        lags = _lags(X, Z)
        if lags is not None:
            if len(lags.distances) > MOST_AT_ONCE:
                return self._slopes(lags.distances[None, None], lags.collect(W)[None])
            return self._slopes_on_line(lags.distances, lags.collect(W))
        total = np.zeros(len(self.log_parameters()))
        for rows, columns, tau in self._blocks(X, Z):
            weights = W[rows, columns]
            if Z is X and rows.start:  # each pair before the diagonal stands for two
                weights = np.concatenate([2 * weights[:, : rows.start], W[rows, rows]], axis=1)
            total += self._slopes(tau, weights)
        return total

    def _on_line(self, tau: Array) -> tuple[Array, Array]:
        """Weights times envelopes, and angles, of all components at differences (m,), (Q, m)."""
        w, mu, sigma = self._arrays(tau.dtype)
        envelopes = np.exp(-0.5 * (TWO_PI * sigma) ** 2 * (tau * tau))
        envelopes *= w[:, None]
        return envelopes, TWO_PI * mu * tau

    def _slopes_on_line(self, tau: Array, W: Array) -> Array:
        """Derivatives of the weighted sum of values at differences (m,) of one column."""
        _, mu, sigma = self._arrays(np.float64)
        weighted, angles = self._on_line(tau)
        weighted *= W
        waved = weighted * np.cos(angles)
        slopes = np.sin(angles, out=angles)
        slopes *= tau
        by_frequency = -np.einsum("qm,qm->q", weighted, slopes)[:, None] * TWO_PI * mu
        by_deviation = -np.einsum("qm,m->q", waved, tau * tau)[:, None] * (TWO_PI * sigma) ** 2
        return self._learned(waved.sum(axis=1), by_frequency, by_deviation)

    def _slopes(self, tau: Array, W: Array) -> Array:
        """Derivatives of the weighted sum of values at signed differences (d, n, m)."""
        parts = self._arrays(np.float64)
        by_weight, by_frequency, by_deviation = (np.zeros_like(part) for part in parts)
        squares = tau * tau
        for q, waves in self._components(tau):
            weighted = W * waves.envelope
            waved = weighted * np.multiply.reduce(waves.cosines)
            by_weight[q] = waved.sum()
            slopes = np.sin(waves.angles, out=waves.angles)
            slopes *= tau
            slopes *= waves.others
            # Not products of NumPy's BLAS, whose threads would spin beside a factorisation.
            by_frequency[q] = -np.einsum("nm,jnm->j", weighted, slopes)
            by_deviation[q] = -np.einsum("nm,jnm->j", waved, squares)
        by_frequency *= TWO_PI * parts[1]
        by_deviation *= (TWO_PI * parts[2]) ** 2
        return self._learned(by_weight, by_frequency, by_deviation)

    def diag_parameter_gradient(self, X: Any, w: Array) -> Array:
        weights, mu, sigma = self._arrays(np.float64)
        return self._learned(w.sum() * weights, np.zeros_like(mu), np.zeros_like(sigma))

    def _learned(self, *gradients: Array) -> Array:
        values = np.concatenate([part.ravel() for part in self._arrays(np.float64)])
        return np.concatenate([g.ravel() for g in gradients])[values > 0]


def _lags(X: Array, Z: Array) -> Lags | None:
    """The few distinct differences of one column of evenly spaced numbers."""
    if X.shape[1] != 1:
        return None
    x = X[:, 0]
    return common_lags(x, x if Z is X else Z[:, 0])


def _first_periods(Q: int, rows: float) -> Array:
    """Periods over the range of a column, zero and then in equal ratios."""
    most = max(0.25 * rows, 2.0)
    return np.array([1.0]) if Q == 1 else np.r_[0.0, np.geomspace(1.0, most, Q - 1)]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str)


def _tuples(values: Any) -> Any:
    """Nested tuples of floats, which compare and print well."""
    array = np.asarray(values, dtype=np.float64)
    return tuple(map(float, array)) if array.ndim == 1 else tuple(map(_tuples, array))
