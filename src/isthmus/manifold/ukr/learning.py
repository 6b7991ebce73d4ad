"""From rows to a trained manifold: starts, descent, tubes or landmarks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from isthmus._warnings import warn
from isthmus.blocks.sampling import sample_rows
from isthmus.linalg.threads import openmp, threads_for
from isthmus.losses.base import ResidualLoss
from isthmus.losses.tubes import Epsilon
from isthmus.manifold.projection import Search, best_ends
from isthmus.manifold.quantizers.gas import neural_gas
from isthmus.manifold.quantizers.harmonic import harmonic_means
from isthmus.manifold.ukr.barrier import descend_above
from isthmus.manifold.ukr.choice import (
    Report,
    Start,
    choose_starts,
    has_kink,
    is_open,
    with_penalties,
)
from isthmus.manifold.ukr.columns import few_columns
from isthmus.manifold.ukr.descent import METHODS, Descended
from isthmus.manifold.ukr.held_out import HeldOutRows, TrainingWatch
from isthmus.manifold.ukr.map import WHOLE_ROWS, KernelMap, latent_map, map_of_rows
from isthmus.manifold.ukr.objective import ManifoldObjective
from isthmus.manifold.ukr.roughness import smooth_outputs
from isthmus.manifold.ukr.settings import RULES, Settings
from isthmus.manifold.ukr.tubes import fit_tubes, with_width
from isthmus.smoothers.near_list import NearPairs
from isthmus.typing import Array, IntArray

TUBE_STEPS = 100  # RPROP steps for each strength of the tubes' constraint
LEAST_SPREAD = 0.01  # of landmarks, as a share of the rows' variance
MOSTLY_USED = 0.8  # share of the landmarks that must be the nearest one of some row
MANY_ROWS = 20_000  # landmarks of more rows are found by mini-batches
# Landmarks have few places to learn: so many rows say where they are as well as all do.
ENOUGH_ROWS, ROWS_OF_A_LANDMARK = 5000, 30
FIRST_SEARCH = Search(n_init=1, max_iter=10, tol=1e-7)  # of rows among landmarks
# Weights of the extension penalty from smooth to free, where training begins at the plane of
# principal components: an embedding that has unfolded nothing yet.
AUTO_HOMOTOPY = tuple({"extension": 0.3**k} for k in range(1, 8))


@dataclass(frozen=True)
class Manifold:
    """A trained map, the places of the rows, and how training went."""

    X: Array
    map: KernelMap
    start: str
    value: float
    curve: list[float]
    settled: bool

    def in_units(self, unit: float, loss: ResidualLoss) -> "Manifold":
        """The manifold of rows that were divided by ``unit``."""
        back = unit**-loss.degree
        outputs, images = self.map.outputs / unit, self.map.images / unit
        return replace(
            self,
            map=replace(self.map, outputs=outputs, images=images),
            value=back * self.value,
            curve=[back * value for value in self.curve],
        )


def learn_manifold(
    Y: Array, settings: Settings, rng: np.random.Generator, report: Report
) -> Manifold:
    """Train on the centred rows of ``Y``, which are all different and of ordinary size."""
    few = few_columns(Y, settings)
    if few is None:
        return learn_in_columns(Y, settings, rng, report)
    found = learn_in_columns(few.scores, settings, rng, report)
    return replace(found, map=few.widen(found.map, Y))


def learn_in_columns(
    Y: Array, settings: Settings, rng: np.random.Generator, report: Report
) -> Manifold:
    """Train on rows in the columns they have."""
    landmarks = settings.landmarks.n
    if landmarks is not None and landmarks < len(Y):
        some = sample_rows(len(Y), max(ENOUGH_ROWS, ROWS_OF_A_LANDMARK * landmarks), rng)
        found = _learn_from_landmarks(Y[some], landmarks, settings, rng, report)
        return found if len(some) == len(Y) else _with_other_rows(found, Y, some)
    N = len(Y)
    kept = np.arange(N)
    if settings.descent.held_out:
        n_held = min(max(1, round(settings.descent.held_out * N)), N - settings.q - 2)
        kept = np.sort(rng.permutation(N)[n_held:])
    rows = Y[kept]
    held = np.delete(Y, kept, axis=0) if settings.descent.held_out else None
    objective, starts, settings = choose_starts(rows, settings, rng, report)
    objectives = _loss_stages(objective, settings, objective.residuals, starts[0].X)
    # Threads: the loops and matrix products that take the time let others run.
    runs = Parallel(n_jobs=settings.starts.n_jobs, prefer="threads")(
        delayed(train_from_start)(objectives, start, settings, report, held) for start in starts
    )
    best = min(range(len(runs)), key=lambda i: runs[i].value)
    done = runs[best]
    if isinstance(settings.loss, Epsilon):
        loss = with_width(objective, done.X, settings.loss)
        done = fit_tubes(objective, done.X, loss, max_iter=min(TUBE_STEPS, settings.max_iter))
    X = done.X - done.X.mean(axis=0)
    if held is not None:
        # The held-out rows join at their projections: they have chosen when to stop, no more.
        now = map_of_rows(X, X, rows, settings.smoother)
        whole = np.empty((N, settings.q))
        whole[kept] = X
        whole[np.setdiff1d(np.arange(N), kept)] = best_ends(now, held, None, WHOLE_ROWS).latent
        X = whole
    return _finish(X, X, Y, Y, settings, starts[best].name, done)


def _learn_from_landmarks(
    Y: Array, n: int, settings: Settings, rng: np.random.Generator, report: Report
) -> Manifold:
    """Means of the rows are the centres: a step costs O(N n) instead of O(N²)."""
    means = _means_of_rows(Y, n, settings.landmarks.method, rng)
    # The landmarks are embedded among themselves, each left out in turn, then the rows projected.
    few = replace(settings, n_excluded=1, starts=replace(settings.starts, n_init=1))
    alone, starts, chosen = choose_starts(means, few, rng, report)
    settings, start = replace(settings, smoother=chosen.smoother), starts[0]
    among = map_of_rows(start.X, start.X, means, settings.smoother)
    places = best_ends(among, Y, None, FIRST_SEARCH).latent
    objective = with_penalties(
        ManifoldObjective(Y, alone.smoother, alone.loss, outputs=means), settings
    )
    objectives = _loss_stages(
        objective,
        settings,
        lambda Z: latent_map(Z, start.X, means, settings.smoother).f - Y,
        places,
    )
    begin = Start(start.name, start.value, np.vstack([places, start.X]))
    with threads_for(2.0 * Y.size * n):
        done = train_from_start(objectives, begin, settings, report, None)
    return _finish(done.X[: len(Y)], done.X[len(Y) :], Y, means, settings, start.name, done)


def _with_other_rows(found: Manifold, Y: Array, some: IntArray) -> Manifold:
    """Let the rows that were not trained join at their projections, from the nearest landmark."""
    outputs = found.map.outputs
    images = latent_map(found.map.centres, found.map.centres, outputs, found.map.smoother).f
    others = np.delete(np.arange(len(Y)), some)
    X = np.empty((len(Y), found.X.shape[1]))
    X[some] = found.X
    among = replace(found.map, places=found.map.centres, images=images)
    X[others] = best_ends(among, Y[others], None, WHOLE_ROWS).latent
    return replace(found, X=X)


def train_from_start(
    objectives: list[ManifoldObjective],
    start: Start,
    settings: Settings,
    report: Report,
    held: Array | None,
) -> Descended:
    """Minimise from one start: through the stages of the homotopy, then the objective itself.

    Each stage begins where the last one ended. There are several ``objectives`` where a loss with
    a kink is approached by smooth ones.
    """
    near = NearPairs()  # of this run alone: others may go on in other threads
    objectives = [replace(objective, near=near) for objective in objectives]
    first, last = objectives[0], objectives[-1]
    # A stage with iterations of its own is gone through even if none follow.
    own = any(stage.get("max_iter", 0) > 0 for stage in settings.homotopy or ())
    if settings.max_iter == 0 and not own:
        value = last(start.X)[0]
        return Descended(start.X, value, [value], True)
    automatic = settings.homotopy is None and start.name == "pca"
    stages = AUTO_HOMOTOPY if automatic else settings.homotopy or ()
    jury = None if held is None else HeldOutRows(held, last.targets, settings.smoother)
    watch = TrainingWatch(report, jury)
    minimise = METHODS[settings.descent.method]
    for path in (stages, ()) if automatic else (stages,):
        X = start.X
        curve: list[float] = []
        for stage in path:
            done = _descend_stage(first, X, stage, settings)
            X, curve = done.X, curve + done.curve
        for objective in objectives if settings.max_iter > 0 else ():
            done = minimise(objective, X, max_iter=settings.max_iter, tol=settings.tol, watch=watch)
            X, curve = done.X, curve + done.curve
        if settings.max_iter == 0:
            done = Descended(X, last(X)[0], curve, True)
        done = done._replace(curve=curve)
        # A penalty may have drawn all places to one, from where there is no way back.
        if not automatic or done.value <= last(start.X)[0]:
            break
    if jury is not None and jury.best is not None:
        done = done._replace(X=jury.best, value=jury.lowest, settled=True)
    return done


def _descend_stage(
    objective: ManifoldObjective, X: Array, stage: Mapping[str, float], settings: Settings
) -> Descended:
    """One stage of a homotopy, which may hold the places in a box or above a floor of density."""
    unit, method = objective.unit, settings.descent.method
    penalties = {name: unit * w for name, w in stage.items() if name not in RULES}
    eased = replace(objective, penalties={**(objective.penalties or {}), **penalties})
    box, max_iter = stage.get("box"), int(stage.get("max_iter", settings.max_iter))
    X = X if box is None else np.clip(X, -box, box)
    if "floor" in stage:
        return descend_above(
            eased, X, stage["floor"], method=method, max_iter=max_iter, tol=settings.tol, box=box
        )
    return METHODS[method](eased, X, max_iter=max_iter, tol=settings.tol, box=box)


def _loss_stages(
    objective: ManifoldObjective, settings: Settings, residuals: Callable[[Array], Array], X: Array
) -> list[ManifoldObjective]:
    """The objective with the loss that is trained, in stages where it has a kink.

    What is ``"auto"`` in a loss is found from the residuals at the start. Tubes come after a fit
    with the squared loss.
    """
    loss = settings.loss
    if isinstance(loss, Epsilon) or not (is_open(loss) or has_kink(loss)):
        return [objective]
    R = residuals(X)
    stages: tuple[Any, ...] = loss.resolve_from(R).stages(loss.spread_of(R))
    return [with_penalties(replace(objective, loss=stage), settings) for stage in stages]


def _means_of_rows(Y: Array, n: int, method: str, rng: np.random.Generator) -> Array:
    """Means of the rows, (n, d); of many rows, the means of some tell as much."""
    if method == "gas":
        return neural_gas(Y[sample_rows(len(Y), MANY_ROWS, rng)], n, rng)
    if method == "harmonic":
        rows = Y[sample_rows(len(Y), MANY_ROWS, rng)]
        centres = harmonic_means(rows, n, rng).centres
        _warn_of_idle(centres, rows)
        return centres
    kmeans = KMeans if len(Y) <= MANY_ROWS else MiniBatchKMeans
    with openmp():
        found = kmeans(n, n_init=1, random_state=int(rng.integers(2**31))).fit(Y)
    means: Array = found.cluster_centers_
    return means


def _warn_of_idle(centres: Array, rows: Array) -> None:
    """Tell where K-harmonic means have met in one place, or left centres without rows."""
    with openmp():
        used = len(np.unique(pairwise_distances_argmin(rows, centres)))
    spread = np.mean((centres - rows.mean(axis=0)) ** 2) / max(
        np.mean(np.var(rows, axis=0)), 1e-300
    )
    if used < MOSTLY_USED * len(centres) or spread < LEAST_SPREAD:
        warn(
            f"Only {used} of {len(centres)} landmarks by K-harmonic means are nearest to some row, "
            f"and they have {spread:.1%} of the rows' variance: in many columns all centres are "
            "about as far from a row, and many end in one place. Take "
            'Landmarks(method="gas") or Landmarks(method="kmeans").',
            UserWarning,
        )


def _finish(
    X: Array,
    centres: Array,
    Y: Array,
    outputs: Array,
    settings: Settings,
    start: str,
    done: Descended,
) -> Manifold:
    smoothness = settings.landmarks.smoothness
    if smoothness is not None:
        outputs = smooth_outputs(X, centres, Y, settings.smoother.kernel, smoothness)
    found = map_of_rows(X, centres, outputs, settings.smoother)
    return Manifold(X, found, start, done.value, done.curve, done.settled)
