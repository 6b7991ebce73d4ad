"""Projection of rows on any latent map: starts, descent, and which end counts."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus._checks import check_float, check_int
from isthmus._parameters import Constraint, integer, real
from isthmus._piece import Piece
from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.threads import rest_in_threads, threads_for
from isthmus.manifold.domain import Domain
from isthmus.optimize.levenberg_marquardt import LeastSquaresRows, least_squares_rows
from isthmus.typing import Array, BoolArray, IntArray, LatentMap

# Jacobians of this many doubles are held at once while points are projected.
PROJECTION_BLOCK = 2**22
# Distances of a block of rows from the starts' images: they stay in the cache.
LOOK = 2**17
# A row counts as met where its distance is below this share of the spread of the starts' images.
REACHED = 1e-6
# Ends nearer than this, in units of the spread of the starts, are one end.
SAME_END = 1e-2
# Errors that differ by less than this share are equal: then the nearer end comes first.
EQUAL_ERRORS = 1e-6
# So many nearest starts are found in one pass, in less time than by a partial sort.
FEW_STARTS = 8


@dataclass
class Search(Piece):
    """How rows are projected on a manifold.

    Parameters
    ----------
    n_init : int, default=4
        Number of starting points, those whose images are nearest to a row.
    max_iter : int, default=50
        Maximum number of Levenberg-Marquardt steps from each start.
    tol : float, default=1e-10
        A search has converged when a step lowers the error by less than this share.
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(0),
    }

    n_init: int = 4
    max_iter: int = 50
    tol: float = 1e-10

    def check(self) -> "Search":
        """Return self, or say which parameter is wrong."""
        check_int(self.n_init, "n_init", self, low=1)
        check_int(self.max_iter, "max_iter", self, low=1)
        check_float(self.tol, "tol", self)
        return self


@dataclass(frozen=True)
class Projection:
    """What :meth:`BaseLatentMap.project` found for every row of its data.

    Attributes
    ----------
    latent : ndarray of shape (n, q)
        The point of the domain whose image comes nearest: the first of ``ends``.
    values : ndarray of shape (n, d)
        Its image: all components, known or not.
    error : ndarray of shape (n,)
        Weighted sum of squared differences in the known components.
    reached : ndarray of bool of shape (n,)
        Whether the image meets the known components; False means best effort.
    converged : ndarray of bool of shape (n,)
        Whether the search ended at a (local) minimum.
    ends : ndarray of shape (n, n_ends, q)
        All distinct ends of a row's searches, the best first; NaN after the last one.
    end_errors : ndarray of shape (n, n_ends)
        Their errors; infinite after the last one.
    """

    __module__ = "isthmus.manifold"

    latent: Array
    values: Array
    error: Array
    reached: BoolArray
    converged: BoolArray
    ends: Array
    end_errors: Array


class RowSearch(ABC):
    """A latent map that searches by itself, as :func:`search_from` would."""

    @abstractmethod
    def search_rows(
        self, targets: Array, weights: Array | None, start: Array, search: Search
    ) -> LeastSquaresRows | None:
        """The ends from one start for each row; None where it would take longer."""


class Ends(NamedTuple):
    """Where searches ended: points (n, q), errors and flags (n,)."""

    latent: Array
    error: Array
    converged: BoolArray


