"""The plane of two coordinates: rows, shading, ways and the place that is looked at."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS, LinearColorMapper, PlainText, Range1d
from bokeh.plotting import figure

from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.exploration import Exploration
from isthmus.explorer.page.colors import markers, point_codes, safe_label, shading
from isthmus.explorer.ways import way_between

# More points than these are drawn as a sample; the nearest row is still found among all.
MOST_POINTS = 20_000
# Shapes cost time; from here on all points are circles.
MOST_SHAPES = 3000
_CELLS = 56
_JITTER = 8128  # not a seed that the rows themselves may have been drawn with
_TOOLS = "pan,wheel_zoom,box_zoom,reset"


@dataclass
class Plane:
    """A Bokeh figure of two of the coordinates.

    Sources: ``points`` (rows), ``fresh`` (rows of a dropped table), ``stops`` and ``way`` (places
    clicked and the path between), ``cross`` (the place looked at), ``drawn`` (free-hand paths).
    """

    exploration: Exploration
    axes: tuple[int, int] = (0, 1)
    figure: Any = None
    chosen: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))

    def __post_init__(self) -> None:
        n = len(self.exploration.places)
        self.chosen = np.sort(sample_rows(n, MOST_POINTS, 0)) if n > MOST_POINTS else np.arange(n)
        self.points = ColumnDataSource({"x": [], "y": [], "c": [], "m": [], "i": []})
        self.fresh = ColumnDataSource({"x": [], "y": []})
        self.stops = ColumnDataSource({"x": [], "y": [], "t": []})
        self.way = ColumnDataSource({"x": [], "y": []})
        self.cross = ColumnDataSource({"x": [], "y": []}, name="cross")
        self.drawn = ColumnDataSource({"xs": [], "ys": []})
        self.shade = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self.mapper = LinearColorMapper(palette=["#0072B2"], low=0, high=1, nan_color="#8C8C8C")
        self.jitter = np.random.default_rng(_JITTER).uniform(-0.4, 0.4, n)
        self._build()
        self.show_axes(self.axes)

    @property
    def is_line(self) -> bool:
        """Whether there is one coordinate only; height then means nothing."""
        return self.exploration.n_coordinates == 1

    def _build(self) -> None:
        many = len(self.chosen) > MOST_SHAPES
        self.figure = figure(
            tools=_TOOLS,
            active_scroll="wheel_zoom",
            x_range=Range1d(0, 1),
            y_range=Range1d(0, 1),
            # WebGL without a graphics card is slow; a canvas that is dragged draws a tenth of the
            # points.
            output_backend="canvas",
            sizing_mode="stretch_width",
            height=460,
            min_border=4,
            lod_threshold=2000,
            lod_factor=10,
            name="plane",
        )
        f = self.figure
        f.toolbar.logo = None
        f.grid.visible = False
        f.image_rgba("image", "x", "y", "dw", "dh", source=self.shade)
        color = {"field": "c", "transform": self.mapper}
        shape: dict[str, Any] = {"marker": "circle"} if many else {"marker": "m"}
        size = 5 if len(self.chosen) > 1500 else 8
        f.scatter(
            "x", "y", source=self.points, size=size, color=color, line_color="#80808080",
            alpha=0.9, name="points", **shape,
        )  # fmt: skip
        f.scatter("x", "y", source=self.fresh, marker="star", size=15, color="#D55E00",
                  line_color="#ffffff")  # fmt: skip
        f.line("x", "y", source=self.way, width=3, color="#D55E00", name="way")
        f.scatter(
            "x", "y", source=self.stops, size=13, color="#D55E00", line_color="#ffffff",
            name="stops",
        )  # fmt: skip
        f.text("x", "y", "t", source=self.stops, x_offset=9, y_offset=-4, text_color="#D55E00",
               text_font_style="bold")  # fmt: skip
        f.scatter("x", "y", source=self.cross, marker="cross", size=22, line_color="#D55E00",
                  line_width=3, name="cross")  # fmt: skip

    def paint(self, ink: str) -> None:
        """Draw axes in a colour, on the paper of the page."""
        self.figure.update(
            background_fill_color=None, border_fill_color=None, outline_line_color=None
        )
        for axis in (*self.figure.xaxis, *self.figure.yaxis):
            axis.update(
                major_label_text_color=ink,
                axis_label_text_color=ink,
                axis_line_color=ink,
                major_tick_line_color=ink,
                minor_tick_line_color=ink,
            )

    # What is shown ------------------------------------------------------------------------

    def flat(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the two coordinates of places that are shown."""
        if self.is_line:
            n = len(Z)
            rows = n == len(self.jitter) and n > 1
            return Z[:, 0], self.jitter if rows else np.zeros(n)
        return Z[:, self.axes[0]], Z[:, self.axes[1]]

    def place(self, x: float, y: float, others: np.ndarray) -> np.ndarray:
        """Return the whole place at a point of the figure, the other coordinates as given."""
        found = np.array(others, dtype=float)
        found[self.axes[0]] = x
        if not self.is_line:
            found[self.axes[1]] = y
        return found

    def show_axes(self, axes: tuple[int, int]) -> None:
        """Show two coordinates."""
        self.axes = axes
        x, y = self.flat(self.exploration.places)
        low, high = self.exploration.ends
        a, b = axes
        ends = (low[a], high[a]), ((-1.0, 1.0) if self.is_line else (low[b], high[b]))
        for axis, (start, end) in zip(
            (self.figure.x_range, self.figure.y_range), ends, strict=True
        ):
            # A little more, so that rows at the end of the domain are drawn whole.
            more = 0.02 * float(end - start)
            axis.update(start=float(start) - more, end=float(end) + more)
            axis.reset_start, axis.reset_end = axis.start, axis.end
        self.figure.xaxis.axis_label = PlainText(safe_label(f"coordinate {a + 1}"))
        shown = "" if self.is_line else f"coordinate {b + 1}"
        self.figure.yaxis.axis_label = PlainText(safe_label(shown))
        self.figure.yaxis.visible = not self.is_line
        old = self.points.data
        n = len(self.chosen)
        self.points.data = {
            "x": x[self.chosen],
            "y": y[self.chosen],
            "c": old["c"] if len(old["c"]) == n else np.zeros(n),
            "m": old["m"] if len(old["m"]) == n else ["circle"] * n,
            "i": self.chosen,
        }

    def show_colors(self, colors: Any) -> None:
        """Colour the rows."""
        codes, palette, low, high = point_codes(colors)
        self.mapper.update(palette=palette, low=low, high=high)
        shapes = np.array(markers(colors), dtype=object)[self.chosen]
        # All at once, so that lengths agree at every moment.
        self.points.data = {**self.points.data, "c": codes[self.chosen], "m": list(shapes)}

    def show_support(self, place: np.ndarray) -> None:
        """Shade where no rows are near, with the other coordinates as at a place."""
        low, high = self.exploration.ends
        a, b = self.axes
        x = np.linspace(low[a], high[a], _CELLS)
        n_lines = 1 if self.is_line else _CELLS
        y = np.zeros(1) if self.is_line else np.linspace(low[b], high[b], _CELLS)
        Z = np.repeat(np.asarray(place, dtype=float)[None], n_lines * _CELLS, axis=0)
        Z[:, a] = np.tile(x, n_lines)
        if not self.is_line:
            Z[:, b] = np.repeat(y, _CELLS)
        backing = self.exploration.support(Z).reshape(n_lines, _CELLS)
        bottom, top = (-1.0, 1.0) if self.is_line else (low[b], high[b])
        self.shade.data = {
            "image": [shading(backing)],
            "x": [float(low[a])],
            "y": [float(bottom)],
            "dw": [float(high[a] - low[a])],
            "dh": [float(top - bottom)],
        }

    def show_place(self, place: np.ndarray) -> None:
        """Move the cross."""
        x, y = self.flat(np.asarray(place, dtype=float)[None])
        self.cross.data = {"x": x, "y": y}

    def show_way(self, stops: np.ndarray) -> None:
        """Show places clicked, numbered, and the way between them."""
        few = stops if len(stops) <= 12 else stops[:0]
        x, y = self.flat(few)
        self.stops.data = {"x": x, "y": y, "t": [str(i + 1) for i in range(len(few))]}
        fine = way_between(self.exploration.walk, stops, 200) if len(stops) > 1 else stops[:0]
        x, y = self.flat(fine)
        self.way.data = {"x": x, "y": y}

    def on_pointer(self, code: str, **models: Any) -> None:
        """Run a script whenever the pointer moves over the figure."""
        self.figure.js_on_event("mousemove", CustomJS(args=models, code=code))
        # A map that is dragged stays under the pointer: nothing new to ask.
        for event, dragged in (("panstart", "true"), ("panend", "false")):
            told = f"(window.isthmus ??= {{ n: 0, busy: -1e9, next: null }}).dragged = {dragged}"
            self.figure.js_on_event(event, CustomJS(code=told))
