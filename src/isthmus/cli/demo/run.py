"""``isthmus demo``: a map learned from a table, both ways, and a few published results."""

import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from isthmus.cli.compare import predictions
from isthmus.cli.demo.page import Direction, Remade, demo_page
from isthmus.cli.errors import UserError
from isthmus.cli.learn import FitOptions, fit
from isthmus.cli.reproduce import load_experiments
from isthmus.cli.scores import scores
from isthmus.cli.tables.write import write_table
from isthmus.datasets.shipped import load_digits_completion

# Quick ones that need no data folder and little compiling; what was published fits on a line.
EXPERIMENTS = {
    "E-10": "ten points hold a linear support vector machine",
    "E-12": "kernel PCA from 5 % of the points",
    "SC-denoise": "sparse codes take the noise off a photograph",
    "NMF-swimmer": "sparse factors isolate the limbs of a swimmer",
    "GP-parameters": "the likelihood prefers the parameters that are true",
    "TGP-s-shape": "twin processes gain from learned kernels",
    "PSOM-recall": "inverse kinematics of a robot arm by recall",
}
NEXT = (
    ("your own table", "isthmus fit TABLE.csv --outputs COLUMN --model my.isthmus"),
    ("in Python", 'README.md, the table under "You have, you want, take"'),
    ("more results", "isthmus reproduce --list"),
)
_N_TRAIN = 1200
_N_SHOWN = 8


def demo(report: Path, *, console: Console) -> int:
    """Fill the folder ``report`` and print one screen about it; return the exit code."""
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {report}: {error.strerror}") from error
    screen = _Screen(console)
    digits = load_digits_completion()
    frame = _table(digits)
    train, test = report / "digits_train.csv", report / "digits_test.csv"
    write_table(frame[:_N_TRAIN], train)
    write_table(frame[_N_TRAIN:], test)

    screen.heading("A map learned from pairs: the lower half of a digit from its upper half")
    down = _learn(train, frame, ("top", "bottom"), report / "digits.isthmus", screen)
    screen.heading("The same pairs the other way: the upper half from the lower half")
    up = _learn(train, frame, ("bottom", "top"), report / "digits_back.isthmus", screen)
    picture = b""
    screen.heading("What you have now")
    if find_spec("matplotlib") is not None:
        picture = _completions([down, up], digits.images[_N_TRAIN:][:_N_SHOWN])
        (report / "digits.png").write_bytes(picture)
        screen.line("a picture", str(report / "digits.png"))
    use = ["isthmus predict", f"{down.model_file} {test}"]
    screen.line("two models", f"{down.model_file.name} and {up.model_file.name}")
    screen.line("their use", *use)

    screen.heading("Published results, repeated with small settings")
    remade, code = _repeat(report / "reproductions", screen)
    page = report / "index.html"
    page.write_text(demo_page([down, up], picture, " ".join(use), remade), encoding="utf-8")
    screen.heading("Where to go next")
    for what, where in NEXT:
        screen.line(what, where)
    screen.line("this as a page", str(page))
    return code


class _Screen:
    """Headings, and lines of two columns that never break inside a word."""

    def __init__(self, console: Console):
        self.console = console
        self._gap = ""

    def heading(self, text: str) -> None:
        self.console.print(f"{self._gap}{text}", style="bold", markup=False, highlight=False)
        self._gap = "\n"

    def line(self, what: str, *parts: str) -> None:
        """Print what stands where; parts that do not fit beside each other go below."""
        lines = [f"  {what:<15}"]
        for i, part in enumerate(parts):
            if i and len(lines[-1]) + len(part) + 3 > self.console.width:
                lines[-1] += " \\"
                lines.append(" " * 18 + part)
            else:
                lines[-1] += f" {part}"
        for line in lines:
            # A path longer than the screen stays whole, so that it can be copied.
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _table(digits: Any) -> pd.DataFrame:
    """Return one row per digit, ``top_i`` and ``bottom_i``.

    Pixels that are black in every training image are left out: there is nothing to learn.
    """
    halves = {"top": digits.X, "bottom": digits.Y}
    return pd.DataFrame(
        {
            f"{half}_{i}": pixels[:, i]
            for half, pixels in halves.items()
            for i in np.flatnonzero(np.ptp(pixels[:_N_TRAIN], axis=0) > 0)
        }
    )


def _learn(
    train: Path, frame: pd.DataFrame, halves: tuple[str, str], model_file: Path, screen: _Screen
) -> Direction:
    """Do what the command does that is printed, and test the model on rows it has not seen."""
    given, wanted = halves
    columns = f"--inputs {given} --outputs {wanted}"
    command = [f"isthmus fit {train} --quick", columns, f"--model {model_file}"]
    screen.line("command", *command)
    model = fit(
        train,
        outputs=[wanted],
        inputs=[given],
        model_file=model_file,
        options=FitOptions(quick=True, announce=False),
        console=Console(file=io.StringIO()),
    )
    new = frame[_N_TRAIN:].reset_index(drop=True)
    predicted = predictions(model.estimator, new[model.columns.inputs])
    result = scores(new[model.columns.outputs].to_numpy(), predicted, model.columns.task)
    compared = model.card["comparison"]["quality"]
    rival = max(
        (name for name in compared if not name.startswith("dependency")), key=compared.__getitem__
    )
    screen.line("chosen", f"{model.name}: R² {compared[model.name]:.2f} on rows left out;")
    screen.line("", f"the best of the plain methods, {rival}: {compared[rival]:.2f}")
    screen.line("on new digits", f"R² {result.quality:.2f} on {len(new)} that it has not seen")
    found = pd.DataFrame(predicted[:_N_SHOWN], columns=model.columns.outputs)
    return Direction(given, wanted, " ".join(command), model, model_file, result.quality, found)


def _completions(directions: Sequence[Direction], truth: np.ndarray) -> bytes:
    """Draw digits the models have not seen: what was given, what was predicted, the truth."""
    from isthmus.plotting.images import image_grid
    from isthmus.plotting.theme import png

    rows, titles = [], []
    for direction in directions:
        lower = 0 if direction.wanted == "top" else 32
        given, completed = truth.copy(), truth.copy()
        given.reshape(len(truth), -1)[:, lower : lower + 32] = 0.5
        flat = completed.reshape(len(truth), -1)
        flat[:, lower : lower + 32] = 0.0
        for name in direction.predicted:
            flat[:, lower + int(name.rsplit("_", 1)[1])] = direction.predicted[name]
        rows += [given, completed]
        titles += ["given", "completed"]
    return png(image_grid([*rows, truth], row_titles=[*titles, "true"]))


def _repeat(folder: Path, screen: _Screen) -> tuple[list[Remade], int]:
    """Run a few experiments, a line for each; their report goes into a folder of its own."""
    try:
        experiments = load_experiments()
    except UserError as error:
        screen.line("left out", str(error))
        return [], 0
    # The bar runs on a terminal and leaves nothing behind; lines in between would fill the screen.
    quiet = Console(file=io.StringIO())
    with screen.console.status(f"{len(EXPERIMENTS)} experiments"):
        results = experiments.run(list(EXPERIMENTS), quick=True, report=folder, console=quiet)
    remade = [Remade.of(result, EXPERIMENTS[result.experiment.id]) for result in results]
    for one in remade:
        screen.line(one.id, f"{one.claim:<52}{one.finding}")
    return remade, int(experiments.exit_code(results))
