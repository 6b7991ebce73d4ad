r"""Polynomials on [-1, 1] that map kernels to kernels: powers and Gegenbauer polynomials.

Gegenbauer polynomials are scaled to one at :math:`t=1` throughout, so that the index
:math:`\lambda=0` gives Chebyshev's and :math:`\lambda\to\infty` the powers :math:`t^i`.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from isthmus.typing import Array

# Coefficients this negative, relative to the largest, are rounding errors.
NEGATIVE_TOLERANCE = 1e-9


def polynomial_terms(t: Array, degree: int, lam: float | None) -> Iterator[Array]:
    r"""Yield :math:`P_1(t),\dots,P_d(t)`: powers with ``lam=None``, else Gegenbauer polynomials.

    .. math:: (i+2\lambda)P_{i+1}=2(i+\lambda)\,t\,P_i-i\,P_{i-1},\qquad P_0=1,\ P_1=t.
    """
    before, now = np.ones_like(t), t
    yield now
    for i in range(1, degree):
        if lam is None:
            now = now * t
        else:
            following = (2 * (i + lam) * t * now - i * before) / (i + 2 * lam)
            before, now = now, following
        yield now


def polynomial(t: Array, coefficients: tuple[float, ...], lam: float | None) -> Array:
    r""":math:`\sum_ia_iP_i(t)`, degrees from one.

    >>> polynomial(np.array([0.5]), (1.0, 2.0), None)
    array([1.])
    """
    if lam is not None:
        terms = polynomial_terms(t, len(coefficients), lam)
        total = np.zeros_like(t)
        for a, term in zip(coefficients, terms, strict=True):
            total += a * term
        return total
    total = np.full_like(t, coefficients[-1])
    for a in coefficients[-2::-1]:
        total *= t
        total += a
    total *= t
    return total


def polynomial_slope(t: Array, coefficients: tuple[float, ...], lam: float | None) -> Array:
    r""":math:`\sum_ia_iP_i'(t)`."""
    d = len(coefficients)
    if lam is None:
        total = np.full_like(t, d * coefficients[-1])
        for i in range(d - 1, 0, -1):
            total *= t
            total += i * coefficients[i - 1]
        return total
    before, now = np.zeros_like(t), np.ones_like(t)  # slopes of P_0 and P_1
    total = coefficients[0] * now
    for i, term in enumerate(polynomial_terms(t, d - 1, lam) if d > 1 else (), start=1):
        following = (2 * (i + lam) * (term + t * now) - i * before) / (i + 2 * lam)
        before, now = now, following
        total += coefficients[i] * now
    return total


def gegenbauer_at_one(degree: int, lam: float) -> float:
    r""":math:`C_i^{(\lambda)}(1)=\Gamma(i+2\lambda)/(i!\,\Gamma(2\lambda))`, the usual scale."""
    return float(special.binom(degree + 2 * lam - 1, degree))


def gegenbauer_norm(degree: int, lam: float) -> float:
    r"""Norm on [-1, 1] of the polynomial that is one at one, for the weight
    :math:`(1-t^2)^{\lambda-1/2}`.

    With :math:`h_i=\pi2^{1-2\lambda}\Gamma(i+2\lambda)/(i!\,(i+\lambda)\Gamma(\lambda)^2)` for
    the usual scale it is :math:`\sqrt{h_i}/C_i^{(\lambda)}(1)`; at :math:`\lambda=0`, where that
    has no value, :math:`\sqrt{\pi/2}`.

    >>> round(gegenbauer_norm(1, 0.5) ** 2, 6)  # of t, without weight
    0.666667
    """
    if lam == 0:
        return float(np.sqrt(np.pi / 2))
    # log h_i - 2 log C_i(1), with Γ(i + 2λ) cancelled once
    log = (
        np.log(np.pi)
        + (1 - 2 * lam) * np.log(2)
        + special.gammaln(degree + 1)
        + 2 * special.gammaln(2 * lam)
        - special.gammaln(degree + 2 * lam)
        - np.log(degree + lam)
        - 2 * special.gammaln(lam)
    )
    return float(np.exp(0.5 * log))


def values_at_one(degree: int, lam: float | None, scaling: str) -> Array:
    """Of the first polynomials in one of the scalings ``"unit"``, ``"raw"``, ``"orthonormal"``."""
    if lam is None or scaling == "unit":
        return np.ones(degree)
    if scaling == "raw":
        return np.array([gegenbauer_at_one(i, lam) for i in range(1, degree + 1)])
    return np.array([1 / gegenbauer_norm(i, lam) for i in range(1, degree + 1)])


@lru_cache(maxsize=256)
def schoenberg_coefficients(
    coefficients: tuple[float, ...], lam: float | None, dimension: float
) -> tuple[float, ...]:
    r"""The polynomial in the basis that decides whether it is a kernel on a sphere.

    A polynomial of the inner product is positive definite on the unit sphere of
    :math:`\mathbb R^r` exactly if its coefficients in Gegenbauer polynomials of index
    :math:`(r-2)/2` are not negative, and on spheres of every dimension (``dimension=inf``)
    exactly if those in powers are not [Schoenberg1942]_. Degrees from zero.

    >>> [round(c, 4) for c in schoenberg_coefficients((0.0, 1.0), 0.5, np.inf)]  # (3t² - 1)/2
    [-0.5, 0.0, 1.5]
    >>> [abs(round(c, 4)) for c in schoenberg_coefficients((0.0, 1.0), 0.5, 3)]
    [0.0, 0.0, 1.0]
    """
    degree = len(coefficients)
    if np.isinf(dimension):
        if lam is None:
            return (0.0, *coefficients)
        total = np.zeros(degree + 1)
        for i, a in enumerate(coefficients, start=1):
            total[: i + 1] += a * _powers_of_gegenbauer(i, lam)
        return tuple(total.tolist())
    index = max((dimension - 2) / 2, 0.0)
    # Projections by quadrature, which is exact for these degrees.
    nodes, weights = special.roots_gegenbauer(degree + 1, index)
    basis = [np.ones_like(nodes), *polynomial_terms(nodes, degree, index)]
    values = polynomial(nodes, coefficients, lam)
    return tuple(float((weights * values) @ P / ((weights * P) @ P)) for P in basis)


def _powers_of_gegenbauer(degree: int, lam: float) -> Any:
    """Coefficients of powers 0, …, degree in the polynomial that is one at one."""
    result = np.zeros(degree + 1)
    for k in range(degree // 2 + 1):
        # (-1)^k Γ(n-k+λ) 2^(n-2k) / (Γ(λ) k! (n-2k)!), divided by the value at one
        power = degree - 2 * k
        log = (
            special.gammaln(degree - k + lam)
            - special.gammaln(lam)
            - special.gammaln(k + 1)
            - special.gammaln(power + 1)
            + power * np.log(2.0)
        )
        result[power] = (-1) ** k * np.exp(log)
    return result / result.sum()


def is_kernel(coefficients: tuple[float, ...], lam: float | None, dimension: float) -> bool:
    """Whether the polynomial of any kernel with this many dimensions is a kernel.

    >>> is_kernel((0.0, 1.0), 0.5, 3), is_kernel((0.0, 1.0), 0.5, 10)
    (True, False)
    """
    found = np.array(schoenberg_coefficients(coefficients, lam, dimension))
    return bool(found.min() >= -NEGATIVE_TOLERANCE * np.abs(found).max())
