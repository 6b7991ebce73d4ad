"""``isthmus demo``: quick reproductions of each family and one fit, in a few minutes."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from isthmus.cli.apply import predicted_frame
from isthmus.cli.columns import Inputs
from isthmus.cli.errors import UserError
from isthmus.cli.learn import FitOptions, fit
from isthmus.cli.model import Model
from isthmus.cli.reproduce import reproduce
from isthmus.cli.tables.write import write_table
from isthmus.datasets.shipped import load_digits_completion

# A few of each family that need no data folder; all of them would take long.
EXPERIMENTS = (
    "KDE-digits",
    "E-02",
    "E-08",
    "E-09",
    "TGP-s-shape",
    "DEP-measures",
    "RED-planted",
    "SFA",
    "SERIES-classes",
    "SC-denoise",
    "NMF-swimmer",
    "CS-phase",
    "SFM-planted",
    "E-10",
    "E-12",
    "CORE-ball",
    "CORE-machine",
    "GP-parameters",
    "LPR-sine",
    "UKR-bowl",
    "UKR-spiral-degrees",
    "PSOM-recall",
    "E-13",
    "E-14",
)
_N_TRAIN = 1200
_N_SHOWN = 8


def demo(report: Path, *, console: Console) -> int:
    """Fill the folder ``report`` and print what is in it; return the exit code."""
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {report}: {error.strerror}") from error
    console.rule("The source documents, quick settings")
    ids = list(EXPERIMENTS)
    code = reproduce(ids, list_only=False, quick=True, report=report, console=console)
    _say(console, "All of them: isthmus reproduce --list, isthmus reproduce --quick")

    console.rule("A table: bottom halves of digits from their top halves")
    digits = load_digits_completion()
    train, test = report / "digits_train.csv", report / "digits_test.csv"
    frame = _table(digits)
    write_table(frame[:_N_TRAIN], train)
    write_table(frame[_N_TRAIN:], test)
    model_file = report / "digits.isthmus"
    _say(console, f"isthmus fit {train} --outputs bottom --model {model_file} --cv 3")
    model = fit(
        train,
        outputs=["bottom"],
        inputs=None,
        model_file=model_file,
        options=FitOptions(cv=3),
        console=console,
    )
    console.rule("What there is to see")
    _say(console, f"Report of the reproductions: {report / 'index.html'}")
    if find_spec("matplotlib") is not None:
        (report / "digits.png").write_bytes(_completions(model, digits, frame))
        _say(console, f"Completed digits: {report / 'digits.png'}")
    _say(console, f"Try next: isthmus score {model_file} {test}")
    return code


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _table(digits) -> pd.DataFrame:
    """Return one row per digit: ``top_i`` is given, ``bottom_i`` is to be predicted.

    Pixels that are black in every training image are left out: there is nothing to learn.
    """
    tops = {f"top_{i}": column for i, column in enumerate(digits.X.T)}
    varies = np.ptp(digits.Y[:_N_TRAIN], axis=0) > 0
    bottoms = {f"bottom_{i}": digits.Y[:, i] for i in np.flatnonzero(varies)}
    return pd.DataFrame(tops | bottoms)


def _completions(model: Model, digits, frame: pd.DataFrame) -> bytes:
    """Draw digits that the model has not seen: what was given, what it predicted, the truth."""
    from isthmus.plotting.images import image_grid
    from isthmus.plotting.theme import png

    shown = frame[_N_TRAIN : _N_TRAIN + _N_SHOWN].reset_index(drop=True)
    truth = digits.images[_N_TRAIN : _N_TRAIN + _N_SHOWN]
    inputs = Inputs(shown[model.columns.inputs], np.zeros(len(shown), dtype=bool), [])
    predicted = predicted_frame(model, inputs)
    completed = truth.copy()
    flat = completed.reshape(len(completed), -1)
    flat[:, 32:] = 0.0
    for name in predicted:
        flat[:, 32 + int(name.removeprefix("bottom_"))] = predicted[name]
    given = truth.copy()
    given[:, 4:] = 0.5
    return png(image_grid([given, completed, truth], row_titles=["given", "completed", "true"]))
