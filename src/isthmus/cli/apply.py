"""What ``isthmus predict``, ``score`` and ``complete`` do with a model and a table."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from isthmus.cli.columns import SET_SIGN, Inputs, TaskColumns
from isthmus.cli.compare import predictions, take
from isthmus.cli.errors import UserError, check_target
from isthmus.cli.learn import note_dialect
from isthmus.cli.model import Model, load_model
from isthmus.cli.scores import scores
from isthmus.cli.tables.dialect import Dialect
from isthmus.cli.tables.read import find_suffix, read_batches, read_table
from isthmus.cli.tables.table import Table
from isthmus.cli.tables.write import write_csv, write_table
from isthmus.cli.views import note, score_table


@dataclass(frozen=True)
class ApplyOptions:
    """How a table is read, and what happens to cells the model cannot use."""

    missing: str = "impute"
    unseen: str = "ignore"
    intervals: float | None = None
    dialect: Dialect = field(default_factory=Dialect)


def predict(model_file: Path, path: Path, *, output: Path | None, options: ApplyOptions) -> None:
    """Predict the outputs of a table: csv on standard output, or a file."""
    if output is not None:
        find_suffix(output)
        check_target(output)
    model = load_model(model_file)
    widths = _half_widths(model, options.intervals, model_file)
    batches = _predicted_batches(model, path, widths, options)
    if output is None:
        write_csv(batches, sys.stdout, screen=sys.stdout.isatty())
    else:
        write_table(pd.concat(list(batches), ignore_index=True), output)


def _predicted_batches(model, path, widths, options) -> Iterator[pd.DataFrame]:
    told: set[str] = set()
    for table in read_batches(path, model.columns.inputs, options.dialect):
        if not told:
            note_dialect(table, options.dialect)
        found = model.columns.X(table, missing=options.missing, unseen=options.unseen)
        for line in found.notes:
            # One line for each kind, however many batches there are.
            if line.split(":")[0] not in told:
                told.add(line.split(":")[0])
                note(line.replace(": left out;", ": their predictions are left empty;"))
        told.add("read")
        yield predicted_frame(model, found, widths=widths, drop=options.missing == "drop")


def predicted_frame(
    model: Model, inputs: Inputs, *, widths: Any = None, drop: bool = False
) -> pd.DataFrame:
    """Return the predictions as a table with the names of the outputs, a row for each row."""
    columns = model.columns
    gone = inputs.gone if drop or columns.objects else np.zeros_like(inputs.gone)
    frame = pd.DataFrame(index=range(len(gone)), columns=columns.outputs, dtype=object)
    if not gone.all():
        kept = take(inputs.X, ~gone) if gone.any() else inputs.X
        values = _as_columns(columns, predictions(model.estimator, kept, columns.task))
        frame = pd.DataFrame(values, index=np.flatnonzero(~gone), columns=columns.outputs)
        frame = frame.reindex(range(len(gone)))
    if widths is None:
        return frame
    parts = {}
    for name, width in zip(columns.outputs, widths, strict=True):
        parts |= {name: frame[name], f"{name}_low": frame[name] - width}
        parts |= {f"{name}_high": frame[name] + width}
    return pd.DataFrame(parts)


def _as_columns(columns: TaskColumns, values: np.ndarray) -> np.ndarray:
    if columns.task == "labels":
        labels = np.array(columns.classes, dtype=object)
        cells = [SET_SIGN.join(labels[row > 0.5]) for row in values]
        return np.array(cells, dtype=object).reshape(-1, 1)
    return values.reshape(len(values), -1)


def _half_widths(model: Model, coverage: float | None, path: Path) -> Any:
    if coverage is None:
        return None
    known = model.card.get("intervals")
    if not isinstance(known, dict) or not known:
        raise UserError(
            f"model {path}: has no intervals: they come with numeric outputs of isthmus fit"
        )
    widths = known.get(f"{coverage:g}")
    if not isinstance(widths, list) or len(widths) != len(model.columns.outputs):
        raise UserError(
            f"model {path}: has no intervals for --intervals {coverage:g}, only for "
            f"{', '.join(known)}"
        )
    return widths


def score(model_file: Path, path: Path, *, options: ApplyOptions, console: Console) -> None:
    """Print the errors of a model on a table that also has the outputs."""
    model = load_model(model_file)
    columns = model.columns
    table = read_table(path, options.dialect)
    note_dialect(table, options.dialect)
    found = columns.X(table, missing=options.missing, unseen=options.unseen)
    Y, unknown = columns.Y(table)
    for line in found.notes:
        note(line)
    if unknown.any():
        note(f"{unknown.sum()} of {len(table)} rows without an output: left out")
    drop = unknown | found.gone if options.missing == "drop" or columns.objects else unknown
    if drop.all():
        raise UserError(f"table {path}: every row has an empty cell, none is left")
    predicted = predictions(model.estimator, take(found.X, ~drop), columns.task)
    result = scores(Y[~drop], predicted, columns.task)
    console.print(score_table(result, columns, int((~drop).sum())))


def complete(model_file: Path, path: Path, *, output: Path | None, options: ApplyOptions) -> None:
    """Fill the empty cells of a table that the model knows about; all others stay as they are."""
    if output is not None:
        find_suffix(output)
        check_target(output)
    model = load_model(model_file)
    table = read_table(path, options.dialect)
    note_dialect(table, options.dialect)
    filled = table.frame.copy()
    filled.columns = table.names
    counts = {}
    for name, values in _completions(model, table, options).items():
        empty = table.cells(name).missing & pd.notna(values)
        if empty.any():
            counts[name] = int(empty.sum())
            # Only what was empty is new; numbers that were there keep how they were written.
            column = filled[name].astype(object).to_numpy(copy=True)
            column[empty] = values[empty]
            filled[name] = column
    shown = ", ".join(f"{n} in {name!r}" for name, n in list(counts.items())[:6])
    note(f"filled in {sum(counts.values())} cells{': ' + shown if shown else ''}")
    if output is None:
        write_csv([filled], sys.stdout, screen=sys.stdout.isatty())
    else:
        write_table(filled, output)


def _completions(model: Model, table: Table, options: ApplyOptions) -> dict[str, np.ndarray]:
    if model.columns.task == "manifold":
        from isthmus.cli.manifold import completed

        return completed(model, table)
    found = model.columns.X(table, missing=options.missing, unseen=options.unseen)
    for line in found.notes:
        note(line)
    there = [name for name in model.columns.outputs if name in table.places]
    if not there:
        raise UserError(
            f"table {table.path}: has none of the columns that the model can fill in: "
            f"{', '.join(map(repr, model.columns.outputs[:8]))}"
        )
    frame = predicted_frame(model, found, drop=options.missing == "drop")
    return {name: frame[name].to_numpy() for name in there}
