"""The address of a page holds what it shows, so that a link restores it."""

from typing import Any
from urllib.parse import urlencode

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS

from isthmus.explorer.ways import MOST_STOPS

# Characters of a part of the address.
_LONGEST = 10_000
_INTO_THE_ADDRESS = "history.replaceState(null, '', `?${cb_obj.data.query[0]}`)"


class View:
    """What the query of the address says: place, stops, axes, colour.

    Every part may have been written by anybody: what is not understood is ignored.
    """

    def __init__(self, arguments: dict[str, list[bytes]]):
        self._asked = {
            name: values[0].decode("utf-8", "replace")[:_LONGEST]
            for name, values in arguments.items()
            if values
        }
        self.query = ColumnDataSource({"query": [""]})
        self.query.js_on_change("data", CustomJS(code=_INTO_THE_ADDRESS))
        self.color = self._asked.get("color", "")
        self.theme = "dark" if self._asked.get("theme") == "dark" else "default"

    def place(self, exploration: Any) -> np.ndarray:
        """Return the place looked at, in the middle unless told."""
        found = self._places("z", exploration.n_coordinates)
        return found[0] if len(found) else exploration.middle()

    def stops(self, exploration: Any) -> np.ndarray:
        """Return the stops of the way."""
        return self._places("stops", exploration.n_coordinates)

    def axes(self, n_coordinates: int) -> tuple[int, int]:
        """Return the coordinates shown."""
        told = self._asked.get("axes", "").split("-")
        if len(told) == 2 and all(part.isdigit() and len(part) < 6 for part in told):
            a, b = (int(part) - 1 for part in told)
            if a != b and min(a, b) >= 0 and max(a, b) < n_coordinates:
                return a, b
        return 0, min(1, n_coordinates - 1)

    def remember(self, place: np.ndarray, stops: np.ndarray, axes: Any, color: str) -> None:
        """Write what is shown into the address of the page."""
        asked = {
            "z": _written(place[None]),
            "axes": f"{axes[0] + 1}-{axes[1] + 1}",
            "color": color,
        }
        if len(stops) > 0 and len(_written(stops)) <= _LONGEST:
            asked["stops"] = _written(stops)
        if "theme" in self._asked:
            asked["theme"] = self.theme
        self.query.data = {"query": [urlencode(asked, safe=",-_.")]}

    def _places(self, name: str, n_coordinates: int) -> np.ndarray:
        places = []
        for part in self._asked.get(name, "").split("_")[:MOST_STOPS]:
            try:
                place = [float(v) for v in part.split(",")]
            except ValueError:
                continue
            if len(place) == n_coordinates and np.isfinite(place).all():
                places.append(place)
        return np.array(places, dtype=float).reshape(-1, n_coordinates)


def _written(places: np.ndarray) -> str:
    return "_".join(",".join(f"{v:.5g}" for v in place) for place in places)
