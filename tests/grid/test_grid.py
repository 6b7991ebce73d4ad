"""Any piece fits any slot: the whole grid of parts, and pairs of four slots at once."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import isthmus
from isthmus.preimage import CandidatePreimage
from isthmus.typing import missing, needs, provides

from .cells import outcome
from .parts import LEFT_OUT, OBJECTS, PREIMAGES, REGRESSORS, TRANSFORMERS, surface, tables

ON_SURFACES = {
    "UnsupervisedKernelRegression",
    "UnsupervisedKernelRegression kernel",
    "SmoothPSOM",
    "GenerativeTopographicMapping",
    "Charting",
    "RegularizedPrincipalManifold",
    "SammonMapping",
    "CurvilinearComponents",
    "MaximumVarianceUnfolding",
}


def data(name):
    return surface() if name in ON_SURFACES else tables()


def check(record_property, grid, result, bound=0.0):
    record_property("grid", (grid, result.kind))
    assert result.kind == "refused" or result.score > bound


@pytest.mark.parametrize("regressor", REGRESSORS)
@pytest.mark.parametrize("features", TRANSFORMERS)
def test_inputs(features, regressor, record_property):
    X, Y = data(features)
    result = outcome(X, Y, x_features=TRANSFORMERS[features], regressor=REGRESSORS[regressor])
    check(record_property, "x_features × regressor", result)


@pytest.mark.parametrize("preimage", PREIMAGES)
@pytest.mark.parametrize("features", TRANSFORMERS)
def test_outputs(features, preimage, record_property):
    X, Y = data(features)
    result = outcome(X, Y, y_features=TRANSFORMERS[features], preimage=PREIMAGES[preimage])
    check(record_property, "y_features × preimage", result)


def object_cells(others):
    return [
        pytest.param(kind, name, other, id=f"{kind}-{name}-{other}")
        for kind, (_, features) in OBJECTS.items()
        for name, other in product(features, others)
    ]


@pytest.mark.parametrize(("kind", "features", "regressor"), object_cells(REGRESSORS))
def test_objects_as_inputs(kind, features, regressor, record_property):
    X, Y = surface()
    make, maps = OBJECTS[kind]
    objects = make(X)
    slots = {"x_features": maps[features], "regressor": REGRESSORS[regressor]}
    result = outcome(objects, Y[:, :2], **slots)
    check(record_property, "objects as x_features × regressor", result)


@pytest.mark.parametrize(("kind", "features", "preimage"), object_cells(PREIMAGES))
def test_objects_as_outputs(kind, features, preimage, record_property):
    X, _ = surface()
    make, maps = OBJECTS[kind]
    result = outcome(X, make(X), y_features=maps[features], preimage=PREIMAGES[preimage])
    check(record_property, "objects as y_features × preimage", result)


@cache
def fits(y, preimage):
    """Whether output features and pre-image go together, by their words alone."""
    features, solver = TRANSFORMERS[y], PREIMAGES[preimage]
    if y == "passthrough":
        return preimage == "default"
    offered = provides(features) | {"vectors", "weights"}
    return "supervised" not in offered and not missing(needs(solver), offered)


def covering(*slots, allowed):
    """Rows of four slots in which every pair of parts of two slots occurs, by greedy choice.

    Rows that one pair spoils are not counted for the others: a pair that is refused stands in a
    row of its own.
    """
    wanted = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(slots)), 2)
        for a in slots[i]
        for b in slots[j]
    }
    rng = np.random.default_rng(0)
    while wanted:
        first, second = min(wanted)
        best = None
        for _ in range(60):
            row = [slot[rng.integers(len(slot))] for slot in slots]
            row[first[0]], row[second[0]] = first[1], second[1]
            pairs = set(combinations(enumerate(row), 2))
            gain = len(pairs & wanted) if allowed(*row[2:]) else 1
            if best is None or gain > best[0]:
                best = gain, tuple(row), pairs
        gain, row, pairs = best
        wanted -= pairs if allowed(*row[2:]) else {(first, second)}
        yield row


FOUR = list(
    covering(
        *(sorted(s) for s in (TRANSFORMERS, REGRESSORS, TRANSFORMERS, PREIMAGES)), allowed=fits
    )
)


@pytest.mark.slow
@pytest.mark.parametrize("cell", FOUR, ids="-".join)
def test_four_slots(cell, record_property):
    x, regressor, y, preimage = cell
    X, Y = surface()
    result = outcome(
        X,
        Y,
        x_features=TRANSFORMERS[x],
        regressor=REGRESSORS[regressor],
        y_features=TRANSFORMERS[y],
        preimage=PREIMAGES[preimage],
    )
    check(record_property, "four slots, all pairs", result)


def test_every_part_is_in_the_grid():
    parts = [*TRANSFORMERS.values(), *REGRESSORS.values(), *PREIMAGES.values()]
    known = {type(part).__name__ for part in parts} | set(LEFT_OUT)
    for family in isthmus._FAMILIES:
        module = getattr(isthmus, family)
        for name in module.__all__:
            thing = getattr(module, name)
            if name in known or not isinstance(thing, type) or not issubclass(thing, BaseEstimator):
                continue
            assert not provides(thing()) & {"transform", "predict", "solve"}, name


def test_a_refusal_says_which_word_is_missing():
    X, _ = surface()
    words = OBJECTS["words"][0](X)
    result = outcome(X, words, y_features="delta", preimage=PREIMAGES["GradientPreimage"])
    assert result.kind == "refused"
    assert "'gradient'" in result.message
    assert "'vectors'" in result.message
    works = outcome(X, words, y_features="delta", preimage=CandidatePreimage())
    assert works.kind == "works"
