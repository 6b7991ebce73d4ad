"""Kernels, noises and representation of a twin process, from its parameters and its data."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from isthmus._checks import refusal
from isthmus._memory import require_memory
from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.width import median_distance
from isthmus.linalg.threads import threads_for
from isthmus.regression.selection import Selection, as_selection
from isthmus.structured.twin.bridge import (
    TwinSides,
    exact_bridge,
    factor_inputs,
    hsic_bridge,
    invert_outputs,
    landmark_bridge,
)
from isthmus.structured.twin.learner import degrees_of
from isthmus.structured.twin.neighbors import NeighborBridge
from isthmus.structured.twin.recall import Recall
from isthmus.structured.twin.search import TwinSearch, best_outputs, box_around
from isthmus.structured.twin.tuning import (
    NOISES,
    SCALES,
    Knob,
    most_likely_parameters,
    pattern_search,
)

# Where the choice begins, and what is taken without one: multiples of the median distance as
# widths, shares of the kernel's diagonal as noise.
START = {"x_scale": 1.0, "y_scale": 0.5, "alpha_x": 1e-2, "alpha_y": 1.0}
HSIC_START = {**START, "x_scale": 0.25, "y_scale": 0.25}
# Rough solutions are enough to compare settings.
ROUGH = TwinSearch(n_init=1, tol=1e-2, max_iter=30)
MAX_HELD_OUT = 150
N_FOLDS = 3
MAX_PAIRS = 500


def kernel_or_gaussian(slot: Any, scale: float | None = None) -> Kernel:
    """The kernel that was given, or a Gaussian whose width is a multiple of the median distance."""
    if slot is not None:
        return as_kernel(slot)
    return Gaussian() if scale is None else Gaussian(width_factor=scale)


def make_sides(
    model: Any, X: Any, Y: Any, settings: Mapping[str, Any], recall: Recall | None = None
) -> tuple[TwinSides, Any]:
    """Kernels and noise of both sides, and the learner where their transforms are learned.

    What does not depend on the settings is recalled from a trial before.
    """
    recall = recall or Recall()
    x_kernel = _resolved(model.x_kernel, settings.get("x_scale"), X, recall, "x")
    y_kernel = _resolved(model.y_kernel, settings.get("y_scale"), Y, recall, "y")
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
    return TwinSides(x_kernel, y_kernel, noises[0] or tiny, noises[1] or tiny), learner


def _resolved(slot: Any, scale: float | None, X: Any, recall: Recall, side: str) -> Kernel:
    if slot is None and scale is not None:
        middle = recall(f"median {side}", None, lambda: median_distance(X))
        return Gaussian(0.5 / (scale * middle) ** 2)
    resolved: Kernel = recall(
        f"kernel {side}", None, lambda: kernel_or_gaussian(slot, scale).resolve(X)
    )
    return resolved


def make_bridge(model: Any, sides: TwinSides, X: Any, Y: Any) -> Any:
    """All pairs, landmarks, or neighbours, as the parameters say."""
    found = _approximate_bridge(model, sides, X, Y)
    return exact_bridge(model.criterion, sides, X, Y) if found is None else found


def _trial_bridge(
    model: Any, sides: TwinSides, X: Any, Y: Any, settings: Mapping[str, Any], recall: Recall
) -> Any:
    """The bridge of one trial, with the side that it shares with the trial before."""
    found = _approximate_bridge(model, sides, X, Y)
    if found is not None:
        return found
    if model.learner is not None:  # whose transforms depend on both sides
        return exact_bridge(model.criterion, sides, X, Y)
    inputs = recall(
        "inputs",
        (settings.get("x_scale"), settings["alpha_x"]),
        lambda: factor_inputs(model.criterion, sides, X),
    )
    key = settings.get("y_scale"), settings["alpha_y"]
    Q = recall("outputs", key, lambda: invert_outputs(sides, Y))
    return exact_bridge(model.criterion, sides, X, Y, inputs, Q)


def _approximate_bridge(model: Any, sides: TwinSides, X: Any, Y: Any) -> Any:
    """A bridge that holds no Gram matrix of all pairs; None where the parameters ask for one."""
    n = n_objects(X)
    local = model.n_neighbors is not None and model.n_neighbors < n
    if local or model.criterion == "hsic":
        check_sample(sides.x_kernel, X, "the inputs")
        check_sample(sides.y_kernel, Y, "the outputs")
    if local:
        return NeighborBridge(sides, model.criterion, X, Y, model.n_neighbors)
    if model.criterion == "hsic":
        return hsic_bridge(sides, X, Y)
    landmarks_only = model.n_landmarks is not None and model.n_landmarks < n
    if not landmarks_only:
        # K, the inverse of G, and for the inverse criterion their products.
        require_memory(
            model,
            8.0 * n**2 * (5 if model.criterion == "inverse_kl" else 3),
            what=f"the Gram matrices of {n} pairs",
            avoid="Set n_landmarks or n_neighbors.",
        )
    if model.n_landmarks is not None and model.n_landmarks < n:
        landmarks = sample_rows(n, model.n_landmarks, check_random_state(model.random_state))
        return landmark_bridge(model.criterion, sides, X, Y, landmarks)
    return None


def as_twin_search(model: Any) -> TwinSearch:
    """The search that the parameter stands for, checked."""
    if model.search is None:
        return TwinSearch()
    if not isinstance(model.search, TwinSearch):
        raise TypeError(refusal(model, "search", "a TwinSearch or None", model.search))
    model.search.check()
    return model.search


def as_twin_selection(model: Any) -> Selection:
    """What the parameter ``cv`` stands for, checked."""
    folds = KFold(N_FOLDS, shuffle=True, random_state=0) if model.cv is None else model.cv
    return as_selection(folds, model, max_rows=MAX_PAIRS, random_state=model.random_state)


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
    selection = as_twin_selection(model)
    # In their order, so that folds in one piece keep sequences together.
    rng = check_random_state(selection.random_state)
    rows = sample_rows(n_objects(X), selection.max_rows, rng)
    X, Y = take(X, rows), take(Y, rows)
    if model.tune == "ml":
        return settings | _maximize_likelihood(model, X, Y, knobs), None
    folds = _make_folds(selection, X, Y)
    with threads_for(n_objects(X) ** 3 / 3):
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


class Fold(NamedTuple):
    """Known inputs and outputs, left-out ones, and what trials before found of the known."""

    X: Any
    Y: Any
    new: Any
    truth: Any
    recall: Recall


def _make_folds(selection: Selection, X: Any, Y: Any) -> list[Fold]:
    """The folds of the pairs, with at most a few left-out pairs each."""
    folds = []
    for known, left in selection.splits(n_objects(X)):
        left = left[:: -(-len(left) // MAX_HELD_OUT)]
        pairs = take(X, known), take(Y, known), take(X, left), take(Y, left)
        folds.append(Fold(*pairs, Recall()))
    return folds


def _held_out_error(
    model: Any, folds: list[Fold], candidates: Any, settings: Mapping[str, Any]
) -> float:
    """Mean absolute error of left-out vectors; share of other objects that is wrong."""
    errors, margin = [], as_twin_search(model).margin
    for X, Y, new, truth, recall in folds:
        try:
            sides, _ = make_sides(model, X, Y, settings, recall)
            bridge = _trial_bridge(model, sides, X, Y, settings, recall)
        except ValueError:
            return np.inf  # no process under these settings; where all fail, the last fit says why
        vectors = sides.y_kernel.vectors
        box = box_around(Y, margin) if vectors and candidates is None else None
        tried = Y if candidates is None else candidates
        guess = best_outputs(bridge, bridge.query(new), box, tried, ROUGH).outputs
        if vectors:
            errors.append(np.mean(np.abs(guess - truth)))
        else:
            errors.append(np.mean([a != b for a, b in zip(guess, truth, strict=True)]))
    return float(np.mean(errors))


def _maximize_likelihood(model: Any, X: Any, Y: Any, knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Width and noise of the inputs by marginal likelihood of the outputs."""
    x_kernel = kernel_or_gaussian(model.x_kernel).resolve(X)
    if not isinstance(x_kernel, Gaussian) or not kernel_or_gaussian(model.y_kernel).vectors:
        return {}
    gamma, noise = most_likely_parameters(
        X,
        Y,
        gamma=None if "x_scale" in knobs else x_kernel.gamma,
        noise=None if "alpha_x" in knobs else float(model.alpha_x),
    )
    scale = float(np.sqrt(Gaussian().resolve(X).gamma / gamma))
    found = {"x_scale": scale, "alpha_x": noise}
    return {name: value for name, value in found.items() if name in knobs}
