import io

import pytest
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments import registry as _registry
from rich.console import Console


@pytest.fixture
def quiet():
    """A console that is no terminal; what was printed is ``quiet.file.getvalue()``."""
    return Console(file=io.StringIO(), width=120)


@pytest.fixture
def toys(monkeypatch):
    """Replace the register by three toys: one that agrees in part, one broken, one without data."""
    monkeypatch.setattr(_registry, "_REGISTER", {})
    monkeypatch.setattr(_registry, "_files", list)
    about = {"document": "[999] 1", "published": "0.26 & <little> more"}

    def drawing():
        from isthmus.plotting import image_grid

        return image_grid([[[[0.0, 1.0], [1.0, 0.0]]]])

    @experiment("T-2", title="Toy", quick={"n": 3}, full={"n": 30}, seed=7, **about)
    def works(settings, seed, progress):
        progress(0.5, "half [way]")
        rows = [
            Row("error | rate", 0.26, 0.25 + seed / 1e4, "lower <than> published", True),
            Row("order", "a before b", f"n was {settings['n']}", "other order", False),
            Row("time", None, 12.0, "for information"),
        ]
        return Outcome(rows, [Picture("board", "A board", drawing)], ["A note & more"])

    @experiment("T-10", title="Broken", quick={}, full={}, **about)
    def breaks(settings, seed, progress):
        raise ZeroDivisionError("the toy\nbroke")

    @experiment("T-3", title="Hungry", quick={}, full={}, needs_data=True, **about)
    def hungers(settings, seed, progress):
        raise FileNotFoundError("/home/somebody/data")
