r"""Criteria of sufficient reduction, as functions on whitened inputs.

All look for the span of B such that the outputs depend on the inputs x through
:math:`B^\top x` alone. With whitened inputs the means :math:`m_h` and covariances :math:`V_h` of
the slices of the outputs lie, or differ from I, within that span only.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.features.sufficient.slices import Slice
from isthmus.optimize.stiefel_geometry import qr_retraction
from isthmus.typing import Array

Criterion = Callable[[Array], tuple[float, Array]]


class Ascent(NamedTuple):
    """Where an ascent has ended, its value there, its steps, and whether it had settled."""

    B: Array
    value: float
    n_iter: int
    converged: bool


def mean_scatter(slices: Sequence[Slice]) -> Array:
    r"""The scatter of the means, :math:`\sum_hf_hm_hm_h^\top` [Li1991]_."""
    means = np.array([s.mean for s in slices])
    shares = np.array([s.share for s in slices])
    return (means.T * shares) @ means


def variance_scatter(slices: Sequence[Slice]) -> Array:
    r"""How much variances differ from one, :math:`\sum_hf_h(I-V_h)^2` [CookWeisberg1991]_."""
    eye = np.eye(len(slices[0].mean))
    M = np.zeros_like(eye)
    for s in slices:
        M += s.share * (eye - s.covariance) @ (eye - s.covariance)
    return M


def likelihood(slices: Sequence[Slice]) -> Criterion:
    r"""The value :math:`-\frac12\sum_hf_h\log|B^\top V_hB|` and its gradient [CookForzani2009]_.

    Up to constants it is the likelihood of normal inputs within the slices, whose covariances
    differ in the span of the orthonormal B only.
    """

    def value_and_gradient(B: Array) -> tuple[float, Array]:
        value, slope = 0.0, np.zeros_like(B)
        for s in slices:
            VB = s.covariance @ B
            core = linalg.cho_factor(B.T @ VB)
            value -= s.share * float(np.log(np.diagonal(core[0])).sum())
            slope -= s.share * linalg.cho_solve(core, VB.T).T
        return value, slope

    return value_and_gradient


def leading(M: Array, d: int) -> tuple[Array, Array]:
    """The ``d`` leading eigenvectors of a symmetric matrix and their eigenvalues."""
    values, U = np.linalg.eigh(M)
    return U[:, ::-1][:, :d], values[::-1][:d]


def ascend(criterion: Criterion, B: Array, *, max_iter: int, tol: float) -> Ascent:
    """Gradient ascent over the spans of orthonormal ``B``, with step lengths that adapt."""
    value, slope = criterion(B)
    length, n_iter = 1.0, 0
    for n_iter in range(1, max_iter + 1):
        tangent = slope - B @ (B.T @ slope)  # rotations within the span change nothing
        size = float(np.sum(tangent**2))
        if np.sqrt(size) <= tol:
            return Ascent(B, value, n_iter, True)
        for _ in range(30):
            candidate = qr_retraction(B, length * tangent)
            new, new_slope = criterion(candidate)
            if new >= value + 1e-4 * length * size:
                break
            length /= 3
        else:  # no step is longer than rounding
            return Ascent(B, value, n_iter, True)
        gain, B, value, slope = new - value, candidate, new, new_slope
        length *= 2
        if gain <= tol * max(abs(value), 1e-12):
            return Ascent(B, value, n_iter, True)
    return Ascent(B, value, n_iter, False)
