"""Pieces of a page as text, every foreign word in them escaped; nothing here needs a framework."""

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.explorer.exploration import Exploration, Look
from isthmus.explorer.kinds.picture import Picture, svg
from isthmus.files.cells import defused

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
    return f'<div class="strip" tabindex="0">{svg(picture, label, sized=True)}</div>'


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
        own = label[look.nearest]
        words = f"{own:.4g}" if isinstance(own, (float, np.floating)) else str(own)[:60]
        known.append(f"its label {words}")
    facts = f'<p class="small" aria-live="polite">{escape(" · ".join(known))}</p>'
    return {"here": here, "near": captioned(row, f"nearest row: {look.nearest}"), "facts": facts}


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
    return defused(str(value))
