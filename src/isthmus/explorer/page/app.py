"""One session of the page: its tabs in a template, dark or light."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn

from isthmus.explorer.answers import Answers
from isthmus.explorer.exploration import Exploration
from isthmus.explorer.page.answer import AnswerTab
from isthmus.explorer.page.colors import INKS
from isthmus.explorer.page.complete import CompleteTab
from isthmus.explorer.page.link import View
from isthmus.explorer.page.markup import STYLE
from isthmus.explorer.page.parts import TEMPLATE, html_pane
from isthmus.explorer.page.walk import WalkTab

_PAPER = {"default": ("#ffffff", "light"), "dark": ("#1b1f23", "dark")}
# The library's own is dark on dark.
_TABS = ".bk-tab.bk-active { color: var(--panel-on-background-color); font-weight: 600; }"
_HELP = """
<p>Everything works with the keyboard: <kbd>Tab</kbd> goes to the next slider, field or button,
arrow keys move a slider, and the cross on the map with it. <em>Mark this place</em> begins a way or
leads it on; the player shows it step by step.</p>
<p>With a pointer: move over the map to see what lies there, click to mark places, drag with the
pen of the toolbar to draw a way, scroll to zoom, drag to pan.</p>
<p>Grey parts of the map have no rows near them: what is shown there is a guess.</p>
<p>The address of this page restores the view as long as the page's process runs. Closing the page
ends the process.</p>
"""


def session(
    exploration: Exploration | None, answers: Answers | None, title: str
) -> Callable[[], Any]:
    """Return a function that makes the page for one visitor."""

    def make() -> Any:
        view = View(dict(pn.state.session_args))
        tabs, first = [], ""
        if exploration is not None:
            walk = WalkTab(exploration, view)
            first = walk.first()
            tabs.append(("Walk", walk.layout()))
            if exploration.walk.can_complete and exploration.rows.is_table:
                tabs.append(("Ask in any direction", _Late(lambda: CompleteTab(exploration))))
        if answers is not None:
            asked = AnswerTab(answers)
            first = asked.first()
            tabs.append(("Ask the map", asked.layout()))
        tabs.append(("Help", html_pane(_HELP)))
        return _page(tabs, first, view, title, exploration, answers)

    return make


def _page(
    tabs: list[Any], first: str, view: View, title: str, exploration: Any, answers: Any
) -> Any:
    late = {i: body for i, (_, body) in enumerate(tabs) if isinstance(body, _Late)}
    shown = pn.Tabs(
        *((name, pn.Column() if i in late else body) for i, (name, body) in enumerate(tabs)),
        sizing_mode="stretch_width",
        stylesheets=[_TABS],
    )

    def opened(event: Any) -> None:
        if event.new in late:
            shown[event.new].append(late.pop(event.new).make().layout())

    shown.param.watch(opened, "active")
    paper, scheme = _PAPER[view.theme]
    other = "default" if view.theme == "dark" else "dark"
    page = pn.Template(TEMPLATE)
    page.add_panel("main", shown)
    rows = exploration.rows if exploration is not None else answers.rows
    told = [f"{len(rows)} rows", *([exploration.note] if exploration and exploration.note else [])]
    for name, value in {
        "paper": paper,
        "ink": INKS[view.theme],
        "scheme": scheme,
        "heading": escape(title),
        "note": escape("; ".join(told)),
        "first": first,
        "style": STYLE,
        "other_link": f"?theme={other}",
        "other_theme": other,
        "other_name": "light page" if view.theme == "dark" else "dark page",
    }.items():
        page.add_variable(name, value)
    page.title = title
    return page


class _Late:
    """A tab that is made when it is first opened."""

    def __init__(self, make: Callable[[], Any]):
        self.make = make
