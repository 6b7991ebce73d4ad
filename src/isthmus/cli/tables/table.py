"""A table that has been read, and what its cells hold."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from isthmus.cli.errors import UserError
from isthmus.cli.tables.dialect import Dialect

_MISSING = {"", "nan", "na", "n/a", "null", "none", "<na>", "nat"}
_ISO_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?")
_OTHER_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})")
_SERIES = re.compile(r"[+-]?[\d.]+([eE][+-]?\d+)?([;\s]+[+-]?[\d.]+([eE][+-]?\d+)?){2,}")


class Cells(NamedTuple):
    """One column: its numbers, NaN where a cell is none, and which cells are text or empty."""

    values: np.ndarray
    words: np.ndarray
    missing: np.ndarray


@dataclass
class Table:
    """Named columns of a file; each is looked at once."""

    frame: pd.DataFrame
    path: Path
    dialect: Dialect
    first_row: int = 0

    def __post_init__(self) -> None:
        self._seen: dict[str, Cells] = {}

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(map(str, self.frame.columns))

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each column."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """``Y`` with the columns ``Y_0, Y_1, …``, some of which may be absent, in this order."""
        found: dict[str, list[tuple[int, str]]] = {}
        for name in self.names:
            stem, _, number = name.rpartition("_")
            if stem and number.isascii() and number.isdigit() and len(number) < 10:
                found.setdefault(stem, []).append((int(number), name))
        return {stem: [name for _, name in sorted(group)] for stem, group in found.items()}

    def column(self, name: str) -> pd.Series:
        """One column as it was read."""
        return self.frame.iloc[:, self.places[name]]

    def cells(self, name: str) -> Cells:
        """What the cells of a column are."""
        if name not in self._seen:
            self._seen[name] = self._parse(self.column(name))
        return self._seen[name]

    def text(self, name: str) -> np.ndarray:
        """The cells of a column as text, empty where they are missing."""
        column = self.column(name)
        if pd.api.types.is_float_dtype(column):
            # 3.0 is the class 3: a missing value elsewhere made floats of the integers.
            shown = [f"{v:.15g}" if v == v else "" for v in column.to_numpy(float)]
        else:
            shown = [str(cell).strip() for cell in column]
        text = np.array(shown, dtype=object)
        text[self.cells(name).missing] = ""
        return text

    def is_date(self, name: str) -> bool:
        """Whether the column holds dates or times."""
        column = self.column(name)
        kinds = pd.api.types
        if kinds.is_datetime64_any_dtype(column) or kinds.is_timedelta64_dtype(column):
            return True
        cells = self.cells(name)
        if not cells.words.any():
            return False
        sample = self.text(name)[cells.words][:200]
        return all(_ISO_DATE.fullmatch(c) or _OTHER_DATE.fullmatch(c) for c in sample)

    def is_series(self, name: str) -> bool:
        """Whether every cell is a list of at least three numbers."""
        cells = self.cells(name)
        if not cells.words.any():
            return False
        sample = self.text(name)[cells.words][:200]
        return all(_SERIES.fullmatch(cell) for cell in sample)

    def is_text(self, name: str) -> bool:
        """Whether more cells are words than numbers.

        A column of numbers with a few words among them is not text, so that a typing mistake is
        reported instead of becoming a category.
        """
        cells = self.cells(name)
        return bool(cells.words.sum() > (~np.isnan(cells.values)).sum())

    def numbers(self, name: str) -> np.ndarray:
        """A column as floats, NaN where empty; an error names the cell that is not a number."""
        values, words, _ = self.cells(name)
        if words.any():
            row = int(np.argmax(words))
            cell = self.text(name)[row][:60]
            hint = ""
            if self.dialect.decimal != "," and re.fullmatch(r"[+-]?\d+,\d+", cell):
                hint = "; if the decimal sign is a comma, use --decimal ,"
            raise UserError(
                f"{self.where(name, row)}: expected a number, got the text {cell!r}{hint}"
            )
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise UserError(f"{self.where(name, row)}: expected a finite number, got infinity")
        return values

    def days(self, name: str) -> np.ndarray:
        """A column of dates as days since 1970, NaN where empty."""
        column = self.column(name)
        if pd.api.types.is_timedelta64_dtype(column):
            return column.to_numpy("timedelta64[us]").astype(float) / 86400e6
        if not pd.api.types.is_datetime64_any_dtype(column):
            text = self.text(name)
            full = text != ""
            strange = [c for c in text[full] if not _ISO_DATE.fullmatch(c)]
            if strange:
                raise UserError(
                    f"table {self.path}: column {name!r}: the date {strange[0]!r} can be read in "
                    "more than one way; write it as 2024-01-31"
                )
            column = pd.Series(pd.to_datetime(text, errors="coerce", format="ISO8601", utc=True))
            bad = np.asarray(column.isna()) & full
            if bad.any():
                row = int(np.argmax(bad))
                raise UserError(f"{self.where(name, row)}: there is no day {text[row]!r}")
        if getattr(column.dt, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = column.to_numpy("datetime64[us]")
        days = moments.astype(float) / 86400e6
        days[np.isnat(moments)] = np.nan
        return days

    def where(self, name: str, row: int) -> str:
        """How a message names a cell."""
        return f"table {self.path}: column {name!r}, row {self.first_row + row + 1}"

    def _parse(self, column: pd.Series) -> Cells:
        kinds = pd.api.types
        if kinds.is_bool_dtype(column) or kinds.is_numeric_dtype(column):
            if kinds.is_complex_dtype(column):
                raise UserError(f"table {self.path}: column {column.name!r} holds complex numbers")
            values = column.to_numpy(float, na_value=np.nan)
            return Cells(values, np.zeros(len(column), dtype=bool), np.isnan(values))
        if kinds.is_datetime64_any_dtype(column) or kinds.is_timedelta64_dtype(column):
            missing = np.asarray(column.isna())
            return Cells(np.full(len(column), np.nan), ~missing, missing)
        if (plain := _plain_numbers(column, self.dialect.decimal)) is not None:
            nothing = np.zeros(len(plain), dtype=bool)
            return Cells(plain, nothing, nothing)
        cells = [str(cell).strip() for cell in column]
        missing = np.array([cell.lower() in _MISSING for cell in cells], dtype=bool)
        return Cells(*_numbers(cells, missing, self.dialect.decimal), missing)


def _plain_numbers(column, decimal):
    """Return a column of text that holds a number in every cell, the usual case; else None."""
    if decimal == "," or pd.api.types.infer_dtype(column, skipna=False) != "string":
        return None
    cells = column.to_numpy(dtype=object)
    try:
        values = cells.astype(float)
    except ValueError:
        return None
    return None if np.isnan(values).any() or "_" in "".join(cells) else values


def _numbers(cells, missing, decimal):
    """Return the numbers, NaN where there is none, and a mask of cells with text."""
    if decimal == ",":
        # With a decimal comma a point can only separate thousands.
        cells = [cell if "." in cell else cell.replace(",", ".") for cell in cells]
    plain = ["nan" if gone else cell for cell, gone in zip(cells, missing, strict=True)]
    try:
        if any("_" in cell for cell in plain):  # Python's own way to write 1_000
            raise ValueError
        values = np.array(plain, dtype=object).astype(float)
        return values, np.isnan(values) & ~missing
    except ValueError:
        values = pd.to_numeric(pd.Series(plain, dtype=object), errors="coerce").to_numpy(float)
        return values, np.isnan(values) & ~missing
