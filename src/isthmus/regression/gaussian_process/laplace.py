r"""Classes from a Gaussian process: Laplace's approximation of its posterior.

A latent function :math:`f` has the covariance :math:`K`, and the probability of a row with mark
:math:`t\in\{0,1\}` is :math:`\sigma(f)^t(1-\sigma(f))^{1-t}`. The posterior is replaced by a
Gaussian about its mode, and the likelihood of all marks by the integral of that Gaussian
[Rasmussen2006]_. With :math:`\pi=\sigma(f)`, :math:`W=\mathrm{diag}(\pi(1-\pi))` and
:math:`B=I+W^{1/2}KW^{1/2}`, whose eigenvalues are at least one, nothing needs :math:`K^{-1}`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite import hermgauss
from numpy.polynomial.legendre import leggauss
from scipy.special import expit, logit, ndtr

from isthmus.linalg import unlocked
from isthmus.linalg.products import mirror_lower
from isthmus.linalg.triangles import MIRRORED, inverse_lower
from isthmus.regression.gaussian_process.formulas import clear_upper, solve_factored
from isthmus.regression.gaussian_process.search import Evaluation, ProcessParameters
from isthmus.regression.gaussian_process.training import TrainingRows
from isthmus.typing import Array

# A Newton step that promises less than this ends the search for the mode.
SETTLED = 1e-12
MOST_STEPS = 100
# Nodes of the integrals over a latent value, and the deviation from which the second is smoother:
# errors below 1e-5.
NODES = 100
HERMITE, LEGENDRE = hermgauss(NODES), leggauss(NODES)
WIDE = 5.0


class Mode(NamedTuple):
    """The mode of the posterior: ``f = K dual``, and the factor of ``B`` there."""

    dual: Array  # marks less probabilities, (n,)
    latent: Array  # f, (n,)
    root: Array  # square roots of W, (n,)
    L: Array  # lower factor of B, (n, n)
    value: float  # logarithm of the approximate likelihood


def find_mode(K: Array, marks: Array, start: Array | None = None) -> Mode:
    r"""The mode by Newton steps with halving, from the dual coefficients ``start``.

    The logarithm of the posterior is concave, so there is one mode and every start leads to it.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    marks : ndarray of shape (n,)
        0 and 1.
    start : ndarray of shape (n,), optional
        Dual coefficients to begin with, such as those for a similar covariance.
    """
    a: Array = np.zeros(len(K))
    f: Array = np.zeros(len(K))
    height = _height(a, f, marks)
    if start is not None:
        a_start, f_start = start, K @ start
        if (better := _height(a_start, f_start, marks)) > height:
            a, f, height = a_start, f_start, better
    for _ in range(MOST_STEPS):
        p = expit(f)
        w = p * (1 - p)
        root = np.sqrt(w)
        L = _factor(K, root)
        slope = marks - p
        b = w * f + slope
        target = b - root * solve_factored(L, root * (K @ b))
        step_a, step_f = target - a, K @ (target - a)
        if 0.5 * float((slope - a) @ step_f) < SETTLED:
            break
        length = 1.0
        while (new := _height(a + length * step_a, f + length * step_f, marks)) < height:
            length /= 2
            if length < 1e-6:
                break
        a, f, height = a + length * step_a, f + length * step_f, new
    value = height - float(np.sum(np.log(L.diagonal())))
    return Mode(slope, f, root, L, value)


def _height(a: Array, f: Array, marks: Array) -> float:
    """Logarithm of the posterior up to a constant."""
    return float(-0.5 * (a @ f) - np.sum(np.logaddexp(0.0, np.where(marks > 0, -f, f))))


def _factor(K: Array, root: Array) -> Array:
    B = root[:, None] * K
    B *= root
    B.flat[:: len(B) + 1] += 1.0
    L = B.T  # in column order
    unlocked.factor(L)
    clear_upper(L)
    return L


def likelihood_weights(K: Array, mode: Mode) -> Array:
    r"""The matrix :math:`M` with :math:`d\log q=\sum_{ij}M_{ij}\,dK_{ij}`, symmetric.

    .. math:: M=\tfrac12aa^\top-\tfrac12R+\tfrac12(ua^\top+au^\top),\qquad
              R=W^{1/2}B^{-1}W^{1/2},\qquad u=(I-RK)s ,

    where :math:`s_i=\tfrac12(K-KRK)_{ii}\,\partial^3\log p_i/\partial f_i^3`: the mode moves with
    the covariance, and so does :math:`W`.
    """
    inverse = inverse_lower(mode.L)
    # L⁻¹W½K, whose squares add up to the diagonal of KRK.
    V = np.asfortranarray((K * mode.root).T)
    unlocked.multiply_triangle(inverse, V)
    variance = K.diagonal() - np.einsum("ij,ij->j", V, V)
    unlocked.square_triangle(inverse)
    mirror_lower(inverse, step=MIRRORED)
    R = inverse.T
    R *= mode.root[:, None]
    R *= mode.root
    p = expit(mode.latent)
    s = 0.5 * variance * (2 * p - 1) * p * (1 - p)
    u = s - R @ (K @ s)
    a = mode.dual
    R *= -0.5
    R += np.outer(0.5 * a + 0.5 * u, a)
    R += np.outer(0.5 * a, u)
    return R


@dataclass
class LaplaceCriterion:
    """The approximate likelihood of marks, with its gradient; each mode starts at the last."""

    rows: TrainingRows
    last: Array | None = None

    def __call__(self, found: ProcessParameters) -> Evaluation:
        assert found.variances is not None  # the amplitude has no closed form
        rows = self.rows
        K0 = rows.covariance(found.kernel)
        K = float(found.variances[0]) * K0
        mode = find_mode(K, rows.Y[:, 0], self.last)
        self.last = mode.dual
        M = likelihood_weights(K, mode)
        by_kernel: Array = np.zeros(len(found.kernel.log_parameters()))
        by_amplitude = float(np.vdot(M, K))
        if rows.gram is None and len(by_kernel):
            M *= float(found.variances[0])
            by_kernel = found.kernel.parameter_gradient(rows.objects, rows.objects, M, K0)
        return Evaluation(mode.value, by_kernel, 0.0, by_amplitude)


def average_logistic(mean: Array, variance: Array) -> Array:
    r"""The mean of :math:`\sigma(f)` over normal :math:`f`.

    It is :math:`P(u<f)` with logistic :math:`u`: of the two integrals, the smoother one is taken,
    over :math:`f` where it varies less than :math:`u`, otherwise over :math:`u`.

    >>> import numpy as np
    >>> average_logistic(np.array([0.0, 2.0]), np.array([4.0, 0.0])).round(4)
    array([0.5   , 0.8808])
    """
    spread = np.sqrt(np.maximum(variance, 0.0))[:, None]
    mean = mean[:, None]
    nodes, weights = HERMITE
    over_f = expit(mean + np.sqrt(2) * spread * nodes) @ (weights / np.sqrt(np.pi))
    nodes, weights = LEGENDRE
    u = logit((nodes + 1) / 2)
    over_u = ndtr((mean - u) / np.maximum(spread, WIDE)) @ (weights / 2)
    return np.where(spread[:, 0] > WIDE, over_u, over_f)
