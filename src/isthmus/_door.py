"""What no estimator can learn from, refused before anything is done."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._checks import LARGEST, name_of
from isthmus._rewording import reword
from isthmus.blocks.containers import in_blocks
from isthmus.linalg.threads import one_pool

# Squares and fourth powers of smaller numbers vanish, those of larger ones overflow.
SMALLEST = 1 / LARGEST


def check_arguments(
    owner: Any,
    method: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    smallest: float = SMALLEST,
) -> None:
    """Look at every array that a method is given; what is not numbers is none of its business."""
    for position, value in enumerate(args):
        _check(owner, method, position, value, smallest)
    for name, value in kwargs.items():
        _check(owner, method, name, value, smallest)


def with_door(function: Callable[..., Any]) -> Callable[..., Any]:
    """A public function of arrays that refuses at the door what an estimator would."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        owner = function.__name__
        check_arguments(owner, function, args, kwargs)
        try:
            with one_pool():
                return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            reword(owner, error, [*args, *kwargs.values()])
            raise

    return guarded


def takes_complex(function: Callable[..., Any]) -> Callable[..., Any]:
    """Say that complex numbers are meant: put it below :func:`with_door`."""
    function.takes_complex = True  # type: ignore[attr-defined]
    return function


def _check(
    owner: Any, method: Callable[..., Any], place: int | str, value: Any, smallest: float
) -> None:
    folds = method.__name__ == "fit" and hasattr(owner, "_fit_blocks")
    if in_blocks(value) and (folds or not isinstance(value, np.memmap)):
        return  # looked at block by block
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"{name_of(owner)} takes no masked arrays, whose masks would be lost: expected a plain "
            f"array as {_argument(method, place)}. Got one with {np.ma.count_masked(value)} masked "
            "entries. Drop or fill them (X.filled(np.nan) where NaN is taken)."
        )
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        for part in value:  # series, say
            _check(owner, method, place, part, 0.0)
        return
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        if getattr(method, "takes_complex", False):
            _check(owner, method, place, np.abs(value), smallest)
            return
        raise ValueError(
            f"Complex data not supported: {name_of(owner)} needs real numbers in "
            f"{_argument(method, place)}. Got {value.dtype}; pass the real and the imaginary parts "
            "as columns."
        )
    peak = _peak(value)
    if peak is None or smallest <= peak <= LARGEST or peak == 0 or not np.isfinite(peak):
        return
    does, size = ("overflow", "larger") if peak > LARGEST else ("vanish", "smaller")
    raise ValueError(
        f"{name_of(owner)} needs numbers of magnitude {SMALLEST:g} to {LARGEST:g} in "
        f"{_argument(method, place)}: powers of {size} ones {does}. Got {peak:.3g} as the largest; "
        "rescale them."
    )


def _peak(value: Any) -> float | None:
    """The largest magnitude among the finite numbers; None where these are no real numbers."""
    if issparse(value):
        value = getattr(value, "data", None)  # a dictionary of keys has none
    elif isinstance(value, (list, tuple)) and value and _looks_numeric(value[0]):
        try:
            value = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
    elif hasattr(value, "dtypes") or hasattr(value, "iloc"):  # a table or a column of pandas
        return _peak_of_table(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.size == 0:
        return None
    with np.errstate(invalid="ignore"):
        high, low = np.fmax.reduce(value, axis=None), np.fmin.reduce(value, axis=None)
    if np.isinf(high) or np.isinf(low):  # refused elsewhere, as infinity
        return None
    return float(max(high, -low)) if not np.isnan(high) else None


def _peak_of_table(table: Any) -> float | None:
    try:
        columns = [table] if not hasattr(table, "columns") else [table[c] for c in table.columns]
        peaks = [_peak(np.asarray(c)) for c in columns if getattr(c.dtype, "kind", "") == "f"]
    except (TypeError, ValueError, AttributeError, KeyError):
        return None
    known = [peak for peak in peaks if peak is not None]
    return max(known, default=None)


def _looks_numeric(entry: Any) -> bool:
    if isinstance(entry, (list, tuple)) and entry:
        entry = entry[0]
    return isinstance(entry, (float, np.floating))


def _argument(method: Callable[..., Any], place: int | str) -> str:
    if isinstance(place, str):
        return place
    names = [name for name in inspect.signature(method).parameters if name != "self"]
    return names[place] if place < len(names) else f"argument {place + 1}"
