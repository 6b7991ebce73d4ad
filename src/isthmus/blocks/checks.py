"""What is refused in a block of rows, with the name of the block."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._checks import LARGEST
from isthmus.blocks.containers import is_table
from isthmus.typing import Array

# Numbers that are read at a time, so that they are still in the cache the second time.
PART = 2**16


def is_numeric(block: Any) -> bool:
    """Whether a block is a table of numbers, or meant to be one, and not a list of objects."""
    return isinstance(block, np.ndarray) or is_table(block) or hasattr(block, "to_pandas")


def working_dtype(dtype: Any) -> np.dtype[Any]:
    """The precision to compute in: single stays single, all else is double."""
    dtype = np.dtype(dtype)
    single = dtype.kind == "f" and dtype.itemsize <= 4
    return np.dtype(np.float32 if single else np.float64)


def n_rows_of(block: Any) -> int:
    """Number of rows of a block, of whatever kind."""
    if hasattr(block, "shape") and len(block.shape):
        return int(block.shape[0])
    if hasattr(block, "shape") or not hasattr(block, "__len__"):
        raise TypeError(
            "Rows in blocks need arrays, tables or lists of rows as blocks. Got a single "
            f"{type(block).__name__}."
        )
    return len(block)


def last_rows(block: Any, n: int) -> Any:
    """The last ``n`` rows of a block, or all where there are fewer."""
    start = max(n_rows_of(block) - n, 0)
    return block.iloc[start:] if is_table(block) else block[start:]


def join_blocks(blocks: list[Any]) -> Any:
    """One block of the rows of several."""
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    if is_table(blocks[0]):
        import pandas as pd

        return pd.concat(blocks, ignore_index=True)
    return [item for block in blocks for item in block]


@dataclass(frozen=True)
class BlockCheck:
    """What every block of one container has in common; others are refused.

    Called with a block and its name, it returns the block as an array of numbers; lists of
    objects are passed on as they are, unless ``numbers`` says that they are rows of numbers.
    """

    owner: str
    what: str = "X"
    width: int | None = None
    dtype: str | None = None
    ndim: int | None = None
    missing: bool = False  # whether NaN is let through
    raw: bool = False  # whether anything is
    numbers: bool = False  # whether lists are rows of numbers, and not objects

    def __call__(self, block: Any, where: str) -> Any:
        if self.raw:
            return block if is_table(block) or isinstance(block, list) else np.asarray(block)
        if not self._holds_numbers(block):
            return block
        A = self.convert(block, where)
        if self.ndim is not None and self.ndim != A.ndim:
            raise ValueError(
                f"{self.owner} needs blocks of {self.ndim} dimensions in {self.what}. Got "
                f"{A.ndim} in {where}, whose shape is {A.shape}."
            )
        if self.width is not None and A.ndim > 1 and A.shape[1] != self.width:
            raise ValueError(
                f"{self.owner} needs blocks of equal width in {self.what}: expected {self.width} "
                f"columns as in the first block. Got {A.shape[1]} in {where}."
            )
        if self.dtype is not None and A.dtype != self.dtype and len(A):
            raise ValueError(
                f"{self.owner} needs blocks of one precision in {self.what}: expected {self.dtype} "
                f"as in the first block. Got {A.dtype} in {where}. Convert all blocks to one dtype."
            )
        self._check_values(A, where)
        return A

    def convert(self, block: Any, where: str = "a block") -> Array:
        """The block as an array of real numbers, in single or double precision."""
        if hasattr(block, "to_pandas"):
            block = block.to_pandas()
        if is_table(block):
            self._check_columns(block, where)
        if issparse(block):
            raise TypeError(
                f"{self.owner} takes no sparse blocks. Got one in {where} of {self.what}; convert "
                "the blocks to dense arrays."
            )
        try:
            A = np.asarray(block)
        except ValueError as error:
            raise ValueError(
                f"{self.owner} needs rows of equal length in {self.what}. Got others in {where}."
            ) from error
        if A.dtype.kind not in "fiub":
            raise TypeError(
                f"{self.owner} needs numbers in {self.what}. Got {A.dtype} in {where}; convert "
                "the column(s) to numbers or leave them out."
            )
        # In one order: products of the same numbers in another one may round differently.
        return np.ascontiguousarray(A, dtype=working_dtype(A.dtype))

    def learn_from(self, block: Any) -> "BlockCheck":
        """The same check, which holds later blocks against this one."""
        if self.raw or not self._holds_numbers(block):
            return self
        A = self.convert(block, "the first block")
        return replace(
            self, width=A.shape[1] if A.ndim > 1 else None, dtype=A.dtype.name, ndim=A.ndim
        )

    def _holds_numbers(self, block: Any) -> bool:
        if is_numeric(block) or (self.numbers and issparse(block)):
            return True
        return isinstance(block, list) and (self.numbers or self.width is not None)

    def _check_columns(self, table: Any, where: str) -> None:
        columns = table.dtypes.items() if hasattr(table, "columns") else [(table.name, table.dtype)]
        bad = {str(n): kind for n, kind in columns if getattr(kind, "kind", "O") not in "fiub"}
        if bad:
            named = ", ".join(f"{name!r} ({dtype})" for name, dtype in list(bad.items())[:5])
            raise TypeError(
                f"{self.owner} needs numbers in {self.what}. Got {len(bad)} column(s) of other "
                f"things in {where}: {named}. Convert or drop them."
            )

    def _check_values(self, A: Array, where: str) -> None:
        if not A.size:
            return
        # The two ends tell without another array; where they do not, all entries are looked at.
        high, low = _ends(A)
        peak = max(float(high), -float(low))
        if np.isfinite(high) and np.isfinite(low) and peak <= LARGEST:
            return
        allowed = np.isfinite(A) | (np.isnan(A) if self.missing else False)
        if not allowed.all():
            place = np.argwhere(~allowed)[0]
            name = "NaN" if np.isnan(A[tuple(place)]) else "infinity"
            column = f", column {place[1]}" if A.ndim > 1 else ""
            raise ValueError(
                f"{self.owner}: input {self.what} contains {name} in {where}, row {place[0]} of "
                f"it{column}. Drop or fill such rows first."
            )
        peak = float(np.fmax.reduce(np.abs(A), axis=None)) if self.missing else peak
        if peak > LARGEST:
            raise ValueError(
                f"{self.owner} needs values of at most {LARGEST:g} in {self.what}: powers of "
                f"larger ones overflow. Got {peak:.3g} in {where}; rescale them."
            )


def _ends(A: Array) -> tuple[Any, Any]:
    """The largest and the smallest number, NaN where one is: read a part at a time, both at once.

    >>> _ends(np.arange(6.0).reshape(2, 3))
    (np.float64(5.0), np.float64(0.0))
    """
    flat = A.reshape(-1)
    parts = [flat[i : i + PART] for i in range(0, len(flat), PART)]
    with np.errstate(invalid="ignore", over="ignore"):
        ends = np.array([(np.max(part), np.min(part)) for part in parts])
        return np.max(ends[:, 0]), np.min(ends[:, 1])
