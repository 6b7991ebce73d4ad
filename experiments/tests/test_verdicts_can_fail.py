"""No verdict is true by construction: on spoiled draws every one of them can fail."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from isthmus_experiments import get
from isthmus_experiments.kept.draws import Store, drawing_into

DRAWS = Path(__file__).parents[1] / "results" / "draws"


def spoiled(value, change):
    """``value`` with every number and truth value changed, each in its own way."""
    if isinstance(value, dict):
        return {key: spoiled(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [spoiled(inner, change) for inner in value]
    return value if value is None or isinstance(value, str) else change(value)


def ways():
    """Ways to spoil all draws; a number spoils each by factors of chance, the first alike."""
    yield lambda x: not x if isinstance(x, bool) else 0 if isinstance(x, int) else 3 * x
    yield lambda x: not x if isinstance(x, bool) else x + 5
    yield lambda x: -x if isinstance(x, float) else x
    yield from range(24)


def spoil(values, way):
    if not isinstance(way, int):
        return spoiled(values, way)
    out = []
    for i, one in enumerate(values):
        rng = np.random.default_rng(way if way < 4 else [way, i])

        def change(x, rng=rng):
            factor = float(np.exp(rng.normal(0, 1.5)))
            return (
                x if isinstance(x, bool) else int(x * factor) if isinstance(x, int) else x * factor
            )

        out.append(spoiled(one, change))
    return out


def verdicts(e, values):
    """What each row says of these draws; those that need none are not computed again."""
    with drawing_into(Store(None, {}, seconds=0.0, values=values)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = e.run(e.kept_settings, e.seed, lambda share, message="": None).rows
    return {row.quantity: row.agrees for row in rows}


@pytest.mark.parametrize("id", sorted(path.stem for path in DRAWS.glob("*.json")))
def test_every_verdict_on_draws_can_fail(id):
    e = get(id)
    values = json.loads((DRAWS / f"{id}.json").read_text(encoding="utf-8"))["values"]
    try:
        judged = {quantity for quantity, agrees in verdicts(e, values).items() if agrees}
    except FileNotFoundError:
        pytest.skip("its data are not in the folder that ISTHMUS_DATA names")
    for way in ways():
        if not judged:
            break
        found = verdicts(e, spoil(values, way))
        judged = {quantity for quantity in judged if found.get(quantity) is not False}
    assert not judged
