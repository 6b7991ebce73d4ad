"""Covariance functions of the distance alone: Matérn, rational quadratic, gamma-exponential."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, kve

from isthmus._checks import check_float
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.squares import FEW, origin_of, squares_of_few
from isthmus.kernels.vectors.width import median_distance
from isthmus.linalg.products import inner_products, product
from isthmus.typing import Array


class RadialKernel(Kernel):
    r"""Kernels :math:`k(x,z)=F(\|x-z\|^2/\ell^2)` with :math:`F(0)=1`.

    A subclass gives the profile :math:`F` and its negative slope.
    """

    length_scale: Any
    stationary = True
    learned: ClassVar[tuple[str, ...]] = ("length_scale",)
    width_power = -1.0
    offers = frozenset({"gradient", "radial"})

    @abstractmethod
    def profile(self, s: Array) -> Array:
        """F at squared distances in units of the length scale; ``s`` may be overwritten."""

    @abstractmethod
    def slope(self, s: Array) -> Array:
        """-F' at squared distances; zero at ``s = 0`` if the kernel has a kink there."""

    def _check_shape(self) -> None:
        """Refuse shape parameters out of range."""

    def resolve(self, X: Array) -> Kernel:
        self._check_shape()
        if isinstance(self.length_scale, str):
            if self.length_scale != "median":
                raise ValueError(
                    f"The 'length_scale' parameter of {type(self).__name__} must be a positive "
                    f"float or 'median'. Got {self.length_scale!r} instead."
                )
            return replace(self, length_scale=median_distance(X))  # type: ignore[type-var]
        check_float(self.length_scale, "length_scale", self, include_low=False)
        return self

    def squares(self, X: Array, Z: Array) -> Array:
        """Squared distances in units of the length scale."""
        scale = X.dtype.type(1 / self.length_scale)
        if len(Z) <= FEW:
            return squares_of_few(X * scale, Z * scale)
        # Distances are differences of large numbers: remove the common offset first.
        origin = origin_of(Z)
        left = (X - origin) * scale
        right = left if Z is X else (Z - origin) * scale
        S = inner_products(left.T) if right is left else product(left, right.T)
        S *= -2
        S += np.einsum("ij,ij->i", left, left)[:, None]
        S += np.einsum("ij,ij->i", right, right)
        np.maximum(S, 0, out=S)
        if Z is X:
            np.fill_diagonal(S, 0)
        return S

    def gram(self, X: Array, Z: Array) -> Array:
        if len(X) * len(Z) <= 2**20:
            return self.profile(self.squares(X, Z))
        K = np.empty((len(X), len(Z)), dtype=np.result_type(X, Z))
        # Blocks that stay in the cache from the distances to the profile.
        for rows in block_slices(len(X), len(Z), block_size=max(1, 2**18 // len(Z))):
            K[rows] = self.profile(self.squares(X[rows], Z))
        if Z is X:
            np.fill_diagonal(K, 1)
        return K

    def diag(self, X: Array) -> Array:
        return np.ones(len(X), dtype=np.result_type(np.asarray(X), np.float32))

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        kernel: Any = self.resolve(Z)
        M = kernel.slope(kernel.squares(X, Z))
        M *= X.dtype.type(kernel.length_scale**-2)
        return M

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        S = self.radial_weights(X, Z)
        S *= W
        # ∂k/∂x = 2 (-∂k/∂‖x-z‖²) (z - x)
        return 2 * (product(S, Z) - S.sum(axis=1)[:, None] * X)

    def diag_gradient(self, X: Array) -> Array:
        return np.zeros_like(X)


@dataclass
class Matern(RadialKernel):
    r"""Matérn covariance, whose functions have :math:`\lceil\nu\rceil-1` derivatives.

    .. math:: k(x,z)=\frac{2^{1-\nu}}{\Gamma(\nu)}u^\nu K_\nu(u),\qquad
              u=\sqrt{2\nu}\,\|x-z\|/\ell ,

    with the Bessel function :math:`K_\nu`. For :math:`\nu=\frac12` it is
    :math:`e^{-\|x-z\|/\ell}`, for :math:`\nu\to\infty` the Gaussian :math:`e^{-\|x-z\|^2/2\ell^2}`;
    :math:`\frac12,\frac32,\frac52` and infinity have closed forms and are fast.

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness, up to 50, or ``inf``.
    length_scale : float or "median", default="median"
        ``"median"`` is the median distance between training points.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Matern
    >>> Matern(0.5, length_scale=1.0)(np.array([[0.0], [1.0]])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    __module__ = "isthmus.kernels"

    nu: float = 1.5
    length_scale: Any = field(default="median", kw_only=True)

    def _check_shape(self) -> None:
        if not (isinstance(self.nu, float) and self.nu == np.inf):
            # Beyond this the Bessel functions overflow, and the Gaussian differs by less than 0.01.
            check_float(self.nu, "nu", self, high=50.0, include_low=False)

    def profile(self, s: Array) -> Array:
        nu = float(self.nu)
        if nu == np.inf:
            return np.exp(np.multiply(s, -0.5, out=s), out=s)
        u = np.sqrt(np.multiply(s, 2 * nu, out=s), out=s)
        if nu == 0.5:
            return np.exp(np.negative(u, out=u), out=u)
        if nu == 1.5:
            return (1 + u) * np.exp(-u)
        if nu == 2.5:
            return (1 + u + u * u / 3) * np.exp(-u)
        return _bessel_power(u, nu, nu) * u.dtype.type(2)

    def slope(self, s: Array) -> Array:
        nu = float(self.nu)
        if nu == np.inf:
            return 0.5 * np.exp(-0.5 * s)
        u = np.sqrt(2 * nu * s)
        if nu == 0.5:
            return np.divide(np.exp(-u), 2 * u, out=np.zeros_like(u), where=u > 0)
        if nu == 1.5:
            return 1.5 * np.exp(-u)
        if nu == 2.5:
            return (5 / 6) * (1 + u) * np.exp(-u)
        # d/du u^ν K_ν(u) = -u^ν K_{ν-1}(u), and du/ds = ν/u.
        return 2 * nu * _bessel_power(u, nu - 1, nu)


def _bessel_power(u: Array, order: float, nu: float) -> Array:
    r""":math:`2^{-\nu}u^{order}K_{order}(u)/\Gamma(\nu)`, with its limit at zero."""
    result = np.zeros_like(u)
    some = u > 1e-10 if order > 0 else u > 0
    v = u[some].astype(np.float64)
    log_value = order * np.log(v) - v - nu * np.log(2) - gammaln(nu)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.exp(log_value) * kve(abs(order), v)
    # Near zero the Bessel function overflows before the power makes up for it.
    limit = _limit(order, nu)
    values[~np.isfinite(values)] = limit
    result[some] = values
    if order > 0:
        result[~some] = limit
    return result


def _limit(order: float, nu: float) -> float:
    if order <= 0:
        return 0.0
    return float(np.exp((order - 1 - nu) * np.log(2) + gammaln(order) - gammaln(nu)))


@dataclass
class RationalQuadratic(RadialKernel):
    r"""Rational quadratic covariance, a mixture of Gaussians of many widths.

    .. math:: k(x,z)=\Big(1+\frac{\|x-z\|^2}{2a\ell^2}\Big)^{-a} ,

    which is the Gaussian :math:`e^{-\|x-z\|^2/2\ell^2}` for :math:`a\to\infty`.

    Parameters
    ----------
    exponent : float, default=1.0
        :math:`a`; the smaller it is, the more the widths differ.
    length_scale : float or "median", default="median"

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import RationalQuadratic
    >>> RationalQuadratic(0.5, length_scale=1.0)(np.array([[0.0]]), np.array([[3.0]])).round(4)
    array([[0.3162]])
    """

    __module__ = "isthmus.kernels"

    exponent: float = 1.0
    length_scale: Any = field(default="median", kw_only=True)
    learned = ("length_scale", "exponent")

    def _check_shape(self) -> None:
        check_float(self.exponent, "exponent", self, include_low=False)

    def profile(self, s: Array) -> Array:
        return np.exp(-self.exponent * np.log1p(s / (2 * self.exponent)))

    def slope(self, s: Array) -> Array:
        return 0.5 * np.exp(-(self.exponent + 1) * np.log1p(s / (2 * self.exponent)))

    def _shape_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        # d log k / d log a = -a log(1+q) + a q/(1+q),  q = s/2a
        q = self.squares(X, Z) / (2 * self.exponent)
        return np.array([self.exponent * np.vdot(W, K * (q / (1 + q) - np.log1p(q)))])


@dataclass
class GammaExponential(RadialKernel):
    r"""Gamma-exponential covariance :math:`k(x,z)=\exp(-(\|x-z\|/\ell)^g)`, :math:`0<g\le2`.

    For :math:`g=1` it is ``Matern(0.5)``, for :math:`g=2` a Gaussian with
    :math:`\gamma=1/\ell^2`; in between, functions are rough (below 2 they have no derivative).
    The exponent is not learned: compare a few values by their likelihood.

    Parameters
    ----------
    exponent : float, default=1.5
    length_scale : float or "median", default="median"

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import GammaExponential
    >>> GammaExponential(1.0, length_scale=2.0)(np.array([[0.0]]), np.array([[2.0]])).round(4)
    array([[0.3679]])
    """

    __module__ = "isthmus.kernels"

    exponent: float = 1.5
    length_scale: Any = field(default="median", kw_only=True)

    def _check_shape(self) -> None:
        check_float(self.exponent, "exponent", self, high=2.0, include_low=False)

    def profile(self, s: Array) -> Array:
        return np.exp(-(s ** (self.exponent / 2)))

    def slope(self, s: Array) -> Array:
        half = self.exponent / 2
        power = np.power(s, half - 1, out=np.zeros_like(s), where=s > 0)
        if half == 1:
            power = np.ones_like(s)
        return half * power * np.exp(-(s**half))
