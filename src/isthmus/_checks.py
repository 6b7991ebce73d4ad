"""Checks of parameters, with one form of message: what, whose, expected, got."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def _refuse(owner: Any, name: str, expected: str, got: Any) -> str:
    return (
        f"The {name!r} parameter of {type(owner).__name__} must be {expected}. Got {got!r} instead."
    )


def check_int(
    owner: Any, name: str, *, low: int = 0, high: int | None = None, why: str = ""
) -> int:
    """Return the integer parameter ``name`` of ``owner``, or say what is wrong.

    >>> from isthmus.kernels import Polynomial
    >>> check_int(Polynomial(degree=3), "degree", low=1)
    3
    """
    value = getattr(owner, name)
    ends = f"[{low}, {'inf)' if high is None else f'{high}]'}"
    expected = f"an int in {ends}{f' ({why})' if why else ''}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(_refuse(owner, name, expected, value))
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(_refuse(owner, name, expected, value))
    return number


def check_float(
    owner: Any,
    name: str,
    *,
    low: float = 0.0,
    high: float = np.inf,
    include_low: bool = True,
    value: Any = None,
) -> float:
    """Return the real parameter ``name`` of ``owner``, or say what is wrong."""
    value = getattr(owner, name) if value is None else value
    expected = (
        f"a float in {'[' if include_low else '('}{low}, {high}{')' if high == np.inf else ']'}"
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(_refuse(owner, name, expected, value))
    number = float(value)
    below = number < low if include_low else number <= low
    if np.isnan(number) or below or number > high or np.isinf(number):
        raise ValueError(_refuse(owner, name, expected, value))
    return number


def check_choice(owner: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """Return the parameter ``name`` of ``owner`` if it is one of ``choices``."""
    value = getattr(owner, name)
    if value not in choices:
        raise ValueError(_refuse(owner, name, f"one of {', '.join(map(repr, choices))}", value))
    return value


def check_length(owner: Any, n_expected: int, n_got: int, *, what: str) -> None:
    """Refuse two collections of unequal length."""
    if n_expected != n_got:
        raise ValueError(
            f"{type(owner).__name__} needs as many {what}: expected {n_expected}, got {n_got}."
        )
