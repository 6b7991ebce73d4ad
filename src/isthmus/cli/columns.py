"""Which columns are inputs and which are outputs, and their values for the estimators."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from isthmus.cli.errors import UserError
from isthmus.cli.tables import find_columns, is_label, is_numeric, labels, numbers


@dataclass(frozen=True)
class TaskColumns:
    """Names and kinds of the columns of a task.

    Attributes
    ----------
    inputs : list of str
        In the order of the estimator's columns.
    categories : dict of str to list of str
        The labels of each input column that holds text; the others are numeric.
    outputs : list of str
    classes : list of str
        The labels of the output column if it holds text, else empty.
    """

    inputs: list[str]
    outputs: list[str]
    categories: dict[str, list[str]] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)

    @property
    def numeric_inputs(self) -> list[str]:
        """Input columns that hold numbers."""
        return [name for name in self.inputs if name not in self.categories]

    def X(self, frame: pd.DataFrame, path: Path) -> pd.DataFrame:
        """Return the inputs: floats and, in text columns, labels that the model knows."""
        find_columns(frame, self.inputs, path=path, role="input")
        return pd.DataFrame(
            {
                name: _known_labels(frame[name], self.categories[name], path)
                if name in self.categories
                else numbers(frame[name], path)
                for name in self.inputs
            }
        )

    def Y(self, frame: pd.DataFrame, path: Path) -> np.ndarray:
        """Return the outputs: floats (n, n_outputs), or labels (n,)."""
        find_columns(frame, self.outputs, path=path, role="output")
        if self.classes:
            return labels(frame[self.outputs[0]], path)
        return np.column_stack([numbers(frame[name], path) for name in self.outputs])


def find_task(
    frame: pd.DataFrame, inputs: list[str] | None, outputs: list[str], path: Path
) -> TaskColumns:
    """Find the columns of a task and their kinds; ``inputs=None`` takes all other columns."""
    outputs = find_columns(frame, outputs, path=path, role="output", groups=True)
    if inputs is None:
        inputs = [name for name in frame.columns if name not in outputs]
    inputs = find_columns(frame, inputs, path=path, role="input", groups=True)
    if not inputs:
        raise UserError(f"table {path}: no column is left for the inputs")
    both = [name for name in inputs if name in outputs]
    if both:
        raise UserError(f"column {both[0]!r} is both input and output")
    text_inputs = [name for name in inputs if is_label(frame[name], path)]
    categories = {name: _input_labels(frame[name], path) for name in text_inputs}
    return TaskColumns(inputs, outputs, categories, _output_labels(frame, outputs, path))


def _input_labels(column, path):
    text = labels(column, path)
    distinct = sorted(set(text))
    # A name or a date that differs in every row is not a category.
    if len(distinct) > max(20, len(text) / 2):
        raise UserError(
            f"table {path}: input column {column.name!r} has {len(distinct)} different labels in "
            f"{len(text)} rows; leave it out with --inputs"
        )
    return distinct


def _output_labels(frame, outputs, path):
    text_outputs = [name for name in outputs if is_label(frame[name], path)]
    if not text_outputs:
        for name in outputs:
            values = numbers(frame[name], path)
            if np.ptp(values) == 0:
                raise UserError(
                    f"table {path}: output column {name!r} is {values[0]:g} in every row: nothing "
                    "to learn"
                )
        return []
    if len(outputs) > 1:
        raise UserError(
            f"table {path}: output column {text_outputs[0]!r} holds text: labels are learned one "
            f"column at a time, got {len(outputs)} output columns"
        )
    column = frame[text_outputs[0]]
    text = labels(column, path)
    numeric = [cell for cell in text if is_numeric(pd.Series([cell]), path)]
    if numeric:
        raise UserError(
            f"table {path}: output column {column.name!r} mixes labels and numbers, for example "
            f"{numeric[0]!r}"
        )
    if len(set(text)) == 1:
        raise UserError(
            f"table {path}: output column {column.name!r} is {text[0]!r} in every row: nothing to "
            "learn"
        )
    return sorted(set(text))


def _known_labels(column, known, path):
    text = labels(column, path)
    expected = set(known)
    strange = np.array([label not in expected for label in text])
    if strange.any():
        row = int(np.argmax(strange))
        raise UserError(
            f"table {path}: column {column.name!r}, row {row + 1}: the label {text[row]!r} was not "
            f"in the table the model learned from, which had {', '.join(map(repr, known[:8]))}"
            f"{' and others' if len(known) > 8 else ''}"
        )
    return text
