"""Inputs and outputs of a supervised reduction as centred tables of numbers."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from isthmus._checks import check_choice, check_length
from isthmus.linalg.products import inner_products
from isthmus.typing import Array


class StandardizedTable(NamedTuple):
    """Centred and scaled columns, how to repeat that with new rows, and products of columns.

    There are none of these where columns are more than rows.
    """

    values: Array
    mean: Array
    scale: Array
    scatter: Array | None


def as_tables(owner: Any, X: Any, y: Any) -> tuple[Array, Array, Any]:
    """Inputs, outputs as a table of numbers, and the classes if the outputs were labels."""
    if y is None:
        raise ValueError(
            f"{type(owner).__name__} requires y to be passed, but the target y is None."
        )
    labels = check_choice(owner.labels, "labels", owner, (True, False, "auto"))
    if labels is True or (labels == "auto" and _are_words(np.asarray(y))):
        X = validate_data(owner, X, dtype=np.float64, ensure_min_samples=3)
        names = column_or_1d(y)
        check_length(owner, len(X), len(names), what="outputs as inputs")
        binarizer = LabelBinarizer().fit(names)
        return X, np.asarray(binarizer.transform(names), dtype=float), binarizer.classes_
    X, Y = validate_data(
        owner, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=3
    )
    return X, np.asarray(Y, dtype=float).reshape(len(X), -1), None


def _are_words(y: Any) -> bool:
    """Whether outputs are strings or booleans; objects that are all numbers are numbers."""
    if y.dtype.kind == "O":
        return any(isinstance(value, (str, bytes, bool)) for value in y.ravel())
    return y.dtype.kind in "USb"


def standardize(owner: Any, X: Array, name: str, *, scale: bool) -> StandardizedTable:
    """Columns with mean zero and, with ``scale``, variance one; constant columns become zeros."""
    mean = X.mean(axis=0)
    values = X - mean
    # Variances are products of columns, and those of long tables are needed anyway.
    scatter = inner_products(values) if X.shape[1] <= len(X) else None
    squares = np.einsum("ij,ij->j", values, values) if scatter is None else scatter.diagonal()
    spread = np.sqrt(squares / len(X))
    varies = spread > 10 * np.finfo(float).eps * np.abs(mean)
    if not varies.any():
        raise ValueError(
            f"{type(owner).__name__} needs {name} to vary: all of its columns are constant."
        )
    # Nothing was learned about constant columns: new values in them count as zero as well.
    divisor = np.where(varies, spread if scale else 1.0, np.inf)
    values /= divisor
    if scatter is not None:
        scatter = scatter / divisor / divisor[:, None]
    return StandardizedTable(values, mean, divisor, scatter)
