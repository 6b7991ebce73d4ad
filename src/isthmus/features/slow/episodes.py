"""The rows of a signal: in episodes (a list, or ids beside the rows), and expanded in blocks."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from isthmus.blocks.slices import block_slices
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


def checked_episodes(owner: Any, X: Any, *, reset: bool) -> list[Array]:
    """The tables of a list, each checked; an error names the episode."""
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


def concatenated(pieces: list[Any]) -> Any:
    """One collection of the rows of all episodes."""
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return [item for piece in pieces for item in piece]


def last_rows(piece: Any, n: int) -> Any:
    """The last ``n`` rows, or all where there are fewer."""
    return take(piece, slice(max(0, n_objects(piece) - n), None))


def expanded(expansion: Any, piece: Any, dtype: Any = np.float64) -> Array:
    """The functions of a fitted expansion at each row."""
    Phi = piece if expansion is None else expansion.transform(piece)
    return np.asarray(Phi, dtype=dtype)


def expanded_blocks(expansion: Any, piece: Any, dtype: Any = np.float64) -> Iterator[Array]:
    """The expanded rows of an episode, so many at a time that they stay in the cache."""
    width = expanded(expansion, take(piece, slice(0, 1)), dtype).shape[1]
    size = max(4 * width, 50_000 // width)
    for rows in block_slices(n_objects(piece), width, block_size=size):
        yield expanded(expansion, take(piece, rows), dtype)
