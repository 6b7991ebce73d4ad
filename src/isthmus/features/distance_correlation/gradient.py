r"""Supervised reduction by true distance correlation, exponents below 2.

The objective is :math:`f(Z)=2(1-w)\,\rho_a^2(X,Z)+2w\,\rho_a^2(Z,Y)` with the distance correlation
of exponent :math:`a`, which measures every kind of dependence. It has no closed form; a
quasi-Newton method climbs from given coordinates. O(n²d) per iteration, and two n × n matrices.
"""

import warnings
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist, squareform

from isthmus.features.distance_correlation.formulas import Reduction, Watch, exact_reduction
from isthmus.features.distance_correlation.pairs import pairs_of
from isthmus.linalg.centering import center_gram
from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array

# Random starts of a linear map besides the informed one, and iterations before the best is chosen.
N_STARTS, FIRST_STEPS = 8, 15

Objective = Callable[[Array], tuple[float, Array]]


def wanted_distances(X: Array, Y: Array, weight: float, exponent: float) -> Array:
    r"""The centred matrix that distances of coordinates should be aligned with, n × n.

    .. math:: S=2(1-w)\,A/\|A\|_F+2w\,B/\|B\|_F,\qquad A=HE_XH,\ B=HE_YH.
    """
    S = np.zeros((len(X), len(X)))
    for table, share in ((X, 2 * (1 - weight)), (Y, 2 * weight)):
        if share == 0:
            continue
        E = squareform(pdist(table) ** exponent)
        E, _ = center_gram(E, overwrite=True)
        E *= share / np.linalg.norm(E)
        S += E
    return S


def alignment(S: Array, exponent: float) -> Objective:
    r"""The function ``f(Z)`` with its gradient, for the matrix ``S`` of :func:`wanted_distances`.

    With :math:`c_{ij}=\|z_i-z_j\|^a` and :math:`\hat c=HcH`,
    :math:`f=\langle S,c\rangle/\langle\hat c,c\rangle^{1/2}`.
    """
    n, pairs = len(S), pairs_of(S, exponent)

    def value_and_gradient(Z: Array) -> tuple[float, Array]:
        product, squares, row_sums = pairs.sums(Z)
        means = row_sums / n
        # <HcH, c>
        spread = squares - 2 * n * float(means @ means) + n**2 * float(means.mean()) ** 2
        root = np.sqrt(spread)
        return product / root, pairs.slopes(means, 1 / root, product / root**3)

    return value_and_gradient


def free_reduction(
    S: Array,
    start: Array,
    exponent: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    watch: Watch | None = None,
) -> Reduction:
    """Climb over all coordinates ``Z`` from ``start`` of shape (n, d)."""
    f = alignment(S, exponent)
    Z, values, converged = _ascend(f, start, tol=tol, max_iter=max_iter, watch=watch)
    return Reduction(Z - Z.mean(axis=0), None, values, converged)


def first_directions(S: Array, X: Array, A: Array, d: int, exponent: float) -> Array:
    """Directions worth climbing from, (p, d): the best of several after a few iterations each.

    The first are those of least squares to the closed form at exponent 2, which sees only linear
    dependence; hence the others, drawn at random.
    """
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # any of several equal starts will do
        Z = exact_reduction(A, d).Z
    starts = [np.linalg.lstsq(X, Z, rcond=None)[0]]
    starts += list(rng.standard_normal((N_STARTS, X.shape[1], d)))
    # Where the outputs are uncorrelated with the inputs, so is part of the first start.
    starts[0] = starts[0] + 1e-3 * np.sqrt(np.mean(starts[0] ** 2)) * starts[1]
    tried = [linear_reduction(S, X, B, exponent, max_iter=FIRST_STEPS) for B in starts]
    best = max(tried, key=lambda pair: pair[1].values[-1])
    return best[0]


def linear_reduction(
    S: Array,
    X: Array,
    start: Array,
    exponent: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    watch: Watch | None = None,
) -> tuple[Array, Reduction]:
    """Climb over linear maps ``Z = X B`` from ``start``, (p, d); return B and the result."""
    f = alignment(S, exponent)

    def of_map(B: Array) -> tuple[float, Array]:
        value, G = f(X @ B)
        return value, X.T @ G

    B, values, converged = _ascend(of_map, start, tol=tol, max_iter=max_iter, watch=watch)
    return B, Reduction(X @ B, None, values, converged)


def _ascend(
    f: Objective, start: Array, *, tol: float, max_iter: int, watch: Watch | None
) -> tuple[Array, list[float], bool]:
    """Maximise by L-BFGS; f does not depend on scale, so the start is brought to unit size."""
    shape = start.shape
    start = start / np.sqrt(np.mean(start**2))
    values = [f(start)[0]]

    def negative(z: Array) -> tuple[float, Array]:
        value, G = f(z.reshape(shape))
        return -value, -G.ravel()

    def after_step(intermediate_result: object) -> None:
        values.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]
        if watch is not None:
            watch(len(values) - 1, values[-1])

    # A typical entry of the gradient has the size f / (number of entries)^(1/2).
    found = minimize_lbfgs(
        negative,
        start.ravel(),
        callback=after_step,
        maxiter=max_iter,
        gtol=tol / np.sqrt(start.size),
        ftol=tol * 1e-3,
    )
    return np.asarray(found.x).reshape(shape), values, bool(found.success)
