"""Which columns are inputs and which are outputs, and their values for the estimators."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from isthmus.cli.cells import objects_of
from isthmus.cli.errors import UserError
from isthmus.cli.tables.select import find_columns
from isthmus.cli.tables.table import Table

TASKS = ("auto", "regression", "classification", "labels", "text", "sequence", "series")
MISSING = ("impute", "drop", "refuse")
UNSEEN = ("ignore", "refuse")
SET_SIGN = ";"


@dataclass(frozen=True)
class TaskColumns:
    """Names and kinds of the columns of a task.

    Attributes
    ----------
    inputs : list of str
        In the order of the estimator's columns.
    outputs : list of str
    categories : dict of str to list of str
        The labels of each input column that holds text; the others are numeric.
    classes : list of str
        The labels of the output column if it holds classes or sets of labels, else empty.
    dates : list of str
        Input columns that hold dates, which are learned as days.
    task : one of :data:`TASKS`
    objects : {"", "text", "sequence", "series"}
        What the one input column holds, if it is not vectors that the rows are.
    """

    inputs: list[str]
    outputs: list[str]
    categories: dict[str, list[str]] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    task: str = "regression"
    objects: str = ""

    @property
    def numeric_inputs(self) -> list[str]:
        """Input columns that hold numbers."""
        return [name for name in self.inputs if name not in self.categories]

    def X(self, table: Table, *, missing: str = "impute", unseen: str = "ignore") -> "Inputs":
        """Return the inputs: floats and, in text columns, labels; or a list of objects."""
        find_columns(table, self.inputs, role="input")
        if self.objects:
            return _objects(self, table, missing)
        columns: dict[str, Any] = {}
        gone = np.zeros(len(table), dtype=bool)
        notes: list[str] = []
        empty = []
        for name in self.inputs:
            if name in self.categories:
                columns[name] = _known_labels(table, name, self.categories[name], unseen, notes)
            elif name in self.dates:
                columns[name] = table.days(name)
            else:
                columns[name] = table.numbers(name)
            absent = table.cells(name).missing
            if absent.any():
                if missing == "refuse":
                    _refuse_missing(table, name)
                empty.append(name)
                gone |= absent
        if empty:
            notes.append(_missing_note(table, empty, int(gone.sum()), missing))
        return Inputs(pd.DataFrame(columns), gone, notes)

    def Y(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs, floats (n, n_outputs), text or 0/1, and which rows lack one."""
        find_columns(table, self.outputs, role="output")
        gone = np.zeros(len(table), dtype=bool)
        for name in self.outputs:
            gone |= table.cells(name).missing
        if self.task == "regression":
            return np.column_stack([table.numbers(name) for name in self.outputs]), gone
        text = table.text(self.outputs[0])
        if self.task == "series":
            for i, cell in enumerate(text):
                _check_series(table, self.outputs[0], i, cell)
        if self.task == "labels":
            known = {label: i for i, label in enumerate(self.classes)}
            Y = np.zeros((len(text), len(known)))
            for i, cell in enumerate(text):
                Y[i, [known[label] for label in label_set(cell) if label in known]] = 1
            return Y, np.zeros(len(text), dtype=bool)  # an empty cell is the empty set
        return text, gone


@dataclass(frozen=True)
class Inputs:
    """The inputs of some rows, which of them lack a value, and what to tell about them."""

    X: Any
    gone: np.ndarray
    notes: list[str]


def label_set(cell: str) -> list[str]:
    """Return the labels of a cell such as ``a;b``."""
    return [label.strip() for label in cell.split(SET_SIGN) if label.strip()]


def _objects(columns: TaskColumns, table: Table, missing: str) -> Inputs:
    name = columns.inputs[0]
    gone = table.cells(name).missing
    notes = []
    if gone.any():
        if missing == "refuse":
            _refuse_missing(table, name)
        notes.append(_missing_note(table, [name], int(gone.sum()), "drop"))
    text = table.text(name)
    if columns.objects == "series":
        for i, cell in enumerate(text):
            _check_series(table, name, i, cell)
    return Inputs(objects_of(text, columns.objects), gone, notes)


def _check_series(table: Table, name: str, row: int, cell: str) -> None:
    try:
        values = objects_of([cell], "series")[0]
    except ValueError as error:
        raise UserError(
            f"{table.where(name, row)}: expected a series of numbers, got {cell[:60]!r}"
        ) from error
    if not np.isfinite(values).all():
        raise UserError(f"{table.where(name, row)}: expected finite numbers in the series")


def _known_labels(table, name, known, unseen, notes):
    text = table.text(name)
    strange = ~np.isin(text, [*known, ""])
    if strange.any():
        row = int(np.argmax(strange))
        had = f"{', '.join(map(repr, known[:8]))}{' and others' if len(known) > 8 else ''}"
        if unseen == "refuse":
            raise UserError(
                f"{table.where(name, row)}: the label {text[row]!r} was not in the table the model "
                f"learned from, which had {had}"
            )
        notes.append(
            f"column {name!r}: {strange.sum()} of {len(text)} rows with a label that the model did "
            f"not learn, such as {text[row]!r}; it counts as none of {had} (--unseen refuse stops)"
        )
    return text


def _refuse_missing(table, name):
    row = int(np.argmax(table.cells(name).missing))
    raise UserError(f"{table.where(name, row)}: the value is missing (empty or NaN)")


def _missing_note(table, empty, n_rows, missing):
    names = ", ".join(map(repr, empty[:4])) + (" and others" if len(empty) > 4 else "")
    did = {
        "impute": "numbers become the median, text counts as no known label; --missing drop leaves "
        "such rows out, --missing refuse stops, isthmus complete fills them in by a manifold",
        "drop": "left out; --missing impute fills them in",
    }[missing]
    return f"{n_rows} of {len(table)} rows with an empty cell in {names}: {did}"
