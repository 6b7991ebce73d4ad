"""Episodes of a signal: a list of tables, or one table and the episode of each row."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from isthmus.kernels.objects import n_objects, take
from isthmus.typing import Array


def are_episodes(X: Any) -> bool:
    """Whether ``X`` is a list of tables and not a table.

    >>> import numpy as np
    >>> are_episodes([np.zeros((3, 2)), np.zeros((5, 2))]), are_episodes([[0.0, 1.0]])
    (True, False)
    """
    tables = isinstance(X, (list, tuple)) and len(X) > 0
    return tables and all(isinstance(item, np.ndarray) and item.ndim == 2 for item in X)


def check_episodes(owner: Any, X: Any, *, reset: bool) -> list[Array]:
    """Return the tables of a list, each checked; an error names the episode."""
    checked = []
    for i, episode in enumerate(X):
        try:
            table = validate_data(
                owner, episode, dtype=[np.float64, np.float32], reset=reset and i == 0
            )
        except ValueError as error:
            raise ValueError(f"Episode {i}{_first_not_finite(episode)}: {error}") from error
        checked.append(table)
    return checked


def _first_not_finite(episode: Array) -> str:
    if episode.dtype.kind != "f" or np.isfinite(episode).all():
        return ""
    row, column = np.argwhere(~np.isfinite(episode))[0]
    return f" has {episode[row, column]} in row {row}, column {column}"


def episodes_by_id(X: Any, ids: Array) -> list[Any]:
    """Split where the id changes.

    >>> import numpy as np
    >>> [part.ravel().tolist() for part in episodes_by_id(np.arange(4)[:, None], [7, 7, 2, 7])]
    [[0, 1], [2], [3]]
    """
    ids = np.asarray(ids)
    ends = [0, *(np.flatnonzero(ids[1:] != ids[:-1]) + 1), len(ids)]
    return [take(X, slice(a, b)) for a, b in pairwise(ends)]


def join_episodes(episodes: list[Any]) -> Any:
    """One collection of the rows of all episodes."""
    if len(episodes) == 1:
        return episodes[0]
    if isinstance(episodes[0], np.ndarray):
        return np.concatenate(episodes)
    return [item for episode in episodes for item in episode]


def last_rows(episode: Any, n: int) -> Any:
    """The last ``n`` rows, or all of them if there are fewer."""
    return take(episode, slice(max(0, n_objects(episode) - n), None))


def slowness_of(features: Sequence[Array], lags: Sequence[int]) -> Array:
    """Mean squared change of each feature over the lags, in units of its variance."""
    changes = []
    for lag in lags:
        steps = [f[lag:] - f[:-lag] for f in features if len(f) > lag]
        if not steps:
            raise ValueError(
                f"SlowFeatureAnalysis.slowness takes differences over lag = {lag} rows: "
                f"expected an episode of at least {lag + 1} rows. Got none."
            )
        changes.append(np.mean(np.concatenate(steps) ** 2, axis=0))
    variances = np.var(np.concatenate(features), axis=0)
    ratio = np.full(len(variances), np.nan)
    return np.divide(np.mean(changes, axis=0), variances, out=ratio, where=variances > 0)
