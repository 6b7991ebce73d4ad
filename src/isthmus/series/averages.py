"""The average of series under dynamic time warping."""

from typing import Any

import numpy as np

from isthmus._door import with_door
from isthmus._progress import ProgressLine
from isthmus.series.collection import as_series, pack
from isthmus.series.warping import Step, dtw_matrix, dtw_path
from isthmus.typing import Array, Objects


@with_door
def barycenter(
    X: Objects,
    *,
    window: Any = None,
    step: Step = "symmetric1",
    init: Any = None,
    max_iter: int = 30,
    tol: float = 1e-6,
    verbose: int = 0,
) -> Array:
    r"""A series of smallest summed distance, :math:`\min_c\sum_iD(x_i,c)`, by averaging.

    Each series is aligned with the current centre, and every element of the centre becomes the
    weighted mean of the elements that met it [Petitjean2011]_. Neither half of a round can raise
    the sum, so it falls until the alignments repeat: a local minimum, which depends on ``init``.

    Parameters
    ----------
    X : collection of series
    window, step :
        As in :func:`dtw`; local costs are squared Euclidean.
    init : series or None, default=None
        The first centre, which also fixes the length; None is the member with the smallest summed
        distance to the others, among the first 50 of ``X``.
    max_iter : int, default=30
        Maximum number of rounds.
    tol : float, default=1e-6
        Stop where a round lowers the sum by less than this share.
    verbose : int, default=0

    Returns
    -------
    ndarray of shape (length, channels)

    Examples
    --------
    >>> from isthmus.series import barycenter
    >>> barycenter([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]]).ravel()
    array([0., 1., 0.])
    """
    from isthmus.series.warping import step_weights

    packed = pack(X, owner="barycenter")
    weights = np.array(step_weights(step, "barycenter"))
    series = [packed.values[s : s + n] for s, n in zip(packed.starts, packed.lengths, strict=True)]
    if init is None:
        some = series[:50]
        sums = dtw_matrix(some, window=window, step=step).sum(axis=1)
        center = some[int(np.argmin(sums))].copy()
    else:
        center = as_series(init, owner="barycenter", name="init").copy()
    previous = np.inf
    with ProgressLine("barycenter", verbose=verbose) as line:
        for iteration in range(max_iter):
            total, mass, objective = np.zeros_like(center), np.zeros(len(center)), 0.0
            for x in series:
                distance, path = dtw_path(x, center, window=window, step=step)
                objective += distance
                # Weight of the step that led to each meeting: diagonal, in x, in the centre.
                moves = np.vstack([[1, 1], np.diff(path, axis=0)])
                taken = weights[np.where(moves.all(axis=1), 0, np.where(moves[:, 0] == 1, 1, 2))]
                np.add.at(total, path[:, 1], taken[:, None] * x[path[:, 0]])
                np.add.at(mass, path[:, 1], taken)
            line.update(iteration=iteration, objective=float(objective))
            if objective >= previous * (1 - tol):
                break
            previous = objective
            center = total / mass[:, None]
    return center
