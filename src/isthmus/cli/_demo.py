"""``isthmus demo``: the quick reproductions and one fit, in a few minutes."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from isthmus.cli import _commands
from isthmus.cli._errors import UserError
from isthmus.cli._model import Model
from isthmus.cli._tables import write_table
from isthmus.datasets import load_digits_completion

_N_TRAIN = 1200
_N_SHOWN = 8


def demo(report: Path, *, console: Console) -> int:
    """Fill the folder ``report`` and say what is in it; return the exit code."""
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {report}: {error.strerror}") from error
    console.rule("The source documents, quick settings")
    code = _commands.reproduce([], list_only=False, quick=True, report=report, console=console)

    console.rule("A table: bottom halves of digits from their top halves")
    digits = load_digits_completion()
    train, test = report / "digits_train.csv", report / "digits_test.csv"
    frame = _table(digits)
    write_table(frame[:_N_TRAIN], train)
    write_table(frame[_N_TRAIN:], test)
    console.print(f"isthmus fit {train} --outputs bottom --model ...", style="dim", soft_wrap=True)
    model = _commands.fit(
        train,
        outputs=["bottom"],
        inputs=["top"],
        model_file=report / "digits.isthmus",
        cv=3,
        seed=0,
        quick=False,
        console=console,
    )
    _draw_completions(model, digits, frame, report / "digits.png")
    console.print(f"Report: {report / 'index.html'}", soft_wrap=True, highlight=False)
    console.print(
        f"Table, model and pictures of completed digits: {report}", soft_wrap=True, highlight=False
    )
    return code


def _table(digits) -> pd.DataFrame:
    """One row a digit: ``top_i`` are given, ``bottom_i`` wanted; border pixels that are
    always white hold nothing to learn and are left out."""
    tops = {f"top_{i}": column for i, column in enumerate(digits.X.T)}
    bottoms = {f"bottom_{i}": column for i, column in enumerate(digits.Y.T) if np.ptp(column) > 0}
    return pd.DataFrame(tops | bottoms)


def _draw_completions(model: Model, digits, frame: pd.DataFrame, path: Path) -> None:
    if find_spec("matplotlib") is None:
        return
    from isthmus.plotting import image_grid, png

    shown = frame[_N_TRAIN : _N_TRAIN + _N_SHOWN].reset_index(drop=True)
    truth = digits.images[_N_TRAIN : _N_TRAIN + _N_SHOWN]
    predicted = _commands.predicted_frame(model, shown[model.columns.inputs])
    completed = truth.copy()
    flat = completed.reshape(len(completed), -1)
    flat[:, 32:] = 0.0
    for name in predicted:
        flat[:, 32 + int(name.removeprefix("bottom_"))] = predicted[name]
    given = truth.copy()
    given[:, 4:] = 0.5
    grid = image_grid([given, completed, truth], row_titles=["given", "completed", "true"])
    path.write_bytes(png(grid))
