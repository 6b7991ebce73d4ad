"""Pieces of a page as text, every foreign word in them escaped; nothing here needs a framework."""

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.explorer.answers import Answers
from isthmus.explorer.exploration import Exploration, Look
from isthmus.explorer.kinds.picture import Picture, svg
from isthmus.kernels.objects import take

STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


def captioned(picture: str, caption: str) -> str:
    """Return a picture with words below it; the words are escaped here."""
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def side_by_side(pictures: Sequence[tuple[str, str]]) -> str:
    """Return small pictures with captions, as many in a line as fit."""
    return f'<div class="few">{"".join(captioned(p, words) for words, p in pictures)}</div>'


def two_pictures(left: str, right: str) -> str:
    """Return two captioned pictures beside each other."""
    return f'<div class="pair">{left}{right}</div>'


def problem(words: object) -> str:
    """Return a line that says what went wrong."""
    line = " ".join(str(words).split())[:400]
    return f'<p class="problem" role="alert">{escape(line)}</p>'


def strip_html(picture: Picture, label: str) -> str:
    """Return a strip of pictures that scrolls sideways where it is too long."""
    return f'<div class="strip" tabindex="0">{svg(picture, label)}</div>'


def look_html(exploration: Exploration, look: Look, turn: float) -> dict[str, str]:
    """Return what lies at a place (``here``), the nearest row (``near``), and ``facts``."""
    artist, rows = exploration.artist, exploration.rows
    where = ", ".join(f"{v:.3g}" for v in look.place[:6])
    caption = "here" if look.final else "here, a first guess"
    here = captioned(artist.svg(look.thing, f"object at {where}", turn=turn), caption)
    row = artist.svg(exploration.row(look.nearest), f"row {look.nearest}", turn=turn)
    known = [
        f"place {where}",
        f"support {look.support:.2f}",
        f"nearest row {look.distance:.3g} away",
    ]
    label = rows.beside.get("label")
    if label is not None:
        known.append(f"its label {str(label[look.nearest])[:60]}")
    facts = f'<p class="small" aria-live="polite">{escape(" · ".join(known))}</p>'
    return {"here": here, "near": captioned(row, f"nearest row: {look.nearest}"), "facts": facts}


def answer_html(answers: Answers, x: Any, output: Any) -> tuple[str, str]:
    """Return an input and what is predicted of it."""
    shown = [v for v in x if isinstance(v, (int, float))] if answers.frame is not None else x
    left = captioned(answers.x_artist.svg(shown, "the input"), "input")
    return left, captioned(output_svg(answers, output, "the output"), "predicted")


def output_svg(answers: Answers, output: Any, label: str) -> str:
    """Return an output as a picture."""
    one = np.atleast_1d(output) if isinstance(output, (int, float, np.number)) else output
    return answers.y_artist.svg(one, label)


def first_html(exploration: Exploration | None, answers: Answers | None) -> str:
    """Return the pictures that a page shows first."""
    if exploration is not None:
        found = look_html(exploration, exploration.look(exploration.middle()), 0.6)
        return two_pictures(found["here"], found["near"]) + found["facts"]
    if answers is None:
        return ""
    x = take(answers.rows.objects, [0])[0]
    if answers.frame is not None:
        x = answers.frame.iloc[0].tolist()
    return two_pictures(*answer_html(answers, x, answers.ask(x).output))


def csv_text(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as csv; a cell that a spreadsheet would run as a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in head])
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return f"{value:.8g}"
    words = str(value)
    return f"'{words}" if words[:1] in ("=", "+", "@", "\t") else words
