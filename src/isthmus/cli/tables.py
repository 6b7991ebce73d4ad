"""Tables with named columns from csv, parquet and npz files, and what can be wrong with them."""

import csv
import gzip
import zipfile
import zlib
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pandas as pd

from isthmus.cli.errors import UserError, one_line, replacing

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".npz")


def read_table(path: Path) -> pd.DataFrame:
    """Read a table; csv cells stay text, since their type depends on what the column is used for.

    An array (n, k) of an npz file named ``Y`` becomes the columns ``Y_0`` … ``Y_{k-1}``.
    """
    suffix = _suffix(path)
    if not path.is_file():
        raise UserError(f"table {path}: there is no such file")
    reader = {".csv": _read_csv, ".csv.gz": _read_csv, ".parquet": _read_parquet, ".npz": _read_npz}
    try:
        frame = reader[suffix](path)
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        # pandas, pyarrow and numpy raise ValueError or OSError for damaged files.
        raise UserError(f"table {path}: cannot be read ({one_line(error)})") from error
    if frame.shape[1] == 0 or len(frame) == 0:
        raise UserError(f"table {path}: is empty, expected a header and at least one row")
    return frame


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write ``frame`` in the format its suffix names; an existing file is replaced at the end."""
    suffix = _suffix(path)
    with replacing(path) as temporary:
        if suffix == ".parquet":
            _need_pyarrow(path)
            frame.to_parquet(temporary, index=False)
        elif suffix == ".npz":
            np.savez(temporary, **{name: _plain(frame[name]) for name in frame})
        else:
            frame.to_csv(temporary, index=False)


def find_columns(
    frame: pd.DataFrame, names: list[str], *, path: Path, role: str, groups: bool = False
) -> list[str]:
    """Return the columns of ``names``; with ``groups``, ``Y`` may stand for ``Y_0, Y_1, …``."""
    found = []
    for name in names:
        group = [f"{name}_{i}" for i in range(frame.shape[1])]
        group = [column for column in group if column in frame.columns]
        if name in frame.columns:
            found.append(name)
        elif groups and group:
            found.extend(group)
        else:
            close = get_close_matches(name, frame.columns, n=3)
            hint = (
                f"did you mean {' or '.join(map(repr, close))}?" if close else _name_columns(frame)
            )
            raise UserError(f"table {path}: {role} column {name!r} is missing; {hint}")
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise UserError(f"{role} column {twice[0]!r} is named twice")
    return found


def numbers(column: pd.Series, path: Path) -> np.ndarray:
    """Return a column as floats; an error names the row of a cell that is not a number."""
    values, words = _numbers_and_words(column, path)
    if words.any():
        row = int(np.argmax(words))
        cell = str(column.iloc[row]).strip()
        raise UserError(
            f"table {path}: column {column.name!r}, row {row + 1}: expected a number, got the "
            f"text {cell!r}"
        )
    _refuse_missing(column.name, np.isnan(values), path)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise UserError(
            f"table {path}: column {column.name!r}, row {row + 1}: expected a finite number, got "
            "infinity"
        )
    return values


def labels(column: pd.Series, path: Path) -> np.ndarray:
    """Return a column as an object array of strings; an error names the row of a missing label."""
    text = np.array([str(cell).strip() for cell in column], dtype=object)
    _refuse_missing(column.name, np.array([_is_missing(cell) for cell in text]), path)
    return text


def is_numeric(column: pd.Series, path: Path) -> bool:
    """Whether every cell that has a value is a number."""
    return not _numbers_and_words(column, path)[1].any()


def is_label(column: pd.Series, path: Path) -> bool:
    """Whether the column is text: more cells are words than numbers.

    A column of numbers with a few words among them is neither numeric nor
    label, so that a typing mistake is reported instead of becoming a category.
    """
    values, words = _numbers_and_words(column, path)
    return words.sum() > (~np.isnan(values)).sum()


_MISSING = {"", "nan", "na", "n/a", "null", "none", "<na>", "nat"}


def _is_missing(cell):
    return str(cell).strip().lower() in _MISSING


def _numbers_and_words(column, path):
    """Return the values, NaN where a cell is not a number, and a mask of such cells with text."""
    kinds = pd.api.types
    if kinds.is_bool_dtype(column) or kinds.is_numeric_dtype(column):
        return column.to_numpy(float, na_value=np.nan), np.zeros(len(column), dtype=bool)
    if kinds.is_datetime64_any_dtype(column) or kinds.is_timedelta64_dtype(column):
        raise UserError(
            f"table {path}: column {column.name!r}: expected numbers or text, got {column.dtype}"
        )
    cells = column.astype(object)
    values = pd.to_numeric(cells, errors="coerce").to_numpy(float)
    words = np.isnan(values)
    words[words] = [not _is_missing(cell) for cell in cells[words]]
    return values, words


def _refuse_missing(name, missing, path):
    if missing.any():
        row = int(np.argmax(missing))
        raise UserError(
            f"table {path}: column {name!r}, row {row + 1}: the value is missing (empty or NaN)"
        )


def _name_columns(frame):
    shown = ", ".join(map(repr, frame.columns[:8]))
    more = f" and {frame.shape[1] - 8} more" if frame.shape[1] > 8 else ""
    return f"the table has {shown}{more}"


def _suffix(path):
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise UserError(f"table {path}: unknown kind of file, expected one of {', '.join(SUFFIXES)}")


def _read_csv(path):
    # pandas renames doubled columns silently, so the header is looked at first.
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
        header = next(csv.reader(stream), [])
    _check_names(path, header)
    if not header:
        return pd.DataFrame()
    # index_col=False: a row with too many cells is an error, not an index.
    frame = pd.read_csv(
        path, dtype=str, keep_default_na=False, encoding="utf-8-sig", index_col=False
    )
    frame.columns = header
    return frame


def _read_parquet(path):
    _need_pyarrow(path)
    frame = pd.read_parquet(path)
    _check_names(path, list(map(str, frame.columns)))
    return frame


def _read_npz(path):
    columns, n_rows = {}, {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            values = archive[name]
            if values.ndim not in (1, 2):
                raise ValueError(
                    f"array {name!r} has shape {values.shape}, expected (n,) or (n, k)"
                )
            n_rows[name] = len(values)
            parts = {name: values}
            if values.ndim == 2:
                parts = {f"{name}_{i}": part for i, part in enumerate(values.T)}
            columns |= parts
    if len(set(n_rows.values())) > 1:
        raise ValueError(f"arrays have different numbers of rows: {n_rows}")
    return pd.DataFrame(columns)


def _check_names(path, names):
    for position, name in enumerate(names, start=1):
        if not name:
            raise UserError(f"table {path}: column {position} has no name in the header")
        if names.count(name) > 1:
            raise UserError(f"table {path}: column {name!r} occurs {names.count(name)} times")


def _need_pyarrow(path):
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UserError(
            f'table {path}: parquet needs pyarrow: pip install "isthmus[app]"'
        ) from error


def _plain(column):
    values = column.to_numpy()
    return values.astype(str) if values.dtype == object else values
