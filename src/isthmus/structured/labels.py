"""Labels in the type in which they were given: integers stay integers, words words."""

from typing import Any

import numpy as np

# Whole numbers, truth values, text: what comes back as an object would break a score.
_KINDS = "iubU"


def plain_outputs(owner: Any, y: Any) -> Any:
    """Outputs without the index of a table; a column of pandas becomes an array.

    >>> plain_outputs("DependencyEstimator", ["a", "b"])
    ['a', 'b']
    """
    if y is None:
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    # A Series looks rows up by its labels, which need not be 0, 1, 2, ...
    return np.asarray(y) if hasattr(y, "to_numpy") and np.ndim(y) == 1 else y


def label_type(y: Any) -> str | None:
    """The type of an array of labels; None for lists and other objects, which stay objects."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in _KINDS:
        # Words that are built may be longer than those that were given.
        return "str" if y.dtype.kind == "U" else y.dtype.str
    return None


def in_type(answers: Any, dtype: str | None) -> Any:
    """Answers as labels of the given type.

    >>> in_type(np.array([1, 0], dtype=object), "int64")
    array([1, 0])
    """
    if dtype is None or not isinstance(answers, np.ndarray) or answers.dtype != object:
        return answers
    return answers.astype(dtype) if answers.ndim == 1 else answers
