"""The tab in which a map is walked: the plane, what lies under the pointer, ways, new rows."""

from html import escape
from typing import Any

import numpy as np
import panel as pn
from bokeh.events import DoubleTap, Tap
from bokeh.models import ColumnDataSource, CustomJS, FreehandDrawTool

from isthmus.explorer.exploration import Exploration, Look
from isthmus.explorer.kinds.picture import svg
from isthmus.explorer.page.background import Background, Job
from isthmus.explorer.page.colors import INKS, legend
from isthmus.explorer.page.figure import Plane
from isthmus.explorer.page.link import View
from isthmus.explorer.page.markup import csv_text, look_html, problem, strip_html, two_pictures
from isthmus.explorer.page.parts import (
    ARROWS,
    POINTER,
    RAILS,
    REPLY,
    html_pane,
    quick_pane,
    save_button,
)
from isthmus.explorer.rows import DoesNotFit
from isthmus.explorer.tables import rows_of_file
from isthmus.explorer.ways import MOST_STOPS, way_between

_MOST_SLIDERS = 12
_REST = 120  # milliseconds for which the pointer rests before a slow object is computed


class WalkTab:
    """Widgets and pictures of a walk, and what happens when they are used."""

    def __init__(self, exploration: Exploration, view: View):
        self.exploration = e = exploration
        self.view = view
        self.place = view.place(e)
        self.stops = view.stops(e)
        self.look = e.look(self.place)
        self.plane = Plane(e, view.axes(e.n_coordinates))
        self.plane.paint(INKS[view.theme])
        self.doc = pn.state.curdoc
        self.background = Background(self.doc)
        self._asked = 0
        self._quiet = False
        self._way = (np.empty((0, e.n_coordinates)), [])
        self._make_panes()
        self._make_widgets()
        self._connect()
        self.plane.show_colors(e.colors(self.color.value))
        self.legend.object = legend(e.colors(self.color.value))
        self.plane.show_support(self.place)
        self.plane.show_place(self.place)
        for name, text in self._pictures(self.look).items():
            getattr(self, name).text = text
        if len(self.stops):
            self._show_way()

    # What is on the page --------------------------------------------------------------------

    def _make_panes(self) -> None:
        self.here, self.near = quick_pane(min_width=150), quick_pane(min_width=150)
        self.facts, self.legend, self.news = quick_pane(), html_pane(), html_pane()
        self.strip = html_pane('<p class="small">Click two places, or mark them with the button, '
                               "to see the way between them.</p>")  # fmt: skip

    def _make_widgets(self) -> None:
        e = self.exploration
        names = e.color_names()
        chosen = self.view.color if self.view.color in names else names[0]
        self.color = pn.widgets.Select(
            name="Colour by", options=names, value=chosen, width=170, stylesheets=[ARROWS]
        )
        numbers = list(range(1, e.n_coordinates + 1))
        a, b = self.plane.axes
        self.across = pn.widgets.Select(
            name="Across", options=numbers, value=a + 1, width=80, stylesheets=[ARROWS]
        )
        self.upwards = pn.widgets.Select(
            name="Upwards", options=numbers, value=b + 1, width=80, stylesheets=[ARROWS]
        )
        low, high = e.ends
        self.sliders = [
            pn.widgets.FloatSlider(
                name=f"coordinate {i + 1}",
                start=float(low[i]),
                end=float(high[i]),
                step=float(high[i] - low[i]) / 200 or 0.01,
                value=float(np.clip(self.place[i], low[i], high[i])),
                sizing_mode="stretch_width",
                stylesheets=[RAILS],
            )
            for i in range(min(e.n_coordinates, _MOST_SLIDERS))
        ]
        self.turn = pn.widgets.FloatSlider(
            name="turn", start=-3.2, end=3.2, value=0.6, step=0.1, sizing_mode="stretch_width",
            visible=e.artist.kind.name == "chain", stylesheets=[RAILS],
        )  # fmt: skip
        self.mark = pn.widgets.Button(name="Mark this place", width=150)
        self.clear = pn.widgets.Button(name="Clear the way", width=150)
        self.steps = pn.widgets.IntSlider(
            name="pictures", start=3, end=25, value=9, width=170, stylesheets=[RAILS]
        )
        self.player = pn.widgets.Player(
            start=0, end=8, value=0, interval=300, loop_policy="reflect", visible=False, width=320,
            show_loop_controls=False,
        )  # fmt: skip
        self.table = pn.widgets.FileInput(accept=".csv,.npz,.parquet", width=260)
        self.saves = [
            save_button("Save picture", "object.svg", self._picture_file),
            save_button("Save strip", "strip.svg", self._strip_file),
            save_button("Save rows (csv)", "rows.csv", self._rows_file),
        ]

    def layout(self) -> Any:
        """Return the tab."""
        more = self.exploration.n_coordinates > 2
        side = pn.Column(
            pn.FlexBox(self.here, self.near, gap="10px", flex_wrap="nowrap"),
            self.facts,
            *self.sliders,
            self.turn,
            min_width=300,
            styles={"flex": "1 1 320px"},
        )
        figure = pn.pane.Bokeh(self.plane.figure, sizing_mode="stretch_width")
        top = pn.FlexBox(self.color, *([self.across, self.upwards] if more else []))
        main = pn.Column(top, figure, self.legend, min_width=300, styles={"flex": "2 1 480px"})
        buttons = pn.FlexBox(self.mark, self.clear, self.steps, self.player, gap="8px")
        keep = pn.FlexBox(*self.saves, gap="8px")
        words = "New rows: drop a table (csv, npz, parquet) anywhere on the page, or choose one."
        drop = pn.Column(html_pane(words), self.table, self.news)
        return pn.Column(
            pn.FlexBox(main, side, gap="16px", sizing_mode="stretch_width"),
            buttons,
            self.strip,
            pn.FlexBox(keep, drop, gap="24px", align_items="flex-start"),
            sizing_mode="stretch_width",
        )

    def first(self) -> str:
        """Return what a page can show before any of its scripts has been loaded."""
        return two_pictures(self.here.text, self.near.text) + self.facts.text

    # What happens ---------------------------------------------------------------------------

    def _connect(self) -> None:
        self.ask = ColumnDataSource({"x": [0.0], "y": [0.0], "n": [0]}, name="ask")
        self.reply = ColumnDataSource(self._answered(self.look, 0), name="reply")
        self.plane.on_pointer(POINTER, ask=self.ask, reply=self.reply, query=self.view.query)
        panes = {"here": self.here, "near": self.near, "facts": self.facts}
        self.reply.js_on_change("data", CustomJS(args={"reply": self.reply, **panes}, code=REPLY))
        self.ask.on_change("data", lambda attr, old, new: self._pointed(new))
        # Two quick clicks at different places are told as one double click.
        for event in (Tap, DoubleTap):
            self.plane.figure.on_event(event, self._tapped)
        drawn = self.plane.figure.multi_line("xs", "ys", source=self.plane.drawn, color="#D55E00")
        pen = FreehandDrawTool(renderers=[drawn], num_objects=1, description="draw a way")
        self.plane.figure.add_tools(pen)
        self.plane.drawn.on_change("data", lambda attr, old, new: self._drawn(new))
        self.color.param.watch(self._recolored, "value")
        for axis in (self.across, self.upwards):
            axis.param.watch(self._turned_axes, "value")
        for slider in self.sliders:
            slider.param.watch(self._slid, "value")
        self.turn.param.watch(lambda event: self._redraw(), "value")
        self.mark.on_click(lambda event: self._add_stop(self.place))
        self.clear.on_click(lambda event: self._clear())
        self.steps.param.watch(lambda event: self._show_way(), "value")
        self.player.param.watch(lambda event: self._play(event.new), "value")
        self.table.param.watch(self._dropped, "value")

    def _pointed(self, data: Any) -> None:
        place = self.plane.place(float(data["x"][0]), float(data["y"][0]), self.place)
        self._see(place, int(data["n"][0]))

    def _go(self, place: np.ndarray) -> None:
        """Look at a place and stay there: the cross and the sliders follow."""
        self._see(place)
        self.place = self.look.place
        self.plane.show_place(self.place)
        self._set_sliders()

    def _see(self, place: np.ndarray, number: int = 0) -> None:
        """Look at a place; a slow object is refined once the pointer rests."""
        self._asked += 1
        self._show(self.exploration.look(place), number)
        if not self.look.final and self.doc is not None:
            asked = self._asked
            self.doc.add_timeout_callback(lambda: self._refine_if_resting(asked), _REST)

    def _refine_if_resting(self, asked: int) -> None:
        if asked == self._asked:
            place = self.look.place.copy()
            self.background.want(
                "look",
                Job(
                    lambda: self.exploration.look(place, final=True),
                    self._show,
                    lambda: asked == self._asked,
                ),
            )

    def _tapped(self, event: Any) -> None:
        self._go(self.plane.place(event.x, event.y, self.place))
        self._add_stop(self.place)

    def _drawn(self, data: Any) -> None:
        if not data["xs"]:
            return
        ways = list(zip(data["xs"][-1], data["ys"][-1], strict=True))
        self.plane.drawn.data = {"xs": [], "ys": []}
        if len(ways) > 1:
            drawn = np.array([self.plane.place(x, y, self.place) for x, y in ways])
            # As many as the address of the page has room for.
            self.stops = way_between(self.exploration.walk, drawn, min(len(drawn), MOST_STOPS))
            self._show_way()
            self._remember()

    def _slid(self, event: Any) -> None:
        if self._quiet:
            return
        place = self.place.copy()
        place[: len(self.sliders)] = [slider.value for slider in self.sliders]
        self._go(place)
        shown = self.plane.axes
        if any(slider is event.obj for i, slider in enumerate(self.sliders) if i not in shown):
            self.plane.show_support(self.place)
        self._remember()

    def _set_sliders(self) -> None:
        self._quiet = True
        for slider, value in zip(self.sliders, self.place, strict=False):
            slider.value = float(np.clip(value, slider.start, slider.end))
        self._quiet = False

    def _recolored(self, event: Any) -> None:
        colors = self.exploration.colors(event.new)
        self.plane.show_colors(colors)
        self.legend.object = legend(colors)
        self._remember()

    def _turned_axes(self, event: Any) -> None:
        a, b = self.across.value - 1, self.upwards.value - 1
        if a == b:
            self.news.object = problem("Across and upwards must be different coordinates.")
            return
        self.plane.show_axes((a, b))
        self.plane.show_support(self.place)
        self.plane.show_place(self.place)
        self.plane.show_way(self.stops)
        self._remember()

    # Ways -----------------------------------------------------------------------------------

    def _add_stop(self, place: np.ndarray) -> None:
        if len(self.stops) and np.array_equal(self.stops[-1], place):
            return
        if len(self.stops) >= MOST_STOPS:
            self._clear()
        self.stops = np.vstack([self.stops, place])
        self._show_way()
        self._remember()

    def _clear(self) -> None:
        self.stops = self.stops[:0]
        self._show_way()
        self._remember()

    def _show_way(self) -> None:
        if len(self.stops) < 2:
            self._way = (self.stops[:0], [])
            words = "The way begins here: mark its next place." if len(self.stops) else ""
            self.strip.object = f'<p class="small">{words}</p>'
        else:
            stops, n_steps = self.stops, self.steps.value
            self._show_strip(self.exploration.strip(stops, n_steps))
            self.player.param.update(end=n_steps - 1, value=0)
            if self.exploration.quick is not None:
                job = Job(
                    lambda: self.exploration.strip(stops, n_steps, final=True),
                    self._show_strip,
                    lambda: self.stops is stops and self.steps.value == n_steps,
                )
                self.background.want("strip", job)
        self.player.visible = len(self.stops) >= 2
        self.plane.show_way(self.stops)

    def _show_strip(self, way: tuple[np.ndarray, Any]) -> None:
        self._way = way
        picture = self.exploration.artist.strip(way[1], turn=self.turn.value)
        self.strip.object = strip_html(picture, f"{len(way[0])} objects on the way")

    def _play(self, step: int) -> None:
        Z = self._way[0]
        if step < len(Z):
            self._go(Z[step])

    # Pictures -------------------------------------------------------------------------------

    def _redraw(self) -> None:
        self._show(self.look)
        if len(self.stops) >= 2:
            self._show_way()

    def _show(self, look: Look, number: int = 0) -> None:
        self.look = look
        self.reply.data = self._answered(look, number)

    def _pictures(self, look: Look) -> dict[str, str]:
        return look_html(self.exploration, look, self.turn.value)

    def _answered(self, look: Look, number: int) -> dict[str, list[Any]]:
        return {"n": [number], **{name: [text] for name, text in self._pictures(look).items()}}

    def _remember(self) -> None:
        self.view.remember(self.place, self.stops, self.plane.axes, self.color.value)

    # New rows and files ---------------------------------------------------------------------

    def _dropped(self, event: Any) -> None:
        if not event.new:
            return
        e = self.exploration
        try:
            rows = rows_of_file(self.table.filename or "", event.new, e.rows)
            kept, Z, away = e.project(rows)
        except DoesNotFit as refused:
            self.news.object = problem(refused)
            return
        x, y = self.plane.flat(Z)
        self.plane.fresh.data = {"x": x, "y": y}
        few = min(len(Z), 6)
        shown = e.artist.strip([kept.objects[i] for i in range(few)], turn=self.turn.value)
        told = ""
        if np.isfinite(away).any():
            middle, most = np.nanmedian(away), np.nanmax(away)
            told = f"; from the map they are {middle:.3g} away at the median, {most:.3g} at most"
        words = f"{len(kept)} of {len(rows)} rows are shown as stars{told}."
        self.news.object = f'<p class="small">{escape(words)}</p>' + strip_html(shown, "new rows")

    def _picture_file(self) -> str:
        where = ", ".join(f"{v:.4g}" for v in self.look.place)
        return self.exploration.artist.svg(
            self.look.thing, f"object at {where}", turn=self.turn.value, standalone=True
        )

    def _strip_file(self) -> str:
        things = self._way[1] if len(self._way[0]) else [self.look.thing]
        picture = self.exploration.artist.strip(things, turn=self.turn.value)
        return svg(picture, "objects on the way", standalone=True)

    def _rows_file(self) -> str:
        e = self.exploration
        Z, things = self._way if len(self._way[0]) else (self.look.place[None], [self.look.thing])
        head = [f"coordinate_{i + 1}" for i in range(e.n_coordinates)]
        if e.rows.is_table:
            head += e.rows.column_names()
            rows = [[*z, *np.ravel(thing)] for z, thing in zip(Z, things, strict=True)]
        else:
            head.append("object")
            rows = [[*z, str(thing)] for z, thing in zip(Z, things, strict=True)]
        return csv_text(head, rows)
