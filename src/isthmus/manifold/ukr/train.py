"""Training: the objective with its penalties, two solvers, homotopy, tubes, landmarks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import optimize

from isthmus.manifold.ukr.density import (
    density_functional,
    density_variance,
    log_barrier,
    log_density,
)
from isthmus.manifold.ukr.losses import Loss, squared_loss, tube_loss
from isthmus.manifold.ukr.objective import reconstruction_error
from isthmus.smoothers.local_polynomial import LocalPolynomial
from isthmus.smoothers.pairs import near_pairs
from isthmus.typing import Array, IntArray

Objective: TypeAlias = Callable[[Array], tuple[float, Array]]
# value of the objective, places after a step → whether to stop
Watch: TypeAlias = Callable[[float, Array], bool]

DENSITIES = {"density": log_density, "density_variance": density_variance}
PENALTIES = ("extension", *DENSITIES)
# What a stage of a homotopy may say beside penalties.
RULES = ("box", "floor", "max_iter")
SMALL = 0.05  # share of the first objective below which a fall is measured by that share
PATIENCE = 10  # steps over which the objective must have fallen by the tolerance
EXACT = 1e-12  # of SciPy's own rules, which the rule above comes before
WALL = 1e6  # what L-BFGS sees behind a barrier, in units of its first value
RPROP_FIRST, RPROP_LEAST, RPROP_MOST = 0.01, 1e-6, 50.0


@dataclass(frozen=True)
class Problem:
    """What is to be reconstructed, and how: all that an objective needs but the places.

    With landmarks (``outputs`` given) the places are those of the ``N`` rows followed by those
    of the landmarks; without, the rows are their own centres. A ``barrier`` is a floor of the
    latent density and the weight of its logarithmic wall.
    """

    targets: Array
    smoother: LocalPolynomial
    loss: Loss = squared_loss
    excluded: IntArray | None = None
    outputs: Array | None = None
    penalties: Mapping[str, float] | None = None
    barrier: tuple[float, float] | None = None

    def __call__(self, X: Array) -> tuple[float, Array]:
        """Objective at the places ``X`` and its gradient."""
        N, kernel = len(self.targets), self.smoother.kernel
        points, centres = X[:N], X if self.outputs is None else X[N:]
        outputs = self.targets if self.outputs is None else self.outputs
        pairs = near_pairs(points, centres, kernel.support)
        error = reconstruction_error(
            points,
            centres,
            self.targets,
            outputs,
            self.smoother,
            self.loss,
            excluded=self.excluded,
            pairs=pairs,
        )
        value, gradient = error.value, self._joined(error.by_point, error.by_centre)
        for name, weight in (self.penalties or {}).items():
            if name == "extension":
                value += weight / N * float(np.sum(X**2))
                gradient += 2.0 * weight / N * X
            else:
                part, by_point, by_centre = density_functional(
                    points, centres, kernel, DENSITIES[name], pairs
                )
                value += weight * part
                gradient += weight * self._joined(by_point, by_centre)
        if self.barrier is not None:
            floor, weight = self.barrier
            part, by_point, by_centre = density_functional(
                points, centres, kernel, log_barrier(floor), pairs
            )
            value += weight * part
            gradient += weight * self._joined(by_point, by_centre)
        return value, gradient

    def value(self, X: Array, rows: IntArray) -> float:
        """The objective at some of the rows only, for a quick look at the places ``X``."""
        centres = X if self.outputs is None else X[len(self.targets) :]
        outputs = self.targets if self.outputs is None else self.outputs
        points, kernel = X[rows], self.smoother.kernel
        value = reconstruction_error(
            points,
            centres,
            self.targets[rows],
            outputs,
            self.smoother,
            self.loss,
            excluded=None if self.excluded is None else self.excluded[rows],
        ).value
        for name, weight in (self.penalties or {}).items():
            if name == "extension":
                value += weight * float(np.mean(np.sum(points**2, axis=1)))
            else:
                value += weight * density_functional(points, centres, kernel, DENSITIES[name])[0]
        return value

    def _joined(self, by_point: Array, by_centre: Array) -> Array:
        return by_point + by_centre if self.outputs is None else np.vstack([by_point, by_centre])


class Trained(NamedTuple):
    """Places found, the objective there, its course, whether it had settled, RPROP's steps."""

    X: Array
    value: float
    curve: list[float]
    settled: bool
    step: Array | None = None


