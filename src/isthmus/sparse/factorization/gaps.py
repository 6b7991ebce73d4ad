"""Tables with gaps: the penalty that known entries support, by errors of those left out.

Where entries are many for each parameter, these errors follow from one fit and its leverages. Else
some entries are hidden.

Without a penalty nothing bounds what is not seen. A row with few known entries, or a component
that leans on one column, is then explained a little better by loadings that run away.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from isthmus.linalg.threads import threads_for
from isthmus.sparse.factorization.divergence import Divergence
from isthmus.sparse.factorization.drivers import TINY, Factors
from isthmus.sparse.factorization.masked import Masked
from isthmus.sparse.factorization.options import (
    Sparsity,
    beta_of,
    n_components_of,
    scaled_penalties,
    starts,
)
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.solving import descent_of
from isthmus.sparse.factorization.starts import balance
from isthmus.sparse.factorization.tables import FactorizationTable

# Strengths relative to the mean curvature of the loss, from heavy to none.
SHARES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001, 0.0)
# Of tables with fewer known entries than this no choice is made: a weak penalty is taken.
FEW, FEW_SHARE = 100, 1e-4
# A tenth of the known entries is hidden, several times until so many have been.
HIDDEN_SHARE, ENOUGH_HIDDEN, MAX_ROUNDS = 0.1, 1000, 5
# A round ends after so many strengths without a lower error.
PATIENCE = 3
# Known entries from which, and for each parameter, errors of those left out follow from leverages
# (on planted tables of six sizes no higher than by hiding; with fewer of them they were), and known
# entries of every row and column, for each component: what is fitted exactly has no error.
LEAST_LEVERED, PER_PARAMETER, PER_COMPONENT = 2000, 3, 2
# The choice is made on so many rows, and more where a column would have fewer entries than 50.
MAX_ROWS, MIN_PER_COLUMN = 300, 50
# How a stage of a path ends, from which the next one starts: where a step gains no more than a
# share of the loss (chosen on planted tables of seven sizes and kinds: half of the steps that an
# optimality of 1e-3 took, the same errors), and for divergences, whose loss is a pass of its own,
# by optimality.
BY_GAIN = {"tol": 0.0, "max_iter": 15, "least_gain": 3e-3}
BY_OPTIMALITY = {"tol": 1e-3, "max_iter": 10}
# Steps of a stage that leverages judge: more of them left errors on planted tables as they were.
BRIEFLY = BY_GAIN | {"max_iter": 3}

Penalties = tuple[Penalty, Penalty]
FREE: Penalties = (Penalty(), Penalty())


class GapChoice(NamedTuple):
    """Strengths and penalties of a descent in stages, of which the last one stays.

    Empty where nothing is chosen: without gaps, or where penalties are given. ``reached`` are
    factors at the last of them, where the choice has passed there.
    """

    stages: list[tuple[float, Penalties]]
    reached: Factors | None = None


@threads_for(0)  # products that are too short for a second thread
def choose_by_gaps(
    owner: Any, table: FactorizationTable, solver: str, sparsity: Sparsity
) -> GapChoice:
    """The penalty that known entries support, and the way there."""
    automatic = isinstance(owner.alpha_W, str) and isinstance(owner.alpha_H, str)
    chosen = automatic and sparsity is None and owner.fixed is None
    if table.mask is None or not chosen or table.mean <= 0:
        return GapChoice([])
    if table.n_known < FEW:
        return GapChoice(_stages(owner, table, [s for s in SHARES if s >= FEW_SHARE]))
    problem = table.problem(beta_of(owner), solver, FREE, type(owner).__name__, _rank(owner, table))
    if isinstance(problem, Masked) and _is_well_determined(owner, table):
        return _choose_by_leverages(owner, table, problem, solver)
    rng = np.random.default_rng(check_random_state(owner.random_state).randint(2**31 - 1))
    part = _some_rows(owner, table, rng)
    best, reached = _best_stage(owner, part, solver, rng)
    # Factors of nine tenths of the entries are near to those of all; other starts go all the way.
    usable = part is table and owner.n_init == 1
    return GapChoice(_stages(owner, table, list(SHARES[: 1 + best])), reached if usable else None)


@threads_for(0)  # products that are too short for a second thread
def end_of_stages(problem: Any, start: Factors, solver: str, path: list[Penalties]) -> Factors:
    """Where a descent through a path of penalties ends; the start, if there is none."""
    found = [start, *(factors for _, factors in _follow(problem, start, solver, path))]
    return _revived(found[-1], start)


def _follow(
    problem: Any,
    start: Factors,
    solver: str,
    path: list[Penalties],
    end: dict[str, Any] | None = None,
) -> Iterator[tuple[Any, Factors]]:
    """The problem and factors of each stage of a path, each from where the last one ended."""
    first = start
    if end is None:
        end = BY_OPTIMALITY if isinstance(problem, Divergence) else BY_GAIN
    for penalties in path:
        stage = replace(problem, penalties=penalties)
        course = descent_of(solver)(
            stage,
            _revived(balance(start, penalties), first),
            **end,
        )
        start = course.factors
        yield stage, start


def _revived(now: Factors, first: Factors) -> Factors:
    """Components that a heavier penalty has put out, which no step would light again.

    Their rows of V are as at first. Those of W stay zero: the fit is the same.
    """
    out = ~(now.W.any(axis=0) & now.V.any(axis=0))
    return Factors(np.where(out, 0.0, now.W), np.where(out, first.V, now.V))


def _is_well_determined(owner: Any, table: FactorizationTable) -> bool:
    (n, d), k = table.values.shape, _rank(owner, table)
    if table.n_known < max(LEAST_LEVERED, PER_PARAMETER * k * (n + d)):
        return False
    return all(table.mask.sum(axis=axis).min() >= PER_COMPONENT * k for axis in (0, 1))


def _choose_by_leverages(
    owner: Any, table: FactorizationTable, problem: Masked, solver: str
) -> GapChoice:
    """The strength from which a lighter one has the larger errors of entries left out."""
    stages = _stages(owner, table, list(SHARES))
    path = [penalties for _, penalties in stages]
    first = starts(owner, table, solver, path[0])[0]
    best, least = first, np.inf
    n_best = 0
    course = _follow(problem, first, solver, path, BRIEFLY)
    for stage, (judge, factors) in enumerate(course, start=1):
        error = judge.left_out_error(factors)
        if error >= least:
            break
        best, least, n_best = factors, error, stage
    return GapChoice(stages[: max(n_best, 1)], best if owner.n_init == 1 else None)


def _rank(owner: Any, table: FactorizationTable) -> int:
    return n_components_of(owner, table.values.shape)


def _stages(
    owner: Any, table: FactorizationTable, shares: list[float]
) -> list[tuple[float, Penalties]]:
    """Strengths in the units of the loss, and what they give."""
    n, d = table.values.shape
    unit = table.n_known / (n * d) * table.mean ** (beta_of(owner) - 1)
    unit /= n_components_of(owner, (n, d))
    strengths = [share * unit for share in shares]
    return [(alpha, scaled_penalties(owner, n, d, alpha)) for alpha in strengths]


def _some_rows(
    owner: Any, table: FactorizationTable, rng: np.random.Generator
) -> FactorizationTable:
    n, d = table.values.shape
    k = n_components_of(owner, (n, d))
    n_rows = max(MAX_ROWS, k, int(np.ceil(MIN_PER_COLUMN * n * d / table.n_known)))
    if n_rows >= n or not isinstance(owner.init, str):
        return table
    return table.take(np.sort(rng.choice(n, n_rows, replace=False)))


def _best_stage(
    owner: Any, table: FactorizationTable, solver: str, rng: np.random.Generator
) -> tuple[int, Factors | None]:
    """The number of the strength with the least loss of hidden entries, and factors there.

    Rounds are joined by their geometric mean: one entry that ran away decides no more than one.
    """
    n_rounds = int(np.ceil(ENOUGH_HIDDEN / (HIDDEN_SHARE * table.n_known)))
    total = np.zeros(len(SHARES))
    reached: list[Factors] = []
    for _ in range(min(max(n_rounds, 1), MAX_ROUNDS)):
        kept, hidden = table.split(rng, HIDDEN_SHARE)
        losses, reached = _hidden_losses(owner, kept, hidden, solver)
        total += np.log(np.maximum(losses, TINY))
    best = int(np.argmin(total))
    return best, reached[best] if best < len(reached) else None


def _hidden_losses(
    owner: Any, kept: FactorizationTable, hidden: FactorizationTable, solver: str
) -> tuple[np.ndarray, list[Factors]]:
    """Losses of the hidden entries along the path, infinite after its end, and the factors."""
    name, beta, k = type(owner).__name__, beta_of(owner), _rank(owner, kept)
    problem, judge = (part.problem(beta, solver, FREE, name, k) for part in (kept, hidden))
    path = [penalties for _, penalties in _stages(owner, kept, list(SHARES))]
    losses = np.full(len(SHARES), np.inf)
    reached: list[Factors] = []
    first = starts(owner, kept, solver, path[0])[0]
    for stage, (_, factors) in enumerate(_follow(problem, first, solver, path)):
        reached.append(factors)
        losses[stage] = judge.loss(factors)
        if stage - int(np.argmin(losses)) >= PATIENCE:
            break
    return losses, reached
