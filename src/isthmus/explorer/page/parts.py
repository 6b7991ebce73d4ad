"""Pieces that several tabs show: pictures with captions, files to save, text that is safe."""

import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import Div

from isthmus.explorer.kinds.picture import Picture, svg

HERE = Path(__file__).parent
STYLE = (HERE / "style.css").read_text(encoding="utf-8")
POINTER = (HERE / "pointer.js").read_text(encoding="utf-8")
REPLY = (HERE / "reply.js").read_text(encoding="utf-8")
TEMPLATE = (HERE / "template.html").read_text(encoding="utf-8")


def html_pane(content: str = "", **options: Any) -> pn.pane.HTML:
    """Return an element whose content is made by us, every foreign word in it escaped."""
    options.setdefault("sizing_mode", "stretch_width")
    return pn.pane.HTML(content, stylesheets=[STYLE], **options)


def quick_pane(**options: Any) -> Div:
    """Return an element that a script of the page fills, many times a second."""
    options.setdefault("sizing_mode", "stretch_width")
    return Div(stylesheets=[STYLE], **options)


def captioned(picture: str, caption: str) -> str:
    """Return a picture with words below it; the words are escaped here."""
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def side_by_side(pictures: Sequence[tuple[str, str]]) -> str:
    """Return small pictures with captions, as many in a line as fit."""
    return f'<div class="few">{"".join(captioned(p, words) for words, p in pictures)}</div>'


def problem(words: object) -> str:
    """Return a line that says what went wrong."""
    line = " ".join(str(words).split())[:400]
    return f'<p class="problem" role="alert">{escape(line)}</p>'


def strip_html(picture: Picture, label: str) -> str:
    """Return a strip of pictures that scrolls sideways where it is too long."""
    return f'<div class="strip" tabindex="0">{svg(picture, label)}</div>'


def save_button(label: str, filename: str, content: Callable[[], str]) -> pn.widgets.FileDownload:
    """Return a button that saves what ``content`` returns at that moment."""
    return pn.widgets.FileDownload(
        callback=lambda: io.BytesIO(content().encode("utf-8")),
        filename=filename,
        label=label,
        auto=True,
        embed=False,
        width=150,
    )


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
