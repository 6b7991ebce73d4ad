"""The average of series under dynamic time warping."""

from typing import Any

import numpy as np

from isthmus._checks import check_table
from isthmus._door import with_door
from isthmus._progress import ProgressLine
from isthmus.series.bands import check_feasible, window_code
from isthmus.series.collection import Packed, as_series, pack
from isthmus.series.warping import Step, dtw_matrix, step_weights
from isthmus.typing import Array, Objects


@with_door
def barycenter(
    X: Objects,
    *,
    window: Any = None,
    step: Step = "symmetric1",
    weights: Any = None,
    init: Any = None,
    max_iter: int = 30,
    tol: float = 1e-6,
    verbose: int = 0,
) -> Array:
    r"""A series of smallest summed distance, :math:`\min_c\sum_iw_iD(x_i,c)`, by averaging.

    Each series is aligned with the current centre, and every element of the centre becomes the
    weighted mean of the elements that met it [Petitjean2011]_. Neither half of a round can raise
    the sum, so it falls until the alignments repeat: a local minimum, which depends on ``init``.

    Parameters
    ----------
    X : collection of series
    window, step :
        As in :func:`dtw`; local costs are squared Euclidean.
    weights : array of shape (n_series,) or None, default=None
        How much each series counts, none negative; None counts all alike.
    init : series or None, default=None
        The first centre, which also fixes the length. None starts from the member with the
        smallest summed distance to the others, among the first 50 of ``X``, and from means of
        all series, stretched to its length and to the shortest, the mean and the longest one, and
        keeps the best end (tslearn starts from the mean of the longest length alone).
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
    packed = pack(X, owner="barycenter")
    series = [packed.values[s : s + n] for s, n in zip(packed.starts, packed.lengths, strict=True)]
    shares = _check_weights(weights, len(series))
    code, costs = window_code(window), step_weights(step, "barycenter")
    if init is None:
        some, counts = series[:50], shares[:50]
        sums = dtw_matrix(some, window=window, step=step) @ counts
        medoid = some[int(np.argmin(sums))]
        n = packed.lengths[shares > 0]
        lengths = dict.fromkeys([len(medoid), n.min(), round(float(n.mean())), n.max()])
        starts = [medoid.copy(), *(_stretched_mean(series, shares, int(m)) for m in lengths)]
    else:
        starts = [as_series(init, owner="barycenter", name="init").copy()]
    best, lowest = starts[0], np.inf
    with ProgressLine("barycenter", verbose=verbose) as line:
        for start in starts:
            center, value = start, np.inf
            for iteration in range(max_iter + 1):
                improved, objective = average_once(packed, shares, center, code, costs)
                line.update(iteration=iteration, objective=objective)
                done = objective >= value * (1 - tol)
                value = objective
                if objective < lowest:
                    best, lowest = center, objective
                if done:
                    break
                center = improved
    return best


def average_once(
    packed: Packed,
    shares: Array,
    center: Array,
    code: tuple[int, float],
    weights: tuple[float, float, float],
) -> tuple[Array, float]:
    """The next centre, and the summed distance to the present one."""
    from isthmus.series.average_loops import add_meetings

    check_feasible(code, packed.lengths, np.array([len(center)]), owner="barycenter")
    total, mass = np.zeros_like(center), np.zeros(len(center))
    summed = add_meetings(packed.parts, shares, center, *code, weights, total, mass)
    met = mass > 0  # a step pattern may pass over elements
    return np.where(met[:, None], total / np.where(met, mass, 1.0)[:, None], center), float(summed)


def _stretched_mean(series: list[Array], shares: Array, length: int) -> Array:
    """The mean of all series after linear stretching to one length."""
    total = np.zeros((length, series[0].shape[1]))
    for x, share in zip(series, shares, strict=True):
        old, new = np.linspace(0, 1, len(x)), np.linspace(0, 1, length)
        total += share * np.stack([np.interp(new, old, column) for column in x.T], axis=1)
    return np.asarray(total / shares.sum())


def _check_weights(weights: Any, n: int) -> Array:
    if weights is None:
        return np.ones(n)
    shares = check_table(
        weights, "weights", "barycenter", expected="None or a list of numbers", ensure_2d=False
    )
    if shares.shape != (n,) or shares.min() < 0 or shares.sum() <= 0:
        raise ValueError(
            f"The 'weights' parameter of barycenter must be {n} numbers of at least 0 that do not "
            f"all vanish, one for each series. Got {weights!r:.80} instead."
        )
    return shares
