"""Tables in several files: drawn from for the comparison, read block by block for the fit."""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from isthmus._extras import load_extra
from isthmus.blocks.checks import n_rows_of
from isthmus.blocks.drawing import fold_and_draw
from isthmus.blocks.rows import open_rows
from isthmus.cli.columns import TaskColumns
from isthmus.cli.errors import UserError, one_line
from isthmus.cli.tables.dialect import Dialect
from isthmus.cli.tables.read import SUFFIXES, read_batches
from isthmus.cli.tables.table import Table
from isthmus.regression.rank.reduced_rank import ReducedRankRegression

DRAWN_ROWS = 20_000
"""Rows of all files on which estimators are compared, and on which those without a fold learn."""


def find_parts(path: Path) -> list[Path] | None:
    """The files of a folder or a pattern such as ``part-*.parquet``; None for a single file."""
    if path.is_dir():
        found = [p for p in sorted(path.iterdir()) if p.name.lower().endswith(SUFFIXES)]
    elif any(sign in path.name for sign in "*?[") and not path.exists():
        found = [p for p in sorted(path.parent.glob(path.name)) if p.is_file()]
    else:
        return None
    if not found:
        raise UserError(f"table {path}: there is no file with one of {', '.join(SUFFIXES)}")
    return found


def draw_table(path: Path, parts: list[Path], dialect: Dialect, seed: int) -> tuple[Table, int]:
    """At most :data:`DRAWN_ROWS` rows of all files as one table, and the number of all rows."""
    signs: list[Dialect] = []

    def frames() -> Iterator[Any]:
        names = None
        for part in parts:
            for table in read_batches(part, None, dialect):
                names = table.names if names is None else names
                if table.names != names:
                    raise UserError(
                        f"table {part}: has other columns than {parts[0]}: expected "
                        f"{', '.join(names[:8])}, got {', '.join(table.names[:8])}"
                    )
                signs.append(table.dialect)
                yield table.frame

    rows = open_rows("isthmus fit", frames(), raw=("X",))
    n_rows, (frame,) = fold_and_draw(rows, n_rows_of, operator.add, DRAWN_ROWS, seed)
    return Table(frame.reset_index(drop=True), path, signs[0]), int(n_rows)


def fit_ridge(
    encoder: Any, columns: TaskColumns, parts: list[Path], missing: str, dialect: Dialect
) -> tuple[Pipeline, int]:
    """Ridge regression of all rows of all files, one block at a time; the number of rows used.

    On the workers of a cluster where one is connected, which read the files themselves.
    """
    options = (encoder, columns, missing, dialect)
    model = ReducedRankRegression(rank=None if len(columns.outputs) > 1 else 1)
    if _client() is None:
        model.fit(lambda: (pair for part in parts for pair in encoded_blocks(part, *options)), None)
    else:
        model.fit(*_on_workers(parts, options))
    steps = [("columntransformer", encoder), ("reducedrankregression", model)]
    return Pipeline(steps), int(model.total_weight_)


def encoded_blocks(
    part: Path, encoder: Any, columns: TaskColumns, missing: str, dialect: Dialect
) -> Iterator[tuple[Any, Any]]:
    """Inputs as numbers, and outputs, of one batch after the other."""
    from isthmus.cli.learn import usable_rows

    for table in read_batches(part, [*columns.inputs, *columns.outputs], dialect):
        X, Y, _ = usable_rows(columns, table, missing)
        yield encoder.transform(X), Y


def encoded_part(part: Path, *options: Any) -> tuple[Any, Any]:
    """The same of a whole file."""
    X, Y = zip(*encoded_blocks(part, *options), strict=True)
    return np.concatenate(X), np.concatenate(Y)


def _on_workers(parts: list[Path], options: tuple[Any, ...]) -> list[Any]:
    import dask
    import dask.array as da

    pairs = [dask.delayed(encoded_part, nout=2)(part, *options) for part in parts]
    widths = [np.shape(side)[1] for side in next(encoded_blocks(parts[0], *options))]
    return [
        da.concatenate(
            [da.from_delayed(pair[i], shape=(np.nan, width), dtype=float) for pair in pairs],
            allow_unknown_chunksizes=True,
        )
        for i, width in enumerate(widths)
    ]


def _client() -> Any:
    import sys

    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:  # none is connected
        return None


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """A client of a running Dask scheduler within the block; nothing without an address."""
    if address is None:
        yield
        return
    distributed = load_extra("distributed", "dask", "--scheduler")
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        message = f"--scheduler {address}: cannot be reached ({one_line(error)})"
        raise UserError(message) from error
    with client:
        if client.dashboard_link:
            from isthmus.cli.views import note

            note(f"progress of the cluster: {client.dashboard_link}")
        yield
