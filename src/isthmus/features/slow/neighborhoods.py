"""Which rows should get similar features: successive ones, those of a class, or of like targets."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from isthmus._checks import check_length
from isthmus.features.slow.episodes import last_rows
from isthmus.features.slow.expander import expand_blocks
from isthmus.features.slow.formulas import Roots, class_roots, extended, map_block, target_roots
from isthmus.kernels.objects import n_objects
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, IntArray


def time_roots(expander: Any, episodes: list[Any], lags: list[int]) -> Roots:
    """Moments of all episodes and of their differences over the lags, some of each."""
    total = sum_episodes(expander, episodes, lags)
    require_differences(total, lags, max(n_objects(episode) for episode in episodes))
    return total


def sum_episodes(expander: Any, episodes: list[Any], lags: list[int]) -> Roots:
    """The same of episodes that may be too short for a difference."""
    total: Roots | None = None
    for rows, overlap in _overlapping_blocks(expander, episodes, lags):
        with threads_for(rows.size * rows.shape[1]):
            if total is None:
                total = map_block(rows, lags)
            else:
                total = extended(total, rows, lags, overlap=overlap)
    assert total is not None  # an episode has a row
    return total


def require_differences(total: Roots, lags: list[int], longest: int) -> None:
    """Refuse a signal too short for one of the lags."""
    for lag, count in zip(lags, total.counts, strict=True):
        if not count:
            raise ValueError(
                f"SlowFeatureAnalysis takes differences over lag = {lag} rows: expected an "
                f"episode of at least {lag + 1} rows. Got n_samples = {longest} in the longest."
            )


def _overlapping_blocks(
    expander: Any, episodes: list[Any], lags: list[int]
) -> Iterator[tuple[Array, int]]:
    """Expanded rows of every episode, and how many of them belong to the block before."""
    for episode in episodes:
        tail: Array | None = None
        for Phi in expand_blocks(expander, episode):
            overlap = 0 if tail is None else len(tail)
            rows = Phi if tail is None else np.vstack([tail, Phi])
            yield rows, overlap
            tail = last_rows(rows, max(lags))


def graph_roots(owner: Any, Phi: Array, y: Any) -> Roots:
    """Moments of the expanded rows and of their differences within classes or along a target."""
    if y is None:
        raise ValueError(
            f"SlowFeatureAnalysis(graph={owner.graph!r}) requires y to be passed, but the "
            "target y is None."
        )
    y = column_or_1d(y, warn=True)
    check_length(owner, len(Phi), len(y), what="targets as rows")
    if owner.graph == "classes":
        check_classification_targets(y)
    else:
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", estimator=owner)
    values, groups = np.unique(y, return_inverse=True)
    if len(values) < 2:
        raise ValueError(
            f"SlowFeatureAnalysis(graph={owner.graph!r}) needs at least 2 different values in y. "
            f"Got {len(values)} class, {values[0]!r}."
        )
    build: Callable[[Array, IntArray], Roots]
    build = class_roots if owner.graph == "classes" else target_roots
    return build(Phi, groups)
