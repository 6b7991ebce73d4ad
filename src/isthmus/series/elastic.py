"""Elastic distances of series beside warping: by name, as a matrix."""

from typing import Any

import numpy as np

from isthmus._checks import check_choice, check_float
from isthmus.series.collection import Packed, pack_both
from isthmus.series.pairs import n_lanes, pair_matrix
from isthmus.typing import Array, IntArray, Objects

DISTANCES = ("lcss", "edr", "msm", "twe", "soft_dtw")


def elastic_matrix(
    X: Objects,
    Z: Objects = None,
    *,
    distance: str = "msm",
    width: Any = "auto",
    cost: float = 1.0,
    stiffness: float = 0.001,
    smoothness: float = 1.0,
    n_jobs: int | None = None,
) -> Array:
    r"""Distances of series under a tolerance for time, all pairs.

    Parameters
    ----------
    X, Z : collections of series
        As in :func:`dtw_matrix`.
    distance : {"msm", "twe", "lcss", "edr", "soft_dtw"}, default="msm"
        ``"msm"``, move-split-merge, a metric of series of one channel [Stefan2013]_; ``"twe"``,
        time warp edit distance, a metric [Marteau2009]_; ``"lcss"``, one minus the longest
        common subsequence as a share of the shorter series [Vlachos2002]_; ``"edr"``, edit
        distance on real sequences as a share of the longer one, elements left out at either end
        counted as published [Chen2005]_; ``"soft_dtw"``,
        dynamic time warping with a smooth minimum, which may be negative [Cuturi2017]_.
    width : float or "auto", default="auto"
        Of ``"lcss"`` and ``"edr"``: elements match where they differ by no more. ``"auto"`` is a
        quarter of the standard deviation of all values of ``X``.
    cost : float, default=1.0
        Of ``"msm"``, the price of a split or merge; of ``"twe"``, that of an edit. In the units
        of the data.
    stiffness : float, default=0.001
        Of ``"twe"``: price of a step in time.
    smoothness : float, default=1.0
        Of ``"soft_dtw"``: the factor :math:`\gamma` of
        :math:`-\gamma\log\sum_\pi e^{-c(\pi)/\gamma}` over all paths :math:`\pi`, where
        :math:`c` sums squared differences.
    n_jobs : int or None, default=None

    Returns
    -------
    ndarray of shape (n, m)

    See Also
    --------
    dtw_matrix : dynamic time warping.
    alignment_matrix : edit distance with real penalty.

    Examples
    --------
    >>> from isthmus.series import elastic_matrix
    >>> elastic_matrix([[1.0, 2.0, 3.0]], [[1.0, 3.0], [1.0, 2.0, 3.0]], cost=0.5)
    array([[1.5, 0. ]])
    >>> elastic_matrix([[1.0, 2.0, 3.0]], [[1.0, 9.0, 3.0]], distance="lcss", width=0.1).round(3)
    array([[0.333]])
    """
    from isthmus.series import elastic_loops as loops

    owner = "elastic_matrix"
    check_choice(distance, "distance", owner, DISTANCES)
    check_float(cost, "cost", owner)
    check_float(stiffness, "stiffness", owner)
    check_float(smoothness, "smoothness", owner, include_low=False)
    left, right = pack_both(X, Z, owner=owner)
    if distance == "msm" and left.values.shape[1] != 1:
        raise ValueError(
            f"{owner} with distance='msm' needs series of one channel. Got "
            f"{left.values.shape[1]}; take distance='twe'."
        )
    matching = _matching_width(width, left, owner)
    fill, a, b = {
        "lcss": (loops.lcss_pairs, matching, 0.0),
        "edr": (loops.edr_pairs, matching, 0.0),
        "msm": (loops.msm_pairs, float(cost), 0.0),
        "twe": (loops.twe_pairs, float(stiffness), float(cost)),
        "soft_dtw": (loops.soft_pairs, float(smoothness), 0.0),
    }[distance]

    longest = int(max(left.lengths.max(), right.lengths.max()))

    def compute(first: IntArray, second: IntArray) -> Array:
        out = np.empty(len(first))
        lanes = n_lanes(len(first))
        fill(left.parts, right.parts, first, second, a, b, longest, lanes, out)
        return out

    z_lengths = None if left is right else right.lengths
    return pair_matrix(left.lengths, z_lengths, compute, n_jobs=n_jobs)


def _matching_width(width: Any, packed: Packed, owner: str) -> float:
    if isinstance(width, str):
        check_choice(width, "width", owner, ("auto",))
        return 0.25 * float(packed.values.std())
    return check_float(width, "width", owner)
