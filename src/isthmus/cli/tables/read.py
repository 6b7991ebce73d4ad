"""Tables from csv, parquet and npz files, whole or in batches of rows."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isthmus._memory import require_memory
from isthmus.cli.errors import UserError, one_line
from isthmus.cli.tables.dialect import Dialect, recognise
from isthmus.cli.tables.table import Table

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".npz")
BATCH_ROWS = 50_000
# Text of a csv file takes this many times its size as columns.
_CSV_MEMORY = 4


def read_table(path: Path, dialect: Dialect | None = None) -> Table:
    """Read a table; csv cells stay text, since their type depends on what the column is used for.

    An array (n, k) of an npz file named ``Y`` becomes the columns ``Y_0`` … ``Y_{k-1}``.
    """
    suffix = find_suffix(path)
    with _one_line_errors(path):
        _check_memory(path, suffix)
        if suffix == ".parquet":
            frame, signs = pd.read_parquet(path), Dialect()
        elif suffix == ".npz":
            frame, signs = _read_npz(path), Dialect()
        else:
            signs, header = recognise(path, dialect or Dialect())
            _check_names(path, header)
            frame = _csv_frame(path, header, signs)
    _check_names(path, list(map(str, frame.columns)))
    if frame.shape[1] == 0 or len(frame) == 0:
        raise UserError(f"table {path}: is empty, expected a header and at least one row")
    return Table(frame, path, signs)


def read_batches(
    path: Path, names: list[str] | None, dialect: Dialect | None = None
) -> Iterator[Table]:
    """Yield the table in batches of rows, of a parquet file only the columns ``names``.

    A table of any length is thus predicted in the memory of one batch.
    """
    suffix = find_suffix(path)
    if suffix == ".npz":
        yield read_table(path)
        return
    start = 0
    for table in _csv_batches(path, dialect) if suffix != ".parquet" else _parquet(path, names):
        yield Table(table.frame, path, table.dialect, first_row=start)
        start += len(table.frame)
    if start == 0:
        raise UserError(f"table {path}: is empty, expected a header and at least one row")


def find_suffix(path: Path) -> str:
    """Return the kind of a table by its name, one of :data:`SUFFIXES`."""
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise UserError(f"table {path}: unknown kind of file, expected one of {', '.join(SUFFIXES)}")


@contextmanager
def _one_line_errors(path: Path) -> Iterator[None]:
    try:
        if not path.is_file():
            raise UserError(f"table {path}: there is no such file")
        yield
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        # pandas, pyarrow and numpy raise ValueError or OSError for damaged files.
        raise UserError(f"table {path}: cannot be read ({one_line(error)})") from error


def _csv_frame(path: Path, header: list[str], signs: Dialect, **options: Any) -> Any:
    if not header:
        return pd.DataFrame()
    # index_col=False: a row with too many cells is an error, not an index.
    found = pd.read_csv(
        path,
        dtype=str,
        sep=signs.sep,
        keep_default_na=False,
        encoding="utf-8-sig",
        index_col=False,
        skip_blank_lines=len(header) > 1,
        **options,
    )
    if isinstance(found, pd.DataFrame):
        found.columns = header
    return found


def _csv_batches(path: Path, dialect: Dialect | None) -> Iterator[Table]:
    with _one_line_errors(path):
        signs, header = recognise(path, dialect or Dialect())
        _check_names(path, header)
        if not header:
            return
        with _csv_frame(path, header, signs, chunksize=BATCH_ROWS) as chunks:
            for frame in filter(len, chunks):
                frame.columns = header
                yield Table(frame.reset_index(drop=True), path, signs)


def _parquet(path: Path, names: list[str] | None) -> Iterator[Table]:
    with _one_line_errors(path):
        _need_pyarrow(path)
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            there = set(file.schema_arrow.names)
            # A missing column is named later, beside those that are there.
            columns = names if names is not None and set(names) <= there else None
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns):
                if len(batch):
                    yield Table(batch.to_pandas(), path, Dialect())


def _read_npz(path: Path) -> pd.DataFrame:
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


def _check_memory(path: Path, suffix: str) -> None:
    """Refuse a table that does not fit into memory before it is read."""
    if suffix == ".parquet":
        _need_pyarrow(path)
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            meta = file.metadata
            needed = 2 * 8 * meta.num_rows * meta.num_columns
    elif suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            needed = 2 * sum(entry.file_size for entry in archive.infolist())
    else:
        packed = 10 if suffix == ".csv.gz" else 1
        needed = _CSV_MEMORY * packed * path.stat().st_size
    require_memory(
        f"table {path}",
        needed,
        what="all its rows",
        avoid="Use fewer rows, or the columns you need alone.",
    )


def _check_names(path: Path, names: list[str]) -> None:
    seen = set()
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise UserError(f"table {path}: column {position} has no name in the header")
        if name in seen:
            raise UserError(f"table {path}: column {name!r} occurs {names.count(name)} times")
        seen.add(name)


def _need_pyarrow(path: Path) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UserError(
            f'table {path}: parquet needs pyarrow: pip install "isthmus[app]"'
        ) from error
