"""Kernels, noises and representation of a twin process under given settings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from isthmus._checks import refusal
from isthmus._memory import require_memory
from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.width import median_distance
from isthmus.structured.twin.bridge import (
    TwinSides,
    exact_bridge,
    hsic_bridge,
)
from isthmus.structured.twin.landmarks import landmark_bridge
from isthmus.structured.twin.learner import leaves_kernels, untransformed
from isthmus.structured.twin.neighbors import NeighborBridge
from isthmus.structured.twin.recall import Recall
from isthmus.structured.twin.search import TwinSearch


def kernel_or_gaussian(slot: Any, scale: float | None = None) -> Kernel:
    """The kernel that was given, or a Gaussian whose width is a multiple of the median distance."""
    if slot is not None:
        return as_kernel(slot)
    return Gaussian() if scale is None else Gaussian(width_factor=scale)


def make_sides(
    model: Any, X: Any, Y: Any, settings: Mapping[str, Any], recall: Recall | None = None
) -> tuple[TwinSides, Any]:
    """Kernels and noise of both sides, and the learner where their transforms are learned.

    In a trial, what does not depend on the settings is recalled from one before, and nothing is
    learned where that would leave the kernels as they are.
    """
    trial, recall = recall is not None, recall or Recall()
    x_kernel = _resolved(model.x_kernel, settings.get("x_scale"), X, recall, "x")
    y_kernel = _resolved(model.y_kernel, settings.get("y_scale"), Y, recall, "y")
    learner = None
    degrees = {k: settings[k] for k in ("x_degree", "y_degree") if k in settings}
    if model.learner is not None and not (trial and leaves_kernels(model.learner, degrees)):
        learner = clone(model.learner).set_params(x_kernel=x_kernel, y_kernel=y_kernel, **degrees)
        learner.fit(X, Y)
        x_kernel, y_kernel = untransformed(learner.x_kernel_), untransformed(learner.y_kernel_)
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
    found = approximate_bridge(model, sides, X, Y)
    return exact_bridge(model.criterion, sides, X, Y) if found is None else found


def approximate_bridge(model: Any, sides: TwinSides, X: Any, Y: Any) -> Any:
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
