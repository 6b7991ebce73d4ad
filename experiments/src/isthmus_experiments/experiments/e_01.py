"""E-01: descent along geodesics against steps that are projected back."""

from typing import NamedTuple

import numpy as np

from isthmus.optimize import FixedRank
from isthmus.plotting import curves
from isthmus.regression import StiefelRegression
from isthmus.regression.rank.stiefel.published import geodesic_descent, squared_objective
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

SIZE, RANK, N_POINTS, STEPS = 3, 2, 100, 50
GEODESIC = "geodesics"
# Step lengths of the back-projection, in units of one over the largest eigenvalue of X'X.
LENGTHS = {
    "back-projection, short": 0.05,
    "back-projection, right": 1.0,
    "back-projection, long": 1.9,
}
METHODS = (GEODESIC, *LENGTHS)


class Path(NamedTuple):
    """Squared errors and output directions V (3, 2) on the way."""

    errors: np.ndarray
    V: np.ndarray

    def turns(self):
        """Angle in degrees by which the direction that moves most has moved, step by step."""
        # Not in the first step: equal strengths at the start have no directions of their own.
        # The sign of a singular vector is free.
        cosines = np.abs(np.einsum("tij,tij->tj", self.V[2:], self.V[1:-1]))
        return np.degrees(np.arccos(np.clip(cosines, 0, 1))).max(axis=1)


@experiment(
    "E-01",
    document="[000] 2.4.2, figures 2.1 and 2.2",
    title="Descent along geodesics of the Stiefel manifold against back-projection",
    published=(
        "A random map of rank 2 in three dimensions. Along geodesics the columns of V and W move "
        "continuously on the sphere and the error falls steadily; a gradient step followed by "
        "truncation to rank 2 jumps, oscillates and is slower. Pictures only; the step length of "
        "the latter and the number of points are not stated."
    ),
    covers=[
        Covers("000 figure 2.1", way="claim"),
        Covers("000 figure 2.2", way="claim"),
    ],
    in_short=(
        "back-projection with a well chosen step converges faster; whether directions jump "
        "depends on the step, not on the way"
    ),
    quick={"n_draws": 5},
    full={"n_draws": 100},
)
def stiefel_path(settings, seed, progress):
    n = settings["n_draws"]
    found = {name: [] for name in METHODS}
    steps_of_ours = []
    for i in range(n):
        progress(i / n, f"draw {i + 1} of {n}")
        X, Y = _problem(np.random.default_rng([seed, i]))
        found[GEODESIC].append(_geodesic_path(X, Y))
        for name, length in LENGTHS.items():
            found[name].append(_projected_path(X, Y, length))
        ours = StiefelRegression(
            RANK, alpha=0.0, solver="riemannian", init="identity", fit_intercept=False, tol=1e-8
        )
        steps_of_ours.append(ours.fit(X, Y).n_iter_)
    ends = {name: np.array([p.errors[-1] for p in paths]) for name, paths in found.items()}
    turns = {name: np.array([p.turns().max() for p in paths]) for name, paths in found.items()}
    falls = {
        name: sum(bool(np.all(np.diff(p.errors) <= 1e-12 * p.errors[0])) for p in paths)
        for name, paths in found.items()
    }
    return Outcome(
        [
            Row(
                "draws in which the error never rises",
                "always along geodesics",
                ", ".join(f"{name} {falls[name]} of {n}" for name in METHODS),
                "never along geodesics"
                + (", but by no other way either" if min(falls.values()) == n else "")
                if falls[GEODESIC] == n
                else "it rises along geodesics",
                falls[GEODESIC] == n,
            ),
            _turn_row(turns),
            *(_end_row(name, ends, length) for name, length in LENGTHS.items()),
            Row(
                "steps of our solver from the same start to optimality 1e-8",
                None,
                f"median {np.median(steps_of_ours):.0f}, most {max(steps_of_ours)}",
                "quasi-Newton steps on matrices of fixed rank; the closed form needs none at all",
            ),
        ],
        [
            Picture(
                "paths",
                "First draw: squared error, and the angle by which a direction turns in a step.",
                lambda: _figure({name: paths[0] for name, paths in found.items()}),
            )
        ],
        [
            f"{N_POINTS} points without noise; all begin with the rectangular identity and take "
            f"{STEPS} steps. Geodesic steps backtrack (Armijo) from twice the last length.",
            "The document's step length is unknown. Its claim holds against a short step; with "
            "one over the largest eigenvalue back-projection is a sound method, and the faster "
            "one. Neither is needed for the squared loss, which has a closed form.",
        ],
    )


