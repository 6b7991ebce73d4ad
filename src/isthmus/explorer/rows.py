"""The rows that a page shows: objects, names of their columns, what else is known of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus.kernels.objects import n_objects, take

MOST_ROWS = 200_000
MOST_NUMBERS = 400_000_000


class DoesNotFit(ValueError):
    """A model that cannot be explored, or rows that are not the model's; one line says why."""


@dataclass(frozen=True)
class Rows:
    """Objects with what is known beside them.

    Attributes
    ----------
    objects : ndarray of shape (n, d), or a list
    names : list of str
        Of the columns, empty where objects have none.
    beside : dict of str to ndarray
        Further columns: labels, numbers.
    """

    objects: Any
    names: list[str] = field(default_factory=list)
    beside: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return n_objects(self.objects)

    @property
    def is_table(self) -> bool:
        """Whether the objects are rows of numbers."""
        return isinstance(self.objects, np.ndarray) and self.objects.ndim == 2

    def take(self, chosen: Any) -> "Rows":
        """Return some of the rows."""
        beside = {name: values[chosen] for name, values in self.beside.items()}
        return Rows(take(self.objects, chosen), self.names, beside)

    def column_names(self) -> list[str]:
        """Names of the columns; where they have none they are counted from 1."""
        if not self.is_table:
            return []
        return self.names or [f"column {i + 1}" for i in range(self.objects.shape[1])]


def make_rows(X: Any, y: Any = None, names: Any = None, beside: Any = None) -> Rows:
    """Return rows of an array, a data frame or a list of objects; ``y`` are labels or outputs.

    A data frame's columns that are not numbers are kept beside the rows.
    """
    extra: dict[str, np.ndarray] = {}
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        frame = X
        numeric = [c for c in frame.columns if frame[c].dtype.kind in "fiub"]
        extra = {str(c): frame[c].to_numpy() for c in frame.columns if c not in numeric}
        names = [str(c) for c in numeric]
        X = frame[numeric].to_numpy(dtype=float)
    elif not isinstance(X, list):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.ndim != 2:
        X = list(X)
    _check_size(X)
    n = n_objects(X)
    if y is not None:
        labels = np.asarray(y)
        if labels.ndim == 1:
            extra["label"] = labels
    for name, values in (beside or {}).items() if isinstance(beside, Mapping) else ():
        extra[str(name)] = np.asarray(values)
    for name, values in extra.items():
        if len(values) != n:
            raise DoesNotFit(f"{name!r} has {len(values)} entries for {n} rows")
    named = [] if names is None else [str(name) for name in names]
    if named and isinstance(X, np.ndarray) and len(named) != X.shape[1]:
        raise DoesNotFit(f"{len(named)} names are given for {X.shape[1]} columns")
    return Rows(X, named, extra)


def _check_size(X: Any) -> None:
    n = n_objects(X)
    if n == 0:
        raise DoesNotFit("the table is empty")
    if n > MOST_ROWS or (isinstance(X, np.ndarray) and X.size > MOST_NUMBERS):
        raise DoesNotFit(
            f"the table has {n} rows{f' of {X.shape[1]} numbers' if hasattr(X, 'shape') else ''}; "
            f"a page takes {MOST_ROWS} rows and {MOST_NUMBERS} numbers: give a part of it"
        )
