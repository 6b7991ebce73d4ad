"""Collections of series: checked, and laid one after another for the compiled loops."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.typing import Array, IntArray, Objects


@dataclass(frozen=True)
class Packed:
    """Series one after another: ``values[starts[i] : starts[i] + lengths[i]]`` is the i-th."""

    values: Array
    starts: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def parts(self) -> tuple[Array, IntArray, IntArray]:
        """What a compiled loop takes."""
        return self.values, self.starts, self.lengths


def as_series(x: Any, *, owner: str, name: str) -> Array:
    """One series as a float array (length, channels), or what is wrong with it.

    >>> as_series([1, 2, 3], owner="dtw", name="x").shape
    (3, 1)
    >>> as_series([1.0, float("nan")], owner="dtw", name="x")
    Traceback (most recent call last):
    ValueError: dtw expected finite numbers in x. Got nan at position 1 instead.
    """
    try:
        series = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{owner} expected numbers in {name}, of shape (length,) or (length, channels). "
            f"Got {x!r:.60} of type {type(x).__name__} instead."
        ) from error
    if series.ndim == 1:
        series = series[:, None]
    if series.ndim != 2 or series.shape[1] == 0:
        raise ValueError(
            f"{owner} expected shape (length,) or (length, channels) of {name}. "
            f"Got shape {np.shape(x)} instead."
        )
    if len(series) == 0:
        raise ValueError(f"{owner} expected at least one element in {name}. Got an empty series.")
    if not np.isfinite(series).all():
        place, channel = np.argwhere(~np.isfinite(series))[0]
        where = f"position {place}" + (f", channel {channel}" if series.shape[1] > 1 else "")
        raise ValueError(
            f"{owner} expected finite numbers in {name}. "
            f"Got {series[place, channel]} at {where} instead."
        )
    return np.ascontiguousarray(series)


def pack(X: Objects, *, owner: str, name: str = "X") -> Packed:
    """Check a collection of series and lay them one after another.

    A table (n, length) or an array (n, length, channels) is n series of equal length.

    >>> packed = pack([[1.0, 2.0], [3.0, 4.0, 5.0]], owner="dtw_matrix")
    >>> packed.lengths.tolist()
    [2, 3]
    """
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(
            f"{owner} expected a collection of series (a list or an array). "
            f"Got {X!r:.60} of type {type(X).__name__} instead."
        )
    items = X.to_numpy() if hasattr(X, "to_numpy") else X
    if len(items) == 0:
        raise ValueError(f"{owner} expected at least one series in {name}. Got none.")
    if isinstance(items, np.ndarray) and items.dtype != object and items.ndim == 1:
        raise ValueError(
            f"{owner} expected a collection of series in {name}. Got one array of shape "
            f"{items.shape} instead: a single series is a collection as [x]."
        )
    arrays = [as_series(x, owner=owner, name=f"series {i} of {name}") for i, x in enumerate(items)]
    widths = np.array([a.shape[1] for a in arrays])
    if (widths != widths[0]).any():
        odd = int(np.flatnonzero(widths != widths[0])[0])
        raise ValueError(
            f"{owner} expected the same number of channels in every series of {name}. "
            f"Got {widths[0]} in series 0 and {widths[odd]} in series {odd}."
        )
    lengths = np.array([len(a) for a in arrays])
    return Packed(np.concatenate(arrays), np.cumsum(lengths) - lengths, lengths)


def pack_both(X: Objects, Z: Objects, *, owner: str) -> tuple[Packed, Packed]:
    """Two collections to be compared; ``Z`` may be None or ``X`` itself, then both are one."""
    left = pack(X, owner=owner)
    if Z is None or Z is X:
        return left, left
    right = pack(Z, owner=owner, name="Z")
    if left.values.shape[1] != right.values.shape[1]:
        raise ValueError(
            f"{owner} expected as many channels in Z as in X. "
            f"Got {right.values.shape[1]} and {left.values.shape[1]}."
        )
    return left, right
