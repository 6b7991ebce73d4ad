"""Dynamic time warping: distance, path and matrix."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from isthmus._door import with_door
from isthmus.blocks.containers import is_dask
from isthmus.blocks.mapping import each_pair
from isthmus.series.bands import check_feasible, window_code
from isthmus.series.collection import Packed, as_series, pack_both
from isthmus.series.pairs import n_lanes, pair_matrix
from isthmus.typing import Array, IntArray, Objects

Step = str | tuple[float, float, float]
Local = str | Callable[[Array, Array], Array]
STEPS: dict[str, tuple[float, float, float]] = {
    "symmetric1": (1.0, 1.0, 1.0),
    "symmetric2": (2.0, 1.0, 1.0),
}
LOCALS = ("sqeuclidean", "euclidean")


@with_door
def dtw(
    x: Any, y: Any, *, window: Any = None, step: Step = "symmetric1", local: Local = "sqeuclidean"
) -> float:
    r"""Dynamic time warping: the cost of the best monotone alignment of two series.

    .. math::
        D(i,j)=\min\{D(i-1,j-1)+w_dd_{ij},\;D(i-1,j)+w_vd_{ij},\;D(i,j-1)+w_hd_{ij}\},
        \qquad D(0,0)=0,

    with :math:`d_{ij}=d(x_i,y_j)`, where both series begin and end together
    [SakoeChiba1978]_. It is the sum of the local costs, without a root: the square of what
    ``tslearn`` and ``dtaidistance`` return, the same as ``aeon``. It is no metric: the triangle
    inequality fails.

    Parameters
    ----------
    x, y : array-like of shape (length,) or (length, channels)
        Of any two lengths.
    window : None, int, float, SakoeChiba or Itakura, default=None
        Which elements may meet. A number is the radius of a :class:`SakoeChiba` band, an int in
        elements, a float in (0, 1) as share of the longer series.
    step : {"symmetric1", "symmetric2"} or three floats, default="symmetric1"
        Weights of the local cost in a diagonal step, a step in x alone and one in y alone:
        (1, 1, 1), or (2, 1, 1), under which all paths have equal total weight.
    local : {"sqeuclidean", "euclidean"} or callable, default="sqeuclidean"
        Local cost. A function takes the two series as arrays (length, channels) and returns all
        costs, shape (len(x), len(y)).

    Returns
    -------
    float
        In O(nm) time, O(rm) with a band of radius r, and O(m) memory.

    Examples
    --------
    >>> from isthmus.series import dtw
    >>> dtw([1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0])
    0.0
    """
    a, b, weights, code = _check_pair(x, y, window, step, "dtw")
    if callable(local):
        return _table(a, b, code, weights, local, "dtw")[0]
    from isthmus.series.warping_loops import one_distance

    low, high = band_limits(code, len(a), len(b))
    root = is_root(local, "dtw")
    return float(one_distance(a, b, low, high, weights, root, np.inf))


@with_door
def dtw_path(
    x: Any, y: Any, *, window: Any = None, step: Step = "symmetric1", local: Local = "sqeuclidean"
) -> tuple[float, IntArray]:
    """Dynamic time warping with the alignment that attains it.

    Parameters are those of :func:`dtw`. Ties go to the diagonal step, then to the step in ``x``.

    Returns
    -------
    distance : float
    path : ndarray of shape (n_steps, 2)
        Pairs of indices that meet, from (0, 0) to the two last elements.

    Examples
    --------
    >>> from isthmus.series import dtw_path
    >>> dtw_path([1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0])[1].tolist()
    [[0, 0], [1, 1], [1, 2], [2, 3]]
    """
    a, b, weights, code = _check_pair(x, y, window, step, "dtw_path")
    distance, steps = _table(a, b, code, weights, local, "dtw_path")
    i, j = len(a) - 1, len(b) - 1
    path = [(i, j)]
    while i > 0 or j > 0:
        taken = steps[i, j]
        i -= taken != 2
        j -= taken != 1
        path.append((i, j))
    return distance, np.array(path[::-1])


@with_door
def dtw_matrix(
    X: Objects,
    Z: Objects = None,
    *,
    window: Any = None,
    step: Step = "symmetric1",
    local: Local = "sqeuclidean",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Array:
    """Dynamic time warping between all pairs of two collections, or within one.

    Pairs are computed side by side in vector registers and in threads; the numbers are
    those of :func:`dtw` whatever the number of threads.

    Parameters
    ----------
    X, Z : collections of series
        Lists of arrays (length,) or (length, channels), or arrays (n, length) or
        (n, length, channels). Without ``Z`` the matrix is symmetric and a half is computed. Dask
        arrays and bags give a lazy matrix, of which each chunk is one call.
    window, step, local :
        As in :func:`dtw`; a function as ``local`` is called for every pair.
    n_jobs : int or None, default=None
        Threads; None is as many as numba may use (``NUMBA_NUM_THREADS``), -1 all cores.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from isthmus.series import dtw_matrix
    >>> dtw_matrix([[1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0], [1.0, 3.0]])
    array([[0., 0., 1.],
           [0., 0., 2.],
           [1., 2., 0.]])
    """
    if is_dask(X) or is_dask(Z):
        options = {"window": window, "step": step, "local": local, "n_jobs": n_jobs}
        return each_pair(X, X if Z is None else Z, partial(dtw_matrix, **options))
    weights, code = step_weights(step, "dtw_matrix"), window_code(window)
    left, right = pack_both(X, Z, owner="dtw_matrix")
    check_feasible(code, left.lengths, right.lengths, owner="dtw_matrix")
    compute = (
        _pairwise_calls(left, right, code, weights, local)
        if callable(local)
        else _compiled_distances(left, right, code, weights, is_root(local, "dtw_matrix"))
    )
    # Of a series with itself the distance is zero, and with unequal weights D(x, y) ≠ D(y, x).
    symmetric = left is right and weights[1] == weights[2] and not callable(local)
    return pair_matrix(
        left.lengths,
        None if symmetric else right.lengths,
        compute,
        diagonal=False,
        n_jobs=1 if callable(local) else n_jobs,
        verbose=verbose,
        title="dtw_matrix",
    )


def step_weights(step: Step, owner: str) -> tuple[float, float, float]:
    """The three weights of a step pattern.

    >>> step_weights("symmetric2", "dtw")
    (2.0, 1.0, 1.0)
    """
    if isinstance(step, str) and step in STEPS:
        return STEPS[step]
    numbers = [] if isinstance(step, str) else [float(w) for w in step]
    if len(numbers) == 3 and np.isfinite(numbers).all() and min(numbers) > 0:
        return numbers[0], numbers[1], numbers[2]
    raise ValueError(
        f"The 'step' parameter of {owner} must be one of {', '.join(map(repr, STEPS))} or three "
        f"positive weights (diagonal, in x, in y). Got {step!r} instead."
    )


def is_root(local: Local, owner: str) -> bool:
    if local not in LOCALS:
        raise ValueError(
            f"The 'local' parameter of {owner} must be one of {', '.join(map(repr, LOCALS))} or a "
            f"function of two series. Got {local!r} instead."
        )
    return local == "euclidean"


def _check_pair(
    x: Any, y: Any, window: Any, step: Step, owner: str
) -> tuple[Array, Array, tuple[float, float, float], tuple[int, float]]:
    weights, code = step_weights(step, owner), window_code(window)
    a, b = as_series(x, owner=owner, name="x"), as_series(y, owner=owner, name="y")
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"{owner} expected as many channels in y as in x. Got {b.shape[1]} and {a.shape[1]}."
        )
    check_feasible(code, np.array([len(a)]), np.array([len(b)]), owner=owner)
    return a, b, weights, code


def band_limits(code: tuple[int, float], n: int, m: int) -> tuple[IntArray, IntArray]:
    from isthmus.series.warping_loops import fill_band

    low, high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    fill_band(*code, n, m, low, high)
    return low, high


def _table(
    a: Array,
    b: Array,
    code: tuple[int, float],
    weights: tuple[float, float, float],
    local: Local,
    owner: str,
) -> tuple[float, Any]:
    """Distance and the step into every cell, from the table of all local costs."""
    from isthmus.series.warping_loops import path_table

    if callable(local):
        costs = np.asarray(local(a, b), dtype=np.float64)
        if costs.shape != (len(a), len(b)) or np.isnan(costs).any():
            raise ValueError(
                f"The 'local' function of {owner} must return costs of shape {(len(a), len(b))} "
                f"without NaN. Got shape {costs.shape} instead."
            )
    else:
        costs = cdist(a, b, "euclidean" if is_root(local, owner) else "sqeuclidean")
    low, high = band_limits(code, len(a), len(b))
    distance, steps = path_table(np.ascontiguousarray(costs), low, high, weights)
    return float(distance), steps


def _compiled_distances(
    left: Packed,
    right: Packed,
    code: tuple[int, float],
    weights: tuple[float, float, float],
    root: bool,
) -> Callable[[IntArray, IntArray], Array]:
    from isthmus.series.warping_loops import pair_distances

    longest = int(max(left.lengths.max(), right.lengths.max()))

    def compute(first: IntArray, second: IntArray) -> Array:
        out = np.empty(len(first))
        lanes = n_lanes(len(first))
        pair_distances(
            left.parts, right.parts, first, second, *code, weights, root, longest, lanes, out
        )
        return out

    return compute


def _pairwise_calls(
    left: Packed,
    right: Packed,
    code: tuple[int, float],
    weights: tuple[float, float, float],
    local: Local,
) -> Callable[[IntArray, IntArray], Array]:
    def one(packed: Packed, i: int) -> Array:
        return packed.values[packed.starts[i] : packed.starts[i] + packed.lengths[i]]

    def compute(first: IntArray, second: IntArray) -> Array:
        pairs = zip(first, second, strict=True)
        return np.array(
            [
                _table(one(left, i), one(right, j), code, weights, local, "dtw_matrix")[0]
                for i, j in pairs
            ]
        )

    return compute
