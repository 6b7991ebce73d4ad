"""Covariances given by their spectrum: mixtures of Gaussians over frequencies."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus._parameters import Constraint, choice, integer, numbers
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.typing import Array

TWO_PI = 2 * np.pi


class Waves(NamedTuple):
    """One component on some rows: weight times envelope, and by column the cosines and sines."""

    envelope: Array  # (n, m)
    others: Array  # (d, n, m): product of the cosines of the other columns
    cosines: Array  # (d, n, m)
    sines: Array  # (d, n, m)

    @property
    def values(self) -> Array:
        return self.envelope * self.others[0] * self.cosines[0]


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
    starts (``n_init``), or both. O(n² Q d) operations.

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

    def _components(self, X: Array, Z: Array) -> Iterator[tuple[int, Array, Waves]]:
        """Number of a component, signed differences (d, n, m) and its waves."""
        w, mu, sigma = self._arrays(np.result_type(X, Z))
        tau = X.T[:, :, None] - Z.T[:, None, :]
        for q in range(len(w)):
            squares = np.einsum("jnm,j->nm", tau * tau, sigma[q] ** 2)
            angles = TWO_PI * mu[q][:, None, None] * tau
            cosines, sines = np.cos(angles), np.sin(angles)
            # Products without one column from both ends: dividing by a cosine may divide by zero.
            before, after = np.ones_like(cosines), np.ones_like(cosines)
            np.cumprod(cosines[:-1], axis=0, out=before[1:])
            np.cumprod(cosines[:0:-1], axis=0, out=after[-2::-1])
            envelope = w[q] * np.exp(-0.5 * TWO_PI**2 * squares)
            yield q, tau, Waves(envelope, before * after, cosines, sines)

    def _blocks(self, X: Array, Z: Array) -> Iterator[slice]:
        return iter(list(block_slices(len(X), 6 * X.shape[1] * len(Z), block_size=None)))

    def gram(self, X: Array, Z: Array) -> Array:
        K = np.zeros((len(X), len(Z)), dtype=np.result_type(X, Z))
        for rows in self._blocks(X, Z):
            for _, _, waves in self._components(X[rows], Z):
                K[rows] += waves.values
        return K

    def diag(self, X: Array) -> Array:
        total = 1.0 if _is_auto(self.weights) else float(np.sum(self.weights))
        return np.full(len(X), total, dtype=np.result_type(np.asarray(X), np.float32))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        _, mu, sigma = self._arrays(np.result_type(X, Z))
        result = np.zeros(X.shape, dtype=np.result_type(X, Z))
        for rows in self._blocks(X, Z):
            for q, tau, waves in self._components(X[rows], Z):
                weight = W[rows] * waves.envelope
                decay = (sigma[q] * TWO_PI)[:, None, None] ** 2 * tau * waves.cosines
                slope = decay + TWO_PI * mu[q][:, None, None] * waves.sines
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
        parts = self._arrays(np.float64)
        by_weight, by_frequency, by_deviation = (np.zeros_like(part) for part in parts)
        for rows in self._blocks(X, Z):
            for q, tau, waves in self._components(X[rows], Z):
                weighted = W[rows] * waves.envelope
                waved = weighted * waves.others[0] * waves.cosines[0]
                by_weight[q] += waved.sum()
                by_deviation[q] -= np.einsum("nm,jnm,jnm->j", waved, tau, tau)
                by_frequency[q] -= np.einsum(
                    "nm,jnm,jnm,jnm->j", weighted, tau, waves.sines, waves.others
                )
        by_frequency *= TWO_PI * parts[1]
        by_deviation *= (TWO_PI * parts[2]) ** 2
        return self._learned(by_weight, by_frequency, by_deviation)

    def diag_parameter_gradient(self, X: Any, w: Array) -> Array:
        weights, mu, sigma = self._arrays(np.float64)
        return self._learned(w.sum() * weights, np.zeros_like(mu), np.zeros_like(sigma))

    def _learned(self, *gradients: Array) -> Array:
        values = np.concatenate([part.ravel() for part in self._arrays(np.float64)])
        return np.concatenate([g.ravel() for g in gradients])[values > 0]


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
