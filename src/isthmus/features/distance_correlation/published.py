r"""DisCoMax as published [Tonde2016]_: surrogate ratio, golden section, majorisation.

The thesis maximises :math:`f(Z)=\operatorname{tr}(Z^\top SZ)/
\operatorname{tr}(Z^\top L_ZZ)^{1/2}` with :math:`L_Z=2Z_cZ_c^\top` through
:math:`g(Z,M)=\operatorname{tr}(Z^\top SZ)/\operatorname{tr}(Z^\top L_MZ)` at an
anchor :math:`M=Z_k`: a search over :math:`\theta` of
:math:`\min_Z\operatorname{tr}(Z^\top(L_M-\theta S)Z)`, whose steps are

.. math:: Z\leftarrow(\gamma^2D_X-\theta S)^{-1}(\gamma^2D_X-L_M)Z,\qquad
          D_X=\operatorname{diag}(L_X).

It is kept for comparison and does not maximise f, for these reasons:

* With a normalised anchor, :math:`f(Z)\le g(Z,M)` by Cauchy and Schwarz: g bounds f from above
  and not, as claimed, from below.
* The inner problem is a homogeneous quadratic without a constraint: its minimum is 0 for
  :math:`\theta` up to the smallest generalised eigenvalue and minus infinity beyond, so the golden
  section compares rounding errors. For larger :math:`\theta` the columns collapse onto one
  direction.
* The start is nonzero in the first d rows only, where its columns sum to zero: it has rank d - 1,
  and reordering the rows gives another result.

Misprints are corrected: the constant of the golden section, :math:`2MM^\top` instead of
:math:`2M^\top M`, the last midpoint, F at the new point. Columns are centred and scaled after each
step, which does not change f.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.features.distance_correlation.formulas import Reduction, Watch, objective
from isthmus.typing import Array

GOLDEN = (np.sqrt(5.0) - 1) / 2


class Trace(NamedTuple):
    """The objective after every inner step, and for each outer step its last one and its θ."""

    values: list[float]
    outer: list[int]
    theta: list[float]


class _InnerResult(NamedTuple):
    Z: Array
    F: float
    values: list[float]


def published_start(n: int, d: int) -> Array:
    r"""Coordinates :math:`c\,(I-\tfrac1d11^\top)` in the first d rows and zeros below.

    >>> import numpy as np
    >>> Z = published_start(6, 3)
    >>> int(np.linalg.matrix_rank(Z)), round(2 * float(np.linalg.norm(Z.T @ Z)) ** 2, 12)
    (2, 1.0)
    """
    Z = np.zeros((n, d))
    Z[:d] = (np.eye(d) - 1 / d) / (2 * (d - 1)) ** 0.25
    return Z


def published_reduction(
    A: Array,
    X: Array,
    n_components: int,
    *,
    theta: float | None = None,
    inflation: float = 1.01,
    start: Array | None = None,
    n_inner: int = 220,
    n_probes: int = 12,
    tol: float = 1e-6,
    max_iter: int = 4,
    watch: Watch | None = None,
) -> tuple[Reduction, Trace]:
    r"""The published algorithm on the joint table ``A`` and centred inputs ``X``.

    Parameters
    ----------
    A, X : ndarray of shape (n, p + q) and (n, p)
    n_components : int, at least 2
    theta : float, optional
        Fixed value in place of a search between 0 and the largest generalised eigenvalue of
        :math:`(L_M,S)`, which the figures of the thesis suggest.
    inflation : float
        Factor on the smallest :math:`\gamma^2` for which the inner steps are defined.
    start : ndarray of shape (n, d), optional
        Start in place of :func:`published_start`.
    n_inner, max_iter : int
        Numbers of inner and outer steps; the figures of the thesis show 220 and 4.
    """
    # In the scaling of the thesis, S = A A', tr(Z'SZ) / (2^(1/2) |Z'Z|) is the objective.
    A_doc = 2**0.25 * A
    D = 2 * np.sum(X**2, axis=1) + 1e-6
    Z = published_start(len(A), n_components) if start is None else start
    Z = _unit(Z)
    trace = Trace([objective(A, Z)], [], [])
    values, converged = [trace.values[0]], False
    for step in range(1, max_iter + 1):
        M = Z
        problem = AnchoredProblem(A, A_doc, D, M, inflation, n_inner, tol)
        if theta is None:
            chosen = _golden_section(problem, problem.largest_ratio(), n_probes)
        else:
            chosen = theta
        found = problem.minimise(chosen, Z)
        trace.values.extend(found.values)
        trace.outer.append(len(trace.values) - 1)
        trace.theta.append(chosen)
        new = _unit(found.Z)
        values.append(objective(A, new))
        if watch is not None:
            watch(step, values[-1])
        change = _aligned_distance(new, Z)
        Z = new
        if change**2 < tol:
            converged = True
            break
    return Reduction(Z, None, values, converged), trace


class AnchoredProblem(NamedTuple):
    """min over Z of tr Z'(L_M - theta S)Z at the anchor M, by majorisation."""

    A: Array
    A_doc: Array
    D: Array
    M: Array
    inflation: float
    n_inner: int
    tol: float

    def largest_ratio(self, eps: float = 1e-6) -> float:
        """Largest generalised eigenvalue of (L_M + eps, S + eps), within the span of M and A."""
        Q, _ = np.linalg.qr(np.hstack([self.M, self.A_doc]))
        QM, QA = Q.T @ self.M, Q.T @ self.A_doc
        identity = eps * np.eye(Q.shape[1])
        ratios = linalg.eigh(2 * QM @ QM.T + identity, QA @ QA.T + identity, eigvals_only=True)
        return float(ratios[-1])

    def step(self, theta: float) -> Callable[[Array], Array]:
        """The linear map of one inner step: no step raises F."""
        root = 1 / np.sqrt(self.D)[:, None]
        of_M = 2 * float(np.linalg.norm(root * self.M, 2) ** 2)
        of_S = float(np.linalg.norm(root * self.A_doc, 2) ** 2)
        gamma2 = self.inflation * max(of_M, theta * of_S)
        # (gamma2 D - theta A A')^-1 by Woodbury: a factorisation of the size of the columns.
        DA = self.A_doc / (gamma2 * self.D[:, None])
        core = linalg.lu_factor(np.eye(self.A.shape[1]) - theta * self.A_doc.T @ DA)

        def apply(Z: Array) -> Array:
            R = Z - 2 * self.M @ (self.M.T @ Z) / (gamma2 * self.D[:, None])
            return R + theta * DA @ linalg.lu_solve(core, self.A_doc.T @ R)

        return apply

    def minimise(self, theta: float, Z: Array) -> _InnerResult:
        """Take inner steps at ``theta``; F and f are those of coordinates scaled to unit size."""
        step = self.step(theta)
        last, values = self.value(theta, Z), []
        for _ in range(self.n_inner):
            Z = step(Z)
            Z = _unit(Z - Z.mean(axis=0))
            values.append(objective(self.A, Z))
            F = self.value(theta, Z)
            if abs(F - last) < self.tol * abs(F):
                break
            last = F
        return _InnerResult(Z, self.value(theta, Z), values)

    def value(self, theta: float, Z: Array) -> float:
        return float(2 * np.sum((self.M.T @ Z) ** 2) - theta * np.sum((self.A_doc.T @ Z) ** 2))


def _golden_section(problem: AnchoredProblem, high: float, n_probes: int) -> float:
    """Where the minimum over Z is closest to zero between 0 and ``high``."""
    low = 0.0

    def size(theta: float) -> float:
        return abs(problem.minimise(theta, problem.M).F)

    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = size(left), size(right)
    for _ in range(n_probes - 2):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = size(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = size(right)
    return float(low + high) / 2


def _unit(Z: Array) -> Array:
    """Scaled so that tr(Z'L_Z Z) = 2 |Z'Z|² = 1."""
    return Z / (2 * np.linalg.norm(Z.T @ Z) ** 2) ** 0.25


def _aligned_distance(Z: Array, W: Array) -> float:
    """Distance of two sets of coordinates after the best rotation."""
    U, _, Vt = linalg.svd(Z.T @ W)
    return float(np.linalg.norm(Z @ (U @ Vt) - W))
