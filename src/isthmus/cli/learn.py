"""What ``isthmus fit`` does: compare estimators on a table and save the best."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from isthmus.blocks.sampling import sample_rows
from isthmus.cli.candidates import candidates
from isthmus.cli.card import comparison_card, data_card, residual_quantiles
from isthmus.cli.columns import TaskColumns
from isthmus.cli.compare import (
    COMPARED_ROWS,
    QUICK_ROWS,
    Comparison,
    best_of,
    check_classes,
    check_folds,
    compare_candidates,
    fit_candidate,
    take,
)
from isthmus.cli.errors import UserError, check_target
from isthmus.cli.model import Model, save_model
from isthmus.cli.parts import connected, draw_table, find_parts, fit_ridge
from isthmus.cli.tables.dialect import Dialect
from isthmus.cli.tables.read import read_table
from isthmus.cli.tables.table import Table
from isthmus.cli.task import find_task
from isthmus.cli.views import FoldProgress, comparison_table, explain_choice, note


@dataclass(frozen=True)
class FitOptions:
    """How a table is read and compared on."""

    task: str = "auto"
    missing: str = "impute"
    dates: str = "refuse"
    cv: int = 5
    seed: int = 0
    quick: bool = False
    dialect: Dialect = field(default_factory=Dialect)
    scheduler: str | None = None
    announce: bool = True  # a line for each candidate on a terminal


def fit(
    path: Path,
    *,
    outputs: list[str] | None,
    inputs: list[str] | None,
    model_file: Path,
    options: FitOptions,
    console: Console,
) -> Model:
    """Compare estimators on a table, print the comparison, save the best and return it."""
    check_target(model_file)
    table, parts, n_all = _read(path, options)
    if options.task == "manifold":
        from isthmus.cli.manifold import fit_manifold

        return fit_manifold(
            table, inputs=inputs, model_file=model_file, seed=options.seed, console=console
        )
    if outputs is None:
        raise UserError("--outputs is missing: name the columns to predict")
    n_folds = min(options.cv, 3) if options.quick else options.cv
    # Before the columns: in a single row every output is constant.
    check_folds(len(table), n_folds, path, len(table.names))
    columns, notes = find_task(table, inputs, outputs, task=options.task, dates=options.dates)
    X, Y, more = usable_rows(columns, table, options.missing)
    for line in notes + more:
        note(line)
    most = QUICK_ROWS if options.quick else COMPARED_ROWS
    rows = sample_rows(len(Y), most, options.seed)
    check_folds(len(rows), n_folds, path)
    check_classes(Y[rows], columns.task)
    if len(rows) < len(Y):
        note(f"comparing on {len(rows)} of {len(Y)} rows, drawn at random")
    results, best, estimator, n_used = _compare(columns, X, Y, rows, n_folds, options)
    if parts is not None and n_all > len(table) and best.candidate.name == "ridge":
        with connected(options.scheduler):
            estimator, n_used = fit_ridge(
                estimator[0], columns, parts, options.missing, options.dialect
            )
        n_all = n_used
    console.print(comparison_table(results, best, columns))
    console.print(explain_choice(results, best, columns.task), soft_wrap=True, markup=False)
    known = len(Y) if parts is None else n_all
    if n_used < known:
        note(f"{best.candidate.name} learns from {n_used} of {known} rows, drawn at random")
    card = {
        "data": data_card(table, len(Y), parts),
        "comparison": comparison_card(results, n_folds, options.seed, len(rows)),
        "missing": options.missing,
        **residual_quantiles(columns.task, Y[rows], best.predicted),
    }
    model = Model(estimator, best.candidate.name, columns, best.scores, n_used, card=card)
    save_model(model, model_file)
    console.print(f"Saved {model.name} to {model_file}", soft_wrap=True, markup=False)
    return model


def _read(path: Path, options: FitOptions) -> tuple[Table, list[Path] | None, int]:
    """Return the table, or of a folder some rows of it, its files and the number of all rows."""
    parts = find_parts(path)
    if parts is None:
        table, n_all = read_table(path, options.dialect), 0
    else:
        table, n_all = draw_table(path, parts, options.dialect, options.seed)
        note(
            f"{len(parts)} files with {n_all} rows; estimators are compared on {len(table)} of them"
        )
    note_dialect(table, options.dialect)
    return table, parts, n_all


def usable_rows(
    columns: TaskColumns, table: Table, missing: str
) -> tuple[Any, np.ndarray, list[str]]:
    """Return inputs and outputs of the rows that can be learned from, and what to tell."""
    found = columns.X(table, missing=missing)
    Y, unknown = columns.Y(table)
    notes = list(found.notes)
    if unknown.any():
        if missing == "refuse":
            row = int(np.argmax(unknown))
            name = next(n for n in columns.outputs if table.cells(n).missing[row])
            raise UserError(f"{table.where(name, row)}: the value is missing (empty or NaN)")
        notes.append(f"{unknown.sum()} of {len(table)} rows without an output: left out")
    drop = unknown | found.gone if missing == "drop" or columns.objects else unknown
    if drop.all():
        raise UserError(f"table {table.path}: every row has an empty cell, none is left")
    if not drop.any():
        return found.X, Y, notes
    return take(found.X, ~drop), Y[~drop], notes


def note_dialect(table: Table, asked: Dialect) -> None:
    """Say which signs were recognised, if they are not the usual ones."""
    found = table.dialect
    if found.sep not in (None, ",", asked.sep) or found.decimal not in (None, ".", asked.decimal):
        sign = "tab" if found.sep == "\t" else f"{found.sep!r}"
        note(f"read {table.path} with --sep {sign} --decimal {found.decimal!r}")


def _compare(
    columns: TaskColumns, X: Any, Y: np.ndarray, rows: np.ndarray, n_folds: int, options: FitOptions
) -> tuple[list[Comparison], Comparison, Any, int]:
    tried = candidates(columns, len(rows) - len(rows) // n_folds)
    steps = len(tried) * n_folds + 1
    with FoldProgress(steps, columns.task, announce=options.announce) as progress:
        results = compare_candidates(
            tried,
            take(X, rows),
            Y[rows],
            task=columns.task,
            n_folds=n_folds,
            random_state=options.seed,
            on_fold=progress.advance,
            on_done=progress.done,
        )
        best = best_of(results)
        progress.advance(f"{best.candidate.name}, all rows")
        estimator, n_used = fit_candidate(
            best.candidate, X, Y, task=columns.task, random_state=options.seed
        )
    return results, best, estimator, n_used
