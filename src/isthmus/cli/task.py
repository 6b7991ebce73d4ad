"""What is to be learned from a table: kinds of its columns, and a stated guess at the task."""

import numpy as np

from isthmus.cli.cells import KINDS, are_sequences
from isthmus.cli.columns import SET_SIGN, TaskColumns, label_set
from isthmus.cli.errors import UserError
from isthmus.cli.tables.select import find_columns
from isthmus.cli.tables.table import Table

_MAX_CLASSES = 10


def find_task(
    table: Table,
    inputs: list[str] | None,
    outputs: list[str],
    *,
    task: str = "auto",
    dates: str = "refuse",
) -> tuple[TaskColumns, list[str]]:
    """Find the columns of a task and their kinds, and what to tell about guesses.

    ``inputs=None`` takes all other columns.
    """
    notes: list[str] = []
    outputs = _found(table, outputs, "output", notes)
    chosen = set(outputs)
    if inputs is None:
        inputs = [name for name in table.names if name not in chosen]
    inputs = _found(table, inputs, "input", notes)
    if not inputs:
        raise UserError(f"table {table.path}: no column is left for the inputs")
    both = [name for name in inputs if name in chosen]
    if both:
        raise UserError(f"column {both[0]!r} is both input and output")
    found = _output_task(table, outputs, task, notes)
    inputs, categories, days, objects = _input_kinds(table, inputs, dates, notes)
    classes = _classes(table, outputs, found)
    return TaskColumns(inputs, outputs, categories, classes, days, found, objects), notes


def _found(table, names, role, notes):
    """The columns; a position may be miscounted, so that a line says which ones it stands for."""
    found = find_columns(table, names, role=role, groups=True)
    counted = [name for name in names if name[:1].isdigit() and name not in table.places]
    if counted:
        shown = ", ".join(map(repr, found[:4])) + (" and others" if len(found) > 4 else "")
        notes.append(f"--{role}s {','.join(counted)}, counted from 1: {shown}")
    return found


# Inputs -----------------------------------------------------------------------------


def _input_kinds(table, inputs, dates, notes):
    if len(inputs) == 1 and table.is_series(inputs[0]):
        notes.append(f"input column {inputs[0]!r} holds series: compared by global alignment")
        return inputs, {}, [], "series"
    kept, categories, days = [], {}, []
    for name in inputs:
        if table.cells(name).missing.all():
            raise UserError(f"table {table.path}: input column {name!r} has no value in any row")
        if table.is_date(name):
            if dates == "refuse":
                raise UserError(
                    f"table {table.path}: input column {name!r} holds dates, for example "
                    f"{_example(table, name)!r}; --dates days learns them as days since 1970, "
                    "--dates drop leaves them out"
                )
            if dates == "drop":
                notes.append(f"input column {name!r} holds dates and is left out (--dates drop)")
                continue
            days.append(name)
        elif table.is_series(name):
            raise UserError(
                f"table {table.path}: input column {name!r} holds series of numbers; a series is "
                "learned from alone: name it as the only one in --inputs"
            )
        elif table.is_text(name):
            distinct = sorted(set(table.text(name)) - {""})
            if len(inputs) == 1 and len(distinct) > max(20, len(table) / 2):
                kind, said = "text", "words: compared by what they spell"
                if are_sequences(distinct):
                    kind, said = "sequence", "sequences of symbols: compared by common pieces"
                notes.append(f"input column {name!r} holds {said}")
                return inputs, {}, [], kind
            categories[name] = _check_categories(table, name, distinct)
        kept.append(name)
    if not kept:
        raise UserError(f"table {table.path}: no column is left for the inputs")
    return kept, categories, days, ""


def _check_categories(table, name, distinct):
    # A name or an address that differs in every row is not a category.
    if len(distinct) > max(20, len(table) / 2):
        raise UserError(
            f"table {table.path}: input column {name!r} has {len(distinct)} different labels in "
            f"{len(table)} rows; leave it out with --inputs"
        )
    return distinct