def lbfgs(
    objective: Objective,
    X: Array,
    *,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
    box: float | None = None,
) -> Trained:
    """Limited-memory BFGS until ten steps bring less than ``tol`` of the objective."""
    curve = [objective(X)[0]]
    settled = False
    # In units of the first value, so that it does not matter what the data are measured in; a
    # power of two, so that the division rounds nothing.
    unit = 2.0 ** np.floor(np.log2(abs(curve[0]) or 1.0))

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = objective(x.reshape(X.shape))
        # A line search shortens its step at a high value, but cannot compute with an infinite one.
        return (value / unit if np.isfinite(value) else WALL), gradient.ravel() / unit

    def callback(intermediate_result: Any) -> None:
        nonlocal settled
        curve.append(unit * float(intermediate_result.fun))
        settled = _flat(curve, tol)
        if watch is not None and watch(curve[-1], intermediate_result.x.reshape(X.shape)):
            settled = True
        if settled:
            raise StopIteration

    x, left = X.ravel(), max_iter
    while True:
        done_before, fun_before = len(curve), curve[-1]
        found = optimize.minimize(
            flat,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=None if box is None else [(-box, box)] * X.size,
            callback=callback,
            options={
                "maxiter": left,
                "maxfun": 4 * left + 20,
                "maxcor": 10,
                "ftol": EXACT,
                "gtol": EXACT,
            },
        )
        x, left = found.x, left - (len(curve) - done_before)
        # Compact kernels have kinks in their slope that a line search can fail at (status 2):
        # forgetting the curvature helps, as long as it brings something.
        if found.status != 2 or settled or left <= 0:
            break
        if len(curve) == done_before or fun_before - curve[-1] <= tol * abs(curve[-1]):
            break
    ended = settled or found.status in (0, 2)
    if found.fun >= WALL:  # it ran out of evaluations in the middle of a line search
        return Trained(X, curve[0], curve, settled=False)
    return Trained(x.reshape(X.shape), unit * float(found.fun), curve, ended)


def rprop(
    objective: Objective,
    X: Array,
    *,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
    box: float | None = None,
    step: Array | None = None,
) -> Trained:
    """Plain RPROP: a step of its own for each coordinate, by the signs of successive slopes.

    Steps grow by 1.2 while the sign stays and halve where it changes, without going back. The
    best places seen are returned. Where the objective is infinite, the step is taken again by
    half. ``step`` goes on with the steps of an earlier run.
    """
    step = np.full(X.shape, RPROP_FIRST) if step is None else step.copy()
    before: Array = np.zeros(X.shape)
    curve: list[float] = []
    best, last, lowest, settled = X, X, np.inf, False
    for _ in range(max_iter):
        value, gradient = objective(X)
        if not np.isfinite(value):
            step = np.maximum(0.5 * step, RPROP_LEAST)
            X = _boxed(last - np.sign(before) * step, box)
            continue
        last = X
        curve.append(value)
        if value < lowest:
            best, lowest = X, value
        settled = step.max() < RPROP_LEAST * 1.5 or (tol > 0 and _flat(curve, tol))
        if (watch is not None and watch(value, X)) or settled:
            settled = True
            break
        turn = gradient * before
        step[turn > 0] = np.minimum(1.2 * step[turn > 0], RPROP_MOST)
        step[turn < 0] = np.maximum(0.5 * step[turn < 0], RPROP_LEAST)
        X = X - np.sign(gradient) * step
        before = gradient
        if box is not None:
            step[np.abs(X) > box] = RPROP_LEAST
            X = _boxed(X, box)
    return Trained(best, lowest, curve, settled, step)


def _boxed(X: Array, box: float | None) -> Array:
    return X if box is None else np.clip(X, -box, box)


