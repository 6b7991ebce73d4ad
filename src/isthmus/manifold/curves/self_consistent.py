"""Curves that pass through the mean of the rows projected on them (Hastie and Stuetzle)."""

from typing import NamedTuple

import numpy as np

from isthmus.manifold.curves.choice import Patience, log_tube
from isthmus.manifold.curves.polyline import Polyline, feet, polyline, with_tails
from isthmus.manifold.curves.smoothing import best_penalty, spline_path
from isthmus.manifold.curves.splines import n_pieces_for, spline_basis
from isthmus.typing import Array

# Corners of the line that stands for a smooth curve: its sagitta is far below the noise.
N_CORNERS = 257
# Mean squared distances of this size are rounding, in units of the data's variance.
ROUNDING = 1e-14
# Degrees of freedom that are tried, from stiff to lively.
FREEDOMS = (3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 50)


class Curve(NamedTuple):
    """A fitted line, the penalty per row of its spline, and whether the iteration settled."""

    line: Polyline
    alpha: float
    log_tube: float
    n_iter: int
    settled: bool


def spline_line(C: Array, n_pieces: int, *, closed: bool) -> Polyline:
    """The line through many points of a spline with coefficients ``C`` (m, d)."""
    x = np.linspace(0.0, 1.0, N_CORNERS, endpoint=not closed)
    return polyline(spline_basis(x, n_pieces, closed=closed) @ C, closed=closed)


def unit_places(x: Array, line: Polyline) -> Array:
    """Arc lengths as places in [0, 1]: shares of a closed line, or of what rows span."""
    if line.closed:
        return np.asarray(x / line.lengths[-1])
    span = float(np.ptp(x))
    return (x - x.min()) / span if span > 0 else np.full(len(x), 0.5)


def self_consistent_curve(
    Y: Array,
    x: Array,
    *,
    closed: bool,
    alpha: float | None = None,
    freedom: float | None = None,
    max_iter: int,
    tol: float,
) -> Curve:
    r"""Alternate :math:`x_i\leftarrow` nearest place and :math:`f\leftarrow` spline of y on x.

    Either the penalty ``alpha`` of :math:`\frac1n\sum_i\|y_i-f(x_i)\|^2+\alpha\int\|f''\|^2` over
    the unit interval is fixed, or the degrees of ``freedom``. Rows beyond an end are projected on
    a straight continuation, one root mean square distance long, so that the curve can grow.
    The end is where the mean squared distance changes by less than the share ``tol``.
    """
    n, n_pieces = len(Y), n_pieces_for(len(Y))
    before, width = np.inf, 0.0
    for n_iter in range(1, max_iter + 1):
        path = spline_path(x, Y, n_pieces, closed=closed)
        penalty = n * alpha if alpha is not None else path.penalty_of(freedom or 4.0)
        line = spline_line(path.coefficients(penalty), n_pieces, closed=closed)
        if line.lengths[-1] == 0.0:  # all rows at one place
            return Curve(line, penalty / n, np.inf, n_iter, True)
        longer = with_tails(line, width)
        found = feet(longer, Y)
        x, error = unit_places(found.x, longer), float(found.error.mean())
        width = np.sqrt(error)
        settled = abs(before - error) <= tol * error + ROUNDING
        if settled:
            break
        before = error
    errors = feet(line, Y).error
    tube = log_tube(line.lengths[-1], errors, path.leverages(penalty), Y.shape[1])
    return Curve(line, penalty / n, tube, n_iter, settled)


def freedoms_for(x: Array, Y: Array, *, closed: bool) -> list[int]:
    """Degrees of freedom to try, lively ones first: a stiff curve forgets the order of a start.

    Up to twice what the regression on the first places takes when rows are left out.
    """
    path = spline_path(x, Y, n_pieces_for(len(Y)), closed=closed)
    free = float(path.leverages(best_penalty(path, len(Y))).sum())
    return [f for f in FREEDOMS[::-1] if f <= max(4, min(2 * free, len(Y) / 2))]


def smoothest_tube(Y: Array, x: Array, *, closed: bool, max_iter: int, tol: float) -> Curve:
    """The curve whose degrees of freedom give the thinnest tube around rows left out."""
    kept = Patience()
    for freedom in freedoms_for(x, Y, closed=closed):
        curve = self_consistent_curve(
            Y, x, closed=closed, freedom=freedom, max_iter=max_iter, tol=tol
        )
        if kept.offer(curve.log_tube, curve):
            break
    assert isinstance(kept.best, Curve)
    return kept.best
