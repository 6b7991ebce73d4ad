"""From rows to a trained manifold: starts, scale, descent, tubes or landmarks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans, MiniBatchKMeans

from isthmus.manifold.projection import Search, best_ends
from isthmus.manifold.ukr.harmonic import harmonic_means
from isthmus.manifold.ukr.losses import HUBER, Loss, automatic_delta, squared_loss
from isthmus.manifold.ukr.map import WHOLE_ROWS, KernelMap, latent_map, map_of_rows
from isthmus.manifold.ukr.options import AUTO_HOMOTOPY, Options
from isthmus.manifold.ukr.roughness import adapted_outputs
from isthmus.manifold.ukr.starts import best_scale, candidates, neighbor_table, refined_scale
from isthmus.manifold.ukr.train import (
    RULES,
    Problem,
    Trained,
    Watch,
    automatic_epsilon,
    full_residuals,
    tighten,
    train,
)
from isthmus.smoothers.local_polynomial import LocalPolynomial
from isthmus.typing import Array, IntArray

# The least weight of the data's mean that keeps line searches from failing where a point loses
# its last neighbour, and that keeps such a point from being lost.
BACKGROUND = 1e-2
# What "auto" leaves out: see the experiment UKR-defaults. A quadratic follows its neighbours so
# closely that more than the row itself must be left out; a local mean does not.
AUTO_EXCLUDED = {0: 1, 1: 1, 2: 5}
TUBE_STEPS = 100  # RPROP steps for each strength of the tubes' constraint
CURVED_GAIN = 0.9  # "auto" takes degree 2 where it lowers the error of the start at least to this
SCALE_ROWS = 250  # rows that a start's scale is chosen by
MANY_ROWS = 20_000  # landmarks of more rows are found by mini-batches
HELD_OUT_EVERY = 5  # steps between looks at the held-out rows
HELD_OUT_PATIENCE = 4  # looks without a better one before training stops
HELD_OUT_SEARCH = Search(n_init=1, max_iter=5, tol=1e-7)
FIRST_SEARCH = Search(n_init=1, max_iter=10, tol=1e-7)  # of rows among landmarks

Report = Callable[..., None]


@dataclass(frozen=True)
class Manifold:
    """A trained map, the places of the rows, and how training went."""

    X: Array
    map: KernelMap
    start: str
    value: float
    curve: list[float]
    settled: bool


class _Start(NamedTuple):
    name: str
    value: float
    X: Array


def learn(Y: Array, options: Options, rng: np.random.Generator, report: Report) -> Manifold:
    """Train on the centred rows of ``Y``, which are all different.

    In units near their spread, so that nothing depends on what they are measured in; a power of
    two, so that nothing is rounded.
    """
    unit = 2.0 ** np.round(0.5 * np.log2(np.mean(Y**2)))
    eased = replace(
        options,
        delta=None if options.delta is None else options.delta / unit,
        epsilon=None if options.epsilon is None else options.epsilon / unit,
    )
    found = _learned(Y / unit, eased, rng, report)
    back = unit if options.loss in HUBER else unit**2  # the unit of a loss
    return replace(
        found,
        map=replace(found.map, outputs=unit * found.map.outputs, images=unit * found.map.images),
        value=back * found.value,
        curve=[back * value for value in found.curve],
    )


def _learned(Y: Array, options: Options, rng: np.random.Generator, report: Report) -> Manifold:
    if options.n_landmarks is not None and options.n_landmarks < len(Y):
        return _learn_landmarks(Y, options, rng, report)
    N = len(Y)
    chosen = np.arange(N)
    if options.held_out:
        n_held = min(max(1, round(options.held_out * N)), N - options.q - 2)
        chosen = np.sort(rng.permutation(N)[n_held:])
    rows = Y[chosen]
    problem, starts, options = _prepared(rows, options, rng, report)
    if options.loss in HUBER and options.delta is None:
        delta = automatic_delta(full_residuals(problem, starts[0].X), options.loss)
        problem = _weighted(replace(problem, loss=HUBER[options.loss](delta)), options)
    held = np.delete(Y, chosen, axis=0) if options.held_out else None
    # Threads: the loops and matrix products that take the time let others run.
    runs = Parallel(n_jobs=options.n_jobs, prefer="threads")(
        delayed(_run)(problem, start, options, report, held) for start in starts
    )
    best = min(range(len(runs)), key=lambda i: runs[i].value)
    done = runs[best]
    if options.loss == "epsilon":
        steps = min(TUBE_STEPS, options.max_iter)
        epsilon = options.epsilon
        if epsilon is None:
            epsilon = automatic_epsilon(problem, done.X, options.tube)
        done = tighten(problem, done.X, epsilon, options.tube, max_iter=steps)
    X = done.X - done.X.mean(axis=0)
    if held is not None:
        # The held-out rows join at their projections: they have chosen when to stop, no more.
        places = best_ends(map_of_rows(X, X, rows, options.smoother), held, None, WHOLE_ROWS).latent
        whole = np.empty((N, options.q))
        whole[chosen] = X
        whole[np.setdiff1d(np.arange(N), chosen)] = places
        X = whole
    outputs = Y
    if options.smoothness is not None:
        outputs = adapted_outputs(X, X, Y, options.smoother.kernel, options.smoothness)
    return _manifold(X, X, outputs, options, starts[best].name, done)


def _prepared(
    Y: Array, options: Options, rng: np.random.Generator, report: Report
) -> tuple[Problem, list[_Start], Options]:
    """The problem and its best starts, with the degree chosen where there is a choice.

    Before training the left-out error is not yet a training error, so it may choose.
    """
    embeddings = None
    if not isinstance(options.starts, np.ndarray):
        embeddings = list(candidates(Y, options.q, options.starts, rng, options.n_neighborhoods))
    # The same rows for all degrees, so that their errors can be compared.
    looked_at = np.arange(len(Y))
    if len(Y) > SCALE_ROWS:
        looked_at = np.sort(rng.choice(len(Y), SCALE_ROWS, replace=False))
    found = []
    for degree in options.degrees:
        chosen = replace(options, smoother=replace(options.smoother, degree=degree))
        found.append(
            (_ranked_starts(embeddings, _problem(Y, chosen), chosen, looked_at, report), chosen)
        )
    starts, options = found[0]
    for others, chosen in found[1:]:
        if others[0].value < CURVED_GAIN * starts[0].value:
            starts, options = others, chosen
    if options.n_excluded is None:
        n_excluded = AUTO_EXCLUDED[options.smoother.degree]
        options = replace(options, n_excluded=n_excluded)
    problem = _problem(Y, options)
    return problem, [_Start(s.name, *_scaled(problem, s)) for s in starts], options


def _scaled(problem: Problem, start: _Start) -> tuple[float, Array]:
    if start.name == "given":
        return start.value, start.X
    return refined_scale(problem, start.X)


def _problem(Y: Array, options: Options) -> Problem:
    excluded = None
    n_excluded = 1 if options.n_excluded is None else options.n_excluded
    if n_excluded:
        own = np.arange(len(Y))[:, None]
        n_others = min(n_excluded - 1, len(Y) - options.q - 2)
        excluded = own
        if n_others > 0:
            excluded = np.hstack([own, neighbor_table(Y, n_others)[1]])
    loss: Loss = squared_loss
    if options.loss in HUBER and options.delta is not None:
        loss = HUBER[options.loss](options.delta)
    return _weighted(Problem(Y, _training_smoother(options), loss, excluded), options)


def _training_smoother(options: Options) -> LocalPolynomial:
    if options.solver == "lbfgs" and options.smoother.kernel.compact:
        return replace(options.smoother, background=BACKGROUND)
    return options.smoother


def _weighted(problem: Problem, options: Options) -> Problem:
    unit = _mean_error(problem)
    return replace(problem, penalties={k: unit * w for k, w in options.penalties.items()})


def _mean_error(problem: Problem) -> float:
    """What it costs to reconstruct every row by the mean: the unit of penalties."""
    return float(np.mean(problem.loss(-problem.targets, slice(0, len(problem.targets)))[0]))


def _ranked_starts(
    embeddings: list[tuple[str, Array]] | None,
    problem: Problem,
    options: Options,
    looked_at: IntArray,
    report: Report,
) -> list[_Start]:
    """The ``n_init`` starts with the lowest objective over a grid of scales, lowest first."""
    if embeddings is None:
        assert isinstance(options.starts, np.ndarray)
        return [_Start("given", problem(options.starts)[0], options.starts)]
    found = []
    for name, Z in embeddings:
        value, X = best_scale(lambda places: problem.value(places, looked_at), Z)
        report(start=name, degree=options.smoother.degree, objective=value)
        found.append(_Start(name, value, X))
    found.sort(key=lambda start: start.value)
    return found[: options.n_init]


def _run(
    problem: Problem, start: _Start, options: Options, report: Report, held: Array | None
) -> Trained:
    if options.max_iter == 0:
        return Trained(start.X, start.value, [start.value], True)
    unit = _mean_error(problem)
    stages: tuple[Mapping[str, float], ...] = options.homotopy or ()
    if options.homotopy is None and start.name == "pca":
        stages = AUTO_HOMOTOPY
    scaled = [{k: w if k in RULES else unit * w for k, w in stage.items()} for stage in stages]
    jury = None if held is None else _HeldOut(held, problem.targets, options.smoother)
    watch: Watch = _Watch(report, jury)
    control: dict[str, Any] = {
        "solver": options.solver,
        "max_iter": options.max_iter,
        "tol": options.tol,
    }
    done = train(problem, start.X, scaled, watch=watch, **control)
    if stages is AUTO_HOMOTOPY and done.value > start.value:
        # A penalty has drawn all places to one, from where there is no way back.
        done = train(problem, start.X, (), watch=watch, **control)
    if jury is not None and jury.best is not None:
        done = done._replace(X=jury.best, value=jury.lowest, settled=True)
    return done


class _Watch:
    """Shows the course of training, and asks the held-out rows when to stop."""

    def __init__(self, report: Report, held: "_HeldOut | None"):
        self.report, self.held, self.step = report, held, 0

    def __call__(self, value: float, X: Array) -> bool:
        self.step += 1
        self.report(step=self.step, objective=value)
        if self.held is None or self.step % HELD_OUT_EVERY:
            return False
        return self.held.seen(X)


class _HeldOut:
    """Rows kept from training: the places at which they project best are kept."""

    def __init__(self, rows: Array, outputs: Array, smoother: LocalPolynomial):
        self.rows, self.outputs, self.smoother = rows, outputs, smoother
        self.best: Array | None = None
        self.lowest, self.looks = np.inf, 0

    def seen(self, X: Array) -> bool:
        now = map_of_rows(X, X, self.outputs, self.smoother)
        error = best_ends(now, self.rows, None, HELD_OUT_SEARCH).error
        self.looks += 1
        if error.mean() < self.lowest:
            self.best, self.lowest, self.looks = X.copy(), float(error.mean()), 0
        return self.looks >= HELD_OUT_PATIENCE


def _learn_landmarks(
    Y: Array, options: Options, rng: np.random.Generator, report: Report
) -> Manifold:
    """Means of the rows are the centres: O(N n) instead of O(N²) for a step."""
    assert options.n_landmarks is not None
    means = _landmarks(Y, options.n_landmarks, options.landmarks, rng)
    # The landmarks are embedded among themselves, each left out in turn, then the rows projected.
    alone, starts, chosen = _prepared(means, replace(options, n_excluded=1, n_init=1), rng, report)
    options, start = replace(options, smoother=chosen.smoother), starts[0]
    among = map_of_rows(start.X, start.X, means, options.smoother)
    places = best_ends(among, Y, None, FIRST_SEARCH).latent
    problem = _weighted(Problem(Y, alone.smoother, alone.loss, outputs=means), options)
    if options.loss in HUBER and options.delta is None:
        R = latent_map(places, start.X, means, options.smoother).f - Y
        loss = HUBER[options.loss](automatic_delta(R, options.loss))
        problem = _weighted(replace(problem, loss=loss), options)
    begin = _Start(start.name, start.value, np.vstack([places, start.X]))
    done = _run(problem, begin, options, report, None)
    X, centres = done.X[: len(Y)], done.X[len(Y) :]
    outputs = means
    if options.smoothness is not None:
        outputs = adapted_outputs(X, centres, Y, options.smoother.kernel, options.smoothness)
    return _manifold(X, centres, outputs, options, start.name, done)


def _landmarks(Y: Array, n: int, method: str, rng: np.random.Generator) -> Array:
    """Means of the rows, (n, d); of many rows, the means of some tell as much."""
    if method == "harmonic":
        some = Y
        if len(Y) > MANY_ROWS:
            some = Y[np.sort(rng.choice(len(Y), MANY_ROWS, replace=False))]
        return harmonic_means(some, n, rng).centres
    kmeans = KMeans if len(Y) <= MANY_ROWS else MiniBatchKMeans
    found = kmeans(n, n_init=1, random_state=int(rng.integers(2**31))).fit(Y)
    means: Array = found.cluster_centers_
    return means


def _manifold(
    X: Array, centres: Array, outputs: Array, options: Options, start: str, done: Trained
) -> Manifold:
    found = map_of_rows(X, centres, outputs, options.smoother)
    return Manifold(X, found, start, done.value, done.curve, done.settled)
