"""From a start to a sheet: places and weights in turn or together, stiffness falling."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from isthmus.linalg.products import product
from isthmus.manifold.domain import Domain
from isthmus.manifold.projection import Search, best_ends
from isthmus.manifold.regularized.basis import Sheet, make_sheet
from isthmus.manifold.regularized.objective import Problem
from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array

BOX = Domain(-1.0, 1.0)
# Of the projections while a sheet is learned; every so many rounds all rows look for a better
# place from the best of this many latent points, too.
SEARCH, RETRY, N_PLACES = Search(n_init=1, max_iter=5, tol=1e-6), 5, 400
# Stiffness with which a sheet begins, and its factor from step to step.
FIRST = {"kernel": 1.0, "length": 0.1, "sparse": 0.3}
FACTOR, MOST_STEPS = 0.5, 24
# A sheet that unfolded places hold in shape needs no stiffness to begin with: each of fewer
# stiffnesses is tried from the start, for this many rounds.
EVERY, FEW_ROUNDS = 2, 2
# Steps of a joint descent at each stiffness but the last.
FEW_STEPS = 8


@dataclass
class State:
    """Places (n, q) of the rows, and the weights of the sheet that goes with them."""

    latent: Array
    weights: Array
    n_rounds: int = 0
    history: list[float] = field(default_factory=list)
    settled: bool = False


Step = Callable[[Problem, State, float], State]


def begin(problem: Problem, Z: Array, alpha: float) -> State:
    """The sheet that is regressed on given places."""
    return State(Z, problem.best_weights(Z, alpha))


def project_rows(sheet: Sheet, Y: Array, start: Array, *, retry: bool) -> Array:
    """Places no worse than ``start``; with ``retry`` also no worse than from the nearest image."""
    latent, error, _ = best_ends(sheet, Y, None, SEARCH, start)
    if retry:
        other, its_error, _ = best_ends(sheet, Y, None, SEARCH)
        better = its_error < error
        latent[better] = other[better]
    return latent


def two_step(problem: Problem, state: State, alpha: float) -> State:
    """Project the rows on the sheet, then fit the sheet to their places; E does not rise."""
    q = state.latent.shape[1]
    retry = state.n_rounds % RETRY == 0
    places = BOX.lattice(q, N_PLACES) if retry else state.latent[:1]
    sheet = make_sheet(problem.basis, state.weights, places)
    latent = project_rows(sheet, problem.rows, state.latent, retry=retry)
    weights = problem.best_weights(latent, alpha, state.weights)
    value = problem.value(latent, weights, alpha)
    return State(latent, weights, state.n_rounds + 1, [*state.history, value])


def joint_objective(problem: Problem, Z: Array, alpha: float) -> tuple[float, Array]:
    """E as a function of the places alone, the weights being the best there, and its gradient.

    The derivative by the weights is zero, so that the places count as if these were fixed.
    """
    W = problem.best_weights(Z, alpha)
    values, J = problem.basis.combine(Z, W, jacobian=True)
    assert J is not None
    gaps = values - problem.rows
    value = float(np.mean(np.sum(gaps**2, axis=1))) + alpha * problem.roughness(W)
    return value, 2.0 / len(Z) * np.einsum("ndq,nd->nq", J, gaps)


def joint_step(problem: Problem, state: State, alpha: float, max_iter: int = FEW_STEPS) -> State:
    """Move places and weights together, by a quasi-Newton descent in the box."""
    shape = state.latent.shape

    def objective(flat: Array) -> tuple[float, Array]:
        value, slope = joint_objective(problem, flat.reshape(shape), alpha)
        return value, slope.ravel()

    found = minimize_lbfgs(
        objective,
        state.latent.ravel(),
        bounds=[(-1.0, 1.0)] * state.latent.size,
        maxiter=max_iter,
        ftol=1e-12,
        gtol=1e-12,
    )
    latent = found.x.reshape(shape)
    weights = problem.best_weights(latent, alpha)
    history = [*state.history, float(found.fun)]
    return State(latent, weights, state.n_rounds + int(found.nit), history)


STEPS: dict[str, Step] = {"two-step": two_step, "joint": joint_step}


def sheets(
    problem: Problem, Z: Array, step: Step, *, unfolded: bool
) -> Iterator[tuple[float, State]]:
    """Sheets of all stiffnesses, the stiffest first.

    From a plane each begins with the one before, so that it unfolds. Where the places are
    ``unfolded`` a stiff sheet would only fold them again: each begins with the places.
    """
    every = stiffnesses(problem.regularizer)
    state = begin(problem, Z, float(every[0]))
    for alpha in every[::EVERY] if unfolded else every:
        if unfolded:
            state = begin(problem, Z, float(alpha))
        for _ in range(FEW_ROUNDS if unfolded else 1):
            state = step(problem, state, float(alpha))
        yield float(alpha), state


def reach(problem: Problem, Z: Array, step: Step, alpha: float, *, unfolded: bool) -> State:
    """The sheet at one stiffness, from a stiffer one by steps or from unfolded places."""
    every = stiffnesses(problem.regularizer)
    first = alpha if unfolded else max(alpha, float(every[0]))
    state = begin(problem, Z, first)
    if not unfolded:
        for stiff in every[every > alpha * (1 + 1e-9)]:
            state = step(problem, state, float(stiff))
    return step(problem, state, alpha)


def settle(
    problem: Problem, state: State, step: Step, alpha: float, *, max_iter: int, tol: float
) -> State:
    """Steps at one stiffness until E falls by less than ``tol``."""
    state.history = state.history[-1:]
    for _ in range(max_iter):
        before = state.history[-1]
        state = step(problem, state, alpha)
        if before - state.history[-1] <= tol:
            state.settled = True
            break
    return state


def stiffnesses(regularizer: str) -> Array:
    """The stiffnesses through which sheets soften."""
    return np.asarray(FIRST[regularizer] * FACTOR ** np.arange(MOST_STEPS))


def choose_stiffness(
    problem: Problem,
    Z: Array,
    step: Step,
    held_out: Array,
    *,
    unfolded: bool,
    tell: Callable[..., None] = lambda **_: None,
) -> tuple[float, float, list[dict[str, float]]]:
    """The stiffness at which the tube around the sheet that holds other rows is thinnest.

    Returns it, the criterion there, and one row of a history for each stiffness tried.
    """
    q = Z.shape[1]
    lattice = BOX.lattice(q, N_PLACES)
    others: Array = np.zeros((len(held_out), q))
    history: list[dict[str, float]] = []
    for alpha, state in sheets(problem, Z, step, unfolded=unfolded):
        sheet = make_sheet(problem.basis, state.weights, lattice)
        retry = unfolded or len(history) % 2 == 0
        others = project_rows(sheet, held_out, others, retry=retry)
        error = _error(sheet, others, held_out)
        history.append({"alpha": alpha, "held_out_error": error, "tube": tube(sheet, error)})
        tell(step=len(history), **history[-1])
        if error <= 1e-14:
            break
    best = min(history, key=lambda row: row["tube"])
    return best["alpha"], best["tube"], history


def _error(sheet: Sheet, Z: Array, Y: Array) -> float:
    gaps = product(sheet.basis(Z), sheet.weights) - Y
    return float(np.mean(np.sum(gaps**2, axis=1)))


def tube(sheet: Sheet, error: float) -> float:
    r"""The logarithm of the volume of a tube, :math:`\log V+\frac{d-q}2\log\sigma^2`.

    V is the mean of :math:`\sqrt{\det J^\top J}` over the box and :math:`\sigma^2` the squared
    distance of other rows in each direction across the sheet. It is minus the log likelihood of
    rows that are spread evenly over the sheet, with Gaussian noise across it. Their distance
    alone would favour sheets that wriggle through the noise.
    """
    d, q = sheet.images.shape[1], sheet.places.shape[1]
    least = np.log(max(error, 1e-30))
    if q >= d:
        return float(least)
    J = sheet.evaluate(sheet.places, jacobian=True).jacobian
    assert J is not None
    metric = np.einsum("ndq,ndr->nqr", J, J)
    volume = float(np.mean(np.sqrt(np.maximum(np.linalg.det(metric), 0.0))))
    return float(np.log(max(volume, 1e-30)) + 0.5 * (d - q) * (least - np.log(d - q)))
