"""Write a walk to one file that needs neither Python nor a network."""

from html import escape
from typing import Any

import numpy as np
from bokeh.embed import json_item
from bokeh.resources import INLINE

from isthmus import __version__
from isthmus.explorer.exploration import Exploration
from isthmus.explorer.export.filling import HERE, as_json, filled
from isthmus.explorer.export.grid import first_way, make_grid, shown_rows
from isthmus.explorer.page.colors import PALETTE, SCALE, SIGNS, markers, point_codes
from isthmus.explorer.page.figure import Plane

_MOST_COLORS = 12
_LABELS = 24


def page_text(exploration: Exploration, title: str) -> str:
    """Return the page as text."""
    grid = make_grid(exploration)
    rows, pictures = shown_rows(exploration)
    plane = Plane(exploration)
    plane.figure.update(height=430)
    plane.show_support(exploration.middle())
    x, y = plane.flat(exploration.places)
    colors = [
        _colors(exploration, plane, name) for name in exploration.color_names()[:_MOST_COLORS]
    ]
    plane.show_colors(exploration.colors(colors[0]["name"]))
    a, b = plane.flat(first_way(exploration)[[0, -1]])
    content = {
        "grid": {"x": _list(grid.x), "y": _list(grid.y), "support": _list(grid.support)},
        "objects": grid.pictures.content(),
        "rows": {"number": rows.tolist(), "x": _list(x[rows]), "y": _list(y[rows])},
        "row_pictures": pictures.content(),
        "labels": _row_labels(exploration, rows),
        "colors": colors,
        "line": plane.is_line,
        "first": [[float(a[0]), float(b[0])], [float(a[1]), float(b[1])]],
    }
    n = len(grid.x)
    cells = f"{n} places" if plane.is_line else f"{n} × {n} places"
    left = exploration.n_coordinates - 2
    others = f" The other {left} coordinates stay in the middle." if left > 1 else ""
    others = " The third coordinate stays in the middle." if left == 1 else others
    note = (
        f"{len(exploration.places)} rows; objects were computed at {cells}.{others} Filling in "
        "columns and new tables need the live page: isthmus explore."
    )
    return filled(
        "walked.html",
        {
            "TITLE": escape(title),
            "NOTE": escape(note),
            "VERSION": escape(__version__),
            "BOKEH": INLINE.js_raw[0],
            "STYLE": (HERE / "page.css").read_text(encoding="utf-8"),
            "SCRIPT": (HERE / "walked.js").read_text(encoding="utf-8"),
            "PLOT": as_json(json_item(plane.figure, "plane")),
            "CONTENT": as_json(content),
        },
    )


def _list(values: np.ndarray) -> list[float]:
    return [float(f"{v:.5g}") for v in np.ravel(values)]


def _colors(exploration: Exploration, plane: Plane, name: str) -> dict[str, Any]:
    """One way of colouring: a number and a shape for each point, and what they mean."""
    found = exploration.colors(name)
    codes, palette, low, high = point_codes(found)
    codes = np.where(np.isfinite(codes), codes, low)[plane.chosen]
    labels = found.labels
    return {
        "name": name,
        "title": found.title,
        "codes": _list(codes),
        "markers": None if labels is None else np.array(markers(found))[plane.chosen].tolist(),
        "palette": palette if labels is not None else list(SCALE[::4]),
        "low": low,
        "high": high,
        "labels": None
        if labels is None
        else [
            [PALETTE[i % len(PALETTE)], SIGNS[(i + i // len(PALETTE)) % len(SIGNS)], label]
            for i, label in enumerate(labels[:_LABELS])
        ],
    }


def _row_labels(exploration: Exploration, rows: np.ndarray) -> list[str]:
    label = exploration.rows.beside.get("label")
    return [] if label is None else [str(label[i])[:60] for i in rows]
