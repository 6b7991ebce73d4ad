"""What ``isthmus explore`` does with a model and a table."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.cli.columns import TaskColumns
from isthmus.cli.errors import UserError, check_target
from isthmus.cli.model import columns_from
from isthmus.cli.tables.dialect import Dialect
from isthmus.cli.tables.read import read_table
from isthmus.cli.tables.select import find_columns
from isthmus.cli.tables.table import Table
from isthmus.cli.views import note
from isthmus.explorer.opening import Page, open_page, views_of
from isthmus.explorer.rows import DoesNotFit, Rows, make_rows
from isthmus.files.contents import ModelFileError
from isthmus.files.store import read_model


@dataclass(frozen=True)
class LookOptions:
    """How objects are drawn, and where the page goes."""

    kind: str | None = None
    input_kind: str | None = None
    label: str | None = None
    port: int = 0
    browser: bool = True
    export: Path | None = None
    dialect: Dialect = field(default_factory=Dialect)


def explore(model_file: Path, path: Path | None, options: LookOptions) -> Page | None:
    """Open a page and print its address, or write it to a file."""
    missing = [package for package in ("panel", "bokeh") if find_spec(package) is None]
    if missing:
        raise UserError(
            f'isthmus explore needs {", ".join(missing)}: pip install "isthmus[explore]"'
        )
    if options.export is not None:
        check_target(options.export)
    estimator, contents = read_model(model_file)
    table = None
    if path is not None:
        table = read_table(path, options.dialect)
        if path.suffix not in (".npz", ".parquet"):
            from isthmus.cli.learn import note_dialect  # loads every estimator that fit compares

            note_dialect(table, options.dialect)
    try:
        exploration, answers = _views(estimator, _columns(contents.card, model_file), table,
                                      contents.card, options)  # fmt: skip
        title = str(contents.card.get("name", type(estimator).__name__))[:80]
        page = open_page(
            exploration,
            answers,
            title,
            port=options.port,
            browser=options.browser,
            export=options.export,
            announce=lambda address: print(address, flush=True),
        )
    except (DoesNotFit, ValueError) as refused:
        raise UserError(f"model {model_file}: {refused}") from refused
    except OSError as refused:
        raise UserError(str(refused)) from refused
    if page is None:
        note(f"wrote {options.export}")
    return page


def stay(page: Page) -> None:
    """Return when the last window of the page is closed, or at Ctrl-C."""
    note("close the page to end, or press Ctrl-C")
    try:
        page.wait()
    except KeyboardInterrupt:
        page.close()


def _columns(card: Any, path: Path) -> TaskColumns | None:
    if "columns" not in card:
        return None
    try:
        return columns_from(card["columns"])
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"model {path}: damaged, its card is not complete ({error})") from (
            error
        )


def _views(
    estimator: Any, columns: TaskColumns | None, table: Table | None, card: Any, options: Any
) -> Any:
    if columns is None or columns.task == "manifold":
        rows = None if table is None else _number_rows(estimator, columns, table, options.label)
        X = None if rows is None else rows.objects
        kinds = {"kind": options.kind, "input_kind": options.input_kind}
        return views_of(estimator, rows, X, None, **kinds)
    if table is None:
        raise DoesNotFit("it predicts columns from others: give a table with rows to ask about")
    found = columns.X(table)
    for line in found.notes:
        note(line)
    keep = ~found.gone
    if columns.objects:
        objects = [x for x, whole in zip(found.X, keep, strict=True) if whole]
        rows, X = Rows(objects, columns.inputs), objects
    else:
        X = found.X[keep].reset_index(drop=True)
        rows = make_rows(X)
    outputs = _outputs(columns, table, keep)
    widths = card.get("intervals") if isinstance(card.get("intervals"), dict) else None
    return views_of(
        estimator,
        rows,
        X,
        outputs,
        kind=options.kind,
        input_kind=options.input_kind,
        output_names=columns.outputs,
        half_widths=widths,
    )


def _outputs(columns: TaskColumns, table: Table, keep: np.ndarray) -> Any:
    """The outputs of the rows, where the table has them all."""
    if any(name not in table.places for name in columns.outputs):
        return None
    Y, gone = columns.Y(table)
    return None if gone[keep].any() else Y[keep]


def _number_rows(
    estimator: Any, columns: TaskColumns | None, table: Table, label: str | None
) -> Rows:
    """Rows of numbers for a map: the columns of the model, the others beside them."""
    if columns is not None:
        wanted = columns.inputs
    else:
        first = estimator.steps[0][1] if hasattr(estimator, "steps") else estimator
        named = getattr(first, "feature_names_in_", None)
        wanted = [str(n) for n in named] if named is not None else _numeric(table, label)
    names = find_columns(table, wanted, role="input")
    X = np.column_stack([table.numbers(name) for name in names])
    whole = np.isfinite(X).all(axis=1)
    if not whole.all():
        note(f"{(~whole).sum()} of {len(table)} rows with an empty cell: left out")
    if not whole.any():
        raise DoesNotFit("every row of the table has an empty cell")
    beside = {}
    if label is not None:
        find_columns(table, [label], role="label")
        beside["label"] = np.asarray(table.text(label))[whole]
    for name in table.names:
        if name not in set(names) and name != label and len(beside) < 12:
            beside[name] = _column(table, name)[whole]
    return make_rows(X[whole], names=names, beside=beside)


def _numeric(table: Table, label: str | None) -> list[str]:
    return [name for name in table.names if name != label and not table.is_text(name)]


def _column(table: Table, name: str) -> np.ndarray:
    return np.asarray(table.text(name) if table.is_text(name) else table.numbers(name))
