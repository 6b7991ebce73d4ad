"""Elements of Panel and Bokeh that several tabs show."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.models import Div

from isthmus.explorer.page.markup import STYLE

HERE = Path(__file__).parent
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


# The library draws these arrows black, on dark pages too.
ARROWS = """
select.bk-input:not([multiple]) { appearance: auto; background-image: none; }
.bk-spin-btn-up:before { border-bottom-color: currentColor !important; }
.bk-spin-btn-down:before { border-top-color: currentColor !important; }
"""

# The library's rails are white with a pale bar, on dark pages too.
RAILS = """
.noUi-target { background: color-mix(in srgb, currentColor 18%, transparent);
  border-color: #80808060; }
.noUi-connect { background: #0072B2 !important; }
"""


def readable(widget: Any) -> Any:
    """Return a widget whose rails and arrows are seen on light and on dark pages."""
    for part in widget.select():
        part.stylesheets = [*part.stylesheets, ARROWS, RAILS]
    return widget


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
