"""What can be walked: coordinates with a way to objects and back, whatever class learned them."""

import time
import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from isthmus._extras import load_extra
from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.rows import DoesNotFit, Rows
from isthmus.kernels.objects import n_objects, take
from isthmus.typing import provides

# Rows of a latent map are searched for, one by one; more than these are not projected.
MOST_PROJECTED = 2000
# An inverse that takes longer is answered by something quick first.
SLOW = 0.03
# Numbers of a kernel expansion from which a pre-image that iterates over them surely does.
_MANY_NUMBERS = 2**21


class Completion(NamedTuple):
    """Answers to a row with gaps: rows (k, d), what each costs, where each lies (k, q)."""

    rows: np.ndarray
    costs: np.ndarray
    places: np.ndarray


@dataclass
class Walk:
    """Coordinates and objects of a fitted latent map or feature map, behind any scaling."""

    model: Any
    heads: list[Any] = field(default_factory=list)

    @property
    def is_latent(self) -> bool:
        """Whether the map follows the contract of latent maps: evaluate, domain, starts."""
        return follows_latent_map(self.model)

    @property
    def words(self) -> frozenset[str]:
        """What the map says of itself and of its objects."""
        return provides(self.model)

    @property
    def can_complete(self) -> bool:
        """Whether rows with gaps are filled in."""
        return self.is_latent and "vectors" in self.words

    def objects(self, Z: np.ndarray) -> Any:
        """Return what lies at coordinates (n, q)."""
        return self.decode(self.model.inverse_transform(np.asarray(Z, dtype=float)))

    def decode(self, found: Any) -> Any:
        """Return objects as the table has them, for objects as the map has them."""
        for step in reversed(self.heads):
            found = step.inverse_transform(found)
        return found

    def encode(self, X: Any) -> Any:
        """Return objects as the map has them."""
        X = self._named(X)
        for step in self.heads:
            X = step.transform(X)
        return X

    def _named(self, X: Any) -> Any:
        """Rows under the names that the fit has seen, which estimators ask for."""
        first = self.heads[0] if self.heads else self.model
        names = getattr(first, "feature_names_in_", None)
        if names is None or not isinstance(X, np.ndarray) or X.ndim != 2:
            return X
        if X.shape[1] != len(names):
            return X  # the estimator says what is wrong
        return load_extra("pandas", "explore", "isthmus.explore").DataFrame(X, columns=names)

    def places(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return coordinates of objects and, for a latent map, their squared distances."""
        own = self.encode(X)
        if self.is_latent:
            Z, error = self.model.transform(own, return_error=True)
            return np.asarray(Z), np.asarray(error)
        return np.asarray(self.model.transform(own)), None

    def difference(self, end: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Return the way from one point to another, the short one around a period."""
        return self.model.domain.difference(end, start) if self.is_latent else end - start

    def inside(self, Z: np.ndarray) -> np.ndarray:
        """Return points brought into the domain."""
        if not self.is_latent:
            return Z
        domain = self.model.domain
        return np.asarray(domain.clip(domain.wrap(Z)))

    def complete(self, row: np.ndarray) -> Completion:
        """Return all distinct answers for one row with gaps, the cheapest first."""
        found = self.model.project(self.encode(row[None]))
        places, costs = np.asarray(found.ends[0]), np.asarray(found.end_errors[0])
        there = np.isfinite(costs)
        places, costs = places[there], costs[there]
        rows = np.asarray(self.objects(places), dtype=float)
        return Completion(rows, np.sqrt(np.maximum(costs, 0.0)), places)


def walk_of(model: Any) -> Walk:
    """Return the walk of a fitted model, a pipeline of one or a search for one.

    Raises
    ------
    DoesNotFit
        If it has no coordinates, or no way back from them.
    """
    model = getattr(model, "best_estimator_", model)
    heads = []
    if hasattr(model, "steps"):
        steps = [step for _, step in model.steps if step not in (None, "passthrough")]
        heads, model = steps[:-1], steps[-1]
    if not callable(getattr(model, "transform", None)):
        raise DoesNotFit(f"{type(model).__name__} has no coordinates to walk in (transform)")
    lacking = [s for s in [*heads, model] if not callable(getattr(s, "inverse_transform", None))]
    if lacking or "pairwise" in provides(model):
        whose = type(lacking[0] if lacking else model).__name__
        raise DoesNotFit(
            f"{whose} has no way back from coordinates to objects (inverse_transform), so there "
            "is nothing to see between the rows"
        )
    return Walk(model, heads)


def follows_latent_map(model: Any) -> bool:
    """Whether a model follows :class:`isthmus.typing.LatentMap`."""
    return hasattr(model, "domain") and all(
        callable(getattr(model, name, None)) for name in ("evaluate", "starts", "project")
    )


class Placed(NamedTuple):
    """Rows with their coordinates (n, q), and squared distances where they are known."""

    rows: Rows
    places: np.ndarray
    error: np.ndarray | None
    note: str


def place_rows(walk: Walk, rows: Rows | None) -> Placed:
    """Return where rows lie, or the rows that the model itself remembers."""
    if rows is None:
        return _remembered(walk)
    _check_width(walk, rows)
    known = _embedding(walk, rows)
    if known is not None:
        return Placed(rows, known, None, "")
    note = ""
    if walk.is_latent and len(rows) > MOST_PROJECTED:
        chosen = np.sort(sample_rows(len(rows), MOST_PROJECTED, 0))
        note = f"{MOST_PROJECTED} of {len(rows)} rows, drawn at random, are projected"
        rows = rows.take(chosen)
    try:
        Z, error = walk.places(rows.objects)
    except (TypeError, ValueError) as problem:
        raise DoesNotFit(f"the table does not fit the model: {problem}") from problem
    if Z.ndim != 2 or not np.isfinite(Z).all():
        raise DoesNotFit("the model's coordinates of these rows are not finite numbers")
    return Placed(rows, Z, error, note)


def _remembered(walk: Walk) -> Placed:
    if walk.is_latent:
        Z = np.asarray(getattr(walk.model, "embedding_", walk.model.starts()[0]), dtype=float)
        objects = walk.objects(Z)
        note = "no table was given: the points are places the model has learned"
    elif "expansion" in walk.words:
        own = walk.model.axes_.objects
        Z, objects = np.asarray(walk.model.transform(own)), walk.decode(own)
        note = "no table was given: the points are objects the model remembers"
    else:
        raise DoesNotFit(
            f"{type(walk.model).__name__} does not remember any rows: give a table to show"
        )
    table = np.asarray(objects) if isinstance(objects, np.ndarray) else list(objects)
    names = getattr(walk.heads[0] if walk.heads else walk.model, "feature_names_in_", None)
    named = [] if names is None else [str(name) for name in names]
    return Placed(Rows(table, named), Z, None, note)


def _check_width(walk: Walk, rows: Rows) -> None:
    first = walk.heads[0] if walk.heads else walk.model
    expected = getattr(first, "n_features_in_", None)
    if expected is None or not rows.is_table or "vectors" not in provides(walk.model):
        return
    if rows.objects.shape[1] != expected:
        raise DoesNotFit(
            f"the table has {rows.objects.shape[1]} columns of numbers, the model was fitted on "
            f"{expected}"
        )


def _embedding(walk: Walk, rows: Rows) -> np.ndarray | None:
    """The coordinates found at the fit, if these are the rows of the fit."""
    if not walk.is_latent:
        return _coordinates_of_the_fit(walk, rows)
    Z = getattr(walk.model, "embedding_", None)
    if Z is None or len(Z) != len(rows) or not rows.is_table or len(rows) < 4:
        return None
    chosen = np.sort(sample_rows(len(rows), 32, 0))
    own = np.asarray(walk.objects(np.asarray(Z)[chosen]), dtype=float)
    if not isinstance(own, np.ndarray) or own.shape[1:] != rows.objects.shape[1:]:
        return None
    X = np.asarray(rows.objects[chosen], dtype=float)
    # Rows of another table are no nearer to these places than to those of their neighbours.
    paired = np.mean((own - X) ** 2)
    shifted = np.mean((own - np.roll(X, 1, axis=0)) ** 2)
    return np.asarray(Z, dtype=float) if paired < 0.7 * shifted else None


def _coordinates_of_the_fit(walk: Walk, rows: Rows) -> np.ndarray | None:
    """The same for a kernel map, whose expansion is over the rows of its fit."""
    if "expansion" not in walk.words or not rows.is_table:
        return None
    objects = walk.model.axes_.objects
    if not isinstance(objects, np.ndarray) or len(objects) != len(rows):
        return None
    try:
        same = np.array_equal(objects, np.asarray(walk.encode(rows.objects)))
        return np.asarray(walk.model.coordinates_) if same else None
    except (AttributeError, TypeError, ValueError):  # landmarks keep none; a misfit is told later
        return None


def surely_slow(walk: Walk) -> bool:
    """Whether it is known without a trial that an object takes long.

    So it is where a kernel map of vectors leaves its pre-image to the default, an iteration over
    all objects for radial kernels, and these have millions of numbers.
    """
    if not {"expansion", "vectors", "radial"} <= walk.words or "inverse" in walk.words:
        return False
    return bool(np.size(walk.model.axes_.objects) > _MANY_NUMBERS)


def seconds_per_object(walk: Walk, Z: np.ndarray) -> float:
    """How long one object takes at best, after the first, which may compile."""
    with warnings.catch_warnings():
        # A pre-image that is made now asks a map with named columns about rows without names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        walk.objects(Z[:1])
    middle, least = Z[n_objects(Z) // 2][None], np.inf
    for _ in range(3):  # another program may come between
        start = time.perf_counter()
        walk.objects(middle)
        least = min(least, time.perf_counter() - start)
        if not SLOW < least < 10 * SLOW:
            break
    return float(least)


def first_objects(objects: Any, n: int) -> Any:
    """The first few objects of a collection."""
    return take(objects, np.arange(min(n, n_objects(objects))))
