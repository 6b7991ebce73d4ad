"""One cell of the grid: it works, or it is refused with the word that is missing."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.metrics import r2_score

from isthmus.structured import DependencyEstimator
from isthmus.typing import CAPABILITIES

from .parts import N_TRAIN

WORD = re.compile("|".join(f"'{word}'" for word in CAPABILITIES))
# Refusals that speak of what data are in other words than those of the contract.
PLAIN = re.compile("compares (sequences|graphs)|needs output features|requires y|compares vectors")


@dataclass(frozen=True)
class Outcome:
    """How a cell ended: "works" with a score, or "refused" with the message."""

    kind: str
    score: float = np.nan
    message: str = ""


def outcome(X, Y, **slots):
    """Fit on the first rows, score on the others by coordinates of the true outputs.

    A cell that is neither better than the mean nor refused by name raises.
    """
    train, new = slice(0, N_TRAIN), slice(N_TRAIN, None)
    parts = {k: clone(v) if hasattr(v, "get_params") else v for k, v in slots.items()}
    model = DependencyEstimator(**parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small data, few iterations
        try:
            model.fit(X[train], Y[train])
        except (TypeError, ValueError) as error:
            message = str(error)
            if WORD.search(message) or PLAIN.search(message):
                return Outcome("refused", message=message)
            raise
        predicted = model.predict(X[new])
        true = Y[new]
        if isinstance(Y, np.ndarray):
            return Outcome("works", float(r2_score(true, predicted)))
        # Objects: nearer to the true one than another training output is, by their coordinates.
        features = model.y_features_
        C, P = np.asarray(features.transform(true)), np.asarray(features.transform(list(predicted)))
        mean = np.asarray(features.transform(Y[train])).mean(axis=0)
        return Outcome("works", float(1 - ((C - P) ** 2).sum() / ((C - mean) ** 2).sum()))
