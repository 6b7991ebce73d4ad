"""Checks of parameters, with one form of message: what, whose, expected, got."""

import reprlib
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state

from isthmus._view import SquareView
from isthmus.typing import Array

# Larger numbers are refused: sums of their fourth powers, such as the squares of a scatter matrix,
# overflow.
LARGEST = 1e70


def refusal(owner: Any, name: str, expected: str, got: Any) -> str:
    """The message for a parameter that cannot be used; one line, however large the value.

    ``owner`` is an estimator, or the name of a function.

    >>> refusal("Polynomial", "degree", "an int", "x")
    "The 'degree' parameter of Polynomial must be an int. Got 'x' instead."
    """
    text = shortened(got)
    return f"The {name!r} parameter of {name_of(owner)} must be {expected}. Got {text} instead."


def name_of(owner: Any) -> str:
    """How a message names the owner of a parameter: a class by its name, a function by its own."""
    return owner if isinstance(owner, str) else type(owner).__name__


def shortened(thing: Any) -> str:
    """What a thing looks like, in one line of a message."""
    if not isinstance(thing, SquareView):
        return " ".join(_SHORT.repr(thing).split())
    text = " ".join(str(thing).split())  # the call alone, without its arrows
    half = (_SHORT.maxother - 3) // 2
    return text if len(text) <= _SHORT.maxother else f"{text[:half]}...{text[-half:]}"


# Parts that usually stand in a slot, for the message below.
_USUAL = {
    "x_features": "KernelPCA()",
    "y_features": "KernelPCA()",
    "regressor": "KernelRidgeCV()",
    "preimage": "FixedPointPreimage()",
    "kernel": "Gaussian()",
    "x_kernel": "Gaussian()",
    "y_kernel": "Gaussian()",
    "loss": "Huber()",
}


def check_slot_is_filled(owner: Any, name: str, inner: str, value: Any) -> None:
    """Refuse a parameter of a part, ``name__inner``, where there is no part to set it on.

    >>> check_slot_is_filled("DependencyEstimator", "y_features", "n_components", None)
    Traceback (most recent call last):
    ValueError: The 'y_features' of DependencyEstimator is None, which has no parameter 'n_components'. Set it first to a part that has one, such as y_features=KernelPCA().
    """  # noqa: E501
    if hasattr(value, "set_params"):
        return
    usual = f", such as {name}={_USUAL[name]}" if name in _USUAL else ""
    raise ValueError(
        f"The {name!r} of {name_of(owner)} is {shortened(value)}, which has no parameter "
        f"{inner!r}. Set it first to a part that has one{usual}."
    )


_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 80


def check_int(
    value: Any, name: str, owner: Any, *, low: int = 0, high: int | None = None, why: str = ""
) -> int:
    """Return the integer ``value`` of the parameter ``name`` of ``owner``, or say what is wrong.

    >>> check_int(3, "degree", "Polynomial", low=1)
    3
    >>> check_int(2.5, "n_points", "compress", low=1)
    Traceback (most recent call last):
    TypeError: The 'n_points' parameter of compress must be an int in [1, inf). Got 2.5 instead.
    """
    ends = f"[{low}, {'inf)' if high is None else f'{high}]'}"
    expected = f"an int in {ends}{f' ({why})' if why else ''}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(refusal(owner, name, expected, value))
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(refusal(owner, name, expected, value))
    return number


