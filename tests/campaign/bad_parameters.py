"""Every parameter of every estimator with values that it cannot use."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from isthmus._parameters import constraints_of
from tests.campaign.outcomes import outcome_of, state_of
from tests.campaign.subjects import Subject

BAD: dict[str, Any] = {
    "-1": -1,
    "0": 0,
    "0.5": 0.5,
    "-0.5": -0.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "-infinity": -float("inf"),
    "1e300": 1e300,
    "10**20": 10**20,
    "True": True,
    "None": None,
    "word": "no such thing",
    "empty word": "",
    "bytes": b"abc",
    "empty list": [],
    "list of words": ["a", "b"],
    "dictionary": {"a": 1},
    "complex": 1j,
    "object": object(),
    "class": dict,
    "array": np.full((2, 2), np.nan),
}


def cases(subject: Subject) -> Iterator[tuple[str, str]]:
    """Each parameter times each value: refused by its name, or accepted as its table says."""
    table = constraints_of(type(subject.estimator))
    good = subject.fit(subject.build(), subject.X, subject.y)
    before = state_of(good)
    for parameter in sorted(subject.estimator.get_params(deep=False)):
        for name, value in BAD.items():
            yield f"{parameter}={name}", outcome(subject, parameter, value, table)
    if state_of(good) != before:
        yield "parameters", "a refused parameter changed another model"


def outcome(subject: Subject, parameter: str, value: Any, table: dict[str, Any]) -> str:
    """What comes of one parameter with one value."""
    if parameter not in table:
        return "no line in the table of parameters"
    model = subject.build()
    setattr(model, parameter, value)
    if not table[parameter].accepts(value):
        return outcome_of(lambda: subject.fit(model, subject.X, subject.y), names=[repr(parameter)])
    return outcome_of(lambda: subject.answer(subject.fit(model, subject.X, subject.y), subject.X))