def _flat(curve: Sequence[float], tol: float) -> bool:
    if len(curve) <= PATIENCE:
        return False
    # Few rows can be fitted almost without error, and then it falls by large shares for ever.
    size = max(abs(curve[-1]), SMALL * abs(curve[0]))
    return bool(curve[-1 - PATIENCE] - min(curve[-PATIENCE:]) <= tol * size)


SOLVERS = {"lbfgs": lbfgs, "rprop": rprop}


def train(
    problem: Problem,
    X: Array,
    stages: Sequence[Mapping[str, float]],
    *,
    solver: str,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
) -> Trained:
    """Minimise through a homotopy: each stage has penalties of its own and starts where the
    last one ended; then the problem itself. A stage may hold the places in a ``box``, keep
    every latent density above a ``floor``, and have a ``max_iter`` of its own.
    """
    from isthmus.manifold.ukr.barrier import train_above

    minimise = SOLVERS[solver]
    curve: list[float] = []
    for stage in stages:
        penalties = {name: weight for name, weight in stage.items() if name not in RULES}
        box, steps = stage.get("box"), int(stage.get("max_iter", max_iter))
        X = _boxed(X, box)
        eased = replace(problem, penalties={**(problem.penalties or {}), **penalties})
        if "floor" in stage:
            done = train_above(
                eased, X, stage["floor"], solver=solver, max_iter=steps, tol=tol, box=box
            )
        else:
            done = minimise(eased, X, max_iter=steps, tol=tol, box=box)
        X, curve = done.X, curve + done.curve
    done = minimise(problem, X, max_iter=max_iter, tol=tol, watch=watch)
    return done._replace(curve=curve + done.curve)


def tighten(problem: Problem, X: Array, epsilon: float, shape: str, *, max_iter: int) -> Trained:
    r"""The smoothest manifold through tubes: least :math:`\|X\|^2` with no loss outside them.

    Every row gets the tolerance :math:`\varepsilon_i=\max(\|r_i\|,\varepsilon)` of its residual
    without cross-validation (the ball; by component for the cube), so that ``X`` is feasible.
    Then :math:`\|X\|^2/\|X_0\|^2+\lambda R/R_0` is minimised for
    :math:`\lambda=10^3,10^5,\dots,10^{11}` by RPROP, which needs only the signs of the slopes;
    :math:`R_0` is the error of the mean. The
    printed path, :math:`\lambda=10^2,\dots,10^{16}` without units, begins so weak that a spiral's
    places all shrink to one before the tubes are felt, and its windings do not come apart again.
    """
    full = replace(problem, excluded=None, penalties=None)
    R = full_residuals(full, X)
    size = np.linalg.norm(R, axis=1) if shape == "ball" else np.abs(R)
    tube = replace(full, loss=tube_loss(np.maximum(size, epsilon), shape))
    curve: list[float] = []
    X = X - X.mean(axis=0)
    unit = float(np.sum(X**2) / np.mean(np.sum(problem.targets**2, axis=1)))
    for power in range(3, 12, 2):
        strength = unit * 10.0**power

        def objective(places: Array, strength: float = strength) -> tuple[float, Array]:
            value, slope = tube(places)
            return float(np.sum(places**2)) / strength + value, 2.0 * places / strength + slope

        done = rprop(objective, X, max_iter=max_iter, tol=0.0)
        X = done.X
        curve += done.curve
    return Trained(X, done.value, curve, True)


def automatic_epsilon(problem: Problem, X: Array, shape: str) -> float:
    """A tolerance slightly below the range of the noise: 0.7 of nearly the largest residuals.

    Residuals of left-out rows are taken; of a trained manifold they are rather too small.
    """
    Y = problem.targets
    found = reconstruction_error(
        X, X, Y, Y, problem.smoother, squared_loss, excluded=problem.excluded
    )
    R = found.fitted - Y
    size = np.linalg.norm(R, axis=1) if shape == "ball" else np.abs(R)
    return 0.7 * float(np.quantile(size, 0.95))


def full_residuals(problem: Problem, X: Array) -> Array:
    """Residuals of all rows, each helping to reconstruct itself."""
    error = reconstruction_error(
        X, X, problem.targets, problem.targets, problem.smoother, squared_loss
    )
    return error.fitted - problem.targets
