"""Some of the rows, where all would cost more than they tell."""

from typing import Any

import numpy as np

from isthmus.typing import IntArray


def sample_rows(n_rows: int, max_rows: int | None, rng: Any = 0, *, sort: bool = True) -> IntArray:
    """Indices of at most ``max_rows`` of ``n_rows`` rows, drawn without repetition.

    If there are no more rows than that, all of them are returned in order and nothing is drawn.

    Parameters
    ----------
    n_rows, max_rows : int
        ``max_rows=None`` takes all.
    rng : Generator, RandomState or seed, default=0
    sort : bool, default=True
        Keep the order of the rows.

    Examples
    --------
    >>> sample_rows(3, 5)
    array([0, 1, 2])
    >>> len(sample_rows(100, 5))
    5
    """
    if max_rows is None or n_rows <= max_rows:
        return np.arange(n_rows)
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        rng = np.random.default_rng(rng)
    drawn: IntArray = rng.choice(n_rows, max_rows, replace=False)
    return np.sort(drawn) if sort else drawn
