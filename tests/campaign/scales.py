"""Units and origins: what becomes of an answer when X or y is scaled or shifted."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor

from isthmus.features import KernelPCA
from isthmus.preimage import BasePreimage
from isthmus.typing import needs
from tests.campaign.documented import DOCUMENTED, SETTINGS
from tests.campaign.subjects import ANSWERS, Subject

CHANGES = {
    "X times 1e8": ("X", 1e8, 0.0),
    "X times 1e-8": ("X", 1e-8, 0.0),
    "X plus 1e8": ("X", 1.0, 1e8),
    "X plus 100": ("X", 1.0, 100.0),
    "y times 1e8": ("y", 1e8, 0.0),
    "y times 1e-8": ("y", 1e-8, 0.0),
    "y plus 1e8": ("y", 1.0, 1e8),
    "y plus 100": ("y", 1.0, 100.0),
}


def cases(subject: Subject) -> Iterator[tuple[str, str]]:
    """Each change of units: the same answer in the new units, or what the table documents."""
    if not subject.has_units:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        only_scores = not any(hasattr(subject.estimator, name) for name in ANSWERS)
        before = answer_of(subject, subject.X, subject.y)
        for name, (side, factor, shift) in CHANGES.items():
            if side == "y" and (subject.y is None or subject.takes_labels or only_scores):
                continue
            try:
                yield name, _compare(subject, before, name, side, factor, shift)
            except ValueError as error:
                yield name, _documented(subject, name, f"refused: {error}")


def _compare(
    subject: Subject, before: np.ndarray, name: str, side: str, factor: float, shift: float
) -> str:
    X = factor * subject.X + shift if side == "X" else subject.X
    y = factor * subject.y + shift if side == "y" else subject.y
    after = answer_of(subject, X, y)
    if is_classifier(subject.estimator) or before.dtype.kind not in "fc":
        return "answered" if np.mean(before == after) > 0.9 else _documented(subject, name, "other")
    # Digits that the shift has taken from the numbers cannot come back.
    lost = max(1.0, shift) * np.finfo(float).eps * 1e3 / np.std(subject.X, axis=0).min()
    tolerance = max(1e-4, 30 * lost)
    wanted = [factor * before + shift] if side == "y" and is_regressor(subject.estimator) else None
    wanted = wanted or [before, factor * before, factor * before + shift]
    errors = [difference(after, w) for w in wanted]
    if min(errors) <= tolerance:
        return "answered"
    return _documented(subject, name, f"differs by {min(errors):.2g}")


def _documented(subject: Subject, change: str, found: str) -> str:
    known = dict(DOCUMENTED.get(type(subject.estimator).__name__, {}))
    for setting, reasons in SETTINGS.items():
        if subject.name.startswith(setting):
            known |= reasons
    return "answered" if change in known or change.split()[0] in known else found


def difference(after: np.ndarray, wanted: np.ndarray) -> float:
    """Mean squared difference as a share of the variance, whatever the sign of a column."""
    after, wanted = np.atleast_1d(after), np.atleast_1d(wanted)
    if after.shape != wanted.shape:
        return np.inf
    after, wanted = after.reshape(len(after), -1), wanted.reshape(len(wanted), -1)
    signs = np.where(np.sum(after * wanted, axis=0) < 0, -1.0, 1.0)
    candidates = [after, after * signs]
    scale = np.sqrt(np.mean((wanted - wanted.mean(axis=0)) ** 2)) or 1.0
    return min(float(np.sqrt(np.mean((c - wanted) ** 2)) / scale) for c in candidates)


def answer_of(subject: Subject, X: Any, y: Any) -> np.ndarray:
    """What an estimator says about the rows that it was fitted to."""
    model = subject.build()
    if isinstance(model, BasePreimage):  # a map in the same units, and points beside its objects
        linear = "inner_product" in needs(model)
        features = KernelPCA(2, kernel="linear" if linear else "gaussian").fit(X)
        return np.asarray(model.fit(X, features).solve(0.9 * features.transform(X)))
    answer = subject.answer(subject.fit(model, X, y), X)
    return answer.toarray() if issparse(answer) else np.asarray(answer)
