"""A polygonal line as a latent map whose projections are exact."""

from typing import Any

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.manifold.curves.polyline import (
    Polyline,
    all_feet,
    feet,
    feet_from,
    points_at,
    tangents_at,
)
from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import BaseLatentMap, MapValues
from isthmus.manifold.projection import Ends, Search, goals, nearest_starts, order_ends
from isthmus.typing import Array, BoolArray

# Ends that `project` tells of a row at most.
MOST_ENDS = 16
# Points of the line from which foreign searches may start.
LEAST_STARTS = 32


class ExactProjection(BaseLatentMap):
    """What holds for any line by arc length, given ``vertices_`` and ``arc_lengths_``."""

    closed: bool
    vertices_: Array
    arc_lengths_: Array
    embedding_: Array

    @property
    def line(self) -> Polyline:
        """The curve as corners and their arc lengths."""
        return Polyline(self.vertices_, self.arc_lengths_, bool(self.closed))

    @property
    def domain(self) -> Domain:
        """An interval from 0 to the length of the curve, or a circle of this circumference."""
        return Domain(0.0, float(self.arc_lengths_[-1]), periodic=bool(self.closed))

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return points of the curve at arc lengths (n, 1), with unit tangents if asked for."""
        x = self.domain.wrap(Z)[:, 0]
        slope = tangents_at(self.line, x)[:, :, None] if jacobian else None
        return MapValues(points_at(self.line, x), slope, np.ones(len(x), dtype=bool))

    def starts(self) -> tuple[Array, Array]:
        """Return places inside the segments, where tangents are clear, and their images."""
        n_segments = len(self.arc_lengths_) - 1
        m = max(1, -(-LEAST_STARTS // n_segments))
        share = (np.arange(m) + 0.5) / m
        steps = np.diff(self.arc_lengths_)
        x = (self.arc_lengths_[:-1, None] + steps[:, None] * share).reshape(-1, 1)
        return x, points_at(self.line, x[:, 0])

    def sample_latent(self, n_samples: int, rng: np.random.RandomState) -> Array:
        """Return arc lengths drawn between those of neighbouring training rows."""
        x = np.sort(self.embedding_[:, 0].astype(np.float64))
        if self.closed:
            x = np.append(x, x[0] + self.arc_lengths_[-1])
        drawn = np.interp(rng.uniform(0, len(x) - 1, size=n_samples), np.arange(len(x)), x)
        return np.asarray(self.domain.wrap(drawn[:, None]))

    def _search(self, codes: Array, weights: Any, start: Any, *, gaps: bool = False) -> Ends:
        whole = weights is None and not (gaps and np.isnan(codes).any())
        if whole and start is None:
            found = feet(self.line, codes)
            return Ends(found.x[:, None], found.error, np.ones(len(codes), dtype=bool))
        P = None if whole else self._check_weights(weights, codes)
        search = self.search_settings(gaps=gaps)
        if isinstance(start, str):
            ends = self._follow(codes, P, start, search)
        else:
            ends = self._all_ends(codes, P, search, self._check_start(start, len(codes)))
        return Ends(ends.latent[:, 0], ends.error[:, 0], ends.converged[:, 0])

    def _all_ends(self, codes: Array, P: Array | None, search: Search, start: Array | None) -> Ends:
        codes, P, unknown = _with_something_known(codes, P, self.vertices_)
        if start is not None:
            found = feet_from(self.line, codes, P, start[:, 0])
            latent, error = found.x[:, None, None], np.where(unknown, 0.0, found.error)[:, None]
            return Ends(latent, error, np.ones(error.shape, dtype=bool))
        parts = []
        for rows in block_slices(len(codes), MOST_ENDS**2):
            w = None if P is None else P[rows]
            parts.append(self._ends_of_block(codes[rows], w, unknown[rows]))
        n_ends = max(part.latent.shape[1] for part in parts)
        latent, error = (
            np.concatenate([_padded(part, n_ends, fill) for part in group])
            for group, fill in (
                ([p.latent for p in parts], np.nan),
                ([p.error for p in parts], np.inf),
            )
        )
        return Ends(latent, error, np.ones(error.shape, dtype=bool))

    def _ends_of_block(self, codes: Array, P: Array | None, unknown: BoolArray) -> Ends:
        found = all_feet(self.line, codes, P, MOST_ENDS)
        known = np.isfinite(found.error)
        every = Ends(
            np.where(known, found.x, found.x[:, :1])[:, :, None],
            np.where(known, found.error, found.error[:, :1]),
            known,
        )
        places, images = self.starts()
        goal = np.broadcast_to(goals(images, P), (len(codes),))
        begin = places[nearest_starts(images, codes, P, 1)[:, 0]]
        order, distinct = order_ends(every, goal, begin, self.domain, places)
        kept = np.take_along_axis(distinct & known, order, axis=1)
        kept[:, 1:] &= ~unknown[:, None]  # every place is as good: one answer
        latent = np.take_along_axis(every.latent, order[..., None], axis=1)
        error = np.take_along_axis(every.error, order, axis=1)
        error = np.where(unknown[:, None], 0.0, error)
        width = max(1, int(kept.sum(axis=1).max()))
        return Ends(
            np.where(kept[..., None], latent, np.nan)[:, :width],
            np.where(kept, error, np.inf)[:, :width],
            kept[:, :width],
        )

    def _follow(self, codes: Array, P: Array | None, start: str, search: Search) -> Ends:
        if start != "previous":
            return super()._follow(codes, P, start, search)  # which refuses it
        ends, begin = [], None
        for i in range(len(codes)):
            weights = None if P is None else P[i : i + 1]
            found = self._all_ends(codes[i : i + 1], weights, search, begin)
            begin = found.latent[:, 0]
            ends.append(Ends(begin, found.error[:, 0], found.converged[:, 0]))
        latent, error, converged = (np.stack(part) for part in zip(*ends, strict=True))
        return Ends(latent, error, converged)


def _with_something_known(
    codes: Array, P: Array | None, vertices: Array
) -> tuple[Array, Array | None, BoolArray]:
    """Rows that know nothing become the middle of the curve, and a flag for them."""
    if P is None:
        return codes, None, np.zeros(len(codes), dtype=bool)
    unknown: BoolArray = np.logical_not(np.any(P > 0, axis=1))
    codes = np.where(unknown[:, None], vertices.mean(axis=0), codes)
    return codes, np.where(unknown[:, None], 1.0, P), unknown


def _padded(values: Array, n_ends: int, fill: float) -> Array:
    missing = n_ends - values.shape[1]
    widths = [(0, 0), (0, missing)] + [(0, 0)] * (values.ndim - 2)
    return np.pad(values, widths, constant_values=fill)