# Outputs ----------------------------------------------------------------------------


def _output_task(table, outputs, task, notes):
    first = outputs[0]
    texts = [name for name in outputs if table.is_text(name)]
    dated = [name for name in outputs if table.is_date(name)]
    if dated:
        raise UserError(
            f"table {table.path}: output column {dated[0]!r} holds dates, for example "
            f"{_example(table, dated[0])!r}: write them as numbers to learn them"
        )
    if task == "regression" or (task == "auto" and not texts):
        if task == "auto" and len(outputs) == 1 and _looks_like_classes(table, first):
            n = len(set(table.text(first)) - {""})
            notes.append(
                f"output column {first!r} holds {n} different whole numbers: learned as classes; "
                "--task regression learns them as numbers"
            )
            return "classification"
        return "regression"
    if len(outputs) > 1:
        raise UserError(
            f"table {table.path}: output column {(texts or outputs)[0]!r} holds text: labels are "
            f"learned one column at a time, got {len(outputs)} output columns"
        )
    if task != "auto":
        return task
    if table.is_series(first):
        notes.append(
            f"output column {first!r} holds series: learned by their alignment; "
            "--task classification takes each whole cell for a label"
        )
        return "series"
    _check_unmixed(table, first)
    text = [cell for cell in table.text(first) if cell]
    if any(SET_SIGN in cell for cell in text):
        notes.append(
            f"output column {first!r} holds sets of labels, separated by {SET_SIGN!r}; "
            "--task classification takes each whole cell for a label"
        )
        return "labels"
    if len(set(text)) <= max(20, len(text) / 2):
        return "classification"
    if are_sequences(text):
        n = len({symbol for cell in text for symbol in cell.split()})
        notes.append(
            f"output column {first!r} holds sequences of {n} symbols, separated by blanks; "
            "--task text learns them letter by letter"
        )
        return "sequence"
    notes.append(
        f"output column {first!r} has {len(set(text))} different texts in {len(text)} rows: "
        "learned by what they spell; --task classification takes each for a label"
    )
    return "text"


def _check_unmixed(table, name):
    numeric = ~np.isnan(table.cells(name).values)
    if numeric.any():
        cell = table.text(name)[np.argmax(numeric)]
        raise UserError(
            f"table {table.path}: output column {name!r} mixes labels and numbers, for example "
            f"{cell!r}; --task classification takes all for labels"
        )


def _looks_like_classes(table, name):
    """Whole numbers from 0 or 1 without a gap, few of them, each of them often."""
    values, words, missing = table.cells(name)
    known = values[~missing]
    if words.any() or len(known) == 0 or not np.isfinite(known).all():
        return False
    distinct = np.unique(known)
    counts = len(distinct) <= min(_MAX_CLASSES, len(known) / 5)
    return bool(
        counts
        and len(distinct) > 1
        and (distinct == np.arange(len(distinct)) + distinct[0]).all()
        and distinct[0] in (0, 1)
    )


def _classes(table, outputs, task):
    if task == "regression":
        for name in outputs:
            values = table.numbers(name)
            known = values[~np.isnan(values)]
            if len(known) == 0 or np.ptp(known) == 0:
                same = "empty" if len(known) == 0 else f"{known[0]:g}"
                raise UserError(
                    f"table {table.path}: output column {name!r} is {same} in every row: nothing "
                    "to learn"
                )
        return []
    text = table.text(outputs[0])
    if task == "labels":
        distinct = sorted({label for cell in text for label in label_set(cell)})
        alike = len(set(map(frozenset, map(label_set, text)))) == 1
    else:
        distinct = sorted(set(text) - {""})
        alike = len(distinct) <= 1
    if alike:
        shown = repr(text[0]) if len(distinct) else "empty"
        raise UserError(
            f"table {table.path}: output column {outputs[0]!r} is {shown} in every row: nothing to "
            "learn"
        )
    return [] if task in KINDS else distinct


def _example(table, name):
    return next(cell for cell in table.text(name) if cell)[:30]
