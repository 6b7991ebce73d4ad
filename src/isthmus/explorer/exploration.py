"""All that a page asks about a map that can be walked, without any page."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.kinds.artist import Artist, artist_for
from isthmus.explorer.quick import Quick
from isthmus.explorer.rows import DoesNotFit, Rows
from isthmus.explorer.support import Support
from isthmus.explorer.walks import (
    MOST_PROJECTED,
    SLOW,
    Walk,
    first_objects,
    place_rows,
    seconds_per_object,
    surely_slow,
    walk_of,
)
from isthmus.explorer.ways import way_between
from isthmus.kernels.objects import take

_MOST_ERRORS = 5000


class Look(NamedTuple):
    """What lies at a place: object, nearest row and its distance, support, whether it is final."""

    place: np.ndarray
    thing: Any
    nearest: int
    distance: float
    support: float
    final: bool


class Colors(NamedTuple):
    """What rows are coloured by: numbers with NaN where unknown, or labels."""

    title: str
    values: np.ndarray
    labels: list[str] | None


@dataclass
class Exploration:
    """A walk with its rows, their places, an artist and what is known of support.

    Made by :func:`exploration_of`.
    """

    walk: Walk
    rows: Rows
    places: np.ndarray
    artist: Artist
    support: Support
    quick: Quick | None
    note: str = ""
    error: np.ndarray | None = None
    title: str = ""

    @property
    def n_coordinates(self) -> int:
        """How many coordinates there are."""
        return int(self.places.shape[1])

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Where coordinates begin and end: the rows and a margin, within the domain."""
        low, high = self.places.min(axis=0), self.places.max(axis=0)
        margin = 0.08 * np.where(high > low, high - low, 1.0)
        low, high = low - margin, high + margin
        if self.walk.is_latent:
            domain = self.walk.model.domain
            low, high = np.maximum(low, domain.low), np.minimum(high, domain.high)
        return low, high

    def middle(self) -> np.ndarray:
        """The place of the row nearest to the middle of all."""
        return self.places[self.support.tree.query(np.median(self.places, axis=0))[1]].copy()

    def look(self, place: np.ndarray, *, final: bool = False) -> Look:
        """Return what lies at a place; a slow object is replaced by a quick one unless final."""
        place = self.walk.inside(np.asarray(place, dtype=float)[None])[0]
        distance, nearest = self.support.tree.query(place)
        if self.quick is not None and not final:
            thing, done = self.quick.object_at(place, int(nearest)), False
        else:
            thing, done = self.walk.objects(place[None])[0], True
        backing = float(self.support(place[None])[0])
        return Look(place, thing, int(nearest), float(distance), backing, done)

    def row(self, index: int) -> Any:
        """Return one of the rows."""
        return take(self.rows.objects, [index])[0]

    def strip(
        self, stops: np.ndarray, n_steps: int, *, final: bool = False
    ) -> tuple[np.ndarray, Any]:
        """Return places on the way through stops, and what lies there, quick ones unless final."""
        Z = way_between(self.walk, stops, n_steps)
        if self.quick is not None and not final:
            return Z, [self.quick.object_at(z, int(self.support.tree.query(z)[1])) for z in Z]
        return Z, self.walk.objects(Z)

    # Colours ------------------------------------------------------------------------------

    def color_names(self) -> list[str]:
        """What rows can be coloured by."""
        own = self.rows.column_names()
        # A thousand pixels are no choice for a person.
        columns = own if self.rows.names or len(own) <= 20 else []
        has_error = self.error is not None or (self.quick is None and self.rows.is_table)
        return [*self.rows.beside, *(["error"] if has_error else []), "density", *columns[:300]]

    def colors(self, name: str) -> Colors:
        """Return the colours of all rows by a column, a label, the error or the density."""
        if name in self.rows.beside:
            return _as_colors(name, self.rows.beside[name])
        if name == "error":
            return Colors("distance from the map", np.sqrt(np.maximum(self._errors(), 0)), None)
        if name == "density":
            return Colors("density", self._densities(), None)
        own = self.rows.column_names()
        if name not in own:
            raise DoesNotFit(f"there is no column {name!r} to colour by")
        return Colors(name, np.asarray(self.rows.objects[:, own.index(name)], dtype=float), None)

    def _errors(self) -> np.ndarray:
        if self.error is None:
            n = len(self.places)
            error = np.full(n, np.nan)
            some = np.sort(sample_rows(n, _MOST_ERRORS, 0))
            for part in np.array_split(some, max(1, len(some) // 500)):
                own = np.asarray(self.walk.objects(self.places[part]), dtype=float)
                error[part] = np.sum((own - self.rows.objects[part]) ** 2, axis=1)
            self.error = error
        return self.error

    def _densities(self) -> np.ndarray:
        k = min(8, len(self.places))
        far = self.support.tree.query(self.places, k=[k])[0][:, 0]
        return -np.log(np.maximum(far, 1e-12))

    # New rows -----------------------------------------------------------------------------

    def project(self, rows: Rows) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Return new rows, at most some thousand, their places and distances from the map."""
        rows = rows.take(np.arange(min(len(rows), MOST_PROJECTED)))
        try:
            Z, error = self.walk.places(rows.objects)
            if error is None and rows.is_table and self.quick is None:
                own = np.asarray(self.walk.objects(Z), dtype=float)
                error = np.sum((own - rows.objects) ** 2, axis=1)
        except (TypeError, ValueError) as problem:
            raise DoesNotFit(f"the table does not fit the model: {problem}") from problem
        known = np.full(len(Z), np.nan) if error is None else np.sqrt(np.maximum(error, 0.0))
        return rows, Z, known


def _as_colors(name: str, values: np.ndarray) -> Colors:
    values = np.asarray(values)
    if values.dtype.kind in "fiub":
        distinct = np.unique(values[np.isfinite(values.astype(float))])
        whole = np.array_equal(distinct, np.round(distinct.astype(float)))
        if not (whole and len(distinct) <= 12):
            return Colors(name, values.astype(float), None)
        values = np.array([f"{v:g}" for v in values.astype(float)])
    labels, codes = np.unique([str(v) for v in values], return_inverse=True)
    return Colors(name, codes.astype(float), [str(label)[:60] for label in labels])


def exploration_of(model: Any, rows: Rows | None, *, kind: Any = None) -> Exploration:
    """Return what a page needs to walk a fitted model.

    Raises
    ------
    DoesNotFit
        If the model cannot be walked, or the rows are not of its kind.
    """
    walk = walk_of(model)
    placed = place_rows(walk, rows)
    Z = placed.places
    try:
        slow = surely_slow(walk) or seconds_per_object(walk, Z) > SLOW
        learnable = surely_slow(walk) or isinstance(walk.objects(Z[:1]), np.ndarray)
    except (NotImplementedError, TypeError, ValueError) as problem:  # the first by strangers' maps
        raise DoesNotFit(f"{type(walk.model).__name__} has no way back: {problem}") from problem
    shown = placed.rows.objects if placed.rows.is_table else first_objects(placed.rows.objects, 500)
    artist = artist_for(shown, names=placed.rows.names, kind=kind, words=walk.words)
    return Exploration(
        walk=walk,
        rows=placed.rows,
        places=Z,
        artist=artist,
        support=Support(walk, Z),
        quick=Quick(walk, placed.rows, Z, learnable) if slow else None,
        note=placed.note,
        error=placed.error,
        title=type(walk.model).__name__,
    )
