"""Objects on a grid of places, drawn beforehand, within a bound of size."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.exploration import Exploration
from isthmus.explorer.kinds.images import image_pixels
from isthmus.explorer.kinds.picture import Picture, data_address, png
from isthmus.explorer.ways import way_between

# Characters of pictures in a file, about; pixels weigh less, since they are compressed.
_BUDGET = 900_000
_PIXELS = 1_300_000
_MOST_ACROSS, _FEWEST_ACROSS = 34, 7
_MOST_ROWS = 300


@dataclass(frozen=True)
class Pictures:
    """Many pictures: one sheet of pixels, or a text for each."""

    width: float
    height: float
    across: int
    sheet: str = ""
    bodies: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """Return what the script of the page reads."""
        return {
            "width": self.width,
            "height": self.height,
            "across": self.across,
            "sheet": self.sheet,
            "bodies": list(self.bodies),
        }


def draw_all(exploration: Exploration, things: Any) -> Pictures:
    """Draw objects in the scale of the page."""
    artist = exploration.artist
    if artist.kind.name == "image":
        tiles = [image_pixels(t, artist.kind.shape, artist.low, artist.high) for t in things]
        across = int(np.ceil(np.sqrt(len(tiles))))
        blank = [np.zeros_like(tiles[0])] * (across * across - len(tiles))
        lines = [*tiles, *blank]
        rows = [np.concatenate(lines[i : i + across], axis=1) for i in range(0, across**2, across)]
        height, width = tiles[0].shape[:2]
        return Pictures(width, height, across, data_address(png(np.concatenate(rows))))
    drawn: list[Picture] = [artist.picture(thing) for thing in things]
    size = max(p.width for p in drawn), max(p.height for p in drawn)
    return Pictures(*size, 1, bodies=tuple(picture.body for picture in drawn))


def cells_across(exploration: Exploration) -> int:
    """How many cells a side of the grid has, so that its pictures stay within the bound."""
    artist = exploration.artist
    if artist.kind.name == "image":
        side = np.sqrt(_PIXELS / np.prod(artist.kind.shape[:2]))
    else:
        one = exploration.look(exploration.middle()).thing
        side = np.sqrt(_BUDGET / max(1, len(artist.picture(one).body)))
    if exploration.n_coordinates == 1:
        return int(np.clip(side**2, 20, 200))
    return int(np.clip(side, _FEWEST_ACROSS, _MOST_ACROSS))


@dataclass(frozen=True)
class Grid:
    """Objects at regular places of the first two coordinates, the others in the middle."""

    x: np.ndarray
    y: np.ndarray
    pictures: Pictures
    support: np.ndarray


def make_grid(exploration: Exploration) -> Grid:
    """Compute what lies at the places of the grid, line by line from below."""
    low, high = exploration.ends
    n = cells_across(exploration)
    flat = exploration.n_coordinates == 1
    x = np.linspace(low[0], high[0], n)
    y = np.zeros(1) if flat else np.linspace(low[1], high[1], n)
    Z = np.repeat(exploration.middle()[None], n * len(y), axis=0)
    Z[:, 0] = np.tile(x, len(y))
    if not flat:
        Z[:, 1] = np.repeat(y, n)
    Z = exploration.walk.inside(Z)
    if exploration.quick is not None:
        exploration.quick.wait()
        near = exploration.support.tree.query(Z)[1]
        pairs = zip(Z, near, strict=True)
        things: Any = [exploration.quick.object_at(z, int(i)) for z, i in pairs]
    else:
        things = exploration.walk.objects(Z)
    return Grid(x, y, draw_all(exploration, things), exploration.support(Z))


def shown_rows(exploration: Exploration) -> tuple[np.ndarray, Pictures]:
    """Return some rows, and their pictures."""
    n = len(exploration.places)
    most = _MOST_ROWS
    if exploration.artist.kind.name != "image":
        body = exploration.artist.picture(exploration.row(0)).body
        most = int(np.clip(_BUDGET / 3 / max(1, len(body)), 20, _MOST_ROWS))
    else:
        pixels = np.prod(exploration.artist.kind.shape[:2])
        most = int(np.clip(_PIXELS / 3 / pixels, 20, _MOST_ROWS))
    chosen = np.sort(sample_rows(n, most, 0)) if n > most else np.arange(n)
    return chosen, draw_all(exploration, [exploration.row(int(i)) for i in chosen])


def first_way(exploration: Exploration, n_steps: int = 9) -> np.ndarray:
    """A way that is shown at first: between two rows far from each other."""
    Z = exploration.places
    start = Z[int(np.argmin(Z[:, 0]))]
    end = Z[int(np.argmax(np.linalg.norm(Z - start, axis=1)))]
    return way_between(exploration.walk, np.array([start, end]), n_steps)
