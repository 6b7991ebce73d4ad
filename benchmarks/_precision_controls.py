"""Why some answers are worse in single precision: the same with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks._precision_cases import SETTINGS, Rows, error_of_features, error_of_labels, missed
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.manifold import ManifoldClassifier
from isthmus.preimage import (
    AnalyticPreimage,
    FixedPointPreimage,
    GradientPreimage,
    NeighborPreimage,
)

N_MOVED = 10
EPS = float(np.finfo(np.float32).eps)


class Control(NamedTuple):
    """What was changed, and the errors in double and in single precision and of the control."""

    name: str
    changed: str
    errors: tuple[str, str, str]


def controls() -> Iterator[Control]:
    """One for each estimator that single precision makes noticeably worse."""
    many, few = Rows.of_a_sheet(400), Rows.of_a_sheet(120)
    yield _fewer_axes(many)
    for make in (AnalyticPreimage, FixedPointPreimage, GradientPreimage, NeighborPreimage):
        yield _double_features(make, many)
    yield _moved_rows(few)


def _fewer_axes(rows: Rows) -> Control:
    """Double precision, with as many axes as single precision has kept."""
    single = KernelPCA().fit(rows.X)
    axes = single.n_components_
    X, new = rows.X.astype(np.float64), rows.new.astype(np.float64)
    double = KernelPCA().fit(X)
    cut = KernelPCA(axes).fit(X)
    told = [
        error_of_features(model.transform(one), model.transform(other), rows)
        for model, one, other in ((double, X, new), (single, rows.X, rows.new), (cut, X, new))
    ]
    changed = f"double precision with {axes} of its {double.n_components_} axes"
    return Control("KernelPCA", changed, _told(told))


def _double_features(make: Callable[..., Any], rows: Rows) -> Control:
    """A pre-image in single precision of coordinates from double precision."""
    kernel = "linear" if make is AnalyticPreimage else Gaussian(0.5)
    told = []
    for of_features, of_preimage in ((64, 64), (32, 32), (64, 32)):
        X, new = (part.astype(f"float{of_features}") for part in rows[:2])
        features = KernelPCA(kernel=kernel).fit(X)
        settings = {"random_state": 0} if "random_state" in make().get_params() else {}
        model = make(**settings).fit(rows.X.astype(f"float{of_preimage}"), features)
        coordinates = features.transform(new).astype(f"float{of_preimage}")
        told.append(missed(model.solve(coordinates), rows.new.astype(np.float64)))
    return Control(make.__name__, "its KernelPCA in double precision", _told(told))


def _moved_rows(rows: Rows) -> Control:
    """Double precision on rows that are moved by as much as rounding moves them."""
    settings = SETTINGS["ManifoldClassifier"]
    rng = np.random.default_rng(0)

    def error(X: np.ndarray, new: np.ndarray) -> float:
        return error_of_labels(ManifoldClassifier(**settings), X, new, rows)

    told = [error(*(part.astype(kind) for part in rows[:2])) for kind in (np.float64, np.float32)]
    moved = []
    for _ in range(N_MOVED):
        X, new = (part * (1 + EPS * rng.uniform(-1, 1, size=part.shape)) for part in rows[:2])
        moved.append(error(X, new))
    changed = f"double precision, rows moved by a rounding error, {N_MOVED} times"
    span = f"{min(moved):.3g} to {max(moved):.3g}"
    return Control("ManifoldClassifier", changed, (*_told([*told, 0.0])[:2], span))


def _told(errors: list[float]) -> tuple[str, str, str]:
    one, two, three = (f"{error:.3g}" for error in errors)
    return one, two, three