def nearest_starts(images: Array, targets: Array, weights: Array | None, n_best: int) -> IntArray:
    """Numbers of the images nearest to each target under its weights, (n, n_best), in order.

    ``weights`` (n, d) is None where all components count the same; where one is zero, the target
    may be anything. A target without any weight gets the images nearest to their mean.
    """
    n_best = min(n_best, len(images))
    center = images.mean(axis=0)  # keeps the expanded square from cancelling
    shifted = images - center
    squares, turned = shifted**2, -2 * shifted.T
    lengths = squares.sum(axis=1)
    found = np.empty((len(targets), n_best), dtype=np.intp)

    def look(rows: slice) -> None:
        moved = targets[rows] - center
        if weights is None:
            distances = product(moved, turned)
            distances += lengths
        else:
            distances = _weighted_distances(squares, turned, moved, weights[rows])
        if n_best == 1:
            found[rows, 0] = np.argmin(distances, axis=1)
        elif n_best <= FEW_STARTS:
            from isthmus.manifold.projection_loops import fill_least

            fill_least(distances, found[rows])
        else:
            nearest = np.argpartition(distances, n_best - 1, axis=1)[:, :n_best]
            order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)
            found[rows] = np.take_along_axis(nearest, order, axis=1)

    # Shared by rows: a second thread of BLAS would go on spinning beside those that search.
    size = max(32, LOOK // len(images))
    with threads_for(size * images.size):
        rest_in_threads(look, list(block_slices(len(targets), 1, block_size=size)))
    return found


def _weighted_distances(squares: Array, turned: Array, targets: Array, weights: Array) -> Array:
    """Squared distances without the part of the targets alone, the same for all images.

    ``squares`` (m, d) are those of the images, ``turned`` (d, m) the images times -2.
    """
    known = product(weights * np.where(weights > 0, targets, 0.0), turned)
    some = np.where(weights.any(axis=1, keepdims=True), weights, 1.0)
    return np.add(known, product(some, squares.T), out=known)


def goals(images: Array, weights: Array | None) -> Array:
    """Errors below which a row counts as met, shape (n,) or (1,)."""
    spread = images.std(axis=0)
    w = np.ones((1, len(spread))) if weights is None else weights
    goal: Array = (REACHED * np.sqrt(w @ spread**2)) ** 2
    return goal


def best_ends(
    latent_map: LatentMap,
    targets: Array,
    weights: Array | None,
    search: Search,
    start: Array | None = None,
) -> Ends:
    r"""The ends that :func:`all_ends` puts first, without looking for the others.

    Only rows that the nearest start does not meet are searched from the other starts too. Memory
    for the Jacobians of a block of rows.
    """
    n, q = len(targets), latent_map.starts()[0].shape[1]
    found = Ends(np.empty((n, q)), np.empty(n), np.empty(n, dtype=bool))
    size = max(64, PROJECTION_BLOCK // (targets.shape[1] * q))
    for rows in block_slices(n, 1, block_size=size):
        w = None if weights is None else weights[rows]
        if start is None:
            parts = _best_of_block(latent_map, targets[rows], w, search)
        else:
            parts = _ends_of(search_from(latent_map, targets[rows], w, start[rows], search))
        for whole, part in zip(found, parts, strict=True):
            whole[rows] = part
    return found


def _best_of_block(
    latent_map: LatentMap, targets: Array, weights: Array | None, search: Search
) -> Ends:
    places, images = latent_map.starts()
    n_init = min(search.n_init, len(places))
    nearest = nearest_starts(images, targets, weights, n_init)
    begin = places[nearest[:, 0]]
    first = _ends_of(search_from(latent_map, targets, weights, begin, search))
    if n_init == 1:
        return first
    goal = np.broadcast_to(goals(images, weights), first.error.shape)
    poor = np.flatnonzero(first.error > goal)
    if len(poor):
        w, others = _rows_of(weights, poor), places[nearest[poor, 1:]]
        again = _search_from_all(latent_map, targets[poor], w, others, search)
        every = Ends(
            np.concatenate([first.latent[poor, None], again.latent], axis=1),
            np.column_stack([first.error[poor], again.error]),
            np.column_stack([first.converged[poor], again.converged]),
        )
        best = first_ends(every, goal[poor], begin[poor], latent_map.domain, places)
        for whole, part in zip(first, every, strict=True):
            whole[poor] = part[np.arange(len(poor)), best]
    return first


def _ends_of(found: LeastSquaresRows) -> Ends:
    return Ends(found.x, found.error, found.converged)


def all_ends(
    latent_map: LatentMap,
    targets: Array,
    weights: Array | None,
    search: Search,
    start: Array | None = None,
) -> Ends:
    """All distinct ends of every row, (n, n_ends, ...), in the order of :func:`order_ends`.

    After a row's last end the points are NaN and the errors infinite.
    """
    places, images = latent_map.starts()
    n, q = len(targets), places.shape[1]
    n_init = min(search.n_init, len(places)) if start is None else 1
    size = max(64, PROJECTION_BLOCK // (targets.shape[1] * q * n_init))
    parts = []
    for rows in block_slices(n, 1, block_size=size):
        w = None if weights is None else weights[rows]
        if start is None:
            begin = places[nearest_starts(images, targets[rows], w, n_init)]
        else:
            begin = start[rows, None]
        every = _search_from_all(latent_map, targets[rows], w, begin, search)
        goal = np.broadcast_to(goals(images, w), every.error.shape[:1])
        order, distinct = order_ends(every, goal, begin[:, 0], latent_map.domain, places)
        kept = np.take_along_axis(distinct, order, axis=1)
        parts.append(
            Ends(
                np.where(
                    kept[..., None], np.take_along_axis(every.latent, order[..., None], 1), np.nan
                ),
                np.where(kept, np.take_along_axis(every.error, order, axis=1), np.inf),
                np.take_along_axis(every.converged, order, axis=1),
            )
        )
    latent, error, converged = (np.concatenate(part) for part in zip(*parts, strict=True))
    n_ends = int(np.isfinite(error).sum(axis=1).max())
    return Ends(latent[:, :n_ends], error[:, :n_ends], converged[:, :n_ends])


def order_ends(
    every: Ends, goal: Array, start: Array, domain: Domain, places: Array
) -> tuple[IntArray, BoolArray]:
    """The order of the ends (n, k) of each row, and which of them stand for themselves.

    Of ends that coincide the best stands for all. The others are ordered by error, equal errors
    (all those that meet the row count as zero) by the distance to the start. The end of the first
    search comes first where it meets the row, so that no other need be looked for.
    """
    n, k = every.error.shape
    level = np.where(every.error <= goal[:, None], 0.0, every.error)
    scale = places.std(axis=0)
    scale[scale == 0] = 1.0
    gaps = domain.difference(every.latent[:, :, None], every.latent[:, None]) / scale
    near = np.abs(gaps) < SAME_END
    same = near[..., 0]
    for c in range(1, near.shape[3]):  # reductions over few coordinates take longer
        same = same & near[..., c]
    leader = np.argmin(np.where(same, level[:, None, :], np.inf), axis=2)
    distinct = leader == np.arange(k)
    away = domain.difference(every.latent, start[:, None]) / scale
    distance = np.einsum("nkq,nkq->nk", away, away)
    distance[:, 0] = np.where(level[:, 0] == 0.0, -1.0, distance[:, 0])
    by_level = np.argsort(np.where(distinct, level, np.inf), axis=1, kind="stable")
    group, base, number = np.empty((n, k)), np.full(n, -np.inf), np.zeros(n)
    for i in range(k):
        value = np.take_along_axis(level, by_level[:, i : i + 1], axis=1)[:, 0]
        apart = value > (1.0 + EQUAL_ERRORS) * base
        base = np.where(apart, value, base)
        number = number + apart
        np.put_along_axis(group, by_level[:, i : i + 1], number[:, None], axis=1)
    group[~distinct] = np.inf
    return np.lexsort((distance, group), axis=1), distinct


def first_ends(every: Ends, goal: Array, start: Array, domain: Domain, places: Array) -> IntArray:
    """The first end of each row in the order of :func:`order_ends`, (n,)."""
    from isthmus.manifold.projection_loops import fill_first_ends

    n, _, q = every.latent.shape
    level = np.where(every.error <= goal[:, None], 0.0, every.error)
    scale = places.std(axis=0)
    scale[scale == 0] = 1.0
    first = np.empty(n, dtype=np.intp)
    fill_first_ends(
        np.ascontiguousarray(every.latent),
        level,
        np.ascontiguousarray(start),
        scale,
        domain.periods(q),
        SAME_END,
        EQUAL_ERRORS,
        first,
    )
    return first


def _search_from_all(
    latent_map: LatentMap, targets: Array, weights: Array | None, begin: Array, search: Search
) -> Ends:
    """Ends of searches from several starts (n, k, q) for each row."""
    n, k, q = begin.shape
    rows = np.repeat(np.arange(n), k)
    found = search_from(
        latent_map, targets[rows], _rows_of(weights, rows), begin.reshape(-1, q), search
    )
    return Ends(found.x.reshape(n, k, q), found.error.reshape(n, k), found.converged.reshape(n, k))


def _rows_of(weights: Array | None, rows: IntArray) -> Array | None:
    return None if weights is None else weights[rows]


def search_from(
    latent_map: LatentMap, targets: Array, weights: Array | None, start: Array, search: Search
) -> LeastSquaresRows:
    r"""Minimise :math:`\sum_kp_k(y_k-f_k(x))^2` over the domain from one start for each row.

    Steps to points that are not feasible are refused; the start is taken to be feasible.
    """
    if isinstance(latent_map, RowSearch):
        by_itself = latent_map.search_rows(targets, weights, start, search)
        if by_itself is not None:
            return by_itself
    domain: Domain = latent_map.domain
    low, high = domain.bounds()
    feasible: BoolArray = np.empty(0, dtype=bool)

    def model(points: Array, rows: IntArray) -> tuple[Array, Any]:
        nonlocal feasible
        at = latent_map.evaluate(domain.wrap(points), jacobian=True)
        feasible = at.feasible
        return at.values, at.jacobian

    def inside(points: Array, rows: IntArray) -> BoolArray:
        return feasible  # of the points that the model has just been asked for

    found = least_squares_rows(
        model,
        start,
        targets,
        weights=weights,
        lower=low,
        upper=high,
        inside=inside,
        max_iter=search.max_iter,
        tol=search.tol,
    )
    found.x = domain.wrap(found.x)
    return found
