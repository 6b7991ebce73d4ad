"""What fit, predict and score do."""

import sys
from pathlib import Path

import pandas as pd
from rich.console import Console

from isthmus.blocks.sampling import sample_rows
from isthmus.cli.candidates import candidates
from isthmus.cli.columns import find_task
from isthmus.cli.compare import (
    COMPARED_ROWS,
    QUICK_ROWS,
    best_of,
    check_classes,
    check_folds,
    compare_candidates,
    fit_candidate,
    predictions,
)
from isthmus.cli.errors import check_target
from isthmus.cli.model import Model, load_model, save_model
from isthmus.cli.scores import scores
from isthmus.cli.tables import read_table, write_table
from isthmus.cli.views import comparison_table, fold_progress, note, score_table


def fit(
    table: Path,
    *,
    outputs: list[str],
    inputs: list[str] | None,
    model_file: Path,
    cv: int,
    seed: int,
    quick: bool,
    console: Console,
) -> Model:
    """Compare estimators on a table, print the comparison, save the best and return it."""
    check_target(model_file)
    frame = read_table(table)
    n_folds = min(cv, 3) if quick else cv
    rows = sample_rows(len(frame), QUICK_ROWS if quick else COMPARED_ROWS, seed)
    # Before the columns: in a single row every output is constant.
    check_folds(len(rows), n_folds, table)
    columns = find_task(frame, inputs, outputs, table)
    X, Y = columns.X(frame, table), columns.Y(frame, table)
    check_classes(Y[rows])
    if len(rows) < len(X):
        note(f"comparing on {len(rows)} of {len(X)} rows, drawn at random")
    tried = candidates(columns, len(rows) - len(rows) // n_folds)
    with fold_progress(len(tried) * n_folds + 1) as advance:
        results = compare_candidates(
            tried, X.iloc[rows], Y[rows], n_folds=n_folds, random_state=seed, on_fold=advance
        )
        best = best_of(results)
        advance(f"{best.candidate.name}, all rows")
        estimator, n_used = fit_candidate(best.candidate, X, Y, random_state=seed)
    console.print(comparison_table(results, best, columns))
    if n_used < len(X):
        note(f"this kernel method learns from {n_used} of {len(X)} rows, drawn at random")
    model = Model(estimator, best.candidate.name, columns, best.scores, n_used)
    save_model(model, model_file)
    console.print(f"Saved {model.name} to {model_file}", soft_wrap=True, markup=False)
    return model


def predict(model_file: Path, table: Path, *, output: Path | None) -> None:
    """Predict the outputs of a table: csv on standard output, or a file."""
    model = load_model(model_file)
    frame = read_table(table)
    predicted = predicted_frame(model, model.columns.X(frame, table))
    if output is None:
        predicted.to_csv(sys.stdout, index=False)
    else:
        write_table(predicted, output)


def predicted_frame(model: Model, X: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions as a table with the names of the outputs."""
    values = predictions(model.estimator, X)
    return pd.DataFrame(values.reshape(len(X), -1), columns=model.columns.outputs)


def score(model_file: Path, table: Path, *, console: Console) -> None:
    """Print the errors of a model on a table that also has the outputs."""
    model = load_model(model_file)
    frame = read_table(table)
    X, Y = model.columns.X(frame, table), model.columns.Y(frame, table)
    console.print(score_table(scores(Y, predictions(model.estimator, X)), model.columns, len(X)))
