"""What scikit-learn and NumPy say of data that cannot be used, said so that it helps."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from isthmus._checks import name_of, shortened

# What NumPy says of things that are no numbers.
CONVERSION = (
    "could not convert string to float",
    "must be a string or a real number",
    "inhomogeneous shape",
    "setting an array element with a sequence",
    "Cannot cast",
    "could not be promoted",
)


def reword(owner: Any, error: Exception, values: Iterable[Any] = ()) -> None:
    """Raise anew, in words that name the owner and the place, what is wrong with ``values``."""
    text = " ".join(str(error).split())
    name = name_of(owner)
    kind = TypeError if isinstance(error, TypeError) else ValueError
    if any(words in text for words in CONVERSION) and name not in text:
        found = next(filter(None, map(_not_numbers, values)), text[:200])
        raise kind(f"{name} expected an array of numbers. Got: {found}") from error
    if "does not accept missing values encoded as NaN natively" in text:
        where = next(filter(None, map(_first_gap, values)), "")
        raise ValueError(
            f"{text.partition(' contains NaN')[0]} contains NaN{where}. {name} takes no missing "
            "values: leave such rows out or fill them in first, by scikit-learn's SimpleImputer in "
            "a pipeline, or by complete() of a manifold that learns from rows with gaps, such as "
            "GenerativeTopographicMapping."
        ) from error
    if re.match(r"Found array with dim [3-9](, while dim <= 2|\. \w+ expected <= 2)", text):
        raise ValueError(
            f"{text} One object is one row: X.reshape(len(X), -1) turns pictures into rows."
        ) from error


def _not_numbers(table: Any) -> str | None:
    """The first column of a data frame that holds no numbers, and what it holds."""
    if not hasattr(table, "columns") or not hasattr(table, "iloc"):
        return None
    for position, name in enumerate(table.columns):
        column = table.iloc[:, position]
        kind = getattr(column.dtype, "kind", "O")
        if kind in "mM":
            return (
                f"column {name!r}, which holds dates or times. Turn them into numbers, such as "
                "days since the first one, or leave the column out."
            )
        if kind in "biuf":
            continue
        for row, value in enumerate(column):
            if not _is_number(value):
                return (
                    f"{shortened(value)} in row {row} of column {name!r}. Repair the cell, encode "
                    "the column (scikit-learn's OneHotEncoder) or leave it out."
                )
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _first_gap(table: Any) -> str | None:
    """Where the first missing entry of a table stands."""
    try:
        missing = np.isnan(np.asarray(table, dtype=np.float64))
    except (TypeError, ValueError):
        return None
    if missing.ndim != 2 or not missing.any():
        return None
    row, column = np.argwhere(missing)[0].tolist()
    name = repr(table.columns[column]) if hasattr(table, "columns") else column
    return f", first in row {row}, column {name}"
