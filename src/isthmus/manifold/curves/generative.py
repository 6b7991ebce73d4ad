r"""A curve as a density: a mixture along it, smoothed (Tibshirani).

Rows come from places :math:`a_j` of the curve with probabilities :math:`\pi_j`,

.. math:: p(y)=\sum_j\pi_j\prod_kN\big(y_k;\,f_k(a_j),\,\sigma_k^2\big),

and the penalised likelihood :math:`\sum_i\log p(y_i)-\sum_k\frac{\lambda}{2\sigma_k^2}\int f_k''^2`
is raised by expectation and maximisation.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from isthmus.manifold.curves.choice import Patience, log_tube
from isthmus.manifold.curves.polyline import Polyline, feet
from isthmus.manifold.curves.self_consistent import freedoms_for, spline_line, unit_places
from isthmus.manifold.curves.smoothing import spline_path
from isthmus.manifold.curves.splines import n_pieces_for, roughness, spline_basis
from isthmus.typing import Array

# Places of the mixture; as many as rows where these are fewer.
N_PLACES = 100
# Variances stay above this share of the data's, so that no component falls on a row.
LEAST_VARIANCE = 1e-10


class CurveDensity(NamedTuple):
    """Places (m,) in [0, 1], probabilities (m,), spline coefficients and variances (d,)."""

    places: Array
    probabilities: Array
    spline: Array
    variances: Array
    closed: bool
    n_pieces: int

    def centres(self) -> Array:
        """The points of the curve from which rows come, (m, d)."""
        return np.asarray(self.basis() @ self.spline)

    def basis(self) -> Array:
        """The B-splines at the places."""
        return spline_basis(self.places, self.n_pieces, closed=self.closed)


def joint_log_density(centres: Array, probabilities: Array, variances: Array, Y: Array) -> Array:
    """Logarithms (n, m) of the density of each row together with each place."""
    scaled, middle = Y / np.sqrt(variances), centres / np.sqrt(variances)
    square = np.sum((scaled[:, None] - middle) ** 2, axis=2)
    constant = np.sum(np.log(2 * np.pi * variances))
    with np.errstate(divide="ignore"):  # places that no row needs have probability zero
        return np.asarray(np.log(probabilities) - (square + constant) / 2)


def first_density(Y: Array, x: Array, *, closed: bool, freedom: float) -> CurveDensity:
    """A density around the smoothing spline of rows on their places."""
    n_pieces = n_pieces_for(len(Y))
    path = spline_path(x, Y, n_pieces, closed=closed)
    C = path.coefficients(path.penalty_of(freedom))
    m = min(len(Y), N_PLACES)
    places = np.linspace(0.0, 1.0, m, endpoint=not closed)
    rest = Y - spline_basis(x, n_pieces, closed=closed) @ C
    variances = np.maximum(np.mean(rest**2, axis=0), LEAST_VARIANCE)
    return CurveDensity(places, np.full(m, 1 / m), C, variances, closed, n_pieces)


def em_step(
    model: CurveDensity, Y: Array, *, penalty: float | None, freedom: float
) -> tuple[CurveDensity, float, float]:
    """One step: the new density, the log likelihood per row of the former, and the penalty used."""
    joint = joint_log_density(model.centres(), model.probabilities, model.variances, Y)
    total = logsumexp(joint, axis=1)
    R = np.exp(joint - total[:, None])
    counts = R.sum(axis=0)
    means = R.T @ Y / np.maximum(counts, 1e-300)[:, None]
    path = spline_path(
        model.places, means, model.n_pieces, closed=model.closed, weights=np.maximum(counts, 1e-12)
    )
    used = penalty if penalty is not None else path.penalty_of(freedom)
    C = path.coefficients(used)
    F = model.basis() @ C
    # The mean of (y - f(a))² under the responsibilities, from moments.
    square = np.einsum("m,mk->k", counts, (means - F) ** 2) + np.maximum(
        np.sum(Y**2, axis=0) - np.einsum("m,mk->k", counts, means**2), 0.0
    )
    variances = np.maximum(square / len(Y), LEAST_VARIANCE)
    new = model._replace(probabilities=counts / len(Y), spline=C, variances=variances)
    return new, float(total.mean()), used


def moved_places(model: CurveDensity, Y: Array) -> CurveDensity:
    r"""Each place after one Gauss-Newton step towards the mean of its rows, by arc length.

    The step is :math:`f'^\top S(\bar y_j-f)/f'^\top Sf'` with inverse variances S, at most a
    tenth of the distance to the next place times the number of places.
    """
    joint = joint_log_density(model.centres(), model.probabilities, model.variances, Y)
    R = np.exp(joint - logsumexp(joint, axis=1)[:, None])
    means = R.T @ Y / np.maximum(R.sum(axis=0), 1e-300)[:, None]
    slope = (
        spline_basis(model.places, model.n_pieces, closed=model.closed, derivative=True)
        @ model.spline
    )
    S = 1 / model.variances
    size = np.einsum("mk,k,mk->m", slope, S, slope)
    step = np.einsum("mk,k,mk->m", slope, S, means - model.centres()) / np.maximum(size, 1e-300)
    step = np.where(R.sum(axis=0) > 1e-8, np.clip(step, -0.02, 0.02), 0.0)
    moved = model.places + step
    moved = np.mod(moved, 1.0) if model.closed else np.clip(moved, 0.0, 1.0)
    return model._replace(places=moved)


def by_arc_length(model: CurveDensity, line: Polyline) -> CurveDensity:
    """The same points with places that are shares of the length."""
    even = np.linspace(0.0, 1.0, len(line.lengths))
    return model._replace(places=np.interp(model.places, even, line.lengths / line.lengths[-1]))


def penalized_log_likelihood(model: CurveDensity, Y: Array, penalty: float) -> float:
    """What expectation and maximisation raise at a fixed penalty, per row."""
    joint = joint_log_density(model.centres(), model.probabilities, model.variances, Y)
    rough = np.diag(model.spline.T @ roughness(model.n_pieces, closed=model.closed) @ model.spline)
    return float(
        logsumexp(joint, axis=1).mean() - penalty / len(Y) * np.sum(rough / model.variances) / 2
    )


class GenerativeCurve(NamedTuple):
    """A density, its curve, the penalty per row, and how the iteration ended."""

    density: CurveDensity
    line: Polyline
    alpha: float
    log_tube: float
    n_iter: int
    settled: bool


def generative_curve(
    Y: Array,
    x: Array,
    *,
    closed: bool,
    alpha: float | None,
    freedom: float,
    max_iter: int,
    tol: float,
) -> GenerativeCurve:
    """Raise the penalised likelihood until it changes by less than ``tol`` per row."""
    model = first_density(Y, x, closed=closed, freedom=freedom)
    penalty = None if alpha is None else alpha * len(Y)
    before = -np.inf
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        model, value, used = em_step(model, Y, penalty=penalty, freedom=freedom)
        settled = abs(value - before) < tol
        if settled:
            break
        before = value
        line = spline_line(model.spline, model.n_pieces, closed=closed)
        if line.lengths[-1] == 0.0:
            break
        model = moved_places(model, Y)
    line = spline_line(model.spline, model.n_pieces, closed=closed)
    if line.lengths[-1] == 0.0:
        return GenerativeCurve(model, line, used / len(Y), np.inf, n_iter, settled)
    found = feet(line, Y)
    path = spline_path(unit_places(found.x, line), Y, model.n_pieces, closed=closed)
    tube = log_tube(line.lengths[-1], found.error, path.leverages(used), Y.shape[1])
    return GenerativeCurve(model, line, used / len(Y), tube, n_iter, settled)


def smoothest_density(
    Y: Array, x: Array, *, closed: bool, max_iter: int, tol: float
) -> GenerativeCurve:
    """The density whose curve has the thinnest tube around rows left out."""
    kept = Patience()
    for freedom in freedoms_for(x, Y, closed=closed):
        found = generative_curve(
            Y, x, closed=closed, alpha=None, freedom=freedom, max_iter=max_iter, tol=tol
        )
        if kept.offer(found.log_tube, found):
            break
    assert isinstance(kept.best, GenerativeCurve)
    return kept.best
