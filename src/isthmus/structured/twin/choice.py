"""Kernels, noises and representation of a twin process, from its parameters and its data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from isthmus._checks import check_int
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.structured.twin.bridge import Sides, exact_bridge, hsic_bridge, landmark_bridge
from isthmus.structured.twin.learner import degrees_of
from isthmus.structured.twin.neighbors import NeighborBridge
from isthmus.structured.twin.search import best_outputs, box_around
from isthmus.structured.twin.tuning import NOISES, SCALES, Knob, most_likely, pattern_search

# Where the choice begins, and what is taken without one: multiples of the median distance as
# widths, shares of the kernel's diagonal as noise.
START = {"x_scale": 1.0, "y_scale": 0.5, "alpha_x": 1e-2, "alpha_y": 1.0}
HSIC_START = {**START, "x_scale": 0.25, "y_scale": 0.25}
# Rough solutions are enough to tell settings apart.
ROUGH = {"n_restarts": 1, "tol": 1e-2, "max_iter": 30}
MAX_HELD_OUT = 150


def kernel_in(slot: Any, scale: float | None = None) -> Kernel:
    """The kernel that was given, or a Gaussian of so many median distances."""
    if slot is not None:
        return as_kernel(slot)
    return Gaussian() if scale is None else Gaussian(scale=scale)


def sides_of(model: Any, X: Any, Y: Any, settings: Mapping[str, Any]) -> tuple[Sides, Any]:
    """Kernels and noise of both sides, and the learner where their transforms are learned."""
    x_kernel = kernel_in(model.x_kernel, settings.get("x_scale")).resolve(X)
    y_kernel = kernel_in(model.y_kernel, settings.get("y_scale")).resolve(Y)
    learner = None
    if model.learner is not None:
        learner = clone(model.learner).set_params(x_kernel=x_kernel, y_kernel=y_kernel)
        degrees = {k: settings[k] for k in ("x_degree", "y_degree") if k in settings}
        learner.set_params(**degrees).fit(X, Y)
        x_kernel, y_kernel = learner.x_kernel_, learner.y_kernel_
    noises = (
        settings["alpha_x"] * float(np.mean(x_kernel.diag(X))),
        settings["alpha_y"] * float(np.mean(y_kernel.diag(Y))),
    )
    # A kernel that is zero on all data leaves nothing to scale by.
    tiny = float(np.finfo(np.float64).tiny)
    return Sides(x_kernel, y_kernel, noises[0] or tiny, noises[1] or tiny), learner


def bridge_of(model: Any, sides: Sides, X: Any, Y: Any) -> Any:
    """All pairs, landmarks, or neighbours, as the parameters say."""
    n = n_objects(X)
    if model.n_neighbors is not None and model.n_neighbors < n:
        return NeighborBridge(sides, model.criterion, X, Y, model.n_neighbors)
    if model.criterion == "hsic":
        return hsic_bridge(sides, X, Y)
    if model.n_landmarks is not None and model.n_landmarks < n:
        rng = check_random_state(model.random_state)
        landmarks = np.sort(rng.choice(n, model.n_landmarks, replace=False))
        return landmark_bridge(model.criterion, sides, X, Y, landmarks)
    return exact_bridge(model.criterion, sides, X, Y)


def choose_settings(
    model: Any, X: Any, Y: Any, candidates: Any
) -> tuple[dict[str, Any], float | None]:
    """Widths, noises and degrees, given or chosen, and the left-out error of the choice."""
    begin = HSIC_START if model.criterion == "hsic" else START
    given = {"alpha_x": model.alpha_x, "alpha_y": model.alpha_y}
    settings: dict[str, Any] = {
        name: begin[name] if value is None else float(value) for name, value in given.items()
    }
    knobs = _knobs(model, begin)
    for name, knob in knobs.items():
        settings[name] = knob.values[knob.start]
    if model.tune is None or not knobs or n_objects(X) < 4:
        return settings, None
    rows = np.arange(n_objects(X))
    if len(rows) > model.max_selection:
        rng = check_random_state(model.random_state)
        rows = np.sort(rng.choice(len(rows), model.max_selection, replace=False))
    X, Y = take(X, rows), take(Y, rows)
    if model.tune == "ml":
        return settings | _likely(model, X, Y, knobs), None
    folds = _folds(model, X, Y)
    chosen, error = pattern_search(
        lambda trial: _held_out_error(model, folds, candidates, settings | dict(trial)), knobs
    )
    return settings | chosen, error


def _knobs(model: Any, begin: Mapping[str, float]) -> dict[str, Knob]:
    """What is left open, the parameter that matters most first."""
    knobs = {}
    for name, slot in (("y_scale", model.y_kernel), ("x_scale", model.x_kernel)):
        if slot is None:
            knobs[name] = Knob(SCALES, SCALES.index(begin[name]))
    if model.criterion != "hsic":
        for name in ("alpha_x", "alpha_y"):
            if getattr(model, name) is None:
                knobs[name] = Knob(NOISES, NOISES.index(begin[name]))
    if model.learner is not None:
        for name in ("x_degree", "y_degree"):
            degrees = sorted(degrees_of(model.learner, name))
            if len(degrees) > 1:
                knobs[name] = Knob(degrees, 0)
    return knobs


def _folds(model: Any, X: Any, Y: Any) -> list[tuple[Any, Any, Any, Any]]:
    """Known inputs and outputs, left-out inputs and outputs, of every fold."""
    cv = model.cv
    if isinstance(cv, (int, np.integer)):
        check_int(model.cv, "cv", model, low=2)
        cv = KFold(min(int(cv), n_objects(X)), shuffle=True, random_state=0)
    folds = []
    for known, left in check_cv(cv).split(np.zeros(n_objects(X))):
        left = left[:: -(-len(left) // MAX_HELD_OUT)]
        folds.append((take(X, known), take(Y, known), take(X, left), take(Y, left)))
    return folds


def _held_out_error(
    model: Any, folds: list[Any], candidates: Any, settings: Mapping[str, Any]
) -> float:
    """Mean absolute error of left-out vectors; share of other objects that is wrong."""
    errors = []
    for X, Y, new, truth in folds:
        try:
            sides, _ = sides_of(model, X, Y, settings)
            bridge = bridge_of(model, sides, X, Y)
        except ValueError:
            return np.inf  # no process under these settings; where all fail, the last fit says why
        vectors = sides.y_kernel.vectors
        box = box_around(Y, model.margin) if vectors and candidates is None else None
        tried = Y if candidates is None else candidates
        guess = best_outputs(bridge, bridge.query(new), box, tried, **ROUGH).outputs
        if vectors:
            errors.append(np.mean(np.abs(guess - truth)))
        else:
            errors.append(np.mean([a != b for a, b in zip(guess, truth, strict=True)]))
    return float(np.mean(errors))


def _likely(model: Any, X: Any, Y: Any, knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Width and noise of the inputs by marginal likelihood of the outputs."""
    x_kernel = kernel_in(model.x_kernel).resolve(X)
    if not isinstance(x_kernel, Gaussian) or not kernel_in(model.y_kernel).vectors:
        return {}
    gamma, noise = most_likely(
        X,
        Y,
        gamma=None if "x_scale" in knobs else x_kernel.gamma,
        noise=None if "alpha_x" in knobs else model.alpha_x,
    )
    scale = float(np.sqrt(Gaussian().resolve(X).gamma / gamma))
    found = {"x_scale": scale, "alpha_x": noise}
    return {name: value for name, value in found.items() if name in knobs}
