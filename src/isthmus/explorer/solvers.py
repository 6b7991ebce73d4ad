"""What different pre-image solvers make of the same predicted coordinates."""

import time
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.kinds.artist import Artist
from isthmus.kernels.objects import n_objects, take
from isthmus.preimage.candidate import CandidatePreimage
from isthmus.preimage.vectors.analytic import AnalyticPreimage
from isthmus.preimage.vectors.fixed_point import FixedPointPreimage
from isthmus.preimage.vectors.gradient import GradientPreimage
from isthmus.preimage.vectors.learned import LearnedPreimage
from isthmus.preimage.vectors.neighbor import NeighborPreimage

_MOST_OUTPUTS = 500


class Rival(NamedTuple):
    """A solver's answer: its name, the object, how far its image is, how long it took."""

    name: str
    output: Any
    distance: float
    seconds: float

    def line(self, artist: Artist) -> tuple[str, str]:
        """Return a title, and the picture of the answer."""
        title = f"{self.name}: {self.distance:.3g} away, {1000 * self.seconds:.0f} ms"
        return title, artist.svg(self.output, title)


def rivals_of(model: Any, inputs: Any, outputs: Any) -> list[Rival]:
    """Return an answer of every solver that takes the model's output features.

    Solvers learn from the outputs given, at most some hundred of them, and are all judged alike:
    by the distance of the answer's coordinates from those predicted. Empty where the model
    predicts no coordinates, or no outputs are known.
    """
    features = getattr(model, "y_features_", None)
    if features is None or outputs is None or not hasattr(model, "predict_coordinates"):
        return []
    goal = np.asarray(model.predict_coordinates(inputs))[:1]
    known = take(outputs, np.sort(sample_rows(n_objects(outputs), _MOST_OUTPUTS, 0)))
    found = []
    for solver in (
        AnalyticPreimage(),
        FixedPointPreimage(),
        GradientPreimage(),
        NeighborPreimage(),
        LearnedPreimage(),
        CandidatePreimage(),
    ):
        start = time.perf_counter()
        try:
            answer = solver.fit(known, features).solve(goal)
        except (TypeError, ValueError):
            continue  # it asks for more than these features offer
        spent = time.perf_counter() - start
        away = np.asarray(features.transform(answer)) - goal
        name = type(solver).__name__.removesuffix("Preimage")
        found.append(Rival(name, answer[0], float(np.linalg.norm(away)), spent))
    return sorted(found, key=lambda rival: rival.distance)
