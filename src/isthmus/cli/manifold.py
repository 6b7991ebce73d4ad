"""``--task manifold``: one model of all columns, which fills in whichever is missing."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as Shown
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.blocks.sampling import sample_rows
from isthmus.cli.card import data_card
from isthmus.cli.columns import TaskColumns
from isthmus.cli.errors import UserError, printable
from isthmus.cli.model import Model, save_model
from isthmus.cli.scores import Scores, scores
from isthmus.cli.tables.select import find_columns
from isthmus.cli.tables.table import Table
from isthmus.cli.views import note
from isthmus.manifold.ukr.estimator import UnsupervisedKernelRegression

MAX_ROWS = 1000
_TESTED_ROWS = 60
_SHOWN = 12


def fit_manifold(
    table: Table, *, inputs: list[str] | None, model_file: Path, seed: int, console: Console
) -> Model:
    """Learn a surface through the complete rows, show how well it fills in each column, save it."""
    names = find_columns(table, inputs or table.names, role="input", groups=True)
    X, gone = _matrix(table, names)
    if gone.any():
        note(f"{gone.sum()} of {len(table)} rows with an empty cell: left out")
    X = X[~gone]
    if len(names) < 2 or len(X) < 10:
        raise UserError(
            f"table {table.path}: a manifold needs at least 2 columns and 10 complete rows, got "
            f"{len(names)} and {len(X)}"
        )
    constant = [name for name, column in zip(names, X.T, strict=True) if np.ptp(column) == 0]
    if constant:
        raise UserError(f"table {table.path}: column {constant[0]!r} is the same in every row")
    rows = sample_rows(len(X), MAX_ROWS, seed)
    if len(rows) < len(X):
        note(f"learning from {len(rows)} of {len(X)} rows, drawn at random")
    tested = _tested_scores(X[rows], seed)
    pipeline = _surface(X[rows], seed)
    console.print(_view(names, tested))
    columns = TaskColumns(names, [], task="manifold")
    card = {"data": data_card(table, len(rows))}
    model = Model(pipeline, "manifold", columns, tested, len(rows), card=card)
    save_model(model, model_file)
    console.print(f"Saved {model.name} to {model_file}", soft_wrap=True, markup=False)
    return model


def completed(model: Model, table: Table) -> dict[str, np.ndarray]:
    """Return every column of the model with its empty cells filled in."""
    names = find_columns(table, model.columns.inputs, role="input")
    X, gone = _matrix(table, names)
    nothing = np.isnan(X).all(axis=1)
    if nothing.any():
        note(
            f"{nothing.sum()} of {len(table)} rows are empty and stay so: nothing is known of them"
        )
    rows = gone & ~nothing
    if rows.any():
        X[rows] = _complete(model.estimator, X[rows])
    return dict(zip(names, X.T, strict=True))


def _matrix(table: Table, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    for name in names:
        if table.is_text(name):
            raise UserError(
                f"table {table.path}: column {name!r} holds text; a manifold is learned from "
                "numbers: name them with --inputs"
            )
    X = np.column_stack([table.numbers(name) for name in names])
    return X, np.isnan(X).any(axis=1)


def _surface(X: np.ndarray, seed: int) -> Pipeline:
    surface = UnsupervisedKernelRegression(min(2, X.shape[1] - 1), random_state=seed)
    return make_pipeline(StandardScaler(), surface).fit(X)


def _complete(pipeline: Pipeline, X: np.ndarray) -> np.ndarray:
    scaler, surface = pipeline[0], pipeline[-1]
    filled = scaler.inverse_transform(surface.complete(scaler.transform(X)))
    return np.where(np.isnan(X), filled, X)


def _tested_scores(X: np.ndarray, seed: int) -> Scores:
    """Errors of each column, filled in from all others in rows that were left out."""
    order = np.random.default_rng(seed).permutation(len(X))
    n_test = min(_TESTED_ROWS, len(X) // 5)
    test, train = X[order[:n_test]], X[order[n_test:]]
    pipeline = _surface(train, seed)
    guess = np.empty_like(test)
    for j in range(X.shape[1]):
        asked = test.copy()
        asked[:, j] = np.nan
        guess[:, j] = _complete(pipeline, asked)[:, j]
    return scores(test, guess)


def _view(names: list[str], tested: Scores) -> Shown:
    view = Shown(title="Each column from all others, rows left out", title_justify="left")
    view.add_column("column", overflow="fold")
    view.add_column("RMSE", justify="right")
    view.add_column("R²", justify="right")
    for name, rmse, r2 in list(zip(names, tested.rmse, tested.r2, strict=True))[:_SHOWN]:
        view.add_row(printable(name)[:60].replace("[", "\\["), f"{rmse:.4g}", f"{r2:.3f}")
    if len(names) > _SHOWN:
        view.add_row(f"and {len(names) - _SHOWN} more", "", "")
    return view
