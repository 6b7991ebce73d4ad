"""What is chosen before training: where it begins, its scale, and the degree."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.losses.base import ResidualLoss
from isthmus.losses.squared import Squared
from isthmus.losses.tubes import Epsilon
from isthmus.manifold.ukr.geodesics import Geodesics
from isthmus.manifold.ukr.objective import ManifoldObjective
from isthmus.manifold.ukr.settings import Settings
from isthmus.manifold.ukr.starts import best_scale, kept_embeddings, neighbor_table, refine_scale
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.typing import Array, IntArray

# The least weight of the data's mean that keeps line searches from failing where a point loses
# its last neighbour, and that keeps such a point from being lost.
BACKGROUND = 1e-2
# What "auto" leaves out: see the experiment UKR-defaults. A quadratic follows its neighbours so
# closely that more than the row itself must be left out; a local mean does not.
AUTO_EXCLUDED = {0: 1, 1: 1, 2: 5}
CURVED_GAIN = 0.9  # "auto" takes degree 2 where it lowers the error of the start at least to this
# A start that is this much worse may still be trained, if it shows so much more of the distances
# along the data.
RIVAL_VALUE, RIVAL_GAIN = 5.0, 0.1
SCALE_ROWS = 250  # rows that a start's scale is chosen by

Report = Callable[..., None]


class Start(NamedTuple):
    """Places from which training may begin, and the objective there."""

    name: str
    value: float
    X: Array


def choose_starts(
    Y: Array, settings: Settings, rng: np.random.Generator, report: Report
) -> tuple[ManifoldObjective, list[Start], Settings]:
    """The objective and its best starts, with the degree chosen where there is a choice.

    Before training the left-out error is not yet a training error, so it may choose.
    """
    embeddings = None
    if settings.places is None:
        tried = settings.starts
        embeddings = kept_embeddings(
            Y, settings.q, tried.names, rng, tried.n_neighborhoods, tried.memory
        )
    # The same rows for all degrees, so that their errors can be compared.
    looked_at = sample_rows(len(Y), SCALE_ROWS, rng)
    found = []
    for degree in settings.degrees:
        with_degree = replace(settings, smoother=replace(settings.smoother, degree=degree))
        objective = _make_objective(Y, with_degree)
        ranked = _rank_starts(embeddings, objective, with_degree, looked_at, report)
        found.append((ranked, with_degree))
    starts, settings = found[0]
    for others, with_degree in found[1:]:
        if others[0].value < CURVED_GAIN * starts[0].value:
            starts, settings = others, with_degree
    if settings.n_excluded is None:
        settings = replace(settings, n_excluded=AUTO_EXCLUDED[settings.smoother.degree])
    objective = _make_objective(Y, settings)
    if settings.places is None:
        starts = _with_rival(Y, starts, settings.starts.n_init, rng)
        starts = [Start(s.name, *refine_scale(objective, s.X)) for s in starts]
    return objective, starts, settings


def _make_objective(Y: Array, settings: Settings) -> ManifoldObjective:
    excluded = None
    n_excluded = 1 if settings.n_excluded is None else settings.n_excluded
    if n_excluded:
        own = np.arange(len(Y))[:, None]
        n_others = min(n_excluded - 1, len(Y) - settings.q - 2)
        excluded = own
        if n_others > 0:
            excluded = np.hstack([own, neighbor_table(Y, n_others)[1]])
    loss = settings.loss
    if isinstance(loss, Epsilon) or is_open(loss) or has_kink(loss):
        loss = Squared()
    return with_penalties(
        ManifoldObjective(Y, _training_smoother(settings), loss, excluded), settings
    )


def _training_smoother(settings: Settings) -> LocalSmoother:
    if settings.descent.method == "lbfgs" and settings.smoother.kernel.compact:
        return replace(settings.smoother, background=BACKGROUND)
    return settings.smoother


def with_penalties(objective: ManifoldObjective, settings: Settings) -> ManifoldObjective:
    """The objective with the penalties of the settings, in units of the error of the mean."""
    unit = objective.unit
    return replace(objective, penalties={k: unit * w for k, w in settings.penalties.items()})


def is_open(loss: ResidualLoss) -> bool:
    """Whether a length of the loss is still to be found from residuals."""
    lengths = [getattr(loss, name) for name in loss.lengths]
    return any(length is None or isinstance(length, str) for length in lengths)


def has_kink(loss: ResidualLoss) -> bool:
    """Whether the loss is minimised in smooth stages."""
    return len(loss.stages(1.0)) > 1


def _rank_starts(
    embeddings: list[tuple[str, Array]] | None,
    objective: ManifoldObjective,
    settings: Settings,
    looked_at: IntArray,
    report: Report,
) -> list[Start]:
    """The ``n_init`` starts with the lowest objective over a grid of scales, lowest first."""
    if embeddings is None:
        assert settings.places is not None
        return [Start("given", objective(settings.places)[0], settings.places)]
    found = []
    for name, Z in embeddings:
        value, X = best_scale(lambda places: objective.value(places, looked_at), Z)
        report(start=name, degree=settings.smoother.degree, objective=value)
        found.append(Start(name, value, X))
    found.sort(key=lambda start: start.value)
    return found


def _with_rival(
    Y: Array, ranked: list[Start], n_init: int, rng: np.random.Generator
) -> list[Start]:
    """The ``n_init`` best starts, and one more where the best may be a sheet that is still curled.

    A curled sheet reconstructs its rows as well as a flat one and is told from it by distances
    along the data. Where another start shows clearly more of them, and does not reconstruct much
    worse before training, it is trained too.
    """
    starts, others = ranked[:n_init], ranked[n_init:]
    others = [s for s in others if s.value <= RIVAL_VALUE * ranked[0].value]
    if n_init > 1 or not others:
        return starts
    geodesics = Geodesics(Y, rng)
    rival = max(others, key=lambda s: geodesics.agreement(s.X))
    gain = geodesics.agreement(rival.X) - geodesics.agreement(starts[0].X)
    return [*starts, rival] if gain > RIVAL_GAIN else starts
