"""The choice of widths, noises and degrees that a twin process was not given."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.regression.selection import Selection, as_selection
from isthmus.structured.twin.learner import degrees_of
from isthmus.structured.twin.sides import kernel_or_gaussian
from isthmus.structured.twin.trials import Trials, make_folds
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
N_FOLDS = 3
MAX_PAIRS = 500


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
    trials = Trials(model, make_folds(selection, X, Y), candidates)
    chosen, error = pattern_search(lambda trial: trials.error(settings | dict(trial)), knobs)
    return settings | chosen, error


def _knobs(model: Any, begin: Mapping[str, float]) -> dict[str, Knob]:
    """What is left open, in the order in which it is tried.

    The noise of the outputs comes first: most data take much of it, with which every trial of the
    others is cheaper.
    """
    left = {
        "alpha_y": model.alpha_y is None and model.criterion != "hsic",
        "y_scale": model.y_kernel is None,
        "x_scale": model.x_kernel is None,
        "alpha_x": model.alpha_x is None and model.criterion != "hsic",
    }
    values = {"alpha_x": NOISES, "alpha_y": NOISES, "x_scale": SCALES, "y_scale": SCALES}
    knobs = {
        name: Knob(values[name], values[name].index(begin[name]))
        for name, is_open in left.items()
        if is_open
    }
    if model.learner is not None:
        for name in ("x_degree", "y_degree"):
            degrees = sorted(degrees_of(model.learner, name))
            if len(degrees) > 1:
                knobs[name] = Knob(degrees, 0)
    return knobs


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