def _problem(rng):
    X = rng.normal(size=(N_POINTS, SIZE))
    F = rng.normal(size=(SIZE, RANK)) @ rng.normal(size=(RANK, SIZE))
    return X, X @ F.T


def _geodesic_path(X, Y):
    objective = squared_objective(X.T @ X, Y.T @ X, float(np.sum(Y**2)), 0.0)
    seen = {}

    def recorded(point):
        gradients = objective(point)
        seen[gradients.value] = point.V
        return gradients

    start = FixedRank(np.eye(SIZE, RANK), np.ones(RANK), np.eye(SIZE, RANK), np.zeros(SIZE))
    _, values, _ = geodesic_descent(recorded, start, max_iter=STEPS)
    return Path(np.array(values), np.array([seen[value] for value in values]))


def _projected_path(X, Y, length):
    """Gradient steps on the whole map, each followed by truncation to the rank."""
    S_xx, S_yx = X.T @ X, Y.T @ X
    eta = length / np.linalg.eigvalsh(S_xx)[-1]
    F = np.eye(SIZE, RANK) @ np.eye(RANK, SIZE)
    errors, directions = [np.sum((Y - X @ F.T) ** 2)], [np.eye(SIZE, RANK)]
    for _ in range(STEPS):
        U, s, Wt = np.linalg.svd(F - eta * (F @ S_xx - S_yx))
        F = (U[:, :RANK] * s[:RANK]) @ Wt[:RANK]
        errors.append(np.sum((Y - X @ F.T) ** 2))
        directions.append(U[:, :RANK])
    return Path(np.array(errors), np.array(directions))


def _turn_row(turns):
    median = {name: float(np.median(angles)) for name, angles in turns.items()}
    smooth = median[GEODESIC] < min(median[name] for name in LENGTHS)
    return Row(
        "largest turn of a direction in one step, degrees (median over draws)",
        "continuous curves against jumps",
        ", ".join(f"{name} {median[name]:.0f}" for name in METHODS),
        "geodesics move the directions least"
        if smooth
        else "how far a direction turns depends on the step length and not on the way: "
        "back-projection jumps with a long step and creeps with a short one, and between two "
        "points of the path the geodesic is a curve only because it is drawn as one",
        smooth,
    )


def _end_row(name, ends, length):
    theirs, ours = ends[name], ends[GEODESIC]
    won = int(np.sum(ours < theirs))
    better = won > len(ours) / 2
    return Row(
        f"error after {STEPS} steps, {GEODESIC} and {name} ({length:g} / largest eigenvalue)",
        "geodesics lower",
        f"medians {np.median(ours):.2g} and {np.median(theirs):.2g}",
        f"geodesics are lower in {won} of {len(ours)} draws"
        + ("" if better else ": the claim does not hold against a well chosen step"),
        better,
    )


def _figure(paths):
    floor = 1e-30  # exact zeros have no logarithm
    errors = {name: (np.arange(len(p.errors)), p.errors + floor) for name, p in paths.items()}
    turns = {name: (np.arange(2, len(p.V)), p.turns() + 1e-6) for name, p in paths.items()}
    return curves({"squared error": errors, "largest turn, degrees": turns}, xlabel="step", log="y")