def check_float(
    value: Any,
    name: str,
    owner: Any,
    *,
    low: float = 0.0,
    high: float = np.inf,
    include_low: bool = True,
) -> float:
    """Return the real ``value`` of the parameter ``name`` of ``owner``, or say what is wrong."""
    expected = (
        f"a float in {'[' if include_low else '('}{low}, {high}{')' if high == np.inf else ']'}"
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(refusal(owner, name, expected, value))
    number = float(value)
    below = number < low if include_low else number <= low
    if np.isnan(number) or below or number > high or np.isinf(number):
        raise ValueError(refusal(owner, name, expected, value))
    return number


def check_choice(value: Any, name: str, owner: Any, choices: tuple[Any, ...]) -> Any:
    """Return ``value``, the parameter ``name`` of ``owner``, if it is one of ``choices``."""
    # An array would be compared with each of them by entries.
    if isinstance(value, np.ndarray) or value not in choices:
        raise ValueError(refusal(owner, name, f"one of {', '.join(map(repr, choices))}", value))
    return value


def check_bool(value: Any, name: str, owner: Any) -> bool:
    """Return the truth value ``name`` of ``owner``; 0 and 1 are accepted too, "no" is not."""
    if not isinstance(value, (bool, np.bool_, Integral)) or value not in (0, 1):
        raise TypeError(refusal(owner, name, "True or False", value))
    return bool(value)


def check_floats(
    value: Any, name: str, owner: Any, *, low: float = 0.0, include_low: bool = True
) -> list[float]:
    """Return the parameter ``name`` as a list, which may have been given as one number."""
    expected = "a float or a sequence of them, not empty"
    several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict))
    if not several and not isinstance(value, Real):
        raise TypeError(refusal(owner, name, expected, value))
    given = list(value) if several else [value]
    if not given:
        raise ValueError(refusal(owner, name, expected, value))
    return [check_float(v, name, owner, low=low, include_low=include_low) for v in given]


def check_table(
    value: Any,
    name: str,
    owner: Any,
    *,
    expected: str = "an array of numbers of two dimensions",
    **options: Any,
) -> Array:
    """Return the array ``name`` of ``owner``, checked by scikit-learn, in our form of message."""
    try:
        table = check_array(value, dtype=np.float64, order="C", ensure_all_finite=False, **options)
    except (TypeError, ValueError) as error:
        kind = type(error) if type(error) in (TypeError, ValueError) else ValueError
        raise kind(refusal(owner, name, expected, value)) from error
    if not np.isfinite(table).all():
        raise ValueError(refusal(owner, name, f"{expected}, without NaN and infinity", value))
    return np.asarray(table)


def check_seed(value: Any, name: str, owner: Any) -> np.random.RandomState:
    """Return the random numbers that ``random_state`` of ``owner`` stands for."""
    try:
        return check_random_state(value)
    except (TypeError, ValueError) as error:
        expected = f"None, a RandomState or an int in [0, {2**32 - 1}]"
        raise ValueError(refusal(owner, name, expected, value)) from error


def check_jobs(value: Any, name: str, owner: Any) -> None:
    """Refuse a number of processes or threads that joblib could not use."""
    expected = "None or an int other than 0 (-1 takes all processors)"
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise TypeError(refusal(owner, name, expected, value))
    if value == 0:
        raise ValueError(refusal(owner, name, expected, value))


def check_piece(value: Any, name: str, owner: Any, resolve: Callable[[Any], Any]) -> Any:
    """Return what ``resolve`` makes of the parameter ``name``; its complaint gets an address."""
    try:
        return resolve(value)
    except (TypeError, ValueError) as error:
        message = f"The {name!r} parameter of {name_of(owner)} cannot be used. {error}"
        raise type(error)(" ".join(message.split())) from error


def check_scale(owner: Any, X: Any, *, what: str = "X") -> None:
    """Refuse numbers so large that their powers overflow; NaN counts for nothing.

    >>> from isthmus.kernels import Gaussian
    >>> check_scale(Gaussian(), np.array([[1e69]]))
    """
    values = X.data if issparse(X) else X
    peak = max(
        float(np.fmax.reduce(values, axis=None, initial=0.0)),
        -float(np.fmin.reduce(values, axis=None, initial=0.0)),
    )
    if peak > LARGEST:
        raise ValueError(
            f"{type(owner).__name__} needs values of at most {LARGEST:g} in {what}: powers of "
            f"larger ones overflow. Got {peak:.3g}; rescale them."
        )


def check_length(owner: Any, n_expected: int, n_got: int, *, what: str) -> None:
    """Refuse two collections of unequal length."""
    if n_expected != n_got:
        raise ValueError(
            f"{type(owner).__name__} needs as many {what}: expected {n_expected}, got {n_got}."
        )
