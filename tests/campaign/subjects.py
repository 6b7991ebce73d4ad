"""What is attacked: every public estimator, with data that it takes."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.preimage import BasePreimage
from isthmus.testing import all_estimators
from tests.test_contract import REQUIRED, VARIANTS

# Pre-images of sequences and graphs, and of weights instead of coordinates: object_subjects.py.
OF_OBJECTS = {"SequencePreimage", "GraphPreimage", "MinimumRiskPreimage"}
# What it takes to answer, in order of preference.
ANSWERS = ("predict", "transform", "score_samples", "decision_function", "distances")


@dataclass
class Subject:
    """An estimator, rows to fit and to ask, and how that is called."""

    name: str
    estimator: Any
    X: np.ndarray
    y: Any

    def build(self, **params: Any) -> Any:
        """A new one with some parameters replaced."""
        return clone(self.estimator).set_params(**params) if params else clone(self.estimator)

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit as a user would."""
        if isinstance(model, BasePreimage):
            return model.fit(X, self.map())
        return model.fit(X) if y is None else model.fit(X, y)

    def refit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit with outputs that are given, whatever they are."""
        return model.fit(X, y)

    def bad_outputs(self) -> dict[str, Any] | None:
        """Outputs that suit this subject's kind; None where they are numbers."""
        return None

    @property
    def has_units(self) -> bool:
        """Whether its rows are numbers that could be measured in other units."""
        return True

    def answer(self, model: Any, X: Any) -> Any:
        """What the fitted model says about rows."""
        if isinstance(model, BasePreimage):
            return model.solve(self.map().transform(X))
        return self.ask(model)(X)

    def map(self) -> KernelPCA:
        """The feature map whose points a pre-image is asked for."""
        linear = "Analytic" in self.name  # it has no other
        return KernelPCA(kernel="linear" if linear else Gaussian(0.5)).fit(self.X)

    def ask(self, model: Any) -> Callable[[Any], Any]:
        """The method that answers."""
        name = next((name for name in ANSWERS if hasattr(model, name)), "score")
        if name == "score":  # a learner of kernels only tells how well they fit
            return lambda X: model.score(X, self.y)
        return getattr(model, name)

    @property
    def takes_labels(self) -> bool:
        """Whether the outputs are classes."""
        return self.y is not None and self.y.dtype.kind in "iU"


def table(n: int = 24, d: int = 3, seed: int = 0) -> np.ndarray:
    """Rows of positive numbers on a noisy curve, which every estimator can make something of."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.1, 1.0, n)
    return np.column_stack([t, t**2, np.sin(3 * t) + 1.5, np.sqrt(t)])[:, :d] + 0.02 * rng.uniform(
        size=(n, d)
    )


def subjects(*, variants: bool = True) -> list[Subject]:
    """Every public estimator at its defaults, and settings with a path of their own."""
    built = [
        cls(**REQUIRED.get(name, {})) for _, name, cls in all_estimators() if name not in OF_OBJECTS
    ]
    chosen = [e for e in built if isinstance(e, BasePreimage) or _takes_tables(e)]
    from tests.campaign.object_subjects import object_subjects

    found = [_subject(e) for e in chosen + (list(VARIANTS) if variants else [])]
    return [*found, *object_subjects()]


def _takes_tables(estimator: Any) -> bool:
    return estimator.__sklearn_tags__().input_tags.two_d_array


def _needs_outputs(estimator: Any) -> bool:
    y = inspect.signature(estimator.fit).parameters.get("y")
    without = y is not None and y.default is y.empty
    return without or estimator.__sklearn_tags__().target_tags.required


def _subject(estimator: Any) -> Subject:
    X = table()
    tags = estimator.__sklearn_tags__()
    y: Any = None
    if tags.estimator_type == "classifier" or getattr(estimator, "graph", None) == "classes":
        y = np.repeat([0, 1], len(X) // 2)
    elif _needs_outputs(estimator) or getattr(estimator, "graph", None) == "target":
        y = X[:, 0] + X[:, 1] ** 2
    if "random_state" in estimator.get_params(deep=False):
        estimator = clone(estimator).set_params(random_state=0)
    return Subject(" ".join(str(estimator).split())[:100], estimator, X, y)
