"""Density kernels: radial profiles F(s) of a squared distance s, with F(0) = 1.

They weigh neighbours, unlike the kernels of :mod:`isthmus.kernels`, which are
inner products; only the Gaussian and the Student profile happen to be both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.typing import Array

Profile = Callable[[Array], Array]


@dataclass(frozen=True)
class DensityKernel:
    r"""A radial density kernel :math:`K(x) = F(\|x\|^2)` with :math:`F(0) = 1`.

    Parameters
    ----------
    name : str
        Its name, one of those of :func:`density_kernel`.
    support : float
        The squared radius outside which the profile is zero: 1 or infinity.
    n_derivatives : float
        How many continuous derivatives the profile has: 0 for the Epanechnikov
        kernel, whose slope jumps at the end of its support.
    profile, slope, curvature : callable
        :math:`F(s)`, :math:`H(s) = -2F'(s)` and :math:`4F''(s)`, elementwise.
    log_profile : callable
        :math:`\log F(s)`; minus infinity outside the support.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.smoothers import density_kernel
    >>> quartic = density_kernel("quartic")
    >>> quartic.profile(np.array([0.0, 0.5, 2.0])).tolist()
    [1.0, 0.25, 0.0]
    >>> quartic.slope(np.array([0.0, 0.5, 2.0])).tolist()
    [4.0, 2.0, 0.0]
    """

    __module__ = "isthmus.smoothers"

    name: str
    support: float
    n_derivatives: float
    profile: Profile
    slope: Profile
    curvature: Profile
    log_profile: Profile

    @property
    def compact(self) -> bool:
        """Whether the support is bounded."""
        return bool(np.isfinite(self.support))

    # The profiles are closures, which no file can hold; the name says all: to pickle, and to the
    # format of model files, which keeps states.

    def __reduce__(self) -> tuple[Callable[[str], "DensityKernel"], tuple[str]]:
        return density_kernel, (self.name,)

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(vars(density_kernel(state["name"])))


def _gaussian() -> DensityKernel:
    def profile(s: Array) -> Array:
        return np.exp(-0.5 * s)

    # F = exp(-s/2), so -2F' = F and 4F'' = F.
    return DensityKernel("gaussian", np.inf, np.inf, profile, profile, profile, lambda s: -0.5 * s)


def _student() -> DensityKernel:
    # F = 1/(1+s): Student's t with one degree of freedom, the Cauchy profile.
    return DensityKernel(
        "student",
        np.inf,
        np.inf,
        lambda s: 1.0 / (1.0 + s),
        lambda s: 2.0 / (1.0 + s) ** 2,
        lambda s: 8.0 / (1.0 + s) ** 3,
        lambda s: -np.log1p(s),
    )


def _truncated_power(name: str, k: int) -> DensityKernel:
    """The profile [1 - s]_+^k, which has k - 1 continuous derivatives."""

    def rest(s: Array) -> Array:
        return np.maximum(1.0 - s, 0.0)

    def profile(s: Array) -> Array:
        return rest(s) ** k

    def slope(s: Array) -> Array:
        # At k = 1, 0**0 = 1 would give a slope outside the support.
        return np.where(s < 1.0, 2.0 * k * rest(s) ** (k - 1), 0.0)

    def curvature(s: Array) -> Array:
        return np.where(s < 1.0, 4.0 * k * (k - 1) * rest(s) ** max(k - 2, 0), 0.0)

    def log_profile(s: Array) -> Array:
        with np.errstate(divide="ignore"):
            return k * np.log(rest(s))

    return DensityKernel(name, 1.0, k - 1, profile, slope, curvature, log_profile)


# Squared distance at which a Gaussian weight is 1e-26: where a point has neighbours, all that is
# farther together changes no digit.
GAUSSIAN_REACH = 120.0
_POWERS = {"epanechnikov": 1, "quartic": 2, "triweight": 3}
_KERNELS = {
    kernel.name: kernel
    for kernel in (
        _gaussian(),
        *(_truncated_power(name, k) for name, k in _POWERS.items()),
        _student(),
    )
}
DENSITY_KERNELS = tuple(_KERNELS)


def truncated_power(kernel: DensityKernel) -> int:
    """The power k where the profile is [1 - s]_+^k, 0 for all others."""
    return _POWERS.get(kernel.name, 0) if _is_ours(kernel) else 0


def is_gaussian(kernel: DensityKernel) -> bool:
    """Whether the profile is exp(-s/2), which is its own slope."""
    return kernel.name == "gaussian" and _is_ours(kernel)


def squared_reach(kernel: DensityKernel) -> float:
    """Squared distance beyond which weights are zero, or too small to count beside others."""
    return GAUSSIAN_REACH if is_gaussian(kernel) else kernel.support


def _is_ours(kernel: DensityKernel) -> bool:
    ours = _KERNELS.get(kernel.name)
    return kernel is ours or kernel == ours


def density_kernel(kernel: str | DensityKernel) -> DensityKernel:
    r"""Return the density kernel of that name; a density kernel is returned as it is.

    With :math:`s` the squared distance in units of the bandwidth and
    :math:`[a]_+ = \max(a, 0)`, the profiles :math:`F(s)` are

    =============== ========================= ============ ======================
    name            :math:`F(s)`              support      smoothness
    =============== ========================= ============ ======================
    "gaussian"      :math:`e^{-s/2}`          everywhere   all derivatives
    "epanechnikov"  :math:`[1 - s]_+`         s < 1        continuous
    "quartic"       :math:`[1 - s]_+^2`       s < 1        one derivative
    "triweight"     :math:`[1 - s]_+^3`       s < 1        two derivatives
    "student"       :math:`1 / (1 + s)`       everywhere   all derivatives
    =============== ========================= ============ ======================

    Parameters
    ----------
    kernel : str or DensityKernel
        A name of the table, or an object with the same attributes.

    Returns
    -------
    DensityKernel

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.smoothers import density_kernel
    >>> float(density_kernel("student").profile(np.array(3.0)))
    0.25
    """
    if isinstance(kernel, DensityKernel):
        return kernel
    if not isinstance(kernel, str) or kernel not in _KERNELS:
        raise ValueError(
            f"The density kernel must be one of {', '.join(map(repr, _KERNELS))} "
            f"or a DensityKernel. Got {kernel!r} instead."
        )
    return _KERNELS[kernel]
